/// \file
/// From scores to exponents of 2 on NVIDIA GPUs: part of the factor may go into the queries.
#pragma once

#include <wavetile/kernels/attention/cuda/online_softmax.hpp>
#include <wavetile/kernels/attention/problem.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// What the queries are multiplied with so that a score times `exponent_scale` is an exponent and
/// that is not negative: caps and masks need exponents in between, and leave 1.
template <class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float query_factor(const attention_arguments<Types>& args) {
  return Types::mask::kind == mask_kind::additive || args.cap != 0 || args.score_scale > 0 ? 1.0f
         : args.score_scale < 0                                                            ? -1.0f
                                                                                           : 0.0f;
}
template <class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float exponent_scale(const attention_arguments<Types>& args) {
  const float scale = args.score_scale < 0 ? -args.score_scale : args.score_scale;
  return Types::mask::kind == mask_kind::additive || args.cap != 0 || scale == 0 ? 1.0f : scale;
}

/// Eight 16-bit `T`, times the factor.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void scale_chunk(uint32_t (&words)[4], float factor) {
  for (uint32_t& word : words)
    word = pack_probabilities<T>(convert<float>(T::from_bits(static_cast<uint16_t>(word))) * factor,
                                 convert<float>(T::from_bits(static_cast<uint16_t>(word >> 16))) *
                                     factor);
}

} // namespace wavetile::kernels

#endif
