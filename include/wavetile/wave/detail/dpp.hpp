/// \file
/// Data-parallel primitives (DPP): a vector instruction that reads its first operand from another
/// lane, at no cost but two wait states after that operand was written.
///
/// A row is 16 lanes. Controls and their meaning: AMD CDNA3 instruction set manual, DPP_CTRL;
/// row_newbcast exists from gfx90a on.
#pragma once

#include <wavetile/wave/detail/words.hpp>

#if WAVETILE_HIP

namespace wavetile::detail {

namespace dpp {
/// Lane i of each quad reads lane a, b, c, d for i = 0, 1, 2, 3.
constexpr int quad_perm(int a, int b, int c, int d) {
  return a | b << 2 | c << 4 | d << 6;
}
/// Lane i reads lane i + n of its row.
constexpr int row_shl(int n) {
  return 0x100 + n;
}
/// Lane i reads lane i - n of its row.
constexpr int row_shr(int n) {
  return 0x110 + n;
}
/// Lane i reads lane (i - n) mod 16 of its row.
constexpr int row_ror(int n) {
  return 0x120 + n;
}
inline constexpr int wave_shl_1 = 0x130;      ///< lane i reads lane i + 1 of the wave
inline constexpr int wave_shr_1 = 0x138;      ///< lane i reads lane i - 1 of the wave
inline constexpr int row_mirror = 0x140;      ///< lane i reads lane 15 - i of its row
inline constexpr int row_half_mirror = 0x141; ///< lane i reads lane 7 - i of its half row
inline constexpr int row_bcast_15 = 0x142; ///< lanes of a row read the last lane of the row before
inline constexpr int row_bcast_31 = 0x143; ///< lanes 32-63 read lane 31
/// All lanes of a row read its lane n.
constexpr int row_newbcast(int n) {
  return 0x150 + n;
}
} // namespace dpp

/// Every lane gets the value of the lane that `Control` names; 0 bits where that lane does not
/// exist. The compiler folds the move into the instruction that uses it where it can.
template <int Control, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T dpp_move(const T& value) {
  return map_words(value, [](uint32_t word) {
    return static_cast<uint32_t>(
        __builtin_amdgcn_update_dpp(0, static_cast<int>(word), Control, 0xF, 0xF, true));
  });
}

/// As above, but lanes whose source does not exist, or which the masks leave out (bit r of RowMask:
/// row r; bit b of BankMask: lanes 4b … 4b + 3 of every row), get `otherwise`.
template <int Control, int RowMask = 0xF, int BankMask = 0xF, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T dpp_move_or(const T& value, const T& otherwise) {
  return map_words(value, otherwise, [](uint32_t word, uint32_t kept) {
    return static_cast<uint32_t>(__builtin_amdgcn_update_dpp(
        static_cast<int>(kept), static_cast<int>(word), Control, RowMask, BankMask, false));
  });
}

/// 1 in the lanes of a constant mask, else 0; costs a scalar register pair. Not a bool: clang 22
/// stores the built-in's result one bit wide, and nothing later removes that store.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t in_mask(uint64_t mask) {
  return __builtin_amdgcn_inverse_ballot_w64(mask) ? 1u : 0u;
}

/// `a` in the lanes of a constant mask, else `b`: one v_cndmask a dword.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T select_lanes(uint64_t mask, const T& a, const T& b) {
  const uint32_t first = in_mask(mask);
  return map_words(a, b, [first](uint32_t x, uint32_t y) { return first != 0 ? x : y; });
}

/// Lanes whose place in their group of `width` lanes is at least `place`.
constexpr uint64_t lanes_from(int width, int place) {
  uint64_t mask = 0;
  for (int lane = 0; lane < 64; ++lane)
    if (lane % width >= place)
      mask |= uint64_t{1} << lane;
  return mask;
}

} // namespace wavetile::detail

#endif
