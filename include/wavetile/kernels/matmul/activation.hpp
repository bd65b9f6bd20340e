/// \file
/// Activation functions in fp32, without branches.
#pragma once

#include <wavetile/core/math.hpp>

namespace wavetile::kernels {

/// 1 / (1 + e^-x), to a few 2^-24 relative where it is normal.
WAVETILE_HD WAVETILE_FORCE_INLINE float sigmoid(float x) {
  return reciprocal(1.0f + exp(-x));
}

/// erfc(x) for x >= 0, relative error below 2^-20 where the result is normal: t exp(-x^2 + p(t))
/// with t = 1 / (1 + x/2) and p the interpolation of ln(erfc(x) exp(x^2) / t) in Chebyshev's nodes
/// on 1/6 <= t <= 1; for larger x the result is 0 in fp32.
WAVETILE_HD WAVETILE_FORCE_INLINE float erfc_of_positive(float x) {
  const float t = reciprocal(fma(x, 0.5f, 1.0f));
  constexpr float p[] = {-1.265454888e+00f, 9.987824559e-01f,  3.852836192e-01f,  4.139596224e-02f,
                         -1.950800046e-02f, -3.986632079e-02f, -7.464699149e-01f, 1.195327640e+00f,
                         -6.975365877e-01f, 1.480460465e-01f};
  float sum = p[9];
  for (int i = 8; i >= 0; --i)
    sum = fma(sum, t, p[i]);
  return t * exp(fma(-x, x, sum));
}

/// x Phi(x) with the normal distribution Phi: x/2 erfc(-x / sqrt 2).
WAVETILE_HD WAVETILE_FORCE_INLINE float gelu_by_erf(float x) {
  const float magnitude = x < 0 ? -x : x;
  const float tail = 0.5f * erfc_of_positive(magnitude * 0.70710678118654752f);
  return x * (x < 0 ? tail : 1.0f - tail);
}

/// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), which is x sigmoid of twice the argument.
WAVETILE_HD WAVETILE_FORCE_INLINE float gelu_by_tanh(float x) {
  const float twice = 1.5957691216057308f * x * fma(0.044715f * x, x, 1.0f);
  return x * sigmoid(twice);
}

/// x sigmoid(x)
WAVETILE_HD WAVETILE_FORCE_INLINE float silu_of(float x) {
  return x * sigmoid(x);
}

} // namespace wavetile::kernels
