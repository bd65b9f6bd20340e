/// \file
/// Which kernel would compute a matrix product, and why not another.
#pragma once

#include <wavetile/core/device_check.hpp>
#include <wavetile/core/math.hpp>
#include <wavetile/core/numeric_traits.hpp>
#include <wavetile/kernels/matmul/config.hpp>
#include <wavetile/kernels/matmul/cuda/config.hpp>

namespace wavetile {

/// The ways to compute a product. `automatic` leaves it to the plan.
enum class matmul_choice : uint8_t {
  automatic,
  large,      ///< tiles of 256 x 256, eight waves; four where 8-bit A and B both have strided k
  ping_pong,  ///< as large, waves taking turns at memory and matrix cores; on request only
  large_four, ///< tiles of 192 x 256, or as large, four waves; on request only
  wide,       ///< tiles of 128 x 256 or 256 x 128, two waves; on request only
  middle,     ///< tiles of 128 x 128
  compact,    ///< tiles of 64 x 64
  skinny,     ///< at most 16 rows: op(B) streams past, no LDS on its way. NVIDIA: 32, with `wgmma`
              ///< through LDS
};
inline constexpr int matmul_choice_count = 8;

constexpr const char* name_of(matmul_choice choice) {
  constexpr const char* names[] = {"automatic", "large",  "ping_pong", "large_four",
                                   "wide",      "middle", "compact",   "skinny"};
  return detail::name_in(names, choice);
}

/// Whether a call for which no choice is made at compile time has code for this one.
constexpr bool in_every_call(matmul_choice choice) {
  return choice == matmul_choice::large || choice == matmul_choice::middle ||
         choice == matmul_choice::compact || choice == matmul_choice::skinny;
}

/// Most rows of op(A) that `skinny` takes on AMD's GPUs, and on those of this device.
inline constexpr int64_t skinny_rows = 16;
constexpr int64_t skinny_rows_of(const target& facts) {
  return facts.is_nvidia() ? kernels::warp_skinny_rows : skinny_rows;
}

namespace kernels {

/// The cut behind a choice other than automatic and skinny, for A and B that lie so: the kernel
/// computes the transpose, whose first operand is B. Of fp64, eight waves cannot share half
/// of 256 x 256, nor four half of 128 x 128: `large` and `ping_pong` are 128 x 128 on four waves,
/// as `wide`, and `middle` is `compact`.
constexpr matmul_config tile_config(matmul_choice choice, int element_bytes,
                                    operand_order order_a = operand_order::k_contiguous,
                                    operand_order order_b = operand_order::k_contiguous) {
  if (element_bytes == 8 && (choice == matmul_choice::large || choice == matmul_choice::ping_pong))
    choice = matmul_choice::wide;
  if (element_bytes == 8 && choice == matmul_choice::middle)
    choice = matmul_choice::compact;
  return config_of(static_cast<matmul_kernel>(static_cast<int>(choice) - 1), element_bytes, order_b,
                   order_a);
}

/// Whether there is code for a choice on a device of these facts.
constexpr bool has_kernel(matmul_choice choice, const target& facts, int element_bytes) {
  if (!facts.is_nvidia() || choice == matmul_choice::automatic)
    return true;
  if (choice == matmul_choice::skinny)
    return has_warp_skinny(element_bytes);
  return has_warp_cut(static_cast<matmul_kernel>(static_cast<int>(choice) - 1));
}

/// How `skinny` is cut: a wave takes `columns` columns of op(B) and a quarter of k, in steps of
/// `step`; what is left at the end, in pieces.
struct skinny_cut {
  int columns, step, piece;
};
constexpr skinny_cut skinny_cut_of(operand_order order_b, int element_bytes) {
  const int wide = 16 / element_bytes;                        // elements of one load
  const int run = element_bytes >= 4 ? 1 : 8 / element_bytes; // of k, in one matrix instruction
  if (order_b == operand_order::k_contiguous)
    return {16, 4 * 4 * wide, 4 * wide};
  return {16 * wide, 4 * run * (element_bytes >= 4 ? 4 : 1), 4 * run};
}
inline constexpr int skinny_waves = 4;

} // namespace kernels

/// Shape, types and memory of a product; made from views by `matmul_problem_of`, or by hand.
/// No array has more than 2^58 elements.
struct matmul_problem {
  data_type a = data_type::bf16, b = data_type::bf16, c = data_type::bf16, d = data_type::bf16;
  int64_t m = 0, n = 0, k = 0, batches = 1;
  operand_order order_a = operand_order::k_contiguous; ///< A not transposed
  operand_order order_b = operand_order::k_strided;    ///< B not transposed
  bool reads_c = false;                                ///< beta is not 0
  int columns_per_output = 1;                          ///< of op(B), for a column of D
  bool aligned = true; ///< every row of A and B starts at a multiple of 16 bytes
  int splits = 0;      ///< parts of k; 0: the plan's choice
  int k_multiple = 1;  ///< parts of k are multiples of it, a power of two
  matmul_choice choice = matmul_choice::automatic;
  int64_t workspace_bytes = 0; ///< what the caller lends
  status named;                ///< failure: a kernel was named that there is not; see `plan`
};

/// Why a choice is not made.
enum class matmul_refusal : uint8_t {
  none,           ///< it is
  slower,         ///< another is expected to take less time
  on_request,     ///< code for it exists only in calls that name it
  too_many_rows,  ///< op(A) has more rows than `skinny` takes
  another_forced, ///< the caller named another
  no_kernel,      ///< there is no code for it on this kind of device, or for these elements there
};

/// What `matmul` does with a problem; it computes this plan and follows it.
struct matmul_plan {
  /// Success, or why the problem cannot run: `wrong_architecture`, `workspace_too_small`,
  /// `unsupported_shape` (a forced choice that cannot take it, too many elements), or a problem
  /// made by hand that no call could have (`invalid_argument`, `unsupported_type`).
  status outcome;
  matmul_choice choice = matmul_choice::compact;
  bool product = true; ///< false: k is 0, or alpha; only C is read
  int tile_m = 0, tile_n = 0, tile_k = 0;
  int threads = 0;               ///< work-items of a workgroup
  int64_t tiles = 0;             ///< of one matrix
  int splits = 1;                ///< parts of k, summed in a second pass in fixed order
  int64_t split_k = 0;           ///< values of k of a part, at most
  int64_t split_products = 0;    ///< of a list: products whose k is split, into `splits` at most
  int64_t groups = 0;            ///< workgroups of the product, all dispatches together
  int launches = 0;              ///< kernels
  int64_t lds_bytes = 0;         ///< static LDS of a workgroup
  int accumulator_registers = 0; ///< of a lane
  int register_limit = 512;      ///< vector registers a lane may have, by the size of the workgroup
  int64_t workspace_bytes = 0;   ///< used
  /// Workspace with which k would be split so that all CUs have work; 0 where that is of no use.
  int64_t best_workspace_bytes = 0;
  int64_t min_bytes_read = 0, min_bytes_written = 0; ///< every element once
  double flops = 0; ///< multiplications and additions of the product
  /// Share of the matrix cores' work that is part of the product, the rest being padding: waves
  /// whose part of a tile is outside the matrix do none.
  double useful = 1;
  bool aligned = true; ///< false: 16-byte accesses at element alignment, which touch more lines
  matmul_refusal refused[matmul_choice_count] = {}; ///< by matmul_choice
  double relative_time[matmul_choice_count] = {};   ///< expected, the choice being 1; 0: not known
  int64_t rows = 0, columns = 0, depth = 0;         ///< for `describe`
  int64_t most_skinny_rows = skinny_rows;           ///< that `skinny` takes on this device

  /// The plan in words, one line for the choice and one for each that was refused.
  constexpr fixed_text<1600> describe() const;
};

namespace detail {

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

/// Whether the device multiplies these elements.
constexpr status check_types(const matmul_problem& problem, const target& facts) {
  const bool fp8 = problem.a == data_type::fp8_e4m3_ocp || problem.a == data_type::fp8_e5m2_ocp;
  if (facts.is_nvidia() && fp8 && facts.fp8 != fp8_support::ocp)
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

} // namespace detail

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
