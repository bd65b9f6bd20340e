// Transcendental functions of lane functions, computed in double with relative errors below 2^−32:
// rounded to float the result is within 0.502 ulp, nearly always the correctly rounded one.
#pragma once

#include "exec/float_parts.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

/// 2^x, relative error below 2^−35.
inline double exponential(double x) {
  const double y = x > 1000 ? 1000.0 : x < -1000 ? -1000.0 : x;
  const double whole = __builtin_roundeven(y);
  const double t = (y - whole) * 0.69314718055994530942;
  // Taylor, |t| ≤ 0.3466: the first term left out is below 7e−12.
  constexpr double coefficient[] = {1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                                    1.0 / 24,     1.0 / 6,     1.0 / 2,    1,         1};
  double p = coefficient[0];
#pragma clang loop unroll(full)
  for (int i = 1; i < 10; ++i)
    p = __builtin_fma(p, t, coefficient[i]);
  const bool finite = magnitude(x) <= float_layout<double>::infinity; // not NaN
  return p * power_of_two<double>(static_cast<i32>(finite ? whole : 0.0));
}

/// log2(x) of a positive normal double, relative error below 2^−33.
inline double logarithm(double x) {
  const u64 bits = as_bits(x);
  // Mantissa into [√½, √2), so that values near 1 keep their relative precision.
  constexpr u64 root = 0x3fe6a09e667f3bcd;
  const i64 shifted = static_cast<i64>(bits - root);
  const i64 e = shifted >> 52;
  const double m = from_bits<double>(bits - (static_cast<u64>(e) << 52));
  const double s = (m - 1) / (m + 1), q = s * s;
  // 2/ln 2 · artanh(s), |s| ≤ 0.1716: the first term left out is below 2^−34.
  double p = 1.0 / 11;
#pragma clang loop unroll(full)
  for (int i = 9; i > 0; i -= 2)
    p = __builtin_fma(p, q, 1.0 / i);
  return __builtin_fma(s * 2.88539008177792681472, p, static_cast<double>(static_cast<i32>(e)));
}

/// sin(2πx) or cos(2πx) for quarter turns `ahead` 0 or 1. Whole turns are taken off exactly.
inline double sine_of_turns(double x, u32 ahead) {
  const double turns = 4 * (x - __builtin_roundeven(x)); // quarter turns in [−2, 2]
  const double whole = __builtin_roundeven(turns);
  const double a = (turns - whole) * 1.57079632679489661923, q = a * a;
  // Taylor, |a| ≤ π/4: the first terms left out are below 8e−12 and 2e−10.
  double s = -1.0 / 39916800;
  constexpr double sine[] = {1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1};
#pragma clang loop unroll(full)
  for (int i = 0; i < 5; ++i)
    s = __builtin_fma(s, q, sine[i]);
  double c = -1.0 / 3628800;
  constexpr double cosine[] = {1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2, 1};
#pragma clang loop unroll(full)
  for (int i = 0; i < 5; ++i)
    c = __builtin_fma(c, q, cosine[i]);
  const u32 quarter = static_cast<u32>(static_cast<i32>(whole)) + ahead;
  const double r = quarter & 1 ? c : s * a;
  return (quarter & 2 ? -r : r) + 0.0; // −0 becomes +0
}

} // namespace wavesim::WAVESIM_SIMD_NS
