// The two families of fp8 types differ by a factor of two: no silent conversion.
// expect: ocp_to_fnuz or fnuz_to_ocp
#include <wavetile/wavetile.hpp>

namespace {
using namespace wavetile;
#ifdef WAVETILE_TEST_VALID
using from = bf16;
#else
using from = fp8_e4m3_ocp;
#endif
[[maybe_unused]] fp8_e4m3_fnuz as_fnuz(from value) {
  return convert<fp8_e4m3_fnuz>(value);
}
} // namespace
