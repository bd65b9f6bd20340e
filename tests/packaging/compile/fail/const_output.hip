// An output that cannot be written is named.
// expect: the output y is written, its elements are const
#include <wavetile/softmax.hpp>

wavetile::status run(wavetile::view<const float, 2> x, wavetile::view<float, 2> y) {
#ifdef WAVETILE_TEST_VALID
  return wavetile::softmax(x, y);
#else
  return wavetile::softmax(x, wavetile::view<const float, 2>(y));
#endif
}
