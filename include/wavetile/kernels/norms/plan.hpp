/// \file
/// Which normalisation kernel would run for a problem, and why not another.
#pragma once

#include <wavetile/core/device_check.hpp>
#include <wavetile/core/math.hpp>
#include <wavetile/kernels/norms/describe_plan.hpp>
#include <wavetile/kernels/rows/cluster.hpp>

namespace wavetile {

namespace detail {

/// What a problem made by hand may have and one made from views has not: numbers that no enumerator
/// has, counts below 0 or too large to compute with.
constexpr status check_problem(const norm_problem& problem) {
  const auto check_input = [](const char* name, data_type type, bool there) {
    return check_data_type(name, type,
                           !there || type == data_type::fp32 || type == data_type::fp16 ||
                               type == data_type::bf16,
                           "fp32, fp16, bf16");
  };
  const bool scaled = problem.scaling != norm_scaling::none;
  const bool quantised =
      problem.output == data_type::fp8_e4m3_fnuz || problem.output == data_type::int8;
  const status checks[] = {
      check_enumerator("kind", problem.kind, norm_kind::layer, "rms, layer"),
      check_enumerator("scaling", problem.scaling, norm_scaling::per_row, "none, given, per_row"),
      check_input("input", problem.input, true),
      scaled ? check_data_type("output", problem.output, quantised, "fp8_e4m3_fnuz, int8")
             : check_input("output", problem.output, true),
      check_input("residual", problem.residual, problem.has_residual),
      check_input("sum", problem.sum, problem.has_residual),
      check_input("weight", problem.weight, problem.has_weight),
      check_input("bias", problem.bias, problem.has_bias),
      check_count("rows", problem.rows),
      check_count("columns", problem.columns),
      check_count("workspace_bytes", problem.workspace_bytes),
      check_elements("rows, columns", problem.rows, problem.columns)};
  for (const status& outcome : checks)
    if (!outcome)
      return outcome;
  return {};
}

} // namespace detail

/// The plan for a problem on a device. Pure: no runtime call, usable for devices that are not there
/// (`describe_device("gfx942", 304)`).
///
/// A row that fits in registers stays there, and each element is read and written once: up to
/// 65,536 fp32 or 131,072 fp16 columns (half as many on NVIDIA GPUs), half of that with a residual
/// of the same type. Longer rows are read twice, with a scale for each row three times: with a
/// workspace (8 bytes for each part of a row, with a scale for each row 12) by several workgroups a
/// row, each of which keeps weight and bias of its part from row to row, else by one.
///
/// On NVIDIA GPUs of compute capability 9.0, in programs with code for sm_90, rows of more than 16
/// KB of 16-bit elements or 32 KB of fp32 (twice that for rms) are held in LDS, if y is not of 8
/// bits: up to 1 MB by clusters of up to 16 workgroups, which take rows in turn and read each part
/// once; with a residual from 32 KB on (16-bit elements: 64 KB), if x, residual and sum are of one
/// size. Longer rows, up to
/// 2 MB, are taken in turn by 64 workgroups that exchange statistics through a workspace
/// (32 bytes for each of six rows and each workgroup of the launch, which the device must hold at a
/// time). Where less is lent, they are split if it is enough for that; else about a
/// quarter, at most, of rows up to 4 MB without residual is read again, from L2.
///
/// Rows that fit are never split, however few: the second launch would cost more than it saves. On
/// gfx942 the longest, 256 KB, is 4,096 clocks of loads and as many of stores for one CU (64 bytes
/// a clock), 4 us at 2.1 GHz; no shorter one is worth a launch.
///
/// Weight and bias are read once by each team, which takes rows in turn; with no more rows than
/// teams that the device holds, that is once a row, mostly from caches. Fewer teams would read them
/// less often and leave CUs idle. The cut depends on a row alone, not on how many there are: so do
/// the bits of its result.
constexpr norm_plan plan(const norm_problem& problem, const device_info& device) {
  norm_plan result;
  const status checks[] = {check_device(device), detail::check_problem(problem)};
  for (const status& outcome : checks)
    if (result.outcome.ok())
      result.outcome = outcome;
  if (!result.outcome)
    return result;
  const int chunk = problem.chunk();
  const int64_t chunks = problem.columns / chunk;
  const int64_t tail = problem.columns % chunk;
  result.chunk = chunk;
  result.problem_chunks = chunks;
  result.aligned = problem.aligned;
  const auto config_for = [&](norm_kernel kernel, int cut = 0) {
    return kernels::norm_config_of(kernel, problem.chunk_bytes(), problem.loaded_bytes(), cut);
  };
  // the first cut of a kernel that holds the row, -1 where none does
  const auto cut_for = [&](norm_kernel kernel) {
    for (int cut = 0; cut < kernels::norm_cuts_of(kernel); ++cut)
      if (!config_for(kernel, cut).keeps_row() ||
          config_for(kernel, cut).chunk_capacity() >= chunks)
        return cut;
    return -1;
  };
  result.kernel = norm_kernel::stream;
  bool fits = false;
  const auto refuse = [&](norm_kernel kernel, norm_refusal reason) {
    result.refused[static_cast<int>(kernel)] = reason;
  };
  for (int i = 0; i < static_cast<int>(norm_kernel::split); ++i) {
    const auto kernel = static_cast<norm_kernel>(i);
    if (fits) {
      result.refused[i] = norm_refusal::not_needed;
    } else if (const int cut = cut_for(kernel); cut < 0) {
      result.refused[i] = norm_refusal::row_too_long;
    } else {
      fits = true;
      result.kernel = kernel;
      result.cut = cut;
    }
  }

  kernels::row_cluster cluster, through_memory;
  // with a residual h takes the place of x in LDS
  const bool in_place =
      !problem.has_residual || (size_of(problem.input) == size_of(problem.sum) &&
                                size_of(problem.residual) == size_of(problem.sum));
  if (in_place && problem.scaling == norm_scaling::none) {
    cluster = kernels::row_cluster_for(
        device, chunks, problem.chunk_bytes(),
        kernels::least_clustered(problem.kind, problem.has_residual, size_of(problem.input)),
        size_of(problem.input) == 2, false);
    through_memory =
        kernels::row_cluster_through_memory(device, problem.rows, chunks, problem.chunk_bytes());
  }
  if (problem.has_residual && !cluster.in_turn())
    cluster = {};
  const bool longer = through_memory.workgroups > 0;
  const bool exchanges = longer && problem.workspace_bytes > 0 &&
                         problem.workspace_bytes >= through_memory.workspace_bytes;
  if (exchanges)
    cluster = through_memory;

  constexpr int64_t most_parts = 1024; // each workgroup reads the results of all parts of a row
  const int64_t least_part = config_for(norm_kernel::split).chunk_capacity();
  const int64_t whole = chunks > 0 ? chunks : 1;
  const int64_t part_chunks = round_up(divide_up(whole, most_parts), least_part);
  const int64_t parts = divide_up(whole, part_chunks);
  const int64_t split_bytes =
      problem.rows * parts * (problem.scaling == norm_scaling::per_row ? 12 : 8);
  if (result.kernel != norm_kernel::stream) {
    refuse(norm_kernel::split, norm_refusal::row_fits);
  } else {
    result.best_workspace_bytes = split_bytes;
    // what is too little for the kernels of longer rows changes nothing
    if (problem.workspace_bytes == 0 || (longer && problem.workspace_bytes < split_bytes)) {
      refuse(norm_kernel::split, norm_refusal::needs_workspace);
    } else {
      refuse(norm_kernel::stream, norm_refusal::split_is_better);
      result.kernel = norm_kernel::split;
      result.workspace_bytes = split_bytes;
      if (problem.workspace_bytes < result.workspace_bytes)
        result.outcome = status::failure(status_code::workspace_too_small, "memory.bytes",
                                         problem.workspace_bytes, ">= ")
                             .append(result.workspace_bytes)
                             .append(", or 0 for a kernel that needs none");
    }
  }

  // few rows are shared by more workgroups if a workspace is lent
  const bool leaves_idle = problem.rows * cluster.workgroups < device.cu_count;
  refuse(norm_kernel::cluster, norm_refusal::not_clustered);
  if (cluster.workgroups > 0) {
    if (result.kernel == norm_kernel::split && !exchanges) {
      // as the caller has it, whatever the rows
      refuse(norm_kernel::cluster, norm_refusal::split_is_better);
    } else {
      if (!leaves_idle)
        result.best_workspace_bytes = 0;
      result.workspace_bytes = cluster.workspace_bytes;
      result.outcome = {};
      refuse(result.kernel, norm_refusal::cluster_is_faster);
      refuse(norm_kernel::cluster, norm_refusal::none);
      result.kernel = norm_kernel::cluster;
      result.cut = cluster.cut;
    }
  }
  const bool clustered = result.kernel == norm_kernel::cluster;
  if (longer)
    result.best_workspace_bytes = through_memory.workspace_bytes;
  result.split_bytes = split_bytes;
  result.lent_bytes = problem.workspace_bytes;
  result.read_once_bytes = longer && !exchanges ? through_memory.workspace_bytes : 0;

  result.config = config_for(result.kernel, clustered ? 0 : result.cut);
  if (clustered) {
    result.config = {norm_method::cluster, cluster.threads / wave_size,
                     cluster.lane_bytes / problem.chunk_bytes()};
  }
  const bool split = result.kernel == norm_kernel::split;
  const bool short_rows = result.kernel == norm_kernel::short_rows;
  result.lanes_log2 = wave_size_log2;
  if (short_rows) {
    const int64_t filled = divide_up(chunks, result.config.slots);
    result.lanes_log2 = detail::log2_up(filled > tail ? filled : tail);
    result.rows_per_group = result.config.threads() >> result.lanes_log2;
  } else if (result.kernel == norm_kernel::wave_rows) {
    result.rows_per_group = result.config.waves;
  }
  const bool empty = problem.rows == 0 || problem.columns == 0;
  // 32 waves a CU: what it can have at a time, but where rows take most of its registers
  const bool alone = result.config.waves == 16 && result.config.keeps_row() &&
                     result.config.slots * problem.loaded_bytes() >= 128;
  const int64_t resident = int64_t{device.cu_count > 0 ? device.cu_count : 1} *
                           (alone ? 1 : 32 / result.config.waves) * kernels::norm_turns;
  const int64_t wanted = divide_up(problem.rows, result.rows_per_group);
  result.parts = split ? static_cast<uint32_t>(parts) : 1;
  result.part_chunks = split ? part_chunks : chunks;
  // split: half of that has loads enough in flight, and reads weight and bias half as often
  const int64_t at_a_time = split ? divide_up(resident / 2, parts) : resident;
  // no more than take equally many turns: each reads weight and bias
  const int64_t turns = divide_up(wanted < 1 ? 1 : wanted, at_a_time);
  result.groups = empty ? 0 : divide_up(wanted, turns) * static_cast<int64_t>(result.parts);
  if (clustered) {
    result.parts = static_cast<uint32_t>(cluster.workgroups);
    result.part_chunks = cluster.part_chunks;
    result.groups = empty ? 0 : cluster.groups(problem.rows, device.cu_count);
  }
  const bool per_row = problem.scaling == norm_scaling::per_row;
  result.launches = empty ? 0 : !split ? 1 : per_row ? 3 : 2;
  result.readings = result.config.keeps_row() || (clustered && !cluster.reads_again) ? 1
                    : per_row                                                        ? 3
                                                                                     : 2;
  result.keeps_parameters =
      problem.parameter_bytes() == 0 || split ||
      (clustered
           ? cluster.in_turn() && problem.aligned &&
                 kernels::ring_keeps_parameters(problem.kind, chunk, size_of(problem.input),
                                                kernels::row_ring{cluster.cut + 1},
                                                problem.parameter_bytes(), problem.has_residual)
           : kernels::keeps_parameters(result.config, chunk, problem.chunk_bytes(),
                                       problem.loaded_bytes(), problem.parameter_bytes()));
  if (result.config.keeps_row())
    result.row_registers = result.config.slots * problem.chunk_bytes() / 4;
  result.register_limit = device.facts().is_nvidia()
                              ? device.facts().vgprs
                              : 512 / (result.config.waves > 4 ? result.config.waves / 4 : 1);
  if (!short_rows && result.kernel != norm_kernel::wave_rows)
    result.lds_bytes = 2 * 3 * (result.config.waves * 4 > 16 ? result.config.waves * 4 : 16);
  if (clustered)
    result.lds_bytes = cluster.lds_bytes;
  const int64_t elements = problem.rows * problem.columns;
  result.min_bytes_read =
      elements * (size_of(problem.input) + (problem.has_residual ? size_of(problem.residual) : 0)) +
      (empty ? 0 : problem.columns * problem.parameter_bytes());
  result.min_bytes_written =
      elements * (size_of(problem.output) + (problem.has_residual ? size_of(problem.sum) : 0)) +
      (problem.scaling == norm_scaling::per_row ? problem.rows * 4 : 0);
  return result;
}

} // namespace wavetile
