// Data-parallel primitives: a source row permuted across lanes.
#pragma once

#include "exec/operands.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

/// Where each lane reads under a DPP control, and which lanes have a source at all. LLVM and the
/// ISA manual number the controls alike (table 93 of the CDNA3 manual).
struct DppPattern {
  std::uint8_t from[lanes] = {};
  std::uint64_t valid = 0;
  bool within_rows = true;  ///< the same permutation of 16 lanes in each row
  bool rows_uniform = true; ///< the lanes of a row all read one lane, or none does
  bool known = true;
};

const DppPattern& dpp_pattern(unsigned control);

/// out[i] = in[from[i]]; lanes without a source get 0.
void permute_row(const DppPattern& p, const std::uint32_t* in, std::uint32_t* out);

/// Lanes whose source exists and is active. EXEC hides a lane from the others as it does at home.
std::uint64_t dpp_readable(const DppPattern& p, std::uint64_t exec);

/// Lanes row_mask and bank_mask leave enabled.
constexpr std::uint64_t dpp_enabled(unsigned row_mask, unsigned bank_mask) {
  std::uint64_t row = 0;
  for (unsigned bank = 0; bank < 4; ++bank)
    if (bank_mask >> bank & 1)
      row |= std::uint64_t{15} << 4 * bank;
  std::uint64_t all = 0;
  for (unsigned r = 0; r < 4; ++r)
    if (row_mask >> r & 1)
      all |= row << 16 * r;
  return all;
}

} // namespace wavesim::WAVESIM_SIMD_NS
