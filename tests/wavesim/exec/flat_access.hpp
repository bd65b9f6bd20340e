// FLAT addresses: bits [63:32] of an address choose LDS, private memory or global memory, lane by
// lane.
#pragma once

#include "exec/global_access.hpp"
#include "exec/lds_access.hpp"
#include "exec/scratch_access.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

/// The lanes of one FLAT access by where they go. `at` holds host addresses for the lanes of
/// `memory` (which joins `global` and `lds`), `offset` the private offsets of the lanes of
/// `scratch`.
struct FlatLanes {
  Addresses at;
  Offsets offset;
  std::uint64_t global = 0, lds = 0, scratch = 0;
  std::uint64_t memory() const { return global | lds; }
};

inline bool in_aperture(std::uint64_t address) {
  const std::uint64_t high = address >> 32;
  return high == Dispatch::shared_aperture || high == Dispatch::private_aperture;
}

/// Sorts the lanes of `exec`, checks every one and counts. LDS lanes out of range fault: unlike DS
/// instructions, FLAT ones report a violation.
inline void flat_lanes(Wave& w, const Op& op, std::uint64_t exec, unsigned bytes, Traffic traffic,
                       const char* what, FlatLanes& out) {
  global_addresses(w, op, out.at);
  for_each_lane(exec, [&](unsigned lane) {
    const std::uint64_t high = out.at.lane[lane] >> 32, bit = std::uint64_t{1} << lane;
    if (high == Dispatch::shared_aperture)
      out.lds |= bit;
    else if (high == Dispatch::private_aperture)
      out.scratch |= bit;
    else
      out.global |= bit;
  });
  if (out.global) {
    check_lanes(w, op, out.at, out.global, bytes, what);
    count_access(w, op, out.at, out.global, bytes, traffic);
  }
  if (out.lds) {
    alignas(64) LaneRow address = {};
    for_each_lane(out.lds, [&](unsigned lane) {
      address[lane] = static_cast<std::uint32_t>(out.at.lane[lane]);
      if (std::uint64_t{address[lane]} + bytes > w.group->lds_bytes)
        memory_fault(w, op, lane, out.at.lane[lane], bytes, what);
      out.at.lane[lane] = reinterpret_cast<std::uint64_t>(w.group->lds) + address[lane];
    });
    if (OpTally* record = lds_record(w, op, out.lds)) {
      const bool write = traffic != Traffic::read;
      const LdsClocks spent = lds_clocks(lds_phases(bytes, write), bytes,
                                         op.info->flags & op_atomic, address, 0, out.lds);
      record->lds_clocks += spent.clocks;
      record->lds_conflicts += spent.clocks - spent.phases;
    }
  }
  if (out.scratch) {
    for_each_lane(out.scratch, [&](unsigned lane) {
      out.offset.lane[lane] = static_cast<std::uint32_t>(out.at.lane[lane]);
    });
    check_scratch(w, op, out.offset, out.scratch, bytes, what);
    if (w.tally) [[unlikely]]
      count_scratch(w, op, out.offset, out.scratch, bytes, traffic != Traffic::read);
  }
}

} // namespace wavesim::WAVESIM_SIMD_NS
