/// \file
/// What the plans of kernels for rows say alike.
#pragma once

#include <wavetile/core/text.hpp>

namespace wavetile::kernels {

/// Workgroups, registers, memory and how often the input is read.
template <class Text, class Plan>
constexpr void describe_resources(Text& text, const Plan& plan) {
  text.append(plan.groups)
      .append(" workgroups of ")
      .append(plan.config.threads())
      .append(", ")
      .append(plan.row_registers)
      .append(" registers a lane for the row (at most ")
      .append(plan.register_limit)
      .append(" in all), ")
      .append(plan.lds_bytes)
      .append(" bytes of LDS, ")
      .append(plan.workspace_bytes)
      .append(" of workspace, input read ")
      .append(plan.readings == 1 ? "once" : (plan.readings == 2 ? "twice" : "three times"));
}

/// How memory is accessed.
template <class Text, class Plan>
constexpr void describe_accesses(Text& text, const Plan& plan) {
  text.append(plan.aligned ? ", 16-byte accesses" : ", 16-byte accesses at element alignment");
}

/// Why a kernel does not run, for a reason that a row's length gives.
template <class Text, class Plan, class Refusal>
constexpr void describe_length(Text& text, const Plan& plan, Refusal refused) {
  if (refused == Refusal::row_too_long)
    text.append("a row has ")
        .append(plan.problem_chunks)
        .append(" chunks of ")
        .append(plan.chunk)
        .append(" elements, more than it holds");
  else if (refused == Refusal::not_needed)
    text.append(name_of(plan.kernel)).append(" holds the row");
  else
    text.append("it reads the input twice, and a row fits on chip");
}

} // namespace wavetile::kernels
