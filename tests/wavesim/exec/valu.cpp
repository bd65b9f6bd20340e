#include "isa/op_table.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_valu(OpTable&) {}

} // namespace wavesim::WAVESIM_SIMD_NS
