/// \file
/// rms_norm on the host side.
#pragma once

#include <wavetile/norm_arrays.hpp>

namespace wavetile {

/// The problem that `rms_norm(arrays, options)` solves, for `plan`.
template <class... Arrays>
norm_problem rms_norm_problem_of(const norm_arrays<Arrays...>& arrays,
                                 const norm_options& options = {}) {
  return detail::norm_call_of<norm_kind::rms>(arrays, options).problem;
}

/// RMSNorm over the last axis, in fp32 arithmetic:
///
///     y[…, i] = h[i] / sqrt(sum over j of h[j]^2 / n + epsilon) weight[i],   h = x or x + residual
///
///     rms_norm(norm_arrays{.x = x, .y = y, .weight = w}, {.epsilon = 1e-6f}, stream);
///     rms_norm(norm_arrays{.x = x, .y = y, .weight = w, .residual = r, .sum = r}, {}, stream);
///
/// x, residual, sum: views of rank 1 to 4 and equal extents, of fp32, fp16 or bf16 (HIP's own types
/// too), weight a vector of any of these; all types may differ. With a residual, x + residual is
/// rounded to the type of sum, written there, and that is what is normalised: the same as adding
/// first. y has the extents of x, and any of these types or fp8_e4m3_fnuz or int8. Such a y is
/// v / scale, rounded to nearest even and saturated: with `scales`, a vector of fp32 with an
/// element for each row (row-major), each row by its largest magnitude over the largest number of
/// the type (240, 127), which is written there; else by `options.scale`. A row whose magnitudes
/// are all below 2^-100 is scaled as if that were the largest.
///
/// Any extents including 0, any row strides (negative too; 0 for inputs), last stride 1, pointers
/// multiples of the element size; results do not depend on alignment. y and sum may be exactly x or
/// residual, and are apart from everything else. Asynchronous on `stream`, which may be capturing;
/// nothing is allocated. Every element is read and written once while a row fits on chip (see
/// `plan(rms_norm_problem_of(arrays, options), device)` for which kernel runs, its LDS and
/// registers). Longer rows are read twice; with a workspace (`options.memory`,
/// `norm_plan::best_workspace_bytes`) several workgroups share each.
///
/// For a given shape and device the result of a row is the same bit for bit, but for the sign of a
/// zero, wherever the row stands and on gfx942 however many there are; with a workspace the last
/// bits of long rows differ from those without. A row with a NaN or infinity, or whose sum of
/// squares leaves fp32, is NaN or 0 as the formula has it. Errors: extents that do not go together,
/// last stride not 1, null pointer to a non-empty view, misaligned pointer, overlap, element types
/// without a kernel, options that are not allowed, workspace too small (only if one is lent),
/// device without code, a device that does not hold all workgroups at a time that exchange
/// statistics through a workspace (`grid_limit`; on a part of a device; without a workspace another
/// kernel runs). Whatever the error, nothing is written.
template <class X, class Y, class Weight, class Bias, class Residual, class Sum, class Scales>
status rms_norm(const norm_arrays<X, Y, Weight, Bias, Residual, Sum, Scales>& arrays,
                const norm_options& options = {}, hipStream_t stream = nullptr) {
  static_assert(!kernels::is_present<kernels::array_element_t<Bias>>,
                "wavetile: rms_norm has no bias");
  return detail::normalise<norm_kind::rms>(arrays, options, stream);
}

} // namespace wavetile
