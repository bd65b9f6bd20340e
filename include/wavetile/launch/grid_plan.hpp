/// \file
/// How many workgroups go into one dispatch.
#pragma once

#include <wavetile/arch/instructions.hpp>
#include <wavetile/core/math.hpp>

namespace wavetile {

/// Most work-items of one dispatch: the packet that starts it counts them in 32 bits.
inline constexpr int64_t max_dispatch_work_items = 4294967295;
/// Most workgroups of one dispatch in x, and in y or z.
inline constexpr int64_t max_grid_x = 2147483647;
inline constexpr int64_t max_grid_yz = 65535;

/// Consecutive workgroups of a plan that one dispatch runs; a kernel takes it as first parameter.
struct grid_slice {
  int64_t first; ///< number of its first workgroup
  int64_t count; ///< workgroups of this dispatch
};

/// Covers `groups` workgroups, counted in 64 bits, with dispatches of fewer than 2^32 work-items.
///
/// Everything that a problem has many of (rows, batches, heads) is flattened into the one number of
/// a workgroup and lies on grid x: y and z end at 65535. A kernel finds its own with
/// `group_number(slice)` and takes rows and batches from it by division.
struct grid_plan {
  int64_t groups;
  int block;                 ///< work-items of a workgroup
  int64_t groups_per_launch; ///< workgroups of every dispatch but the last

  /// Number of dispatches; 0 for an empty problem.
  constexpr int64_t launches() const {
    return groups == 0 ? 0 : divide_up(groups, groups_per_launch);
  }

  /// The workgroups of dispatch `i`, 0 <= i < launches().
  constexpr grid_slice slice(int64_t i) const {
    const int64_t first = i * groups_per_launch;
    const int64_t left = groups - first;
    return {first, left < groups_per_launch ? left : groups_per_launch};
  }
};

/// Plan for `groups` >= 0 workgroups of `block` work-items (1 … 1024). `most_per_launch` keeps
/// dispatches smaller still where a kernel wants that.
constexpr grid_plan plan_groups(int64_t groups, int block, int64_t most_per_launch = max_grid_x) {
  const int64_t by_items = max_dispatch_work_items / block;
  const int64_t fitting = by_items < max_grid_x ? by_items : max_grid_x;
  return {groups, block, most_per_launch < fitting ? most_per_launch : fitting};
}

/// Plan for `items` >= 0 items of which a workgroup of `block` work-items handles
/// `items_per_group`; the last workgroup may have fewer.
constexpr grid_plan plan_items(int64_t items, int block, int64_t items_per_group) {
  return plan_groups(divide_up(items, items_per_group), block);
}

#if WAVETILE_GPU
/// The number of the calling workgroup in its plan, in 64 bits.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t group_number(const grid_slice& slice) {
  return slice.first + static_cast<int64_t>(instruction::workgroup_x());
}
#endif

} // namespace wavetile
