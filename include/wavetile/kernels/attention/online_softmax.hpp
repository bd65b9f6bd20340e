/// \file
/// The softmax of attention, step by step.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/kernels/attention/scores.hpp>
#include <wavetile/kernels/attention/tiles.hpp>
#include <wavetile/wave/shuffle.hpp>
#include <wavetile/wave/vote.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// Two fp32 for packed instructions.
using score_pair = float __attribute__((ext_vector_type(2)));

/// `pair`, of which the compiler must assume that both halves are needed in one register pair: it
/// takes packed operations apart when halves are used one by one.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE score_pair keep_together(score_pair pair) {
#if WAVETILE_AMDGCN
  asm("" : "+v"(pair));
#endif
  return pair;
}

/// `x`, of which what was computed before is done first: many independent chains of arithmetic side
/// by side take registers.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float one_at_a_time(float x) {
#if WAVETILE_AMDGCN
  asm volatile("" : "+v"(x));
#endif
  return x;
}

/// The scores of a step that a lane holds, all of one query: `Fragments` accumulators of 32 keys.
template <int Fragments>
struct score_block {
  using accumulator = fragment<fragment_role::accumulator, shape_32x32<bf16>, float>;
  accumulator part[Fragments];

  /// Calls `f(value, key)` for each; `key` relative to the lane's first, which is 8 for the upper
  /// half of the wave.
  template <class F>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void each(const F& f) {
#pragma unroll
    for (int p = 0; p < Fragments; ++p)
#pragma unroll
      for (int i = 0; i < accumulator::size; ++i)
        part[p].set(i, f(part[p][i], 32 * p + key_of_score(0, i)));
  }

  /// Replaces neighbours by `f(pair)`, in instructions that take two scores each.
  template <class F>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void each_pair(const F& f) {
#pragma unroll
    for (int p = 0; p < Fragments; ++p)
#pragma unroll
      for (int i = 0; i < accumulator::size; i += 2) {
        const score_pair result = f(score_pair{part[p][i], part[p][i + 1]});
        part[p].set(i, result[0]);
        part[p].set(i + 1, result[1]);
      }
  }
};

/// Running maximum and sum of one query. Exponents are of 2. A lane sums what it holds; the two
/// lanes of a query meet in `total`.
struct online_softmax {
  /// The reference may lie this far below the maximum: probabilities are at most 2^8, which all
  /// types hold, and the results so far are rescaled in few steps only. Each query decides for
  /// itself, so its result does not depend on its neighbours.
  static constexpr float slack = 8;

  float reference = hidden_exponent; ///< what exponents are taken relative to
  score_pair sum{0, 0};

  /// From exponents to probabilities. Returns true, uniformly, when results so far must be
  /// multiplied by `rescale`.
  template <int Fragments>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool step(score_block<Fragments>& scores, float& rescale) {
    float largest = scores.part[0][0];
#pragma unroll
    for (int p = 0; p < Fragments; ++p)
#pragma unroll
      for (int i = p == 0 ? 1 : 0; i < 16; ++i)
        largest = maximum<nan_rule::ignore>(largest, scores.part[p][i]);
    largest = maximum<nan_rule::ignore>(largest, wave::shuffle_xor<32>(largest));

    const bool moves = largest > reference + slack;
    const bool any_moves = wave::any(moves);
    if (any_moves) {
      const float next = moves ? largest : reference;
      rescale = exp2(reference - next);
      reference = next;
      sum *= rescale;
    }
    // before anything was seen every exponent must stay far below
    const float base = reference == hidden_exponent ? 0.0f : reference;
    scores.each_pair([&](score_pair exponents) {
      exponents = keep_together(exponents - base);
      const score_pair probabilities{exp2(exponents[0]), exp2(exponents[1])};
      sum = keep_together(sum + probabilities);
      return probabilities;
    });
    return any_moves;
  }

  /// Takes in what was seen elsewhere: multiply own results by `own_factor`, the others by
  /// `other_factor`, and add.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void merge(float other_reference, float other_sum,
                                                   float& own_factor, float& other_factor) {
    const float next = maximum<nan_rule::ignore>(reference, other_reference);
    own_factor = exp2(reference - next);
    other_factor = exp2(other_reference - next);
    reference = next;
    sum = score_pair{fma(sum[0] + sum[1], own_factor, other_sum * other_factor), 0};
  }

  /// The sum of all probabilities, in both lanes of the query.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float total() const {
    const float own = sum[0] + sum[1];
    return own + wave::shuffle_xor<32>(own);
  }
};

/// Two probabilities as bf16 in a dword, rounded to nearest, ties up: they are not negative, so one
/// addition does where ties to even take two instructions. A NaN may become any bf16, but the sum
/// that divides the result is one then.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t pack_probabilities(float low, float high) {
  constexpr uint32_t half = 0x8000; // of the last place of a bf16 in fp32
#if WAVETILE_AMDGCN
  return __builtin_amdgcn_perm(float_bits(high) + half, float_bits(low) + half, 0x07060302u);
#else
  return ((float_bits(high) + half) & 0xFFFF0000u) | (float_bits(low) + half) >> 16;
#endif
}

/// Probabilities as operand of the product with V: part `Part` of an accumulator, rounded to
/// nearest, ties up for bf16 and to even for fp16.
template <class T, int Part, class Accumulator>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE auto probability_operand(const Accumulator& d) {
  using result = fragment<fragment_role::b, shape_32x32<T>, T>;
  result operand;
  if constexpr (wavetile::detail::is_same_v<T, bf16>) {
    const vec<uint32_t, 2> packed{{pack_probabilities(d[4 * Part], d[4 * Part + 1]),
                                   pack_probabilities(d[4 * Part + 2], d[4 * Part + 3])}};
    operand.registers = wavetile::detail::bit_cast<decltype(operand.registers)>(packed);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      operand.set(i, convert<T>(d[4 * Part + i]));
  }
  return operand;
}

} // namespace wavetile::kernels

#endif
