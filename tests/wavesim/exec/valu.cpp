#include "exec/lanewise.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_valu(OpTable& t) {
  register_valu_integer(t);
  register_valu_halfword(t);
  register_valu_bits(t);
  register_valu_compare(t);
  register_valu_float(t);
  register_valu_half(t);
  register_valu_divide(t);
  register_valu_convert(t);
  register_valu_fp8(t);
  register_valu_transcendental(t);
  register_valu_pixel(t);
  register_valu_lanes(t);
  register_valu_dot(t);
}

} // namespace wavesim::WAVESIM_SIMD_NS
