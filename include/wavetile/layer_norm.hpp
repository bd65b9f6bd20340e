/// \file
/// layer_norm on the host side.
#pragma once

#include <wavetile/norm_arrays.hpp>

namespace wavetile {

/// The problem that `layer_norm(arrays, options)` solves, for `plan`.
template <class... Arrays>
norm_problem layer_norm_problem_of(const norm_arrays<Arrays...>& arrays,
                                   const norm_options& options = {}) {
  return detail::norm_call_of<norm_kind::layer>(arrays, options).problem;
}

/// LayerNorm over the last axis, in fp32 arithmetic:
///
///     y[…, i] = (h[i] - m) / sqrt(sum over j of (h[j] - m)^2 / n + epsilon) weight[i] + bias[i]
///
/// with h = x or x + residual and m the mean of h. The variance is that of differences from the
/// mean: a mean that is large beside the deviation costs no digits but those of the mean itself.
///
///     layer_norm(norm_arrays{.x = x, .y = y, .weight = w, .bias = b}, {.epsilon = 1e-6f}, stream);
///
/// Everything else as `rms_norm`.
template <class X, class Y, class Weight, class Bias, class Residual, class Sum, class Scales>
status layer_norm(const norm_arrays<X, Y, Weight, Bias, Residual, Sum, Scales>& arrays,
                  const norm_options& options = {}, hipStream_t stream = nullptr) {
  return detail::normalise<norm_kind::layer>(arrays, options, stream);
}

} // namespace wavetile
