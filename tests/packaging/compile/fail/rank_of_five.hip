// More axes than a row operator takes.
// expect: row operators take views of rank 1 to 4
#include <wavetile/softmax.hpp>

#ifdef WAVETILE_TEST_VALID
constexpr int rank = 4;
#else
constexpr int rank = 5;
#endif

wavetile::status run(wavetile::view<const float, rank> x, wavetile::view<float, rank> y) {
  return wavetile::softmax(x, y);
}
