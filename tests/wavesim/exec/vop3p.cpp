#include "isa/op_table.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_vop3p(OpTable&) {}

} // namespace wavesim::WAVESIM_SIMD_NS
