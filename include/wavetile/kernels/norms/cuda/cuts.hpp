/// \file
/// The cuts of the normalisation kernels on NVIDIA GPUs, where they differ from the common ones.
#pragma once

#include <wavetile/kernels/norms/config.hpp>

namespace wavetile::kernels::detail {

/// How many cuts there are under a name.
constexpr int cuda_norm_cuts(norm_kernel kernel) {
  return kernel == norm_kernel::small_workgroup ? 3 : 1;
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
    result = {norm_method::workgroup, 2 << number, slots};
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
    break;
  }
  return false;
}

/// Workgroups an SM is to hold, which bounds the registers of a lane: 64 of 1024 lanes, and 80 of
/// 768 where two reductions or rows of a wave need more. (LayerNorm with 16 and 32 waves keeps up
/// to 80 bytes of a lane in memory for it, and is faster so: rows of 8192 fp32 at 86 % of a copy in
/// place of 67 %.) Kernels that quantise or add a residual are left to the compiler.
constexpr int cuda_norm_groups(norm_kind kind, bool plain, norm_config config) {
  const bool needs_more =
      config.waves <= 8 &&
      (kind == norm_kind::layer || (config.method == norm_method::lanes && config.slots > 2));
  const int lanes = needs_more ? 768 : 1024;
  return plain && config.keeps_row() && config.slots <= 4 ? lanes / config.threads() : 1;
}

/// Workgroups that take rows in turn, as a multiple of what the SMs hold: enough that the last ones
/// end together, few enough that each reads its weights for several rows (H200: 8 runs up to 9 %
/// faster than 1 and than a workgroup for every row).
inline constexpr int cuda_norm_turns = 8;

} // namespace wavetile::kernels::detail
