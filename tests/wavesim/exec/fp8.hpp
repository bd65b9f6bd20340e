// 8-bit floats of gfx942 (FNUZ): e4m3 with bias 8 ("fp8") and e5m2 with bias 16 ("bf8"). One zero,
// no infinity, 0x80 is the NaN.
#pragma once

#include "exec/lane_math.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

/// How many mantissa bits, and the exponent bias.
struct Fp8 {
  static constexpr int mantissa = 3, bias = 8;
};
struct Bf8 {
  static constexpr int mantissa = 2, bias = 16;
};

inline constexpr u32 fp8_nan = 0x80, fp8_largest = 0x7f;

/// The code of |x| from its mantissa already shifted and rounded to `kept`; overflow saturates or
/// becomes NaN.
template <class F>
inline u32 fp8_code(float x, int exponent, u32 kept, bool saturate) {
  constexpr int smallest = 1 - F::bias;
  const int above = exponent > smallest ? exponent - smallest : 0;
  const u32 code = (static_cast<u32>(above) << F::mantissa) + kept;
  const u32 sign = sign_of(x) ? 0x80u : 0;
  const u32 finite = code == 0 ? 0 : code | sign;
  const u32 over = saturate ? fp8_largest | sign : fp8_nan;
  const u32 r = is_infinity(x) || code > fp8_largest ? over : finite;
  return is_nan(x) ? fp8_nan : r;
}

/// Bits of |x| as an integer mantissa (24 bits), how far to shift it, and its exponent.
struct Fp8Parts {
  u32 mantissa;
  int exponent, denormal_shift;
};
template <class F>
inline Fp8Parts fp8_parts(float x) {
  constexpr int smallest = 1 - F::bias;
  const int exponent = static_cast<int>(magnitude(x) >> 23) - 127; // f32 denormals vanish anyway
  const u32 mantissa = (magnitude(x) & 0x7fffff) | (magnitude(x) < 0x800000 ? 0 : 0x800000);
  const int deep = smallest - exponent;
  // Past 11 nothing is left of the 24 bits, whatever the format.
  return {mantissa, exponent, deep < 0 ? 0 : deep > 11 ? 11 : deep};
}

/// Round to nearest even.
template <class F>
inline u32 to_fp8(float x, bool saturate) {
  const Fp8Parts p = fp8_parts<F>(x);
  const u32 shift = static_cast<u32>(23 - F::mantissa + p.denormal_shift); // 20 … 32
  const u32 kept = p.mantissa >> (shift - 1) >> 1, half = p.mantissa >> (shift - 1) & 1;
  const u32 below = p.mantissa & ((1u << (shift - 1)) - 1);
  const u32 up = half & ((below != 0) | (kept & 1));
  return fp8_code<F>(x, p.exponent, kept + up, saturate);
}

/// Stochastic: the top bits of `random` are added below the last kept bit, the rest is cut off.
template <class F>
inline u32 to_fp8_stochastic(float x, u32 random, bool saturate) {
  constexpr u32 dropped = 23 - F::mantissa;
  const Fp8Parts p = fp8_parts<F>(x);
  const u32 sum = (p.mantissa >> p.denormal_shift) + (random >> (32 - dropped));
  return fp8_code<F>(x, p.exponent, sum >> dropped, saturate);
}

template <class F>
inline float from_fp8(u32 code) {
  constexpr u32 mantissa_mask = (1u << F::mantissa) - 1;
  const u32 exponent = (code & 0x7f) >> F::mantissa, mantissa = code & mantissa_mask;
  const u32 normal = (exponent + (127 - F::bias)) << 23 | mantissa << (23 - F::mantissa);
  const float unit = from_bits<float>(static_cast<u32>(127 + 1 - F::bias - F::mantissa) << 23);
  const float size =
      exponent ? from_bits<float>(normal) : static_cast<float>(static_cast<i32>(mantissa)) * unit;
  const float value = code & 0x80 ? -size : size;
  return code == fp8_nan ? from_bits<float>(float_layout<float>::default_nan) : value;
}

} // namespace wavesim::WAVESIM_SIMD_NS
