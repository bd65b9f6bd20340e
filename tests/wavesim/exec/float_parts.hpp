// Splitting and rounding of floats in lane functions: frexp, ldexp, fract, rounding to integers.
#pragma once

#include "exec/lane_math.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

template <class T>
inline T power_of_two(i32 exponent) { // must be that of a normal number
  using L = float_layout<T>;
  return from_bits<T>(
      static_cast<bits_of<T>>(static_cast<bits_of<T>>(exponent + L::bias) << L::mantissa_bits));
}

/// Denormals scaled up into the normal range, so that their exponent field means something.
template <class T>
inline T normalised(T x) {
  constexpr auto up = static_cast<T>(u64{1} << (float_layout<T>::mantissa_bits + 1));
  return is_denormal(x) ? static_cast<T>(x * up) : x;
}

/// Exponent e of x = m·2^e with m in [0.5, 1); 0 for zero, infinity and NaN.
template <class T>
inline i32 binary_exponent(T x) {
  using L = float_layout<T>;
  const i32 shift = is_denormal(x) ? L::mantissa_bits + 1 : 0;
  const i32 e = exponent_field(normalised(x)) - L::bias + 1 - shift;
  return magnitude(x) >= L::infinity || is_zero(x) ? 0 : e;
}

/// m of x = m·2^e; zero and infinity as they are, NaN quieted.
template <class T>
inline T significand(T x) {
  using L = float_layout<T>;
  const T n = normalised(x);
  const auto half =
      static_cast<bits_of<T>>(static_cast<bits_of<T>>(L::bias - 1) << L::mantissa_bits);
  const T m = from_bits<T>(static_cast<bits_of<T>>((as_bits(n) & (L::sign | L::mantissa)) | half));
  return is_nan(x) ? quieted(x) : magnitude(x) == L::infinity || is_zero(x) ? x : m;
}

inline i32 limited(i32 x, i32 low, i32 high) {
  return x < low ? low : x > high ? high : x;
}

/// x·2^e with one rounding.
inline float scaled(float x, i32 e) {
  // Exact in double: 24 bits, exponents within ±149 ± 320.
  return static_cast<float>(static_cast<double>(x) * power_of_two<double>(limited(e, -320, 320)));
}
inline f16 scaled(f16 x, i32 e) {
  return static_cast<f16>(static_cast<float>(x) * power_of_two<float>(limited(e, -60, 60)));
}
inline double scaled(double x, i32 e) {
  // Three factors, the one for the bulk last: a product before it is inexact only when the result
  // is beyond every rounding's reach anyway.
  e = limited(e, -2200, 2200);
  const i32 last = limited(e, -1022, 1023), middle = limited(e - last, -1022, 1023);
  return x * power_of_two<double>(e - last - middle) * power_of_two<double>(middle) *
         power_of_two<double>(last);
}

template <class T>
inline T floor_of(T x) {
  if constexpr (std::is_same_v<T, f16>)
    return static_cast<f16>(__builtin_floorf(static_cast<float>(x)));
  else if constexpr (std::is_same_v<T, float>)
    return __builtin_floorf(x);
  else
    return __builtin_floor(x);
}
template <class T>
inline T ceil_of(T x) {
  if constexpr (std::is_same_v<T, f16>)
    return static_cast<f16>(__builtin_ceilf(static_cast<float>(x)));
  else if constexpr (std::is_same_v<T, float>)
    return __builtin_ceilf(x);
  else
    return __builtin_ceil(x);
}
template <class T>
inline T trunc_of(T x) {
  if constexpr (std::is_same_v<T, f16>)
    return static_cast<f16>(__builtin_truncf(static_cast<float>(x)));
  else if constexpr (std::is_same_v<T, float>)
    return __builtin_truncf(x);
  else
    return __builtin_trunc(x);
}
template <class T>
inline T even_of(T x) {
  if constexpr (std::is_same_v<T, f16>)
    return static_cast<f16>(__builtin_roundevenf(static_cast<float>(x)));
  else if constexpr (std::is_same_v<T, float>)
    return __builtin_roundevenf(x);
  else
    return __builtin_roundeven(x);
}

/// x − floor(x), below 1.
template <class T>
inline T fraction(T x) {
  constexpr T largest = from_bits<T>(static_cast<bits_of<T>>(
      (static_cast<bits_of<T>>(float_layout<T>::bias) << float_layout<T>::mantissa_bits) - 1));
  T r;
  if constexpr (std::is_same_v<T, f16>) {
    const float y = static_cast<float>(x);
    r = static_cast<f16>(y - __builtin_floorf(y));
  } else {
    r = x - floor_of(x);
  }
  return r > largest ? largest : r;
}

} // namespace wavesim::WAVESIM_SIMD_NS
