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

/// `pieces` clamped parts of `bytes` each. A lane's parts are in bounds from the first to some
/// last.
inline void buffer_lanes(const Wave& w, const Op& op, std::uint64_t exec, unsigned pieces,
                         unsigned bytes, BufferLanes& out) {
  const Descriptor v = read_descriptor(w, op);
  const std::uint64_t soffset = buffer_soffset(w, op);
  const std::uint32_t* index = op.idxen ? w.v[op.vaddr] : nullptr;
  const std::uint32_t* offset = op.offen ? w.v[op.vaddr + (op.idxen ? 1 : 0)] : nullptr;
  const bool structured = op.idxen && v.stride != 0;
  const std::uint64_t checked_soffset = buffer_soffset_checked() ? soffset : 0;
  const auto immediate = static_cast<std::uint64_t>(std::int64_t{op.offset});
  std::uint64_t room[lanes]; // pieces in bounds
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::uint64_t i = index ? index[lane] : 0;
    const std::uint64_t o = (offset ? offset[lane] : 0) + immediate;
    out.at.lane[lane] = v.base + soffset + i * v.stride + o;
    const std::uint64_t start = o + checked_soffset;
    const std::uint64_t left = start < v.records ? (v.records - start) / bytes : 0;
    room[lane] = structured ? (i < v.records ? 4 : 0) : left;
  }
  for (unsigned d = 0; d < pieces; ++d) {
    std::uint64_t mask = 0;
    for (unsigned lane = 0; lane < lanes; ++lane)
      mask |= std::uint64_t{room[lane] > d} << lane;
    out.inside[d] = mask & exec;
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
