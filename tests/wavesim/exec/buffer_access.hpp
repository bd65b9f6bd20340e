// Buffer descriptors (V#) and the bounds rules of MUBUF instructions on gfx942.
//
// Address = base + soffset + index * stride + voffset + inst_offset. Structured (IDXEN and a
// stride): in bounds iff index < num_records. Raw (anything else): byte by byte of the offset
// voffset + inst_offset + soffset, not wrapped. Loads and stores of several dwords are clamped
// dword by dword; atomics are all or nothing. Out of bounds reads 0, stores vanish. Whether soffset
// takes part in the raw check differs between sources: WAVESIM_BUFFER_SOFFSET=unchecked leaves it
// out.
#pragma once

#include "exec/global_access.hpp"
#include "machine/buffer_rule.hpp"
#include "machine/memory_stops.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

struct Descriptor {
  std::uint64_t base = 0;
  std::uint32_t stride = 0, records = 0;
};

inline Descriptor read_descriptor(const Wave& w, const Op& op) {
  const std::uint32_t* word = &w.s[op.saddr];
  if (word[1] >> 31) [[unlikely]]
    stop_descriptor(w, op, word, "swizzled buffers are not implemented");
  if (word[3] >> 23 & 1) [[unlikely]]
    stop_descriptor(w, op, word, "descriptors that add the thread number are not implemented");
  return {.base = word[0] | std::uint64_t{word[1] & 0xffff} << 32,
          .stride = word[1] >> 16 & 0x3fff,
          .records = word[2]};
}

inline std::uint32_t buffer_soffset(const Wave& w, const Op& op) {
  return scalar32(w, op.soffset);
}

/// Where each lane's access begins and which lanes are in bounds, dword by dword.
struct BufferLanes {
  Addresses at;
  std::uint64_t inside[4] =
      {}; ///< [d]: lanes whose dword d (or whose sub-dword datum) is in bounds
};

/// The lanes whose entry of `row` is at most `limit`; a null row stands for zeros.
inline std::uint64_t at_most(const std::uint32_t* row, std::uint64_t limit) {
  constexpr std::uint64_t largest = ~std::uint32_t{0};
  if (!row || limit >= largest)
    return all_lanes;
  return lanes_at_most(row, static_cast<std::uint32_t>(limit));
}

/// `pieces` clamped parts of `bytes` each. A lane's parts are in bounds from the first to some
/// last.
inline void buffer_lanes(const Wave& w, const Op& op, std::uint64_t exec, unsigned pieces,
                         unsigned bytes, BufferLanes& out) {
  const Descriptor v = read_descriptor(w, op);
  const std::uint64_t soffset = buffer_soffset(w, op);
  const std::uint32_t* index = op.idxen ? w.v[op.vaddr] : nullptr;
  const std::uint32_t* offset = op.offen ? w.v[op.vaddr + (op.idxen ? 1 : 0)] : nullptr;
  const auto immediate = static_cast<std::uint64_t>(std::int64_t{op.offset});

  const std::uint64_t base = v.base + soffset + immediate;
  for (unsigned lane = 0; lane < lanes; ++lane)
    out.at.lane[lane] = base;
  if (offset)
    for (unsigned lane = 0; lane < lanes; ++lane)
      out.at.lane[lane] += offset[lane];
  if (index && v.stride)
    for (unsigned lane = 0; lane < lanes; ++lane)
      out.at.lane[lane] += std::uint64_t{index[lane]} * v.stride;

  const bool structured = index && v.stride != 0;
  const std::uint64_t uniform = immediate + (buffer_soffset_checked() ? soffset : 0);
  for (unsigned d = 0; d < pieces; ++d) {
    const std::uint64_t end = structured ? 1 : uniform + std::uint64_t{d + 1} * bytes;
    out.inside[d] =
        end <= v.records ? exec & at_most(structured ? index : offset, v.records - end) : 0;
  }
}

/// Checks the host's side of the lanes in bounds, and counts them.
inline void admit_buffer_lanes(Wave& w, const Op& op, const BufferLanes& to, unsigned pieces,
                               unsigned bytes, Traffic traffic, const char* what) {
  if (to.inside[pieces - 1] == to.inside[0]) {
    if (!to.inside[0])
      return;
    check_lanes(w, op, to.at, to.inside[0], pieces * bytes, what);
    count_access(w, op, to.at, to.inside[0], pieces * bytes, traffic);
    return;
  }
  for (unsigned n = 1; n <= pieces; ++n) { // lanes with exactly n pieces
    const std::uint64_t mask = to.inside[n - 1] & ~(n < pieces ? to.inside[n] : 0);
    if (!mask)
      continue;
    check_lanes(w, op, to.at, mask, n * bytes, what);
    count_access(w, op, to.at, mask, n * bytes, traffic);
  }
}

} // namespace wavesim::WAVESIM_SIMD_NS
