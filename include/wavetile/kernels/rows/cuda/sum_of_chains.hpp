/// \file
/// The end of a lane's sum.
#pragma once

#include <wavetile/config.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// A sum of a few chains, so that one addition need not wait for the last.
template <int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float sum_of_chains(const float (&chains)[N]) {
  float sums[N];
#pragma unroll
  for (int i = 0; i < N; ++i)
    sums[i] = chains[i];
#pragma unroll
  for (int step = N / 2; step > 0; step /= 2)
#pragma unroll
    for (int i = 0; i < step; ++i)
      sums[i] += sums[i + step];
  return sums[0];
}

} // namespace wavetile::kernels

#endif
