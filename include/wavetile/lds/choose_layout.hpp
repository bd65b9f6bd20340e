/// \file
/// The cheapest layout without conflicts, found at compile time.
#pragma once

#include <wavetile/lds/bank_conflicts.hpp>

namespace wavetile {

/// What `choose_layout` found.
struct layout_choice {
  layout chosen;      ///< conflict-free if there is one, else the one with the fewest clocks
  bool conflict_free; ///< for all accesses
  int clocks;         ///< of all accesses together, each executed once
  int minimum;        ///< what they would take without conflicts
  evidence tag;       ///< weakest evidence among the lane groups used
  int tried;          ///< number of layouts looked at; 0: the plain tile is above the size limit
};

namespace detail {

/// Costs of several accesses in one layout.
struct layout_cost {
  int clocks = 0;
  int minimum = 0;
  bool legal = true;
  evidence tag = evidence::measured;
};

/// Stops early once `give_up_at` clocks are reached.
constexpr layout_cost cost_of(const layout& where, const target& device,
                              const access* const* accesses, int count, int give_up_at) {
  layout_cost cost;
  for (int i = 0; i < count && cost.legal && cost.clocks < give_up_at; ++i) {
    const conflict_count one = bank_conflicts(where, *accesses[i], device);
    cost.clocks += one.clocks;
    cost.minimum += one.phases;
    cost.legal = one.legal && one.known;
    cost.tag = one.tag > cost.tag ? one.tag : cost.tag;
  }
  return cost;
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

constexpr layout_choice search_layouts(int rows, int columns, int element_bytes,
                                       const target& device, int max_bytes,
                                       const access* const* accesses, int count) {
  int widest = element_bytes;
  int alignment = element_bytes;
  int minimum = 0;
  for (int i = 0; i < count; ++i) {
    const int bytes = alignment_of(accesses[i]->op); // 16 for 12
    widest = bytes > widest ? bytes : widest;
    alignment = widest;
    minimum += device.service(accesses[i]->op).phases * addresses_of(accesses[i]->op);
  }
  layout plain = row_major(rows, columns, element_bytes);
  plain.pitch = (plain.pitch + alignment - 1) / alignment * alignment;
  layout_choice best{plain, false, 0x7FFFFFFF, minimum, evidence::measured, 0};

  // true when nothing better can come
  const auto consider = [&](const layout& candidate) {
    if (candidate.bytes() > max_bytes || !candidate.valid())
      return false;
    ++best.tried;
    const layout_cost cost = cost_of(candidate, device, accesses, count, best.clocks);
    if (cost.legal && cost.clocks < best.clocks) {
      best.chosen = candidate;
      best.clocks = cost.clocks;
      best.tag = cost.tag;
      best.conflict_free = cost.clocks == minimum;
    }
    return best.conflict_free;
  };

  if (consider(plain))
    return best;
  for (const auto& shifts : swizzle_shifts)
    for (int chunk = widest; chunk <= 2 * widest; chunk *= 2)
      for (int mask = 1; mask < 32 && plain.pitch % (chunk * (mask + 1)) == 0;
           mask = 2 * mask + 1) {
        layout candidate = plain;
        candidate.chunk = chunk;
        candidate.mask = mask;
        candidate.shift = shifts[0];
        candidate.second_shift = shifts[1];
        if (consider(candidate))
          return best;
      }
  // bank patterns repeat every `banks` dwords
  for (int pad = alignment; pad < device.service(lds_op::read_b32).banks * 4; pad += alignment) {
    layout candidate = plain;
    candidate.pitch += pad;
    if (consider(candidate))
      return best;
  }
  return best;
}

} // namespace detail

/// The cheapest layout of a `Rows` x `Columns` tile of `T` that is free of conflicts for all given
/// accesses, reads and writes together, within `max_bytes`: fewest bytes first, then the simplest
/// address (row-major, xor-swizzled with one shift, with two, padded). When there is none, the one
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
  const access* list[] = {&accesses...};
  return detail::search_layouts(Rows, Columns, static_cast<int>(sizeof(T)), device, max_bytes, list,
                                static_cast<int>(sizeof...(Accesses)));
}

} // namespace wavetile
