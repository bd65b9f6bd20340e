/// \file
/// The softmax of attention on NVIDIA GPUs, step by step.
#pragma once

#include <wavetile/kernels/attention/scores.hpp>
#include <wavetile/matrix/warp_fragment.hpp>
#include <wavetile/wave/shuffle.hpp>
#include <wavetile/wave/vote.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// Running maximum and sum of one query. Exponents are of 2 and are `scale` >= 0 times a score; a
/// hidden score is -infinity. Four lanes share a query and each sums what it holds; they meet in
/// `total`.
struct online_softmax {
  /// The reference may lie this far below the maximum: probabilities are at most 2^8, which all
  /// types hold, and the results so far are rescaled in few steps only. Each query decides for
  /// itself, so its result does not depend on its neighbours.
  static constexpr float slack = 8;

  float reference = hidden_exponent; ///< what exponents are taken relative to
  float sum = 0;

  /// The reference for a step whose largest score in this lane is `largest`: `next` of all four
  /// lanes. Returns whether it moves.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool look_at(float largest, float scale,
                                                     float& next) const {
    largest = maximum<nan_rule::ignore>(largest, wave::shuffle_xor<1>(largest));
    largest = maximum<nan_rule::ignore>(largest, wave::shuffle_xor<2>(largest)) * scale;
    const bool moves = largest > reference + slack;
    next = moves ? largest : reference;
    return moves;
  }

  /// Moves the reference; returns what results so far are to be multiplied with.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float move_to(float next) {
    const float rescale = exp2(reference - next);
    reference = next;
    sum *= rescale;
    return rescale;
  }

  /// What is subtracted from exponents: before anything was seen they must stay far below.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float base() const {
    return reference == hidden_exponent ? 0.0f : reference;
  }

  /// The sum of all probabilities, in all lanes of the query.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float total() const {
    const float pair = sum + wave::shuffle_xor<1>(sum);
    return pair + wave::shuffle_xor<2>(pair);
  }

  /// The binary logarithm of that sum, relative to 0; -infinity where there were no keys.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float log(float total) const {
    return total == 0.0f ? -INFINITY : reference + log2(total);
  }
};

/// Whether exponents of a query are so large that `base`, which is rounded, may lie further from
/// the exact product of the largest score and the scale than P's type can tell: more than half an
/// ulp below 1, where 2^15 (2^12 of fp16) have 2^-9 (2^-12) at most. Then the products are
/// rounded, too, before the difference is formed; for each query by itself, so that its bits do
/// not depend on its neighbours.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool is_far(float base) {
  constexpr float limit = wavetile::detail::is_same_v<T, fp16> ? 0x1p12f : 0x1p15f;
  return base > limit || base < -limit;
}

/// Two probabilities as 16-bit `T`, `low` in the lower bits, rounded to nearest even.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t pack_probabilities(float low, float high) {
  uint32_t result;
  if constexpr (wavetile::detail::is_same_v<T, bf16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

} // namespace wavetile::kernels

#endif
