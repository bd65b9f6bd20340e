// More work-items than a workgroup can have.
// expect: a workgroup has 1 to 1024 work-items
#include <wavetile/group/reduce.hpp>

namespace {
#ifdef WAVETILE_TEST_VALID
constexpr int threads = 1024;
#else
constexpr int threads = 2048;
#endif

__attribute__((global)) void sum(float* x) {
  using reduction = wavetile::group::reduce<float, threads>;
  WAVETILE_SHARED typename reduction::storage memory;
  x[wavetile::thread_id()] =
      reduction::to_all(x[wavetile::thread_id()], wavetile::op::plus{}, memory);
}
} // namespace

[[maybe_unused]] constexpr auto kernel = &sum;
