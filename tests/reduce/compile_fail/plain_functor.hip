// A functor of one's own is no reduction: make_reduction gives it an identity.
// expect: made by make_reduction(identity, combine, enter)
#include <wavetile/reduce_segmented.hpp>

struct larger {
  WAVETILE_HD float operator()(float a, float b) const { return a > b ? a : b; }
};

int main() {
  const auto x = wavetile::make_view(static_cast<const float*>(nullptr), 8);
  const auto y = wavetile::make_view(static_cast<float*>(nullptr), 1);
#ifdef WAVETILE_TEST_VALID
  const auto operation = wavetile::make_reduction(0.0f, larger{});
#else
  const larger operation{};
#endif
  const auto offsets = wavetile::make_view(static_cast<const int32_t*>(nullptr), 2);
  return wavetile::reduce(x, y, operation).ok() &&
         wavetile::reduce_segmented(x, offsets, y, operation).ok() &&
         wavetile::reduce_problem_of(x, y, operation).reduced == 8;
}
