// Addresses of GLOBAL and FLAT instructions, and the check that stands between a kernel's pointers
// and the host process: every byte must lie in memory that the dispatch may see.
#pragma once

#include "counters/global_counts.hpp"
#include "exec/memory_rows.hpp"
#include "machine/dispatch.hpp"
#include "machine/fault.hpp"
#include "machine/memory_map.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

/// One 64-bit address per lane.
struct alignas(64) Addresses {
  std::uint64_t lane[lanes];
};

inline std::byte* host(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);
}

inline constexpr std::uint16_t no_saddr = 0x7f;

/// Addresses of all lanes (of inactive ones too: whatever their registers hold). FLAT and GLOBAL: a
/// 64-bit address in two VGPRs, or (GLOBAL) a scalar base and an unsigned 32-bit VGPR offset.
inline void global_addresses(const Wave& w, const Op& op, Addresses& out) {
  const std::uint32_t* low = w.v[op.vaddr];
  const auto offset = static_cast<std::uint64_t>(std::int64_t{op.offset});
  if (op.segment == Segment::global && op.saddr != no_saddr) {
    const std::uint64_t base = w.s64(op.saddr) + offset;
    for (unsigned lane = 0; lane < lanes; ++lane)
      out.lane[lane] = base + low[lane];
  } else {
    const std::uint32_t* high = low + lanes;
    for (unsigned lane = 0; lane < lanes; ++lane)
      out.lane[lane] = (low[lane] | std::uint64_t{high[lane]} << 32) + offset;
  }
}

/// The address of lane 0 if lane i addresses it + i * bytes for all 64 lanes, else 0.
inline std::uint64_t global_run(const Wave& w, const Op& op, unsigned bytes) {
  const std::uint32_t* low = w.v[op.vaddr];
  std::uint32_t difference = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    difference |= low[lane] ^ (low[0] + lane * bytes);
  if (difference || low[0] > ~std::uint32_t{0} - lanes * bytes)
    return 0;
  const auto offset = static_cast<std::uint64_t>(std::int64_t{op.offset});
  if (op.segment == Segment::global && op.saddr != no_saddr)
    return w.s64(op.saddr) + low[0] + offset;
  const std::uint32_t* high = low + lanes;
  for (unsigned lane = 0; lane < lanes; ++lane)
    difference |= high[lane] ^ high[0];
  return difference ? 0 : (low[0] | std::uint64_t{high[0]} << 32) + offset;
}

/// Whether one range of the dispatch's memory holds [begin, begin + bytes): looks into the snapshot
/// and remembers the range for this instruction.
bool find_range(const Wave& w, const Op& op, std::uint64_t begin, std::uint64_t bytes);

/// The same, asking the workgroup's cache first.
inline bool in_one_range(const Wave& w, const Op& op, std::uint64_t begin, std::uint64_t bytes) {
  const RangeCache::Entry& e = w.group->ranges.entry[op.id % RangeCache::entries];
  if (begin >= e.begin && begin < e.end && bytes <= e.end - begin) [[likely]]
    return true;
  return find_range(w, op, begin, bytes);
}

/// Faults unless each lane of `mask` may touch `bytes` at its address.
void check_each_lane(const Wave& w, const Op& op, const Addresses& at, std::uint64_t mask,
                     unsigned bytes, const char* what);

inline void check_lanes(const Wave& w, const Op& op, const Addresses& at, std::uint64_t mask,
                        unsigned bytes, const char* what) {
  const std::uint64_t first = at.lane[std::countr_zero(mask)];
  std::uint64_t low = first, high = first;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::uint64_t x = mask >> lane & 1 ? at.lane[lane] : first;
    low = x < low ? x : low;
    high = x > high ? x : high;
  }
  if (!in_one_range(w, op, low, high - low + bytes)) [[unlikely]]
    check_each_lane(w, op, at, mask, bytes, what);
}

inline void count_access(Wave& w, const Op& op, const Addresses& at, std::uint64_t mask,
                         unsigned bytes, Traffic traffic) {
  if (w.tally) [[unlikely]]
    count_global(w, op, at.lane, mask, bytes, traffic);
}

} // namespace wavesim::WAVESIM_SIMD_NS
