/// \file
/// One lane's value for all.
///
/// Any trivially copyable type travels, dword by dword and bit for bit; counts below are per dword.
#pragma once

#include <wavetile/wave/detail/dpp.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_GPU

namespace wavetile::wave {

/// The `value` of lane `source`, which must be the same in all lanes (not checked; the first active
/// lane's counts); the result is held in scalar registers. One v_readlane_b32. `source` may be any
/// lane of the wave that holds the value, also one that does not execute the call.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T broadcast(const T& value, int source) {
  return detail::map_words(
      value, [source](uint32_t word) { return instruction::read_uniform_lane(word, source); });
}

/// The `value` of the first active lane, in scalar registers. One v_readfirstlane_b32.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T broadcast_first(const T& value) {
  return detail::map_words(value, [](uint32_t word) { return instruction::read_first_lane(word); });
}

/// In every group of `Width` consecutive lanes the `value` of its lane `Source`. Width 2, 4, 16:
/// one DPP move, which may fold into its use; 8: two; 32: one ds_swizzle_b32; the whole wave:
/// v_readlane_b32.
template <int Width, int Source, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T broadcast(const T& value) {
  detail::check_width<Width>();
  static_assert(Source >= 0 && Source < Width, "the source is a lane of the group");
  namespace dpp = detail::dpp;
  if constexpr (Width == 1) {
    return value;
  } else if constexpr (Width == 2) {
    return detail::dpp_move<dpp::quad_perm(Source, Source, 2 + Source, 2 + Source)>(value);
  } else if constexpr (Width == 4) {
    return detail::dpp_move<dpp::quad_perm(Source, Source, Source, Source)>(value);
  } else if constexpr (Width == 8) {
    const T low_halves = detail::dpp_move<dpp::row_newbcast(Source)>(value);
    return detail::dpp_move_or<dpp::row_newbcast(8 + Source), 0xF, 0xC>(value, low_halves);
  } else if constexpr (Width == 16) {
    return detail::dpp_move<dpp::row_newbcast(Source)>(value);
  } else if constexpr (Width < wave_size) {
    static_assert(Width == 32, "a proper part of a 64-lane wave");
    return detail::map_words(
        value, [](uint32_t word) { return instruction::swizzle<0, Source, 0>(word); });
  } else {
    return broadcast(value, Source);
  }
}

} // namespace wavetile::wave

#endif
