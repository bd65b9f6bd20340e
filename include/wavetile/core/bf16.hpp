/// \file
/// bfloat16: the upper half of an fp32.
#pragma once

#include <wavetile/core/bits.hpp>

namespace wavetile {

/// How fp32 becomes bf16. Every NaN becomes the quiet NaN 0x7FC0, but in `nearest_even_finite` and
/// on NVIDIA GPUs, whose instruction makes it 0x7FFF; values that round beyond the largest become
/// an infinity, but in `truncate`.
enum class bf16_rounding : uint8_t {
  nearest_even,        ///< the default
  nearest_away,        ///< ties away from zero
  truncate,            ///< toward zero
  nearest_even_finite, ///< nearest even for values known not to be NaN; a NaN may become anything
};

namespace detail {

constexpr bool rounds_to_nearest_even(bf16_rounding rounding) {
  return rounding == bf16_rounding::nearest_even || rounding == bf16_rounding::nearest_even_finite;
}

#if WAVETILE_PTX
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t packed_by_instruction(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
#endif

/// The bf16 of `value` in the upper 16 bits of the result; the lower 16 bits are unspecified.
template <bf16_rounding Rounding>
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr uint32_t round_bf16_high(float value) {
#if WAVETILE_PTX
  if constexpr (rounds_to_nearest_even(Rounding))
    if (!__builtin_is_constant_evaluated())
      return packed_by_instruction(0.0f, value);
#endif
  const uint32_t bits = float_bits(value);
  uint32_t rounded = bits;
  if constexpr (rounds_to_nearest_even(Rounding))
    rounded = bits + (((bits >> 16) & 1u) + 0x7FFFu);
  if constexpr (Rounding == bf16_rounding::nearest_away)
    rounded = bits + 0x8000u;
  if constexpr (Rounding == bf16_rounding::nearest_even_finite)
    return rounded;
  return is_nan(value) ? 0x7FC00000u : rounded;
}

} // namespace detail

/// bf16: 1 sign, 8 exponent, 7 mantissa bits; the range of fp32.
///
/// A storage type: arithmetic is done in fp32. Conversion from fp32 rounds to nearest even and
/// keeps NaNs (`round_to_bf16` names other roundings); conversion to fp32 is exact. Both are
/// integer operations on gfx942, which has no bf16 conversion instruction, as on the host.
struct bf16 {
  uint16_t bits;

  bf16() = default;
  WAVETILE_HD explicit constexpr bf16(float value)
      : bits(static_cast<uint16_t>(detail::round_bf16_high<bf16_rounding::nearest_even>(value) >>
                                   16)) {}
  WAVETILE_HD explicit constexpr operator float() const {
    return float_from_bits(static_cast<uint32_t>(bits) << 16);
  }

  /// The number with this code.
  WAVETILE_HD static constexpr bf16 from_bits(uint16_t code) {
    bf16 result{};
    result.bits = code;
    return result;
  }
};

/// Compares as numbers: +0 equals -0, a NaN equals nothing.
WAVETILE_HD constexpr bool operator==(bf16 a, bf16 b) {
  const uint32_t any = a.bits | b.bits;
  const bool both_zero = (any & 0x7FFFu) == 0;
  const bool a_nan = (a.bits & 0x7FFFu) > 0x7F80u;
  return both_zero || (a.bits == b.bits && !a_nan);
}

/// fp32 to bf16 with a named rounding.
template <bf16_rounding Rounding = bf16_rounding::nearest_even>
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bf16 round_to_bf16(float value) {
  return bf16::from_bits(static_cast<uint16_t>(detail::round_bf16_high<Rounding>(value) >> 16));
}

/// Two fp32 to one dword of bf16: `low` in bits 0-15, `high` in bits 16-31. On gfx942 one
/// v_perm_b32 joins the halves, which with `nearest_even_finite` makes 2.5 vector instructions an
/// element; NVIDIA GPUs have an instruction for it all.
template <bf16_rounding Rounding = bf16_rounding::nearest_even>
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr uint32_t pack_bf16(float low, float high) {
#if WAVETILE_PTX
  if constexpr (detail::rounds_to_nearest_even(Rounding))
    if (!__builtin_is_constant_evaluated())
      return detail::packed_by_instruction(low, high);
#endif
  const uint32_t l = detail::round_bf16_high<Rounding>(low);
  const uint32_t h = detail::round_bf16_high<Rounding>(high);
#if WAVETILE_AMDGCN
  if (!__builtin_is_constant_evaluated())
    return __builtin_amdgcn_perm(h, l, 0x07060302u);
#endif
  return (h & 0xFFFF0000u) | (l >> 16);
}

} // namespace wavetile
