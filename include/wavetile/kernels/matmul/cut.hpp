/// \file
/// How a kernel cuts a matrix product, and what time is expected of it.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/kernels/matmul/plan_types.hpp>

namespace wavetile::detail {

struct matmul_cut {
  int tile_m, tile_n, tile_k, threads, registers, groups_per_cu;
  int wave_m, wave_n, wave_k; ///< what matrix cores leave out where all of it is outside the matrix
  int64_t lds_bytes;
  double efficiency;    ///< share of the matrix cores' rate in the loop, by LDS and vector work
  int side_by_side = 1; ///< workgroups that together have a wave for each SIMD of a CU
};

/// On NVIDIA GPUs. Shares of the rate are those of one H200: see bench/README.md.
constexpr matmul_cut warp_cut_of(matmul_choice choice, const matmul_problem& problem,
                                 const target& facts) {
  const int bytes = size_of(problem.a);
  const int accumulator = bytes == 8 ? 8 : 4;
  if (choice == matmul_choice::skinny) {
    const auto cut = kernels::warp_skinny_cut_of(problem.order_b, bytes, problem.m);
    const int rows = kernels::warp_skinny_tile(problem.m);
    const int64_t lds = kernels::warp_skinny_lds(
        cut, bytes, accumulator, rows, facts.arch == architecture::sm90 ? facts.lds_bytes : 0);
    const int threads = cut.warps * facts.wave_size;
    return {rows,
            cut.columns,
            cut.step,
            threads,
            rows * cut.columns / facts.wave_size,
            facts.workgroups_per_cu(threads, 128, 0, static_cast<int>(lds)),
            8,
            16,
            cut.step,
            lds,
            0.1};
  }
  const auto cut = kernels::warp_cut_of(static_cast<matmul_kernel>(static_cast<int>(choice) - 1),
                                        bytes, facts.lds_bytes);
  const int registers = cut.accumulator_registers(accumulator);
  const int expected = registers + 112 < facts.vgprs ? registers + 112 : facts.vgprs;
  const int groups = facts.workgroups_per_cu(cut.threads(), expected, 0, cut.lds_bytes());
  const double efficiency = choice == matmul_choice::large    ? 0.9
                            : choice == matmul_choice::middle ? 0.85
                                                              : 0.5;
  return {cut.tile_m,      cut.tile_n, cut.tile_k(bytes),
          cut.threads(),   registers,  groups < 1 ? 1 : groups,
          cut.tile_m,      cut.tile_n, cut.tile_k(bytes),
          cut.lds_bytes(), efficiency};
}

constexpr matmul_cut cut_of(matmul_choice choice, const matmul_problem& problem,
                            const target& facts) {
  if (facts.is_nvidia())
    return warp_cut_of(choice, problem, facts);
  const int bytes = size_of(problem.a);
  const int accumulator = bytes == 8 ? 8 : 4;
  if (choice == matmul_choice::skinny) {
    const auto cut = kernels::skinny_cut_of(problem.order_b, bytes);
    const int held = cut.columns * 16 / facts.wave_size * accumulator / 4;
    const int64_t lds = int64_t{facts.wave_size} * held * 4;
    return {16,
            cut.columns,
            cut.step * kernels::skinny_waves,
            kernels::skinny_waves * facts.wave_size,
            held,
            facts.workgroups_per_cu(kernels::skinny_waves * facts.wave_size, 128, 0,
                                    static_cast<int>(lds)),
            16,
            cut.columns,
            cut.piece,
            lds,
            0.1};
  }
  // the kernel computes the transpose: rows of the config are columns of D
  const matmul_config config =
      kernels::tile_config(choice, bytes, problem.order_a, problem.order_b);
  const int registers = config.accumulator_registers(accumulator);
  const int limit = config.waves() > 4 ? 256 : 512;
  const int expected = registers + 96 < limit ? registers + 96 : limit;
  const int groups =
      facts.workgroups_per_cu(config.threads(), expected > 256 ? 256 : expected,
                              expected > 256 ? expected - 256 : 0, config.lds_bytes());
  const double efficiency = choice == matmul_choice::middle    ? 0.75
                            : choice == matmul_choice::compact ? 0.5
                                                               : 0.9;
  const int per_cu = groups < 1 ? 1 : groups;
  return {config.tile_n,      config.tile_m,   config.tile_k(bytes),
          config.threads(),   registers,       per_cu,
          config.wave_n(),    config.wave_m(), config.tile_k(bytes),
          config.lds_bytes(), efficiency,      config.waves() < 4 ? 4 / config.waves() : 1};
}

/// x y, or where that has more than 62 bits 2^62: more than there is of anything.
constexpr int64_t product_of(int64_t x, int64_t y) {
  constexpr int64_t most = int64_t{1} << 62;
  return y != 0 && x > most / y ? most : x * y;
}

/// Parts of k so that a device of `cus` has work for all of them, each at least four steps.
constexpr int64_t useful_splits(int64_t groups, int64_t cus, int64_t steps) {
  int64_t splits = groups > 0 && groups * 2 <= cus ? cus / groups : 1;
  splits = splits < steps / 4 ? splits : steps / 4;
  return splits < 1 ? 1 : splits > 64 ? 64 : splits;
}

/// Expected time of a product in tiles on an NVIDIA GPU, in clocks of an SM, with k in `splits`
/// parts: workgroups share the matrix cores of an SM, and what starts and ends their tiles; a
/// second pass is another launch, and reads what the first wrote. Constants: one H200.
constexpr double warp_time(const matmul_cut& cut, const matmul_problem& problem,
                           const target& facts, int64_t tiles, int64_t cus, int64_t splits) {
  const int bytes = size_of(problem.a);
  // multiplications a clock: of matrix instructions, of fp32 by fused multiply-adds
  const double rate = bytes >= 4 ? 128 : (facts.arch == architecture::sm80 ? 1024.0 : 2048.0);
  const double ends = 3000, launch = 6000, moved_a_clock = 24;
  const auto number = [](int64_t value) { return static_cast<double>(value); };
  const double clocks = number(cut.tile_m) * cut.tile_n * number(problem.k) /
                        (number(splits) * cut.efficiency * rate);
  const double second = launch + number(splits) * number(problem.batches) * number(problem.m) *
                                     number(problem.n) * 4 / (number(cus) * moved_a_clock);
  return number(divide_up(tiles * splits, cus)) * clocks +
         number(divide_up(tiles * splits, cus * cut.groups_per_cu)) * ends +
         (splits > 1 ? second : 0);
}

/// Parts of k, when there is a workspace. NVIDIA: one where the second pass costs what they save.
constexpr int64_t choose_splits(matmul_choice choice, const matmul_cut& cut,
                                const matmul_problem& problem, const target& facts, int64_t tiles,
                                int64_t cus, int64_t steps) {
  const int64_t splits = useful_splits(tiles, cus, steps);
  if (!facts.is_nvidia() || choice == matmul_choice::skinny)
    return splits;
  return warp_time(cut, problem, facts, tiles, cus, splits) <
                 warp_time(cut, problem, facts, tiles, cus, 1)
             ? splits
             : 1;
}

/// Chooses the tile for a product of `rows` rows, or takes the one that is forced: fills
/// `result.choice`, `refused` and `relative_time`. `time(choice)` is the expected time of one.
template <class Time>
constexpr void choose_tile(matmul_plan& result, const matmul_problem& problem, const target& facts,
                           int64_t rows, matmul_choice forced, const Time& time) {
  const bool is_forced = forced != matmul_choice::automatic;
  bool found = false;
  double best = 0;
  for (int i = 1; i < matmul_choice_count; ++i) {
    const auto choice = static_cast<matmul_choice>(i);
    matmul_refusal& refused = result.refused[i];
    if (is_forced ? choice != forced : !in_every_call(choice)) {
      refused = is_forced ? matmul_refusal::another_forced : matmul_refusal::on_request;
      continue;
    }
    if (!kernels::has_kernel(choice, facts, size_of(problem.a))) {
      refused = matmul_refusal::no_kernel;
      continue;
    }
    if (choice == matmul_choice::skinny && rows > skinny_rows_of(facts)) {
      refused = matmul_refusal::too_many_rows;
      continue;
    }
    // skinny reads op(B) once, at the rate of memory: nothing is faster
    const double one = choice == matmul_choice::skinny ? 0 : time(choice);
    result.relative_time[i] = one;
    if (!found || one < best) {
      found = true;
      best = one;
      result.choice = choice;
    }
  }
  if (is_forced)
    result.choice = forced;
  for (int i = 1; i < matmul_choice_count; ++i) {
    if (result.refused[i] == matmul_refusal::none && i != static_cast<int>(result.choice))
      result.refused[i] = matmul_refusal::slower;
    result.relative_time[i] = best > 0 ? result.relative_time[i] / best : 0;
  }
}

/// What the plan says of its tile.
constexpr void describe_cut(matmul_plan& result, const matmul_cut& cut, const target& facts) {
  result.tile_m = cut.tile_m;
  result.tile_n = cut.tile_n;
  result.tile_k = cut.tile_k;
  result.threads = cut.threads;
  result.lds_bytes = cut.lds_bytes;
  result.accumulator_registers = cut.registers;
  result.register_limit = facts.is_nvidia()                    ? facts.vgprs
                          : cut.threads > 4 * matmul_wave_size ? 256
                                                               : 512;
}

} // namespace wavetile::detail
