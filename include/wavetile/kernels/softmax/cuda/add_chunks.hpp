/// \file
/// What a lane has of a row at a time goes into its running maximum and sum.
#pragma once

#include <wavetile/kernels/rows/cuda/sum_of_chains.hpp>
#include <wavetile/kernels/softmax/forward_math.hpp>
#include <wavetile/kernels/softmax/forward_stream.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// Adds chunks of logits to `seen`; what counts nothing is -infinity. `scale`: of exponents of 2.
template <int Count, int Chunk>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
add_chunks(running_softmax& seen, const vec<float, Chunk> (&values)[Count], float scale) {
  float largest[Chunk], sums[Chunk] = {};
#pragma unroll
  for (int e = 0; e < Chunk; ++e)
    largest[e] = seen.maximum;
#pragma unroll
  for (int i = 0; i < Count; ++i)
#pragma unroll
    for (int e = 0; e < Chunk; ++e)
      largest[e] = larger_number{}(largest[e], values[i][e]);
#pragma unroll
  for (int half = Chunk / 2; half > 0; half /= 2)
#pragma unroll
    for (int e = 0; e < half; ++e)
      largest[e] = larger_number{}(largest[e], largest[e + half]);
#pragma unroll
  for (int i = 0; i < Count; ++i)
#pragma unroll
    for (int e = 0; e < Chunk; ++e)
      sums[e] += exponential(values[i][e], largest[0], scale);
  seen.sum = fma(seen.sum, exponential(seen.maximum, largest[0], scale), sum_of_chains(sums));
  seen.maximum = largest[0];
}

} // namespace wavetile::kernels

#endif
