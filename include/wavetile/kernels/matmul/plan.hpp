/// \file
/// Which kernel would compute a matrix product, and why not another.
#pragma once

#include <wavetile/kernels/matmul/check_problem.hpp>
#include <wavetile/kernels/matmul/cut.hpp>
#include <wavetile/kernels/matmul/describe_plan.hpp>

namespace wavetile {

/// The plan for a product on a device. Pure: no runtime call, usable for devices that are not there
/// (`describe_device("gfx942", 304)`).
///
/// The tile is the one with the least expected time: rounds of workgroups over the CUs, times what
/// a tile costs, so that few large tiles lose against more small ones where they would leave CUs
/// idle or compute much padding. Up to 16 rows `skinny` runs. With a workspace, k is split where
/// the tiles alone would leave half the CUs idle.
constexpr matmul_plan plan(const matmul_problem& problem, const device_info& device) {
  matmul_plan result;
  result.outcome = detail::check_problem(problem);
  if (!result.outcome)
    return result;
  result.outcome = problem.named.ok() ? check_device(device) : problem.named;
  const target& facts = device.facts();
  const int64_t m = problem.m, n = problem.n, k = problem.k;
  const int64_t cus = device.cu_count > 0 ? device.cu_count : 1;
  const int bytes = size_of(problem.a);
  const int accumulator = bytes == 8 ? 8 : 4;
  result.rows = m;
  result.most_skinny_rows = skinny_rows_of(facts);
  result.columns = n;
  result.depth = k;
  result.product = k > 0;
  result.aligned = problem.aligned;
  const bool empty = m == 0 || n == 0 || problem.batches == 0;
  const int64_t step_floor = k > 0 ? k : 1;

  detail::choose_tile(result, problem, facts, m, problem.choice, [&](matmul_choice choice) {
    const auto cut = detail::cut_of(choice, problem, facts);
    const int64_t tiles = divide_up(m, cut.tile_m) * divide_up(n, cut.tile_n) * problem.batches;
    const int64_t splits = problem.workspace_bytes > 0
                               ? detail::choose_splits(choice, cut, problem, facts, tiles, cus,
                                                       divide_up(step_floor, cut.tile_k))
                               : 1;
    if (facts.is_nvidia())
      return detail::warp_time(cut, problem, facts, tiles, cus, splits);
    const int64_t rounds = divide_up(tiles * splits, cus * cut.side_by_side) * cut.side_by_side;
    return static_cast<double>(rounds) / static_cast<double>(splits) * cut.tile_m * cut.tile_n /
           cut.efficiency;
  });
  if (result.outcome.ok())
    result.outcome = detail::check_types(problem, facts);
  if (result.outcome.ok())
    result.outcome = detail::check_forced(problem, facts, m, problem.choice);

  const auto cut = detail::cut_of(result.choice, problem, facts);
  detail::describe_cut(result, cut, facts);
  result.tiles = divide_up(m, cut.tile_m) * divide_up(n, cut.tile_n);

  const int64_t step = cut.tile_k > problem.k_multiple ? cut.tile_k : problem.k_multiple;
  const int64_t steps = divide_up(step_floor, step);
  const int64_t part_bytes = detail::product_of(detail::product_of(problem.batches, m),
                                                detail::product_of(n, accumulator));
  int64_t splits = detail::choose_splits(result.choice, cut, problem, facts,
                                         result.tiles * problem.batches, cus, steps);
  result.best_workspace_bytes =
      splits > 1 && !empty ? detail::product_of(splits, round_up(part_bytes, 16)) : 0;
  if (problem.splits > 0)
    splits = problem.splits < steps ? problem.splits : steps;
  else if (part_bytes > 0 && splits > problem.workspace_bytes / part_bytes)
    splits = problem.workspace_bytes / part_bytes;
  splits = splits < 1 || empty || !result.product ? 1 : splits;
  result.split_k = divide_up(steps, splits) * step;
  splits = divide_up(step_floor, result.split_k); // none of them empty
  result.splits = static_cast<int>(splits);
  result.workspace_bytes = splits > 1 ? detail::product_of(splits, part_bytes) : 0;
  if (result.workspace_bytes > problem.workspace_bytes && result.outcome.ok())
    result.outcome = status::failure(status_code::workspace_too_small, "memory.bytes",
                                     problem.workspace_bytes, ">= ")
                         .append(result.workspace_bytes)
                         .append(", for ")
                         .append(result.splits)
                         .append(" parts of k");
  result.groups =
      empty ? 0
      : result.product
          ? detail::product_of(detail::product_of(result.tiles, problem.batches), splits)
          : 0;
  result.launches = empty ? 0 : splits > 1 ? 2 : 1;

  const int64_t output_columns = n / problem.columns_per_output;
  if (!empty) {
    result.min_bytes_read = problem.batches * ((result.product ? (m + n) * k * bytes : 0) +
                                               (problem.reads_c ? m * n * size_of(problem.c) : 0));
    result.min_bytes_written = problem.batches * m * output_columns * size_of(problem.d);
    result.flops = 2.0 * static_cast<double>(problem.batches) * static_cast<double>(m) *
                   static_cast<double>(n) * static_cast<double>(k);
    const double padded = 2.0 * static_cast<double>(problem.batches) *
                          static_cast<double>(round_up(m, int64_t{cut.wave_m})) *
                          static_cast<double>(round_up(n, int64_t{cut.wave_n})) *
                          static_cast<double>(round_up(step_floor, int64_t{cut.wave_k}));
    result.useful = result.product ? result.flops / padded : 1;
  }
  return result;
}

} // namespace wavetile
