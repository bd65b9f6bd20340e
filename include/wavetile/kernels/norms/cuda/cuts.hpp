/// \file
/// The cuts of the normalisation kernels on NVIDIA GPUs, where they differ from the common ones.
#pragma once

#include <wavetile/kernels/norms/config.hpp>

namespace wavetile::kernels::detail {

/// Waves of the cuts of `small_workgroup`. Three, five and ten are for rows of 3072 and 5120
/// elements and their multiples (H200: LayerNorm of 5120 bf16 at 88 % of a copy with 5 waves, at
/// 65 % with 8; of 5120 fp32 at 93 % with 10, at 84 % with 16).
inline constexpr int cuda_small_waves[] = {2, 3, 4, 5, 8, 10};

/// How many cuts there are under a name.
constexpr int cuda_norm_cuts(norm_kernel kernel) {
  return kernel == norm_kernel::small_workgroup
             ? static_cast<int>(sizeof cuda_small_waves / sizeof cuda_small_waves[0])
             : 1;
}

/// Four 16-byte loads a lane, and as many waves as the row needs: idle ones cost what their
/// barriers cost. False where the common cuts apply.
constexpr bool cuda_norm_cut(norm_kernel kernel, int chunk_bytes, int loaded_bytes, int number,
                             norm_config& result) {
  const int slots = slots_within(16, chunk_bytes);
  switch (kernel) {
  case norm_kernel::short_rows:
    result = {norm_method::lanes, 4, 2};
    return true;
  case norm_kernel::small_workgroup:
    result = {norm_method::workgroup, cuda_small_waves[number], slots};
    return true;
  case norm_kernel::wide_workgroup:
    if (loaded_bytes != chunk_bytes) // x and residual at a time: too many for 1024 lanes
      return false;
    result = {norm_method::workgroup, 32, slots};
    return true;
  case norm_kernel::wave_rows:
  case norm_kernel::workgroup:
  case norm_kernel::large_workgroup:
  case norm_kernel::stream:
  case norm_kernel::split:
  case norm_kernel::cluster:
    break;
  }
  return false;
}

/// Workgroups an SM is to hold, which bounds the registers of a lane: 64 of 1024 lanes, and 80 of
/// 768 where a wave holds rows and two reductions or several slots need more. (LayerNorm keeps up
/// to 80 bytes of a lane in memory for 1024, and is faster so: rows of 8192 bf16 at 87 % of a copy
/// in place of 80 %.) Kernels that quantise or add a residual are left to the compiler.
constexpr int cuda_norm_groups(norm_kind kind, bool plain, norm_config config) {
  const bool needs_more =
      config.method == norm_method::lanes && (kind == norm_kind::layer || config.slots > 2);
  const int lanes = needs_more ? 768 : 1024;
  return plain && config.keeps_row() && config.slots <= 4 ? lanes / config.threads() : 1;
}

/// Workgroups that take rows in turn, as a multiple of what the SMs hold: enough that the last ones
/// end together, few enough that each reads its weights for several rows (H200: 8 runs up to 9 %
/// faster than 1 and than a workgroup for every row).
inline constexpr int cuda_norm_turns = 8;

} // namespace wavetile::kernels::detail
