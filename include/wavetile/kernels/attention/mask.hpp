/// \file
/// Masks by array: a lane's part of a step, on its way while the scores are computed.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/kernels/attention/online_softmax.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// A mask's number, at least -2.28e38, so that its exponent of 2 stays above that of hidden keys.
/// By bits, of which those of negative numbers rise with the magnitude: one instruction, without a
/// constant in a register, and NaNs stay what they are (those with a sign bit become the limit).
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float limited_bias(float bias) {
  constexpr uint32_t limit = wavetile::detail::bit_cast<uint32_t>(-largest_exponent / log2_e);
  const uint32_t bits = float_bits(bias);
  return float_from_bits(bits < limit ? bits : limit);
}

/// Elements of a mask for the scores of `Fragments` accumulators: a lane has runs of eight keys.
template <class Mask, int Fragments>
class mask_block {
  using element = typename Mask::element;
  static constexpr int run_length = 8;
  static constexpr int runs = 2 * Fragments;
  vec<element, run_length> run_[runs];

  WAVETILE_HD static constexpr int first_of(int run) {
    return 32 * (run / 2) + key_of_score(0, run_length * (run % 2));
  }
  static_assert(key_of_score(0, 7) == 7 && key_of_score(0, 15) == key_of_score(0, 8) + 7);

  /// A run, of which nothing is computed before, where it was loaded: that would wait for it.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static vec<element, run_length>
  here(const vec<element, run_length>& run) {
    using words = uint32_t
        __attribute__((ext_vector_type(run_length * static_cast<int>(sizeof(element)) / 4)));
    auto raw = wavetile::detail::bit_cast<words>(run);
#if WAVETILE_AMDGCN
    asm volatile("" : "+v"(raw));
#endif
    return wavetile::detail::bit_cast<vec<element, run_length>>(raw);
  }

public:
  /// Starts the loads of a step's keys, from `first` on, of which the lane's begin at `row[own]`;
  /// there are `count`. Only of a last step that is not whole they come one by one.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(const element* row, int first, int own,
                                                  int count) {
    if (first + 32 * Fragments <= count) { // uniform
#pragma unroll
      for (int i = 0; i < runs; ++i)
        __builtin_memcpy(&run_[i], row + own + first_of(i), sizeof run_[i]);
    } else {
      // keys behind the last are hidden as such: any element will do
      const element* const start = row + own;
      int last = count - 1 - own;
#if WAVETILE_AMDGCN
      asm volatile("" : "+v"(last)); // nothing to prepare outside the loop, for scalar registers
#endif
#pragma unroll
      for (int i = 0; i < runs; ++i) {
#pragma unroll
        for (int e = 0; e < run_length; ++e)
          run_[i][e] = start[first_of(i) + e < last ? first_of(i) + e : last];
#if WAVETILE_AMDGCN
        __builtin_amdgcn_sched_barrier(0); // addresses of one run at a time
#endif
      }
    }
  }

  /// Exponents with the mask: `scale` times an additive mask's element is its exponent of 2.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void apply(score_block<Fragments>& scores,
                                                   float scale) const {
#pragma unroll
    for (int i = 0; i < runs; ++i) {
      const vec<element, run_length> own = here(run_[i]);
#pragma unroll
      for (int e = 0; e < run_length; ++e) {
        const int place = run_length * (i % 2) + e;
        const float exponent = scores.part[i / 2][place];
        if constexpr (Mask::kind == mask_kind::keep) {
          scores.part[i / 2].set(place, own[e] != 0 ? exponent : hidden_exponent);
        } else {
          const float bias = convert<float>(own[e]);
          const float sum = fma(limited_bias(bias), scale, exponent);
          // tested as bits: infinities may be assumed away
          scores.part[i / 2].set(place, float_bits(bias) == 0xFF800000u ? hidden_exponent : sum);
        }
      }
    }
  }
};

/// None.
template <int Fragments>
class mask_block<no_mask, Fragments> {
public:
  template <class T>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(const T*, int, int, int) {}
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void apply(score_block<Fragments>&, float) const {}
};

} // namespace wavetile::kernels

#endif
