// How many clocks the LDS banks of gfx942 are busy with one wave instruction. Bank of a dword =
// (byte address / 4) mod 32. The lanes of a wave are served in phases; a phase takes as many clocks
// as the largest number of different dwords that its active lanes want from one bank (atomics: of
// requests, because lanes of the same dword are served one after the other). A phase in which no
// lane is active still takes one clock. Evidence per instruction: counters/rules.hpp.
#pragma once

#include <cstdint>

namespace wavesim {

enum class LdsPhases : std::uint8_t {
  halves,     ///< 2 phases: lanes 0-31, 32-63 (up to 4 bytes a lane)
  quarters,   ///< 4 phases of 16 consecutive lanes (8 bytes a lane)
  eighths,    ///< 8 phases of 8 consecutive lanes (12- and 16-byte writes)
  wide_reads, ///< 8 phases {0-3,20-23} {4-7,16-19} {8-11,28-31} {12-15,24-27}, then the same + 32
};

struct LdsClocks {
  std::uint32_t clocks = 0; ///< all
  std::uint32_t phases = 0; ///< conflict-free clocks; clocks - phases were lost to conflicts
};

/// Phases of a plain access of `bytes` per lane.
constexpr LdsPhases lds_phases(unsigned bytes, bool write) {
  if (bytes <= 4)
    return LdsPhases::halves;
  if (bytes <= 8)
    return LdsPhases::quarters;
  return write ? LdsPhases::eighths : LdsPhases::wide_reads;
}

/// One access per lane of `exec` at byte address[lane] + offset. No clocks when exec is empty.
LdsClocks lds_clocks(LdsPhases phases, unsigned bytes, bool serialise, const std::uint32_t* address,
                     std::uint32_t offset, std::uint64_t exec);

} // namespace wavesim
