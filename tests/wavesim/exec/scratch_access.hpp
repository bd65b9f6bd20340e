// Private memory. Dword d of lane l lies at (64 * d + l) * 4 of the wave's block, as on the
// hardware, so that accesses at one offset in all lanes are rows. SCRATCH instructions and FLAT
// ones that hit the private aperture see the same bytes.
#pragma once

#include "counters/tally.hpp"
#include "exec/memory_rows.hpp"
#include "machine/dispatch.hpp"
#include "machine/fault.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

/// One private byte offset per lane, wide enough to tell when it is negative or beyond the end.
struct alignas(64) Offsets {
  std::int64_t lane[lanes];
};

inline std::byte* scratch_dword(const Wave& w, std::uint64_t dword, unsigned lane) {
  return w.scratch + (dword * lanes + lane) * 4;
}

inline std::byte* scratch_byte(const Wave& w, std::uint64_t byte, unsigned lane) {
  return scratch_dword(w, byte / 4, lane) + byte % 4;
}

/// Faults unless every lane of `mask` stays inside its private memory.
inline void check_scratch(const Wave& w, const Op& op, const Offsets& at, std::uint64_t mask,
                          unsigned bytes, const char* what) {
  for_each_lane(mask, [&](unsigned lane) {
    if (at.lane[lane] < 0 || at.lane[lane] + bytes > w.scratch_bytes) [[unlikely]]
      memory_fault(w, op, lane,
                   std::uint64_t{Dispatch::private_aperture} << 32 |
                       static_cast<std::uint32_t>(at.lane[lane]),
                   bytes, what);
  });
}

template <Width W>
inline void scratch_load_lanes(const Wave& w, std::uint32_t* row, const Offsets& at,
                               std::uint64_t mask) {
  constexpr unsigned bytes = width_bytes(W);
  for_each_lane(mask, [&](unsigned lane) {
    const auto from = static_cast<std::uint64_t>(at.lane[lane]);
    if (from % 4 + bytes <= 4 || (bytes > 4 && from % 4 == 0)) [[likely]] {
      if constexpr (bytes <= 4)
        load_lane<W>(row, lane, scratch_byte(w, from, lane));
      else
        for (unsigned d = 0; d < bytes / 4; ++d)
          row[d * lanes + lane] = peek<std::uint32_t>(scratch_dword(w, from / 4 + d, lane));
    } else {
      std::byte straight[16];
      for (unsigned i = 0; i < bytes; ++i)
        straight[i] = *scratch_byte(w, from + i, lane);
      load_lane<W>(row, lane, straight);
    }
  });
}

template <Width W>
inline void scratch_store_lanes(const Wave& w, const std::uint32_t* row, const Offsets& at,
                                std::uint64_t mask) {
  constexpr unsigned bytes = width_bytes(W);
  for_each_lane(mask, [&](unsigned lane) {
    const auto to = static_cast<std::uint64_t>(at.lane[lane]);
    if (to % 4 + bytes <= 4 || (bytes > 4 && to % 4 == 0)) [[likely]] {
      if constexpr (bytes <= 4)
        store_lane<W>(row, lane, scratch_byte(w, to, lane));
      else
        for (unsigned d = 0; d < bytes / 4; ++d)
          poke(scratch_dword(w, to / 4 + d, lane), row[d * lanes + lane]);
    } else {
      std::byte straight[16];
      store_lane<W>(row, lane, straight);
      for (unsigned i = 0; i < bytes; ++i)
        *scratch_byte(w, to + i, lane) = straight[i];
    }
  });
}

/// Look-ups of a scratch access: every dword of a quad of lanes is one 16-byte piece when the lanes
/// agree on the offset.
inline void count_scratch(Wave& w, const Op& op, const Offsets& at, std::uint64_t mask,
                          unsigned bytes, bool write) {
  OpTally& record = w.tally->of(op.id);
  const auto active = static_cast<std::uint64_t>(std::popcount(mask));
  record.lanes += active;
  (write ? record.scratch_bytes_written : record.scratch_bytes_read) += active * bytes;
  for (unsigned quad = 0; quad < lanes; quad += 4) {
    std::int64_t seen[4];
    unsigned count = 0;
    for_each_lane(mask >> quad & 0xf, [&](unsigned i) {
      const std::int64_t dword = at.lane[quad + i] / 4;
      for (unsigned k = 0; k < count; ++k)
        if (seen[k] == dword)
          return;
      seen[count++] = dword;
    });
    record.tcp_accesses += std::uint64_t{count} * ((bytes + 3) / 4);
  }
}

} // namespace wavesim::WAVESIM_SIMD_NS
