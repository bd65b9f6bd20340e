/// \file
/// What an LDS access costs, at compile time.
#pragma once

#include <wavetile/arch/targets.hpp>
#include <wavetile/lds/access.hpp>
#include <wavetile/lds/layout.hpp>

namespace wavetile {

/// Cost of one LDS instruction of one wave, by the rule at `lds_service`. For a target whose lane
/// groups are not known everything is 0 and `known` false.
struct conflict_count {
  int clocks;   ///< clocks that LDS is busy with it
  int phases;   ///< clocks of a conflict-free access of that kind
  int worst;    ///< most different dwords in one bank in one phase; 1: no conflict
  evidence tag; ///< how well the lane groups are known
  bool known;   ///< whether they are known at all
  bool legal;   ///< every lane's bytes lie together, inside the tile, aligned to the access

  /// Clocks lost; what SQ_LDS_BANK_CONFLICT counts.
  constexpr int conflicts() const { return clocks - phases; }
  constexpr bool conflict_free() const { return known && legal && clocks == phases; }
};

/// Byte addresses of the lanes of a wave; -1 for a lane that is switched off.
struct lane_addresses {
  int byte[lds_access::lanes];
};

namespace detail {

/// Alignment at which the compiler emits the one instruction of that width.
constexpr int alignment_of(lds_op op) {
  const int bytes = bytes_of(op);
  return bytes == 12 ? 16 : bytes;
}

/// Clocks of one address sequence; adds to `result`. Written flat, with plain arrays: the
/// compiler's constant evaluator pays for every call and statement.
///
/// An access that is aligned to its power-of-two size falls in banks that nothing but the same
/// bytes or wholly different ones fall in, so each lane counts as one unit of its size; other
/// accesses count dword by dword.
constexpr void serve(const lds_service& service, const lane_addresses& addresses, int bytes,
                     conflict_count& result) {
  bool aligned = (bytes & (bytes - 1)) == 0;
  for (int lane = 0; lane < lds_access::lanes && aligned; ++lane)
    aligned = addresses.byte[lane] < 0 || addresses.byte[lane] % bytes == 0;
  const int unit = aligned && bytes > 4 ? bytes : 4;
  const int groups = service.banks * 4 / unit;
  for (int phase = 0; phase < service.phases; ++phase) {
    int newest[64] = {}; // 1 + index of the newest unit seen in each bank group; 0: none
    int unit_of[128] = {};
    int older[128] = {};
    int depth[64] = {};
    int seen = 0;
    int clocks = 1;
    for (uint64_t lanes = service.lanes[phase]; lanes != 0; lanes &= lanes - 1) {
      const int address = addresses.byte[__builtin_ctzll(lanes)];
      if (address < 0)
        continue;
      const int last = (address + bytes - 1) / unit;
      for (int index = address / unit; index <= last; ++index) {
        const int group = index % groups;
        int entry = newest[group];
        while (entry != 0 && unit_of[entry - 1] != index)
          entry = older[entry - 1];
        if (entry != 0)
          continue;
        unit_of[seen] = index;
        older[seen] = newest[group];
        newest[group] = ++seen;
        if (++depth[group] > clocks)
          clocks = depth[group];
      }
    }
    result.clocks += clocks;
    if (clocks > result.worst)
      result.worst = clocks;
  }
  result.phases += service.phases;
}

/// Byte addresses of an access in a layout; clears `legal` when a lane's bytes do not lie together,
/// reach out of the tile or are misaligned.
constexpr lane_addresses addresses_in(const layout& where,
                                      const coordinate (&lanes)[lds_access::lanes], lds_op op,
                                      bool& legal) {
  const int bytes = bytes_of(op);
  const int alignment = alignment_of(op);
  const int row_bytes = where.columns * where.element_bytes;
  lane_addresses result{};
  for (int lane = 0; lane < lds_access::lanes; ++lane) {
    const int row = lanes[lane].row;
    if (row < 0) {
      result.byte[lane] = -1;
      continue;
    }
    const int column_byte = lanes[lane].column * where.element_bytes;
    const int swizzle = ((row >> where.shift) ^ (row >> where.second_shift)) & where.mask;
    const int address = row * where.pitch + (column_byte ^ (swizzle * where.chunk));
    result.byte[lane] = address;
    if (row >= where.rows || column_byte < 0 || column_byte + bytes > row_bytes ||
        address % alignment != 0 ||
        (where.chunk != 0 && column_byte % where.chunk + bytes > where.chunk))
      legal = false;
  }
  return result;
}

} // namespace detail

/// Cost of an instruction whose lanes use these byte addresses.
constexpr conflict_count bank_conflicts(const lane_addresses& addresses, lds_op op,
                                        const target& device) {
  const lds_service& service = device.service(op);
  conflict_count result{0, 0, 0, service.tag, service.phases != 0, true};
  for (int address : addresses.byte)
    result.legal = result.legal && (address < 0 || address % detail::alignment_of(op) == 0);
  if (result.known)
    detail::serve(service, addresses, bytes_of(op), result);
  return result;
}

/// Cost of an access to a tile with this layout on this target.
///
///     static_assert(bank_conflicts(where, fragment, targets::gfx942).conflict_free());
constexpr conflict_count bank_conflicts(const layout& where, const lds_access& what,
                                        const target& device) {
  const lds_service& service = device.service(what.op);
  conflict_count result{0, 0, 0, service.tag, service.phases != 0, where.valid()};
  const lane_addresses first = detail::addresses_in(where, what.first, what.op, result.legal);
  if (result.known)
    detail::serve(service, first, bytes_of(what.op), result);
  if (addresses_of(what.op) == 2) {
    const lane_addresses second = detail::addresses_in(where, what.second, what.op, result.legal);
    if (result.known)
      detail::serve(service, second, bytes_of(what.op), result);
  }
  return result;
}

/// True when every access is legal and free of conflicts: the proof that kernels assert.
template <class... Accesses>
constexpr bool conflict_free(const layout& where, const target& device,
                             const Accesses&... accesses) {
  return (bank_conflicts(where, accesses, device).conflict_free() && ...);
}

} // namespace wavetile
