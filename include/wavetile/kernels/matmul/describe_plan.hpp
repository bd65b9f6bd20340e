/// \file
/// A matrix product's plan in words.
#pragma once

#include <wavetile/kernels/matmul/plan_types.hpp>

namespace wavetile {

constexpr fixed_text<1600> matmul_plan::describe() const {
  fixed_text<1600> text;
  if (!outcome)
    return text.append(outcome.message());
  if (launches == 0)
    return text.append("nothing to do: the problem is empty");
  if (!product)
    return text.append("no product: only C is read");
  text.append(name_of(choice))
      .append(": tiles of ")
      .append(tile_m)
      .append(" x ")
      .append(tile_n)
      .append(" in steps of ")
      .append(tile_k)
      .append(", ")
      .append(groups)
      .append(" workgroups of ")
      .append(threads);
  if (split_products > 0)
    text.append(", k of ")
        .append(split_products)
        .append(" products in up to ")
        .append(splits)
        .append(" parts of up to ")
        .append(split_k);
  else if (splits > 1)
    text.append(", k in ").append(splits).append(" parts of ").append(split_k);
  text.append(", ")
      .append(accumulator_registers)
      .append(" accumulator registers a lane (at most ")
      .append(register_limit)
      .append(" in all), ")
      .append(lds_bytes)
      .append(" bytes of LDS, ")
      .append(workspace_bytes)
      .append(" of workspace, ")
      .append(static_cast<int>(useful * 100 + 0.5))
      .append(" % useful work")
      .append(aligned ? ", 16-byte accesses" : ", 16-byte accesses at element alignment");
  for (int i = 1; i < matmul_choice_count; ++i) {
    if (refused[i] == matmul_refusal::none)
      continue;
    text.append("\n  not ").append(name_of(static_cast<matmul_choice>(i))).append(": ");
    switch (refused[i]) {
    case matmul_refusal::none:
      break;
    case matmul_refusal::slower:
      text.append("expected to take longer");
      if (relative_time[i] > 0)
        text.append(", ").append(static_cast<int>(relative_time[i] * 100 + 0.5)).append(" %");
      break;
    case matmul_refusal::on_request:
      text.append("compiled only into calls of matmul<matmul_choice::")
          .append(name_of(static_cast<matmul_choice>(i)))
          .append('>');
      break;
    case matmul_refusal::too_many_rows:
      text.append("op(A) has ").append(rows).append(" rows, more than ").append(most_skinny_rows);
      break;
    case matmul_refusal::another_forced:
      text.append(name_of(choice)).append(" was asked for");
      break;
    case matmul_refusal::no_kernel:
      text.append("there is no code for it on this device");
      break;
    }
  }
  return text;
}

} // namespace wavetile
