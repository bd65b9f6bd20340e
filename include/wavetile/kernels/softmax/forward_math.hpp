/// \file
/// The arithmetic of softmax and log-softmax on one row.
///
/// With logits l = scale x (+ mask), maximum m, and s = sum of exp(l - m) over the row:
///
///     softmax      exp(l - m) / s
///     log_softmax  l - m - ln s
///
/// exp is one v_exp_f32 of (l - m) log2(e). The difference is formed before the multiplication:
/// folding both into fma(l, log2(e), -m log2(e)) leaves the rounding error of m log2(e) in every
/// exponent, a factor of 2^64 at |m| = 1e9 and an infinity above 2.4e38.
///
/// Hidden elements enter as -infinity and the running maximum starts at the lowest finite number,
/// so a difference is never infinity minus infinity unless the row holds +infinity (whose result is
/// NaN, as is that of a NaN). s = 0 then means exactly that no element of the row was larger
/// than -infinity.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/kernels/rows/row_tile.hpp>
#include <wavetile/kernels/softmax/problem.hpp>
#include <wavetile/wave/vote.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// -infinity that the optimiser does not see through where it may assume there is none.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float minus_infinity() {
  return float_from_bits(0xFF800000u);
}

/// Where a running maximum starts: the lowest finite number, which an optimiser that need not
/// expect an infinity would drop.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float maximum_start() {
  return float_from_bits(0xFF7FFFFFu);
}

/// What an element enters the row's arithmetic as: x with the sign of the scale, or, with an
/// additive mask, the logit. -infinity where it is hidden.
template <class Mask>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float enter(float x, typename Mask::element mask, float sign,
                                                  bool visible) {
  if constexpr (Mask::kind == mask_kind::additive) {
    const float added = convert<float>(mask);
    return visible && !is_negative_inf(added) ? fma(x, sign, added) : minus_infinity();
  } else {
    return visible ? x * sign : minus_infinity();
  }
}

/// Whether the mask shows an element.
template <class Mask>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool keeps(typename Mask::element mask) {
  if constexpr (Mask::kind == mask_kind::additive)
    return !is_negative_inf(convert<float>(mask));
  else if constexpr (Mask::kind == mask_kind::keep)
    return mask != 0;
  else
    return true;
}

// Under -ffast-math the difference of a logit and the maximum must not be multiplied out.
#if defined(__clang__)
#define WAVETILE_DETAIL_AS_WRITTEN _Pragma("clang fp reassociate(off)")
#else
#define WAVETILE_DETAIL_AS_WRITTEN
#endif

/// exp(scale (value - maximum)); `exponent_scale` is scale log2(e).
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float exponential(float value, float maximum,
                                                        float exponent_scale) {
  WAVETILE_DETAIL_AS_WRITTEN
  return exp2((value - maximum) * exponent_scale);
}

/// 1 / x to half a unit in the last place and a little.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float accurate_reciprocal(float x) {
  WAVETILE_DETAIL_AS_WRITTEN
  const float estimate = reciprocal(x);
  return fma(fma(-x, estimate, 1.0f), estimate, estimate);
}

/// What turns a row's elements into its results, once the row has been read.
template <softmax_form Form>
struct row_result {
  float maximum;
  float exponent_scale;
  float scale;
  float last; ///< softmax: factor of the exponentials; log_softmax: what is subtracted

  /// `any_kept` is asked for only when no element was larger than -infinity: true means that the
  /// masks hid not all of them.
  template <class AnyKept>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void finish(float sum, AnyKept any_kept) {
    const bool nothing = (float_bits(sum) << 1) == 0;
    if constexpr (Form == softmax_form::softmax)
      last = accurate_reciprocal(sum);
    else
      last = log(sum);
    if (wave::any(nothing)) {
      const bool kept = any_kept();
      if (nothing)
        last = kept ? float_from_bits(0x7FC00000u) : 0.0f;
    }
  }

  /// softmax of an element whose exponential is known.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float of_exponential(float e) const { return e * last; }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float operator()(float value) const {
    WAVETILE_DETAIL_AS_WRITTEN
    if constexpr (Form == softmax_form::softmax)
      return exponential(value, maximum, exponent_scale) * last;
    else
      return fma(value - maximum, scale, -last);
  }
};

#undef WAVETILE_DETAIL_AS_WRITTEN

} // namespace wavetile::kernels

#endif
