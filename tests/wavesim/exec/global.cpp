#include "isa/op_table.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_global(OpTable&) {}

} // namespace wavesim::WAVESIM_SIMD_NS
