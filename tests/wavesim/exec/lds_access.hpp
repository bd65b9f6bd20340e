// What the DS instructions share: bounds of LDS and counting.
#pragma once

#include "counters/lds_clocks.hpp"
#include "counters/tally.hpp"
#include "exec/memory_rows.hpp"

#include <cstring>

namespace wavesim::WAVESIM_SIMD_NS {

/// The lanes of `exec` whose access of `bytes` at address + offset lies inside LDS. The others read
/// 0 and write nothing. M0 plays no part, as in LLVM's model of gfx9.
inline std::uint64_t lds_in_range(const Wave& w, const std::uint32_t* address, std::uint32_t offset,
                                  unsigned bytes, std::uint64_t exec) {
  const std::uint64_t size = w.group->lds_bytes;
  if (std::uint64_t{offset} + bytes > size) [[unlikely]]
    return 0;
  return exec & lanes_at_most(address, static_cast<std::uint32_t>(size - offset - bytes));
}

/// As lds_in_range, for sums that wrap at 2^32: a negative address plus an offset may lie inside,
/// and compilers count on it. `address` and `offset` become what the caller adds without wrapping;
/// `sums` is where the sums are kept when they must be formed.
inline std::uint64_t lds_in_range_wrapped(const Wave& w, const std::uint32_t*& address,
                                          std::uint32_t& offset, unsigned bytes, std::uint64_t exec,
                                          LaneRow& sums) {
  const std::uint64_t inside = lds_in_range(w, address, offset, bytes, exec);
  if (inside == exec || offset == 0) [[likely]]
    return inside;
  for (unsigned lane = 0; lane < lanes; ++lane)
    sums[lane] = address[lane] + offset;
  address = sums;
  offset = 0;
  return lds_in_range(w, address, offset, bytes, exec);
}

/// Whether lane i addresses address[0] + i * bytes.
inline bool lds_is_run(const std::uint32_t* address, unsigned bytes) {
  std::uint32_t difference = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    difference |= address[lane] ^ (address[0] + lane * bytes);
  return difference == 0;
}

/// The same question for a full wave of 16 bytes a lane. Each lane has one of eight groups of four
/// banks; as powers of two, eight of those add up to 255 (modulo 256) only when all differ.
inline bool lds_quads_conflict_free(LdsPhases phases, const std::uint32_t* address,
                                    std::uint32_t offset) {
  alignas(64) std::uint8_t group[lanes];
  std::uint32_t misaligned = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::uint32_t at = address[lane] + offset;
    misaligned |= at;
    group[lane] = static_cast<std::uint8_t>(1u << (at >> 4 & 7));
  }
  if (misaligned & 15)
    return false;
  std::uint32_t four[lanes / 4]; // lanes 4 i to 4 i + 3
  std::memcpy(four, group, sizeof four);
  const auto free_pair = [&](unsigned a, unsigned b) {
    const std::uint64_t lanes_of_phase = four[a] | std::uint64_t{four[b]} << 32;
    return unsigned{lanes_of_phase * 0x0101010101010101ull >> 56 == 255};
  };
  unsigned all = 1;
  for (unsigned half = 0; half < 16; half += 8)
    if (phases == LdsPhases::eighths)
      all &= free_pair(half, half + 1) & free_pair(half + 2, half + 3) &
             free_pair(half + 4, half + 5) & free_pair(half + 6, half + 7);
    else
      all &= free_pair(half, half + 5) & free_pair(half + 1, half + 4) &
             free_pair(half + 2, half + 7) & free_pair(half + 3, half + 6);
  return all != 0;
}

/// Whether in every phase all active lanes want different banks: the common case, decided without
/// looking at single lanes. Natural alignment is part of the question.
template <unsigned Bytes>
inline bool lds_conflict_free(LdsPhases phases, const std::uint32_t* address, std::uint32_t offset,
                              std::uint64_t exec) {
  if constexpr (Bytes == 16)
    if (exec == ~0ull)
      return lds_quads_conflict_free(phases, address, offset);
  constexpr std::uint32_t dwords_each = (1u << (Bytes / 4)) - 1;
  Row used; // banks of a lane, one bit each
  spread_mask(used, exec);
  std::uint32_t misaligned = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::uint32_t at = address[lane] + offset;
    misaligned |= at & (Bytes - 1) & used.lane[lane];
    used.lane[lane] &= dwords_each << (at >> 2 & 31 & ~(Bytes / 4 - 1));
  }
  if (misaligned)
    return false;
  const auto banks_of = [&](unsigned first, unsigned count) {
    std::uint32_t banks = 0;
    for (unsigned i = 0; i < count; ++i)
      banks |= used.lane[first + i];
    return banks;
  };
  int wanted = 0;
  if constexpr (Bytes == 4) {
    wanted = std::popcount(banks_of(0, 32)) + std::popcount(banks_of(32, 32));
  } else if constexpr (Bytes == 8) {
    for (unsigned i = 0; i < 4; ++i)
      wanted += std::popcount(banks_of(16 * i, 16));
  } else if (phases == LdsPhases::eighths) {
    for (unsigned i = 0; i < 8; ++i)
      wanted += std::popcount(banks_of(8 * i, 8));
  } else {
    for (unsigned half = 0; half < lanes; half += 32) {
      wanted += std::popcount(banks_of(half + 0, 4) | banks_of(half + 20, 4));
      wanted += std::popcount(banks_of(half + 4, 4) | banks_of(half + 16, 4));
      wanted += std::popcount(banks_of(half + 8, 4) | banks_of(half + 28, 4));
      wanted += std::popcount(banks_of(half + 12, 4) | banks_of(half + 24, 4));
    }
  }
  return wanted == std::popcount(exec) * static_cast<int>(Bytes / 4);
}

constexpr std::uint32_t lds_phase_count(LdsPhases phases) {
  return phases == LdsPhases::halves ? 2 : phases == LdsPhases::quarters ? 4 : 8;
}

/// Adds one access of `Bytes` a lane to the record of this instruction. Counting is on. `run`: all
/// lanes are active, and one behind the other.
template <unsigned Bytes>
inline void count_lds_access(OpTally& record, bool write, bool atomic, const std::uint32_t* address,
                             std::uint32_t offset, std::uint64_t exec, bool run) {
  constexpr bool even = Bytes == 4 || Bytes == 8 || Bytes == 16;
  const LdsPhases phases = lds_phases(Bytes, write);
  if constexpr (even)
    if ((run && (address[0] + offset) % Bytes == 0) ||
        lds_conflict_free<Bytes>(phases, address, offset, exec)) {
      record.lds_clocks += lds_phase_count(phases);
      return;
    }
  const LdsClocks spent = lds_clocks(phases, Bytes, atomic, address, offset, exec);
  record.lds_clocks += spent.clocks;
  record.lds_conflicts += spent.clocks - spent.phases;
}

/// The record of this instruction, with its lanes added; null when counting is off.
inline OpTally* lds_record(Wave& w, const Op& op, std::uint64_t exec) {
  if (!w.tally) [[likely]]
    return nullptr;
  OpTally& record = w.tally->of(op.id);
  record.lanes += static_cast<std::uint64_t>(std::popcount(exec));
  return &record;
}

} // namespace wavesim::WAVESIM_SIMD_NS
