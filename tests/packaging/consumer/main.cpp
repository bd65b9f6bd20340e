// The host half of a program: only the layers that a plain C++ compiler may use.
#include <wavetile/core/bf16.hpp>
#include <wavetile/core/convert.hpp>

#include <cstdio>

int count_wrong_results();

int main() {
  static_assert(static_cast<float>(wavetile::convert<wavetile::bf16>(1.5f)) == 1.5f);
  const int wrong = count_wrong_results();
  std::printf("%d wrong results\n", wrong);
  return wrong == 0 ? 0 : 1;
}
