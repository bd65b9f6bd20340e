/// \file
/// The cuts of the normalisation kernels on the target.
#pragma once

#include <wavetile/kernels/norms/config.hpp>
#if WAVETILE_CUDA
#include <wavetile/kernels/norms/cuda/cuts.hpp>
#endif

namespace wavetile::kernels {

/// Cuts that one name stands for, from the smallest: one on gfx942.
constexpr int norm_cuts_of([[maybe_unused]] norm_kernel kernel) {
#if WAVETILE_CUDA
  return detail::cuda_norm_cuts(kernel);
#else
  return 1;
#endif
}

/// One of them; arguments as of `common_norm_config_of`.
constexpr norm_config norm_config_of(norm_kernel kernel, int chunk_bytes, int loaded_bytes,
                                     [[maybe_unused]] int cut = 0) {
#if WAVETILE_CUDA
  if (norm_config own; detail::cuda_norm_cut(kernel, chunk_bytes, loaded_bytes, cut, own))
    return own;
#endif
  return common_norm_config_of(kernel, chunk_bytes, loaded_bytes);
}

/// Workgroups that a compute unit is to hold, where that bounds the registers of a lane: not on
/// gfx942. `plain`: without residual and 8-bit results.
constexpr int norm_groups_of([[maybe_unused]] norm_kind kind, [[maybe_unused]] bool plain,
                             [[maybe_unused]] norm_config config) {
#if WAVETILE_CUDA
  return detail::cuda_norm_groups(kind, plain, config);
#else
  return 1;
#endif
}

/// Workgroups of a launch, as a multiple of what the device holds at a time.
#if WAVETILE_CUDA
inline constexpr int norm_turns = detail::cuda_norm_turns;
#else
inline constexpr int norm_turns = 1;
#endif

} // namespace wavetile::kernels
