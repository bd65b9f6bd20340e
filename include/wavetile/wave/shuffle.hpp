/// \file
/// Values exchanged between the lanes of a wave.
///
/// Any trivially copyable type travels, dword by dword and bit for bit; counts below are per dword.
/// A group is `Width` consecutive lanes, the whole wave by default; lanes of one group do not see
/// another. The lane read from must execute the call too: what an inactive lane holds is undefined
/// to its reader.
#pragma once

#include <wavetile/wave/detail/dpp.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_GPU

namespace wavetile {
namespace detail {

/// Reads lane `lane` of the wave, by ds_bpermute_b32: no LDS memory or banks, but its latency.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T read_lane(const T& value, int lane) {
  return map_words(value, [lane](uint32_t word) { return instruction::read_lane(word, lane); });
}

/// ds_swizzle_b32 in its bit-mask mode: lane i of 32 reads lane ((i & And) | Or) ^ Xor.
template <int And, int Or, int Xor, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T swizzle(const T& value) {
  return map_words(value, [](uint32_t word) { return instruction::swizzle<And, Or, Xor>(word); });
}

/// The DPP control that is an exclusive-or of the lane with `Distance`, or -1.
template <int Distance>
constexpr int xor_control() {
  return Distance == 1    ? dpp::quad_perm(1, 0, 3, 2)
         : Distance == 2  ? dpp::quad_perm(2, 3, 0, 1)
         : Distance == 3  ? dpp::quad_perm(3, 2, 1, 0)
         : Distance == 7  ? dpp::row_half_mirror
         : Distance == 8  ? dpp::row_ror(8)
         : Distance == 15 ? dpp::row_mirror
                          : -1;
}

/// One of the controls above from which `Distance` is reached by one more of them.
constexpr int xor_first_half(int distance) {
  return distance < 7 ? 7 : distance < 12 ? 8 : 15;
}

} // namespace detail

namespace wave {

/// The `value` of lane `source` of the calling lane's group; `source` is taken modulo `Width` and
/// may differ between lanes. One ds_bpermute_b32.
template <int Width = wave_size, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T shuffle(const T& value, int source) {
  detail::check_width<Width>();
  if constexpr (Width == wave_size)
    return detail::read_lane(value, source);
  else
    return detail::read_lane(value, (lane_id() & -Width) | (source & (Width - 1)));
}

/// The `value` of lane `lane ^ Distance`. Distances 1, 2, 3, 7, 8, 15 are one DPP move, which often
/// folds into its use; other distances below 16 two, up to 31 one ds_swizzle_b32, from 32 on one
/// ds_bpermute_b32.
template <int Distance, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T shuffle_xor(const T& value) {
  static_assert(Distance >= 0 && Distance < wave_size, "the distance lies within the wave");
  if constexpr (Distance == 0) {
    return value;
  } else if constexpr (detail::xor_control<Distance>() >= 0) {
    return detail::dpp_move<detail::xor_control<Distance>()>(value);
  } else if constexpr (Distance < 16) {
    constexpr int first = detail::xor_first_half(Distance);
    return shuffle_xor<Distance ^ first>(shuffle_xor<first>(value));
  } else if constexpr (Distance < 32) {
    return detail::swizzle<31, 0, Distance>(value);
  } else {
    return detail::read_lane(value, lane_id() ^ Distance);
  }
}

/// The `value` of lane `lane ^ distance`, for a distance known at run time only: ds_bpermute_b32.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T shuffle_xor(const T& value, int distance) {
  return detail::read_lane(value, lane_id() ^ distance);
}

/// The `value` of the lane `Distance` below in the group; the group's first `Distance` lanes keep
/// their own. One DPP move for Width 16 (and for Distance 1 at any width, or Width 4 and less),
/// with one v_cndmask where groups do not end where rows do; else ds_bpermute_b32.
template <int Distance, int Width = wave_size, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T shuffle_up(const T& value) {
  detail::check_width<Width>();
  static_assert(Distance >= 0 && Distance < Width, "the distance lies within the group");
  namespace dpp = detail::dpp;
  if constexpr (Distance == 0) {
    return value;
  } else if constexpr (Width == 2) {
    return detail::dpp_move<dpp::quad_perm(0, 0, 2, 2)>(value);
  } else if constexpr (Width == 4) {
    return detail::dpp_move<dpp::quad_perm(0, Distance > 1 ? 1 : 0, Distance > 2 ? 2 : 2 - Distance,
                                           3 - Distance)>(value);
  } else if constexpr (Width <= 16 || Distance == 1) {
    constexpr int control = Width <= 16 ? dpp::row_shr(Distance) : dpp::wave_shr_1;
    if constexpr (Width == 16 || Width == wave_size)
      return detail::dpp_move_or<control>(value, value);
    else
      return detail::select_lanes(detail::lanes_from(Width, Distance),
                                  detail::dpp_move<control>(value), value);
  } else {
    const int lane = lane_id();
    return detail::read_lane(value, (lane & (Width - 1)) >= Distance ? lane - Distance : lane);
  }
}

/// The `value` of the lane `Distance` above in the group; the group's last `Distance` lanes keep
/// their own. Costs as `shuffle_up`.
template <int Distance, int Width = wave_size, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T shuffle_down(const T& value) {
  detail::check_width<Width>();
  static_assert(Distance >= 0 && Distance < Width, "the distance lies within the group");
  namespace dpp = detail::dpp;
  if constexpr (Distance == 0) {
    return value;
  } else if constexpr (Width == 2) {
    return detail::dpp_move<dpp::quad_perm(1, 1, 3, 3)>(value);
  } else if constexpr (Width == 4) {
    return detail::dpp_move<dpp::quad_perm(Distance, Distance < 3 ? 1 + Distance : 1,
                                           Distance < 2 ? 3 : 2, 3)>(value);
  } else if constexpr (Width <= 16 || Distance == 1) {
    constexpr int control = Width <= 16 ? dpp::row_shl(Distance) : dpp::wave_shl_1;
    if constexpr (Width == 16 || Width == wave_size)
      return detail::dpp_move_or<control>(value, value);
    else
      return detail::select_lanes(detail::lanes_from(Width, Width - Distance), value,
                                  detail::dpp_move<control>(value));
  } else {
    const int lane = lane_id();
    return detail::read_lane(value,
                             (lane & (Width - 1)) + Distance < Width ? lane + Distance : lane);
  }
}

/// `shuffle_up` and `shuffle_down` for a distance known at run time only, 0 … Width - 1:
/// ds_bpermute_b32.
template <int Width = wave_size, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T shuffle_up(const T& value, int distance) {
  detail::check_width<Width>();
  const int lane = lane_id();
  return detail::read_lane(value, (lane & (Width - 1)) >= distance ? lane - distance : lane);
}
template <int Width = wave_size, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T shuffle_down(const T& value, int distance) {
  detail::check_width<Width>();
  const int lane = lane_id();
  return detail::read_lane(value, (lane & (Width - 1)) + distance < Width ? lane + distance : lane);
}

} // namespace wave
} // namespace wavetile

#endif
