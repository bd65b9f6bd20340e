// LDS byte addresses of an instruction, and what all checks ask about them.
#pragma once

#include "checks/op_facts.hpp"
#include "machine/wave.hpp"

namespace wavesim {

/// One access of each lane that counts. The other lanes have the address of the lowest that does,
/// so that whole rows can be looked at.
struct alignas(64) LdsRow {
  std::uint32_t lowest, highest; ///< address
  std::uint32_t low_bits;        ///< 0 below bit n when all are multiples of 2^n; n up to 4
  bool run;                      ///< all lanes count, and lane i is i * bytes behind lane 0

  /// By lane. Runs are spelled out for those who ask only.
  const std::uint32_t* addresses() const {
    if (!spelled_out) [[unlikely]]
      spell_out();
    return at;
  }

private:
  friend void fill_row(LdsRow& row, const std::uint32_t* base, std::uint32_t offset,
                       std::uint64_t mask, unsigned bytes);
  void spell_out() const;
  mutable bool spelled_out;
  mutable LaneRow at;
};

/// base[lane] + offset for the lanes of `mask`, which is not 0.
void fill_row(LdsRow& row, const std::uint32_t* base, std::uint32_t offset, std::uint64_t mask,
              unsigned bytes);

/// The same at base + lane * bytes.
void fill_run(LdsRow& row, std::uint32_t base, std::uint64_t mask, unsigned bytes);

/// One row for each piece of a DS instruction; nothing when no lane counts. ds_append and
/// ds_consume touch one dword, as if by their lowest active lane alone: `lanes_of_lds` says which
/// lanes count.
void lds_addresses(const Wave& wave, const Op& op, const OpFacts& facts, LdsRow rows[2]);

inline std::uint64_t lanes_of_lds(const OpFacts& facts, std::uint64_t exec) {
  return facts.counts_lanes ? exec & (~exec + 1) : exec;
}

/// Rows of dwords that a DS write stores with one of its pieces; null where it is no write. `upper`
/// is room for those of a write of upper halves.
const std::uint32_t* lds_data(const Wave& wave, const Op& op, const OpFacts& facts, unsigned piece,
                              LaneRow& upper);

} // namespace wavesim
