// The parts of the DS family, one file each; register_lds calls them.
#pragma once

#include "isa/op_table.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_lds_atomics(OpTable& table); ///< read-modify-write, append and consume
void register_lds_lanes(OpTable& table);   ///< swizzle and permutes: no memory

} // namespace wavesim::WAVESIM_SIMD_NS
