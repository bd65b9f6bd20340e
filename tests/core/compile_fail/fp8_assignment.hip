// Nor by assignment.
// expect: no viable conversion from
// expect: e5m2_ocp
// expect: e5m2_fnuz
#include <wavetile/core/fp8.hpp>

using namespace wavetile;

fp8_e5m2_fnuz flavour(fp8_e5m2_ocp number) {
#ifdef WAVETILE_TEST_VALID
  return ocp_to_fnuz(number).value;
#else
  fp8_e5m2_fnuz result = number;
  return result;
#endif
}
