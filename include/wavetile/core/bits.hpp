/// \file
/// Bit casts, and tests on floating-point bits that hold under -ffast-math.
///
/// Under -ffast-math an optimiser may assume that no operand or result of an arithmetic operation
/// is an infinity or a NaN, and clang 22 carries that through a bit cast: comparing the *bits* of
/// `x * 2` with those of -infinity folds to false. `float_bits` therefore hides the value from
/// the optimiser in that mode (no instruction is emitted). Test values as loaded: what fast
/// arithmetic has made of an infinity is unspecified before any test can see it.
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile {

namespace detail {

/// Same bits as another type of the same size.
template <class To, class From>
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast needs two types of one size");
  return __builtin_bit_cast(To, from);
}

/// The value itself, about which the optimiser forgets all it knew when finite math is on.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr uint32_t opaque(uint32_t value) {
#if WAVETILE_FINITE_MATH
  if (!__builtin_is_constant_evaluated()) {
#if WAVETILE_AMDGCN
    asm("" : "+v"(value));
#else
    asm("" : "+r"(value));
#endif
  }
#endif
  return value;
}

WAVETILE_HD WAVETILE_FORCE_INLINE constexpr uint64_t opaque(uint64_t value) {
#if WAVETILE_FINITE_MATH
  return uint64_t{opaque(static_cast<uint32_t>(value >> 32))} << 32 |
         opaque(static_cast<uint32_t>(value));
#else
  return value;
#endif
}

/// Whether one of two is NaN; may be assumed false where NaNs may be assumed absent.
template <class T>
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bool unordered(T a, T b) {
#if WAVETILE_CUDA
  return a != a || b != b;
#else
  return __builtin_isunordered(a, b);
#endif
}

} // namespace detail

/// The 32 bits of `x`.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr uint32_t float_bits(float x) {
  return detail::opaque(detail::bit_cast<uint32_t>(x));
}

/// The float with these 32 bits.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr float float_from_bits(uint32_t bits) {
  return detail::bit_cast<float>(detail::opaque(bits));
}

/// The double with these 64 bits.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr double double_from_bits(uint64_t bits) {
  return detail::bit_cast<double>(detail::opaque(bits));
}

/// The 64 bits of `x`.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr uint64_t double_bits(double x) {
  return detail::opaque(detail::bit_cast<uint64_t>(x));
}

// Where NaNs are honoured, one comparison tells; else only the bits do.

/// True for every NaN, quiet or signalling, also under -ffast-math.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bool is_nan(float x) {
#if WAVETILE_FINITE_MATH
  return (float_bits(x) & 0x7FFFFFFFu) > 0x7F800000u;
#else
  return detail::unordered(x, x);
#endif
}
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bool is_nan(double x) {
#if WAVETILE_FINITE_MATH
  return (double_bits(x) & 0x7FFFFFFFFFFFFFFFu) > 0x7FF0000000000000u;
#else
  return detail::unordered(x, x);
#endif
}

/// True for both infinities, also under -ffast-math.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bool is_inf(float x) {
  return (float_bits(x) & 0x7FFFFFFFu) == 0x7F800000u;
}
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bool is_inf(double x) {
  return (double_bits(x) & 0x7FFFFFFFFFFFFFFFu) == 0x7FF0000000000000u;
}

/// True for negative infinity only, also under -ffast-math.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bool is_negative_inf(float x) {
  return float_bits(x) == 0xFF800000u;
}
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bool is_negative_inf(double x) {
  return double_bits(x) == 0xFFF0000000000000u;
}

/// True for everything but infinities and NaNs, also under -ffast-math.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bool is_finite(float x) {
  return (float_bits(x) & 0x7F800000u) != 0x7F800000u;
}
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr bool is_finite(double x) {
  return (double_bits(x) & 0x7FF0000000000000u) != 0x7FF0000000000000u;
}

/// `condition ? yes : no` between the bits. Under -ffast-math the operator `?:` on floats promises
/// that its result is finite, so that a branch which gives an infinity or a NaN may be dropped.
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr float select(bool condition, float yes, float no) {
  return float_from_bits(condition ? float_bits(yes) : float_bits(no));
}
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr double select(bool condition, double yes, double no) {
  return double_from_bits(condition ? double_bits(yes) : double_bits(no));
}

/// +infinity, spelled without an operation that -ffast-math could fold (and warn about).
inline constexpr float infinity = __builtin_bit_cast(float, 0x7F800000u);
/// A quiet NaN.
inline constexpr float quiet_nan = __builtin_bit_cast(float, 0x7FC00000u);
/// The lowest finite fp32 value, -(2 - 2^-23) * 2^127: start of a running maximum that stays
/// correct under -ffast-math, where -infinity may not be used in arithmetic.
inline constexpr float lowest_finite = __builtin_bit_cast(float, 0xFF7FFFFFu);

} // namespace wavetile
