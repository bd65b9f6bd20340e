/// \file
/// The cheapest layout without conflicts, found at compile time.
#pragma once

#include <wavetile/lds/bank_conflicts.hpp>

namespace wavetile {

/// What `choose_layout` found.
struct layout_choice {
  layout chosen;      ///< conflict-free if there is one, else the one with the fewest clocks
  bool conflict_free; ///< for all accesses
  int clocks;         ///< of all accesses together, each executed once; INT_MAX: none can be told
  int minimum;        ///< what they would take without conflicts
  evidence tag;       ///< weakest evidence among the lane groups used
  int tried;          ///< number of layouts looked at; 0: the plain tile is above the size limit
};

namespace detail {

/// The active lanes of one address sequence in the order of their phases, as the search needs them:
/// flat and computed once, because the compiler's constant evaluator pays for every statement.
struct served_lanes {
  int count = 0;
  int unit = 4;       ///< bytes that count as one: see `serve`
  int group_mask = 0; ///< banks / unit, less one
  int row[lds_access::lanes] = {};
  int byte[lds_access::lanes] = {};
  bool starts_phase[lds_access::lanes] = {};
};

constexpr served_lanes order_lanes(const lds_service& service,
                                   const coordinate (&lanes)[lds_access::lanes], int bytes,
                                   int element_bytes) {
  served_lanes result;
  result.unit = bytes == 12 ? 16 : bytes > 4 ? bytes : 4; // three dwords of an aligned 16 bytes
  result.group_mask = service.banks * 4 / result.unit - 1;
  for (int phase = 0; phase < service.phases; ++phase) {
    bool first = true;
    for (uint64_t mask = service.lanes[phase]; mask != 0; mask &= mask - 1) {
      const coordinate lane = lanes[__builtin_ctzll(mask)];
      if (lane.row < 0)
        continue;
      result.row[result.count] = lane.row;
      result.byte[result.count] = lane.column * element_bytes;
      result.starts_phase[result.count++] = first;
      first = false;
    }
  }
  return result;
}

/// The unit a lane touches in a layout.
constexpr int unit_of(const served_lanes& lanes, const layout& where, int i) {
  const int row = lanes.row[i];
  const int swizzle = ((row >> where.shift) ^ (row >> where.second_shift)) & where.mask;
  return (row * where.pitch + (lanes.byte[i] ^ (swizzle * where.chunk))) / lanes.unit;
}

/// Whether no phase of an access has two different units in one group of banks. The access must be
/// legal in the layout.
constexpr bool no_conflict(const served_lanes& lanes, const layout& where) {
  int unit_in[64] = {};
  uint64_t used = 0;
  for (int i = 0; i < lanes.count; ++i) {
    const int unit = unit_of(lanes, where, i);
    const int group = unit & lanes.group_mask;
    used = lanes.starts_phase[i] ? 0 : used;
    if ((used >> group & 1) != 0 && unit_in[group] != unit)
      return false;
    unit_in[group] = unit;
    used |= uint64_t{1} << group;
  }
  return true;
}

/// Clocks beyond one for each phase.
constexpr int conflicts_of(const served_lanes& lanes, const layout& where) {
  int newest[64] = {}; // per group: 1 + index of the newest lane seen, of this or an earlier phase
  int depth[64] = {};
  int older[lds_access::lanes] = {};
  int unit[lds_access::lanes] = {};
  int total = 0;
  int worst = 1;
  int phase_start = 0;
  for (int i = 0; i < lanes.count; ++i) {
    if (lanes.starts_phase[i]) {
      total += worst - 1;
      worst = 1;
      phase_start = i;
    }
    unit[i] = unit_of(lanes, where, i);
    const int group = unit[i] & lanes.group_mask;
    int entry = newest[group];
    if (entry <= phase_start)
      depth[group] = 0;
    while (entry > phase_start && unit[entry - 1] != unit[i])
      entry = older[entry - 1];
    if (entry > phase_start)
      continue;
    older[i] = newest[group];
    newest[group] = i + 1;
    if (++depth[group] > worst)
      worst = depth[group];
  }
  return total + worst - 1;
}

/// Swizzles by rising cost of their address: first one shift, then two. Two serve accesses along
/// and across the rows at once, and rows whose low index bits an access permutes.
inline constexpr int swizzle_shifts[][2] = {{0, layout::no_shift},
                                            {1, layout::no_shift},
                                            {2, layout::no_shift},
                                            {3, layout::no_shift},
                                            {4, layout::no_shift},
                                            {0, 3},
                                            {0, 2},
                                            {0, 1},
                                            {0, 4},
                                            {1, 3},
                                            {1, 4},
                                            {2, 4},
                                            {1, 2},
                                            {2, 3},
                                            {3, 4}};

/// Calls `visit` with every layout of the search, fewest bytes first, until it returns true.
/// `widest` is the widest access, to which rows are aligned.
template <class Visit>
constexpr void visit_layouts(const layout& plain, int widest, int bank_bytes, const Visit& visit) {
  for (int pad = 0; pad < bank_bytes; pad += widest) { // then the pattern of banks repeats
    layout candidate = plain;
    candidate.pitch += pad;
    if (visit(candidate))
      return;
    // a swizzle needs rows of a whole number of chunk groups: only pads that are just enough to
    // make a larger group fit are worth their bytes
    bool enough = pad == 0;
    for (int group = 2 * widest; group <= 32 * widest; group *= 2)
      enough = enough || candidate.pitch == (plain.pitch + group - 1) / group * group;
    if (!enough)
      continue;
    for (const auto& shifts : swizzle_shifts)
      for (int chunk = widest; chunk <= 2 * widest; chunk *= 2)
        for (int mask = 1; mask < 32 && candidate.pitch % (chunk * (mask + 1)) == 0;
             mask += mask + 1) {
          layout swizzled = candidate;
          swizzled.chunk = chunk;
          swizzled.mask = mask;
          swizzled.shift = shifts[0];
          swizzled.second_shift = shifts[1];
          if (visit(swizzled))
            return;
        }
  }
}

template <int Count>
constexpr layout_choice search_layouts(int rows, int columns, int element_bytes,
                                       const target& device, int max_bytes,
                                       const lds_access* const (&accesses)[Count]) {
  layout plain = row_major(rows, columns, element_bytes);
  layout_choice best{plain, false, 0, 0, evidence::measured, 0};
  served_lanes sequence[2 * Count];
  int sequences = 0;
  int widest = element_bytes;
  int bank_bytes = 0;
  bool searchable = true;
  for (const lds_access* one : accesses) {
    const lds_service& service = device.service(one->op);
    const int bytes = bytes_of(one->op);
    const int alignment = alignment_of(one->op);
    best.minimum += service.phases * addresses_of(one->op);
    best.tag = service.tag > best.tag ? service.tag : best.tag;
    widest = alignment > widest ? alignment : widest;
    bank_bytes = service.banks * 4 > bank_bytes ? service.banks * 4 : bank_bytes;
    // what no layout can mend: an unknown target, lanes outside the tile or misaligned
    searchable = searchable && service.phases != 0;
    for (int address = 0; address < addresses_of(one->op); ++address) {
      const auto& lanes = address == 0 ? one->first : one->second;
      for (const coordinate& lane : lanes)
        searchable =
            searchable &&
            (lane.row < 0 ||
             (lane.row < rows && lane.column >= 0 && lane.column * element_bytes % alignment == 0 &&
              lane.column * element_bytes + bytes <= columns * element_bytes));
      sequence[sequences++] = order_lanes(service, lanes, bytes, element_bytes);
    }
  }
  plain.pitch = (plain.pitch + widest - 1) / widest * widest;
  best.chosen = plain;

  const auto fits = [&](const layout& candidate) {
    return candidate.valid() && candidate.bytes() <= max_bytes;
  };
  int hardest = 0; // what failed last fails next most often: look at it first
  if (searchable)
    visit_layouts(plain, widest, bank_bytes, [&](const layout& candidate) {
      if (!fits(candidate))
        return false;
      ++best.tried;
      for (int i = 0; i < sequences; ++i) {
        const int next = (hardest + i) % sequences;
        if (!no_conflict(sequence[next], candidate)) {
          hardest = next;
          return false;
        }
      }
      best.chosen = candidate;
      best.clocks = best.minimum;
      best.conflict_free = true;
      return true;
    });
  if (best.conflict_free)
    return best;

  best.clocks = 0x7FFFFFFF;
  if (!searchable)
    return best;

  // none: of plain, the simplest swizzles and the pads the one with the fewest clocks
  visit_layouts(plain, widest, bank_bytes, [&](const layout& candidate) {
    const bool simple =
        candidate.chunk == 0 || (candidate.pitch == plain.pitch && candidate.shift == 0 &&
                                 candidate.second_shift == layout::no_shift);
    if (!simple || !fits(candidate))
      return false;
    int clocks = best.minimum;
    for (int i = 0; i < sequences && clocks < best.clocks; ++i)
      clocks += conflicts_of(sequence[i], candidate);
    if (clocks < best.clocks) {
      best.chosen = candidate;
      best.clocks = clocks;
    }
    return false;
  });
  return best;
}

} // namespace detail

/// The cheapest layout of a `Rows` x `Columns` tile of `T` that is free of conflicts for all given
/// accesses, reads and writes together, within `max_bytes`: fewest bytes first, then the simplest
/// address (no swizzle, xor-swizzled with one shift, with two). When there is none, the one
/// with the fewest clocks, and `conflict_free` false. Rows start at a multiple of the widest
/// access.
///
///     constexpr auto choice = choose_layout<bf16, 128, 64>(targets::gfx942, 65536, read, write);
///     static_assert(choice.conflict_free);
///     using tile_a = tile<bf16, choice.chosen>;
template <class T, int Rows, int Columns, class... Accesses>
constexpr layout_choice choose_layout(const target& device, int max_bytes,
                                      const Accesses&... accesses) {
  static_assert(Rows > 0 && Columns > 0, "a tile has at least one element");
  static_assert(sizeof...(Accesses) > 0, "a layout is chosen for at least one access");
  const lds_access* const list[] = {&accesses...};
  return detail::search_layouts(Rows, Columns, static_cast<int>(sizeof(T)), device, max_bytes,
                                list);
}

} // namespace wavetile
