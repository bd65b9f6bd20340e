// Rounding to 16 bits is written down.
// expect: no viable conversion from 'float' to
// expect: explicit constructor is not a candidate
#include <wavetile/core/bf16.hpp>

wavetile::bf16 store(float value) {
#ifdef WAVETILE_TEST_VALID
  return wavetile::bf16(value);
#else
  wavetile::bf16 result = value;
  return result;
#endif
}
