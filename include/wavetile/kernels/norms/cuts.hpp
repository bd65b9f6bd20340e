/// \file
/// The cuts of the normalisation kernels on the target.
#pragma once

#include <wavetile/kernels/norms/config.hpp>
#if WAVETILE_CUDA
#include <wavetile/kernels/norms/cuda/cuts.hpp>
#endif

namespace wavetile::kernels {

/// Cuts that one name stands for, from the smallest: on gfx942 small workgroups have two or four
/// waves, since what each wave does once for its row is as much as 16 elements a lane cost.
constexpr int norm_cuts_of(norm_kernel kernel) {
#if WAVETILE_CUDA
  return detail::cuda_norm_cuts(kernel);
#else
  return kernel == norm_kernel::small_workgroup ? 2 : 1;
#endif
}

/// One of them; arguments as of `common_norm_config_of`.
constexpr norm_config norm_config_of(norm_kernel kernel, int chunk_bytes, int loaded_bytes,
                                     int cut = 0) {
#if WAVETILE_CUDA
  if (norm_config own; detail::cuda_norm_cut(kernel, chunk_bytes, loaded_bytes, cut, own))
    return own;
#endif
  norm_config common = common_norm_config_of(kernel, chunk_bytes, loaded_bytes);
  if (cut < norm_cuts_of(kernel) - 1)
    common.waves /= 2;
  return common;
}

/// Workgroups that a compute unit is to hold, where that bounds the registers of a lane: on gfx942
/// as many as it can, 32 waves, where rows leave room. `plain`: without residual and 8-bit results;
/// `uniform`: x, y and weight are of one type, and there is no bias.
constexpr int norm_groups_of([[maybe_unused]] norm_kind kind, bool plain, norm_config config,
                             [[maybe_unused]] bool uniform) {
#if WAVETILE_CUDA
  return detail::cuda_norm_groups(kind, plain, config);
#else
  return plain && uniform && config.keeps_row() && config.slots <= 4 ? 32 / config.waves : 1;
#endif
}

/// Workgroups of a launch, as a multiple of what the device holds at a time.
#if WAVETILE_CUDA
inline constexpr int norm_turns = detail::cuda_norm_turns;
#else
inline constexpr int norm_turns = 1;
#endif

/// Rows of no more bytes are not for clusters, where there are any.
constexpr int64_t least_clustered(norm_kind kind, bool has_residual, int element_bytes) {
  if (has_residual)
    return 32 * 1024;
  return (element_bytes == 2 ? 16 * 1024 : 32 * 1024) * (kind == norm_kind::rms ? 2 : 1);
}

} // namespace wavetile::kernels
