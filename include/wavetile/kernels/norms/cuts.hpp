/// \file
/// The cuts of the normalisation kernels on the target.
#pragma once

#include <wavetile/kernels/norms/config.hpp>
#include <wavetile/kernels/rows/cluster.hpp>
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

/// Whether the waves of a ring keep elements as fp32 from the sum to the squares.
constexpr bool ring_holds_values(norm_kind kind, int element_bytes, row_ring ring) {
  return kind == norm_kind::layer && ring.steps * row_ring::lane_bytes / element_bytes <= 32;
}

/// Whether they keep weight and bias in registers from row to row, of arrays aligned to 16 bytes:
/// beside values as fp32 and the residual; 16-bit elements need more for conversions.
constexpr bool ring_keeps_parameters(norm_kind kind, int chunk, int element_bytes, row_ring ring,
                                     int parameter_bytes, bool has_residual) {
  const int elements = row_ring::lane_bytes / element_bytes; // of a step
  const int values = ring_holds_values(kind, element_bytes, ring) ? ring.steps : 1;
  return elements * (4 * values + ring.steps * parameter_bytes) +
             (has_residual ? ring.steps * row_ring::lane_bytes : 0) <=
         (chunk == 4 ? 320 : 192);
}

} // namespace wavetile::kernels
