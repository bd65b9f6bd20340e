/// \file
/// The cuts of the softmax kernels on the target.
#pragma once

#include <wavetile/kernels/softmax/config.hpp>
#if WAVETILE_CUDA
#include <wavetile/kernels/softmax/cuda/cuts.hpp>
#endif

namespace wavetile::kernels {

/// Cuts that one name stands for, from the smallest: one on gfx942.
constexpr int cuts_of([[maybe_unused]] softmax_kernel kernel, [[maybe_unused]] softmax_form form,
                      [[maybe_unused]] mask_kind mask, [[maybe_unused]] int chunk) {
#if WAVETILE_CUDA
  return detail::cuda_cuts(kernel, form, mask, chunk);
#else
  return 1;
#endif
}

/// One of them; arguments as of `common_config_of`.
constexpr softmax_config config_of(softmax_kernel kernel, softmax_form form, mask_kind mask,
                                   int chunk, int held_bytes, [[maybe_unused]] int cut = 0) {
#if WAVETILE_CUDA
  if (softmax_config own; detail::cuda_cut(kernel, form, mask, chunk, cut, own))
    return own;
#endif
  return common_config_of(kernel, form, mask, chunk, held_bytes);
}

} // namespace wavetile::kernels
