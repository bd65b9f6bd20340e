// A type without numeric_traits is named by its concept.
// expect: does not satisfy 'numeric'
#include <wavetile/core/convert.hpp>

struct own {
  int value;
};

float number() {
#ifdef WAVETILE_TEST_VALID
  return wavetile::convert<float>(wavetile::fp16(1.0f));
#else
  return wavetile::convert<float>(own{1});
#endif
}
