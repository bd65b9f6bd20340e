#pragma once

#include "exec/memory_rows.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

/// The second half of a load into LDS: lane l's dword (narrower data extended to one) goes to
/// base + 4 * l. Lanes out of range write nothing.
void store_to_lds(Wave& w, const std::uint32_t* data, std::uint32_t base, std::uint64_t exec);

} // namespace wavesim::WAVESIM_SIMD_NS
