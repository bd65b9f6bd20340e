/// \file
/// What a matrix product must be to be planned.
#pragma once

#include <wavetile/core/device_check.hpp>
#include <wavetile/kernels/matmul/element_types.hpp>
#include <wavetile/kernels/matmul/plan_types.hpp>

namespace wavetile::detail {

/// What a problem made by hand may have and one made from views has not: numbers that no enumerator
/// has, counts below 0 or too large to compute with.
constexpr status check_problem(const matmul_problem& problem) {
  const struct {
    const char* name;
    data_type type;
  } types[] = {{"a", problem.a}, {"b", problem.b}, {"c", problem.c}, {"d", problem.d}};
  for (const auto& one : types)
    if (const status outcome = check_known_type(one.name, one.type); !outcome)
      return outcome;
  const struct {
    const char* name;
    operand_order order;
  } orders[] = {{"order_a", problem.order_a}, {"order_b", problem.order_b}};
  for (const auto& one : orders)
    if (const status outcome = check_enumerator(one.name, one.order, operand_order::k_strided,
                                                "k_contiguous, k_strided");
        !outcome)
      return outcome;
  const int64_t batches = problem.batches;
  const status checks[] = {
      check_enumerator("choice", problem.choice, matmul_choice::skinny,
                       "automatic, large, ping_pong, large_four, wide, middle, compact, skinny"),
      check_count("m", problem.m),
      check_count("n", problem.n),
      check_count("k", problem.k),
      check_count("batches", batches),
      check_count("splits", problem.splits),
      check_count("columns_per_output", problem.columns_per_output, 1),
      check_power_of_two("k_multiple", problem.k_multiple),
      check_count("workspace_bytes", problem.workspace_bytes),
      check_elements("m, k, batches", problem.m, problem.k, batches),
      check_elements("k, n, batches", problem.k, problem.n, batches),
      check_elements("m, n, batches", problem.m, problem.n, batches)};
  for (const status& outcome : checks)
    if (!outcome)
      return outcome;
  return {};
}

/// Whether there are products of these elements, and the device multiplies them.
constexpr status check_types(const matmul_problem& problem, const target& facts) {
  const bool nvidia = facts.is_nvidia();
  const data_type a = problem.a, b = problem.b, c = problem.c, d = problem.d;
  const bool fp8 = is_matmul_fp8(a, nvidia), any_c = d != data_type::fp64 && d != data_type::int32;
  const status checks[] = {
      check_data_type("a", a, are_matmul_inputs(a, a, nvidia), matmul_input_names(nvidia)),
      check_data_type("b", b, are_matmul_inputs(a, b, nvidia),
                      fp8 ? matmul_fp8_names(nvidia) : name_of(a)),
      check_data_type("d", d, is_matmul_result(a, d, nvidia), matmul_result_names(a, nvidia)),
      check_data_type("c", c, !problem.reads_c || is_matmul_addend(c, d),
                      any_c ? "fp32, fp16, bf16, or the type of d" : name_of(d))};
  for (const status& outcome : checks)
    if (!outcome)
      return outcome;
  if (nvidia && fp8 && facts.fp8 != fp8_support::ocp)
    return status::failure(status_code::unsupported_type, "a", "its elements are ")
        .append(name_of(problem.a))
        .append(", which ")
        .append(facts.name)
        .append(" does not multiply; allowed there: fp64, fp32, fp16, bf16, int8");
  return {};
}

/// Whether a product of `rows` rows can run with the tile that was asked for by name or template
/// argument.
constexpr status check_forced(const matmul_problem& problem, const target& facts, int64_t rows,
                              matmul_choice forced) {
  if (!kernels::has_kernel(forced, facts, size_of(problem.a)))
    return status::failure(status_code::unsupported_shape, "kernel", "it is ")
        .append(name_of(forced))
        .append(", of which there is no code for ")
        .append(name_of(problem.a))
        .append(" on ")
        .append(facts.name)
        .append("; allowed: large, middle, compact")
        .append(kernels::has_kernel(matmul_choice::skinny, facts, size_of(problem.a)) ? ", skinny"
                                                                                      : "");
  if (forced == matmul_choice::skinny && rows > skinny_rows_of(facts))
    return status::failure(status_code::unsupported_shape, "kernel", "skinny takes at most ")
        .append(skinny_rows_of(facts))
        .append(" rows of op(A), here are ")
        .append(rows);
  return {};
}

} // namespace wavetile::detail
