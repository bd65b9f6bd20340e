/// \file
/// A normalisation plan in words.
#pragma once

#include <wavetile/kernels/norms/plan_types.hpp>
#include <wavetile/kernels/rows/describe_plan.hpp>

namespace wavetile {

constexpr fixed_text<1500> norm_plan::describe() const {
  fixed_text<1500> text;
  if (!outcome)
    return text.append(outcome.message()), text;
  if (launches == 0)
    return text.append("nothing to do: the problem is empty"), text;
  text.append(name_of(kernel)).append(": ");
  if (kernel == norm_kernel::short_rows)
    text.append(1 << lanes_log2).append(" lanes a row, ");
  if (kernel == norm_kernel::cluster && workspace_bytes == 0)
    text.append("clusters of ").append(parts).append(", ");
  if (kernel == norm_kernel::cluster && workspace_bytes > 0)
    text.append(parts).append(" workgroups a row that exchange statistics through a workspace, ");
  if (kernel == norm_kernel::split)
    text.append(parts).append(" workgroups a row, ");
  kernels::describe_resources(text, *this);
  text.append(keeps_parameters ? "" : ", weight and bias read again for every row");
  kernels::describe_accesses(text, *this);
  for (int i = 0; i < norm_kernel_count; ++i) {
    if (refused[i] == norm_refusal::none ||
        (refused[i] == norm_refusal::not_clustered && !WAVETILE_CUDA))
      continue;
    text.append("\n  not ").append(name_of(static_cast<norm_kernel>(i))).append(": ");
    switch (refused[i]) {
    case norm_refusal::none:
      break;
    case norm_refusal::row_too_long:
    case norm_refusal::not_needed:
    case norm_refusal::row_fits:
      kernels::describe_length(text, *this, refused[i]);
      break;
    case norm_refusal::needs_workspace:
      text.append("it needs ").append(split_bytes).append(" bytes of workspace, ");
      (lent_bytes == 0 ? text.append("none") : text.append(lent_bytes)).append(" lent");
      break;
    case norm_refusal::not_clustered:
      text.append(
          "it takes long rows without 8-bit results and other sizes of a residual, with clusters");
      break;
    case norm_refusal::cluster_is_faster:
      text.append(workspace_bytes > 0 ? "workgroups that exchange statistics have the row in LDS"
                  : readings == 1     ? "a cluster has the row in LDS"
                                      : "a cluster has most of the row in LDS");
      break;
    case norm_refusal::split_is_better:
      text.append(static_cast<norm_kernel>(i) == norm_kernel::cluster
                      ? "it is for calls without a workspace"
                      : "it has one workgroup a row, and reads weight and bias again for each");
      break;
    }
  }
  if (read_once_bytes > 0)
    text.append("\n  with a workspace of ")
        .append(read_once_bytes)
        .append(" bytes rows would be read once");
  return text;
}

} // namespace wavetile
