/// \file
/// A softmax plan in words.
#pragma once

#include <wavetile/kernels/rows/describe_plan.hpp>
#include <wavetile/kernels/softmax/plan_types.hpp>

namespace wavetile {

constexpr fixed_text<1600> softmax_plan::describe() const {
  fixed_text<1600> text;
  if (!outcome) {
    text.append(outcome.message());
    return text;
  }
  if (launches == 0)
    return text.append("nothing to do: the problem is empty");
  text.append(name_of(kernel)).append(": ");
  if (kernel == softmax_kernel::short_rows)
    text.append(1 << lanes_log2).append(" lanes a row, ");
  if (kernel == softmax_kernel::cluster)
    text.append("clusters of ").append(parts).append(", ");
  if (kernel == softmax_kernel::split)
    text.append(parts).append(" workgroups a row, ");
  kernels::describe_resources(text, *this);
  kernels::describe_accesses(text, *this);
  for (int i = 0; i < softmax_kernel_count; ++i) {
    const auto refused_kernel = static_cast<softmax_kernel>(i);
    if (refused[i] == softmax_refusal::none ||
        (refused[i] == softmax_refusal::not_clustered && !WAVETILE_CUDA))
      continue;
    text.append("\n  not ").append(name_of(refused_kernel)).append(": ");
    switch (refused[i]) {
    case softmax_refusal::none:
      break;
    case softmax_refusal::row_too_long:
    case softmax_refusal::not_needed:
    case softmax_refusal::row_fits:
      kernels::describe_length(text, *this, refused[i]);
      break;
    case softmax_refusal::many_rows:
      text.append(problem_rows).append(" rows occupy all ").append(cu_count).append(" CUs");
      break;
    case softmax_refusal::needs_workspace:
      text.append("it needs ").append(split_bytes).append(" bytes of workspace, none lent");
      break;
    case softmax_refusal::not_clustered:
      text.append("it takes long rows without masks, of devices and in code with clusters");
      break;
    case softmax_refusal::cluster_is_faster:
      text.append(readings == 1 ? "a cluster has the row in LDS"
                                : "a cluster has most of the row in LDS");
      break;
    case softmax_refusal::split_is_faster:
      text.append("with ").append(problem_rows).append(" rows it would leave CUs idle");
      break;
    }
  }
  return text;
}

} // namespace wavetile
