#include "exec/vop3p.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_vop3p(OpTable& t) {
  register_vop3p_integer(t);
  register_vop3p_half(t);
  register_vop3p_single(t);
  register_vop3p_mix(t);
  register_vop3p_dot(t);
}

} // namespace wavesim::WAVESIM_SIMD_NS
