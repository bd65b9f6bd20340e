// Per-lane arithmetic the vector handlers share. Everything is branch-free enough for the
// vectoriser; nothing here looks at wave state.
#pragma once

#include "machine/wave.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace wavesim::WAVESIM_SIMD_NS {

using u8 = std::uint8_t;
using i8 = std::int8_t;
using u16 = std::uint16_t;
using i16 = std::int16_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
using f16 = _Float16;

/// MODE register as lane functions see it.
struct ModeBits {
  u32 bits;
  static constexpr u32 usual = 0xf0; ///< round to nearest even, all denormals kept
  static constexpr u32 fp16_overflow_bit = 1u << 23;
  unsigned round_f32() const { return bits & 3; }
  unsigned round_f64() const { return bits >> 2 & 3; }
  bool flush_inputs_f32() const { return !(bits & 0x10); }
  bool flush_results_f32() const { return !(bits & 0x20); }
  bool flush_inputs_f64() const { return !(bits & 0x40); }
  bool flush_results_f64() const { return !(bits & 0x80); }
  bool dx10_clamp() const { return bits & 0x100; }
  bool ieee() const { return bits & 0x200; }
  bool fp16_overflow() const { return bits & fp16_overflow_bit; }
};

// ------------------------------------------------------------------------ bits of a float

template <class T>
using bits_of =
    std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;

template <class T>
inline constexpr bool is_float_v =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, f16>;

/// Field masks of a binary float: f16, float, double.
template <class T>
struct float_layout {
  using bits = bits_of<T>;
  static constexpr int mantissa_bits = sizeof(T) == 2 ? 10 : sizeof(T) == 4 ? 23 : 52;
  static constexpr int bias = sizeof(T) == 2 ? 15 : sizeof(T) == 4 ? 127 : 1023;
  static constexpr int max_exponent = 2 * bias + 1;
  static constexpr bits sign = static_cast<bits>(bits{1} << (8 * sizeof(T) - 1));
  static constexpr bits mantissa = static_cast<bits>((bits{1} << mantissa_bits) - 1);
  static constexpr bits infinity = static_cast<bits>(bits{max_exponent} << mantissa_bits);
  static constexpr bits quiet = static_cast<bits>(bits{1} << (mantissa_bits - 1));
  /// What invalid operations give (the ISA manual's division and its examples show the sign set).
  static constexpr bits default_nan = static_cast<bits>(sign | infinity | quiet);
};

template <class T>
constexpr bits_of<T> as_bits(T x) {
  return std::bit_cast<bits_of<T>>(x);
}
template <class T>
constexpr T from_bits(bits_of<T> b) {
  return std::bit_cast<T>(b);
}

template <class T>
constexpr bits_of<T> magnitude(T x) {
  return static_cast<bits_of<T>>(as_bits(x) & ~float_layout<T>::sign);
}
template <class T>
constexpr bool is_nan(T x) {
  if constexpr (sizeof(T) == 2)
    return magnitude(x) > float_layout<T>::infinity;
  else
    return x != x;
}
template <class T>
constexpr bool is_infinity(T x) {
  return magnitude(x) == float_layout<T>::infinity;
}
template <class T>
constexpr bool is_zero(T x) {
  return magnitude(x) == 0;
}
template <class T>
constexpr bool is_denormal(T x) {
  return magnitude(x) <= float_layout<T>::mantissa && magnitude(x) != 0;
}
template <class T>
constexpr bool is_signaling(T x) {
  return is_nan(x) && !(as_bits(x) & float_layout<T>::quiet);
}
template <class T>
constexpr bool sign_of(T x) {
  return (as_bits(x) & float_layout<T>::sign) != 0;
}
template <class T>
constexpr T quieted(T x) {
  return from_bits<T>(static_cast<bits_of<T>>(as_bits(x) | float_layout<T>::quiet));
}
template <class T>
constexpr T with_sign(T x, bool negative) {
  return from_bits<T>(
      static_cast<bits_of<T>>(magnitude(x) | (negative ? float_layout<T>::sign : 0)));
}
/// Denormals become zero of the same sign.
template <class T>
constexpr T flushed(T x) {
  const auto exponent = static_cast<bits_of<T>>(as_bits(x) & float_layout<T>::infinity);
  return exponent == 0 ? from_bits<T>(static_cast<bits_of<T>>(as_bits(x) & float_layout<T>::sign))
                       : x;
}
/// Exponent field (biased).
template <class T>
constexpr int exponent_field(T x) {
  return static_cast<int>(magnitude(x) >> float_layout<T>::mantissa_bits);
}

/// The NaN an operation hands on: the first source that is one, quieted. `r` is the arithmetic
/// result, which already is the default NaN or a quieted source.
template <class T>
constexpr T first_nan(T r, T a) {
  return is_nan(a) ? quieted(a) : r;
}
template <class T>
constexpr T first_nan(T r, T a, T b) {
  return is_nan(a) ? quieted(a) : is_nan(b) ? quieted(b) : r;
}
template <class T>
constexpr T first_nan(T r, T a, T b, T c) {
  return is_nan(a) ? quieted(a) : is_nan(b) ? quieted(b) : is_nan(c) ? quieted(c) : r;
}

// ---------------------------------------------------------------------------- minimum, maximum

/// v_min: a number beats a NaN; in IEEE mode a signaling NaN comes out quieted; −0 < +0.
template <class T>
constexpr T minimum(T a, T b, bool ieee) {
  T r = a < b ? a : b;
  r = a == b ? from_bits<T>(static_cast<bits_of<T>>(as_bits(a) | as_bits(b))) : r;
  r = is_nan(b) && !is_nan(a) ? a : r;
  r = ieee && is_signaling(b) ? quieted(b) : r;
  return ieee && is_signaling(a) ? quieted(a) : r;
}
template <class T>
constexpr T maximum(T a, T b, bool ieee) {
  T r = a > b ? a : b;
  r = a == b ? from_bits<T>(static_cast<bits_of<T>>(as_bits(a) & as_bits(b))) : r;
  r = is_nan(b) && !is_nan(a) ? a : r;
  r = ieee && is_signaling(b) ? quieted(b) : r;
  return ieee && is_signaling(a) ? quieted(a) : r;
}
/// Median of numbers; with a NaN among them the minimum of the three.
template <class T>
[[gnu::always_inline]] constexpr T median(T a, T b, T c, bool ieee) {
  constexpr auto larger = [](T x, T y) {
    const T equal = from_bits<T>(static_cast<bits_of<T>>(as_bits(x) & as_bits(y)));
    return x == y ? equal : x > y ? x : y;
  };
  const T ab = larger(a, b), ac = larger(a, c), bc = larger(b, c), highest = larger(ab, c);
  const T lowest = minimum(minimum(a, b, ieee), c, ieee);
  const T if_b = highest == b ? ac : ab;
  const T number = highest == a ? bc : if_b;
  return is_nan(a) || is_nan(b) || is_nan(c) ? lowest : number;
}

// --------------------------------------------------------------------------------- half floats

/// Double to f16 in one rounding under the current rounding mode: first to float, rounded to odd
/// (inexact results get their last bit set), then to f16. Float keeps two bits more than f16 needs
/// at every magnitude f16 has.
inline f16 to_half(double x) {
  const u64 b = as_bits(x);
  constexpr u64 lost = (u64{1} << 29) - 1; // bits a float cannot hold
  const double odd = from_bits<double>((b & ~lost) | (b & lost ? lost + 1 : 0));
  // Below float's normal range all is far under half an f16 denormal; it only must not vanish.
  const bool tiny = magnitude(x) < u64{0x3810000000000000} && magnitude(x) != 0;
  const float narrow = tiny ? with_sign(0x1p-126f, sign_of(x)) : static_cast<float>(odd);
  return static_cast<f16>(narrow);
}

/// p + q rounded to odd: exact when the sum fits, else the neighbour with an odd last bit, so that
/// a later rounding to at least two bits less is the only one.
template <class T>
inline T sum_to_odd(T p, T q) {
  const T s = p + q;
  const bool p_larger = magnitude(p) >= magnitude(q);
  const T large = p_larger ? p : q, small = p_larger ? q : p;
  const T error = small - (s - large);
  const bits_of<T> bits = as_bits(s);
  const bool fix = error != 0 && !(bits & 1) && magnitude(s) < float_layout<T>::infinity;
  const bits_of<T> step = (error > 0) == (s > 0) ? bits + 1 : bits - 1;
  return fix ? from_bits<T>(step) : s;
}

/// a·b + c in f16 with one rounding under the current rounding mode. The product is exact in float,
/// the sum is rounded to odd there.
inline f16 fma_half(f16 a, f16 b, f16 c) {
  return static_cast<f16>(
      sum_to_odd(static_cast<float>(a) * static_cast<float>(b), static_cast<float>(c)));
}

} // namespace wavesim::WAVESIM_SIMD_NS
