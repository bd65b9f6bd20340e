/// \file
/// The cuts of the softmax kernels on NVIDIA GPUs, where they differ from the common ones.
#pragma once

#include <wavetile/kernels/softmax/config.hpp>

namespace wavetile::kernels::detail {

/// A lane holds 32 elements of a row, so that four to eight 16-byte loads are in flight and 64
/// registers suffice: 32 waves an SM. A workgroup has as many waves as the row needs; idle ones
/// cost what their barriers cost (H200: rows of 4096 bf16 run at 88 % of a copy with 4 waves, at
/// 66 % with 8). False where the common cuts apply: gradients and masks need registers beside the
/// row.
constexpr bool cuda_cut(softmax_kernel kernel, softmax_form form, mask_kind mask, int chunk,
                        int number, softmax_config& result) {
  if (is_backward(form) || mask != mask_kind::none)
    return false;
  const int slots = 32 / chunk;
  switch (kernel) {
  case softmax_kernel::short_rows:
    result = {softmax_method::lanes, 4, 2};
    return true;
  case softmax_kernel::wave_rows:
    result = {softmax_method::lanes, 4, slots};
    return true;
  case softmax_kernel::small_workgroup:
    result = {softmax_method::workgroup, number == 0 ? 4 : 8, slots};
    return true;
  case softmax_kernel::workgroup:
    result = {softmax_method::workgroup, 16, slots};
    return true;
  case softmax_kernel::large_workgroup:
    if (chunk == 4)
      result = {softmax_method::workgroup, 32, slots};
    else
      result = {softmax_method::workgroup, 16, number == 0 ? 2 * slots : 4 * slots};
    return true;
  case softmax_kernel::split:
  case softmax_kernel::stream:
  case softmax_kernel::cluster:
    break;
  }
  return false;
}

/// How many there are under a name.
constexpr int cuda_cuts(softmax_kernel kernel, softmax_form form, mask_kind mask, int chunk) {
  if (is_backward(form) || mask != mask_kind::none)
    return 1;
  return kernel == softmax_kernel::small_workgroup ||
                 (kernel == softmax_kernel::large_workgroup && chunk > 4)
             ? 2
             : 1;
}

} // namespace wavetile::kernels::detail
