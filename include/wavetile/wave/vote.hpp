/// \file
/// Votes of a wave and arithmetic on lane masks, all in 64 bits.
///
/// A vote asks the lanes that execute it; others count as absent. Masks have one bit per lane.
#pragma once

#include <wavetile/wave/detail/words.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_GPU

namespace wavetile::wave {

/// Mask of the calling lanes whose `predicate` is true; the same value in every lane, in scalar
/// registers. One v_cmp.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE lane_mask ballot(bool predicate) {
  return instruction::ballot(predicate);
}

/// Mask of the lanes that execute the call.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE lane_mask active_lanes() {
  return ballot(true);
}

/// True in every calling lane when it is true in at least one of them.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool any(bool predicate) {
  return ballot(predicate) != 0;
}

/// True in every calling lane when it is true in all of them.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool all(bool predicate) {
  return ballot(!predicate) == 0;
}

/// Mask of the `Width` consecutive lanes (a power of two) that contain the calling one.
template <int Width>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE lane_mask lanes_of_group() {
  detail::check_width<Width>();
  if constexpr (Width == wave_size)
    return ~lane_mask{0} >> (64 - wave_size);
  else
    return ((lane_mask{1} << Width) - 1) << (lane_id() & -Width);
}

/// `ballot` of the calling lane's group of `Width` consecutive lanes: bit 0 is the group's first
/// lane.
template <int Width>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE lane_mask ballot(bool predicate) {
  detail::check_width<Width>();
  const lane_mask wave = ballot(predicate);
  if constexpr (Width == wave_size)
    return wave;
  else
    return wave >> (lane_id() & -Width) & ((lane_mask{1} << Width) - 1);
}

/// `any` and `all` of the calling lane's group of `Width` consecutive lanes.
template <int Width>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool any(bool predicate) {
  return ballot<Width>(predicate) != 0;
}
template <int Width>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool all(bool predicate) {
  return ballot<Width>(!predicate) == 0;
}

/// Number of lanes in a mask, 0 … 64.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr int count_lanes(lane_mask mask) {
  return __builtin_popcountll(mask);
}

/// The lowest lane of a mask, -1 for an empty one.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr int first_lane(lane_mask mask) {
  return mask == 0 ? -1 : __builtin_ctzll(mask);
}

/// The highest lane of a mask, -1 for an empty one.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr int last_lane(lane_mask mask) {
  return mask == 0 ? -1 : 63 - __builtin_clzll(mask);
}

/// Number of lanes of `mask` below the calling one: its place among them when it is one of them.
/// v_mbcnt_lo, v_mbcnt_hi.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int rank_in(lane_mask mask) {
  return static_cast<int>(instruction::count_below(mask));
}

/// Mask of the calling lanes whose `value` has the same bits as the calling lane's own. One pass
/// of the loop for each different value in the wave.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE lane_mask match(const T& value) {
  const auto own = detail::to_words(value);
  for (;;) {
    uint32_t difference = 0;
    for (int i = 0; i < own.count; ++i)
      difference |= own.word[i] ^ instruction::read_first_lane(own.word[i]);
    const bool same = difference == 0;
    const lane_mask matching = ballot(same);
    if (same)
      return matching;
  }
}

} // namespace wavetile::wave

#endif
