/// \file
/// How the primitives of this folder are told the size of the workgroup.
#pragma once

#include <wavetile/group/barrier.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_GPU

namespace wavetile::group {

/// In place of a block size: it is known at run time only.
inline constexpr int runtime_size = 0;

/// The calling work-item and the size of its workgroup. By default a one-dimensional workgroup of
/// the launched size; in others pass `{flat_thread_id(), size}`.
struct place {
  int thread;
  int size;
};

} // namespace wavetile::group

namespace wavetile::detail {

template <int BlockSize>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE group::place default_place() {
  static_assert(BlockSize >= 0 && BlockSize <= device_target.max_workgroup_size,
                "wavetile::group: a workgroup has 1 to 1024 work-items");
  if constexpr (BlockSize == group::runtime_size)
    return {thread_id(), workgroup_size()};
  else
    return {thread_id(), BlockSize};
}

/// The most waves a workgroup of this size can have.
template <int BlockSize>
inline constexpr int max_waves = wave_count(BlockSize == group::runtime_size
                                                ? device_target.max_workgroup_size
                                                : BlockSize);

/// What each wave of a workgroup needs to know about its place; all members are uniform.
template <int BlockSize>
struct wave_place {
  int wave;      ///< number of the calling wave
  int waves;     ///< waves of the workgroup
  int last_lane; ///< last lane of the calling wave that exists
  bool whole;    ///< the workgroup has no partial wave

  WAVETILE_DEVICE explicit wave_place(group::place where) {
    const int size = BlockSize == group::runtime_size ? where.size : BlockSize;
    wave = wave_id(where.thread);
    waves = wave_count(size);
    whole = size % wave_size == 0;
    const int rest = size - wave * wave_size;
    last_lane = (whole || rest >= wave_size ? wave_size : rest) - 1;
  }
};

} // namespace wavetile::detail

#endif
