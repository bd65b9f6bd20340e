#include "exec/scalar_op.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_salu(OpTable& table) {
  register_salu_arithmetic(table);
  register_salu_bits(table);
  register_salu_control(table);
  register_salu_state(table);
}

} // namespace wavesim::WAVESIM_SIMD_NS
