#include "exec/lanewise.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_valu(OpTable& t) {
  register_valu_integer(t);
  register_valu_halfword(t);
  register_valu_bits(t);
}

} // namespace wavesim::WAVESIM_SIMD_NS
