/// \file
/// Which lane, which wave, which work-item.
#pragma once

#include <wavetile/arch/instructions.hpp>

#if WAVETILE_GPU

namespace wavetile {

/// One bit per lane of a wave, lane 0 lowest. 64 bits on every target.
using lane_mask = uint64_t;

/// Number of the calling lane in its wave, 0 … wave_size - 1. v_mbcnt_lo, v_mbcnt_hi: does not
/// depend on how the workgroup is numbered.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int lane_id() {
  return static_cast<int>(instruction::count_below(~lane_mask{0}));
}

/// Number of the calling work-item in a one-dimensional workgroup.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int thread_id() {
  return static_cast<int>(instruction::workitem_x());
}

/// Number of the calling work-item in a workgroup of up to three dimensions, x fastest: the order
/// in which work-items fill waves.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int flat_thread_id() {
  const uint32_t x = instruction::workitem_x();
  const uint32_t y = instruction::workitem_y();
  const uint32_t z = instruction::workitem_z();
  const uint32_t size_x = instruction::workgroup_size_x();
  const uint32_t size_y = instruction::workgroup_size_y();
  return static_cast<int>(x + size_x * (y + size_y * z));
}

/// Number of work-items of the workgroup, from the launch.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int workgroup_size() {
  return static_cast<int>(instruction::workgroup_size_x() * instruction::workgroup_size_y() *
                          instruction::workgroup_size_z());
}

/// Number of the calling wave in its workgroup, the same value in all its lanes and held in a
/// scalar register. `thread` is the work-item's number: `flat_thread_id()` in workgroups of more
/// than one dimension.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int wave_id(int thread = thread_id()) {
  const uint32_t wave = static_cast<uint32_t>(thread) / wave_size;
  return static_cast<int>(instruction::read_first_lane(wave));
}

/// Waves of a workgroup of `threads` work-items; the last one may be partial.
WAVETILE_HD constexpr int wave_count(int threads) {
  return (threads + wave_size - 1) / wave_size;
}

} // namespace wavetile

#endif
