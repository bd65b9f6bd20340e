/// \file
/// How results of parts of the keys are put together on NVIDIA GPUs: by a second kernel, or by the
/// workgroup that goes through them, in the same order with the same roundings.
#pragma once

#include <wavetile/kernels/attention/cuda/online_softmax.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// What the results so far and those of the next part are multiplied with.
struct part_weights {
  float before, next; ///< of a part that saw no key, next is `nothing`
  static constexpr float nothing = -1;

  /// The sum. A part that saw no key may hold anything; one whose weight is 0 counts: what is not
  /// finite in it makes a NaN, as it would with keys of weight 0 in one part.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float sum(float results, float part) const {
    const float kept = __fmul_rn(results, before);
    return next == nothing ? kept : fma(next, part, kept);
  }
};

/// Weights relative to the largest binary logarithm of the parts so far; `log` is that of the next.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE part_weights weights_of(float largest_before, float largest,
                                                              float log) {
  return {exp2(largest_before - largest),
          log == -INFINITY ? part_weights::nothing : exp2(log - largest)};
}

/// The larger of the logarithms so far and that of a part, which is -infinity without keys.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float larger_log(float largest, float log) {
  return maximum<nan_rule::ignore>(largest, log);
}

/// Results of the parts that a wave has gone through, of its tile of queries: `Count` accumulators.
template <class Accumulator, int Count>
struct part_results {
  float largest[2] = {hidden_exponent, hidden_exponent};
  float sum[2] = {};
  Accumulator output[Count] = {};

  /// Adds those of a part, and forgets them.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void add(online_softmax (&softmax)[2],
                                                 Accumulator (&part)[Count]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float total = softmax[h].total();
      const float factor = total == 0.0f ? 0.0f : reciprocal(total);
      const float log = softmax[h].log(total), next = larger_log(largest[h], log);
      const part_weights weights = weights_of(largest[h], next, log);
      largest[h] = next;
      sum[h] = weights.sum(sum[h], 1.0f);
#pragma unroll
      for (int n = 0; n < Count; ++n)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float& value = part[n].value[2 * h + c];
          float& result = output[n].value[2 * h + c];
          result = weights.sum(result, __fmul_rn(value, factor));
          value = 0;
        }
      softmax[h] = {};
    }
  }

  /// They become the wave's.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void give(online_softmax (&softmax)[2],
                                                  Accumulator (&results)[Count], int lane) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      softmax[h].reference = largest[h];
      softmax[h].sum = lane % 4 == 0 ? sum[h] : 0.0f; // `total` adds those of four lanes
    }
#pragma unroll
    for (int n = 0; n < Count; ++n)
      results[n] = output[n];
  }
};

} // namespace wavetile::kernels

#endif
