// An OCP number does not become an FNUZ one unasked: the same bits differ by a factor of two.
// expect: use ocp_to_fnuz or fnuz_to_ocp, which return the scale
#include <wavetile/core/convert.hpp>

using namespace wavetile;

__attribute__((host)) __attribute__((device)) fp8_e4m3_fnuz flavour(fp8_e4m3_ocp number) {
#ifdef WAVETILE_TEST_VALID
  return ocp_to_fnuz(number).value;
#else
  return convert<fp8_e4m3_fnuz>(number);
#endif
}
