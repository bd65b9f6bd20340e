// LDS byte addresses of DS instructions.
#pragma once

#include "checks/op_facts.hpp"
#include "machine/wave.hpp"

namespace wavesim {

/// One row for each piece of the instruction. ds_append and ds_consume touch one dword, as if by
/// their lowest active lane alone: `lanes_of_lds` says which lanes count.
void lds_addresses(const Wave& wave, const Op& op, const OpFacts& facts, LaneRow rows[2]);

inline std::uint64_t lanes_of_lds(const OpFacts& facts, std::uint64_t exec) {
  return facts.counts_lanes ? exec & (~exec + 1) : exec;
}

/// Rows of dwords that a DS write stores with one of its pieces; null where it is no write. `upper`
/// is room for those of a write of upper halves.
const std::uint32_t* lds_data(const Wave& wave, const Op& op, const OpFacts& facts, unsigned piece,
                              LaneRow& upper);

} // namespace wavesim
