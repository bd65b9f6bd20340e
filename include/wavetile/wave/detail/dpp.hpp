/// \file
/// Data-parallel primitives (DPP): a vector instruction that reads its first operand from another
/// lane, at no cost but two wait states after that operand was written.
///
/// Controls and their meaning: arch/dpp_source.hpp.
#pragma once

#include <wavetile/arch/dpp_source.hpp>
#include <wavetile/arch/instructions.hpp>
#include <wavetile/wave/detail/words.hpp>

#if WAVETILE_GPU

namespace wavetile::detail {

namespace dpp = wavetile::dpp;

/// Every lane gets the value of the lane that `Control` names; 0 bits where that lane does not
/// exist. The compiler folds the move into the instruction that uses it where it can.
template <int Control, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T dpp_move(const T& value) {
  return map_words(value, [](uint32_t word) { return instruction::dpp_move<Control>(word); });
}

/// As above, but lanes whose source does not exist, or which the masks leave out (bit r of RowMask:
/// row r; bit b of BankMask: lanes 4b … 4b + 3 of every row), get `otherwise`.
template <int Control, int RowMask = 0xF, int BankMask = 0xF, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T dpp_move_or(const T& value, const T& otherwise) {
  return map_words(value, otherwise, [](uint32_t word, uint32_t kept) {
    return instruction::dpp_move_or<Control, RowMask, BankMask>(word, kept);
  });
}

/// `a` in the lanes of a constant mask, else `b`: one v_cndmask a dword.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T select_lanes(uint64_t mask, const T& a, const T& b) {
  const uint32_t first = instruction::in_mask(mask);
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
