/// \file
/// What becomes of a score before the softmax.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/kernels/attention/problem.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// Exponent of a key that is hidden, and the maximum before any was seen: finite, so that nothing
/// depends on infinities, and lower than any score.
inline constexpr float hidden_exponent = -3.4e38f;
/// What exponents with a mask added are limited to, on gfx942 downwards only: a finite mask hides
/// nothing.
inline constexpr float largest_exponent = 3.3e38f;

/// tanh x = 1 - 2 / (e^2x + 1), which cancels near 0: a series there, to 2^-23 of it.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float cap_score(float x) {
  const float square = x * x;
  const float series = fma(fma(square, 2.0f / 15, -1.0f / 3), square * x, x);
  const float power = exp2(x * (2 * log2_e)) + 1.0f;
#if WAVETILE_PTX
  float inverse; // 1 ulp; `reciprocal` rounds correctly, in a subroutine
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(power));
#else
  const float inverse = reciprocal(power);
#endif
  const float direct = 1.0f - 2.0f * inverse;
  return select(square < 0x1p-6f, series, direct);
}

} // namespace wavetile::kernels

#endif
