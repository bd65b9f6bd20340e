#pragma once

#include "isa/op_table.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_buffer_atomics(OpTable& table); ///< buffer_atomic_*

} // namespace wavesim::WAVESIM_SIMD_NS
