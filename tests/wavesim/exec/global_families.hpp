// The parts of the FLAT/GLOBAL/SCRATCH family, one file each; register_global calls them.
#pragma once

#include "isa/op_table.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_flat(OpTable& table);           ///< flat_load_*, flat_store_*
void register_scratch(OpTable& table);        ///< scratch_load_*, scratch_store_*
void register_global_atomics(OpTable& table); ///< global_atomic_*, flat_atomic_*
void register_lds_direct(OpTable& table);     ///< global_load_lds_*, scratch_load_lds_*

} // namespace wavesim::WAVESIM_SIMD_NS
