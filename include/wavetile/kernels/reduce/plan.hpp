/// \file
/// Which reduction kernel would run for a problem, and why not another.
#pragma once

#include <wavetile/core/device_check.hpp>
#include <wavetile/core/math.hpp>
#include <wavetile/core/numeric_traits.hpp>
#include <wavetile/kernels/reduce/config.hpp>

namespace wavetile {

/// What is reduced.
enum class reduce_form : uint8_t {
  rows,    ///< runs of neighbouring elements, a result each
  columns, ///< an axis other than the last: results lie next to each other
  all,     ///< everything, in rows that do not follow one another in memory
};

/// Shape, types and memory of a reduction; made from views by `reduce_problem_of`, or by hand.
/// No array has more than 2^58 elements.
struct reduce_problem {
  reduce_form form = reduce_form::rows;
  data_type input = data_type::fp32;
  data_type output = data_type::fp32;
  int value_bytes = 4; ///< of what lanes combine, 1 to 16: fp32 sums 4, argmin of fp32 16
  int64_t leading = 1; ///< rows; columns: matrices; all: rows
  int64_t reduced = 0; ///< elements of a row (rows, all); extent of the reduced axis (columns)
  int64_t columns = 1; ///< columns: results of a matrix; else 1
  bool aligned = true; ///< every row of the input starts at a multiple of 16 bytes
  int64_t workspace_bytes = 0; ///< what the caller lends

  constexpr int chunk() const { return 16 / size_of(input); }
  constexpr int64_t results() const { return form == reduce_form::all ? 1 : leading * columns; }
};

/// Why a kernel does not run.
enum class reduce_refusal : uint8_t {
  none,            ///< it does
  other_form,      ///< it reduces another axis
  row_too_long,    ///< lanes of one wave would read the row alone
  row_too_short,   ///< a wave or less reads the row at once
  many_groups,     ///< there are workgroups enough for every CU without splitting
  too_little,      ///< too few elements to split
  needs_workspace, ///< no workspace was lent
  split_is_faster, ///< it would leave CUs idle
};

/// What `reduce` does with a problem; it computes this plan and follows it.
struct reduce_plan {
  /// Success, or why the problem cannot run on the device: `wrong_architecture`,
  /// `workspace_too_small`, `unsupported_shape` (too many elements), or a problem made by hand that
  /// no call could have (`invalid_argument`, `unsupported_type`).
  status outcome;
  reduce_kernel kernel = reduce_kernel::row_lanes;
  reduce_config config;
  int lanes_log2 = 6;          ///< row_lanes: lanes of a row; columns: lanes along them
  int64_t parts = 1;           ///< split: parts of a row or of the reduced axis
  int64_t part_length = 0;     ///< split: chunks (rows, all) or rows (columns) of a part
  int64_t groups_across = 1;   ///< columns: workgroups along them
  int64_t groups = 0;          ///< workgroups of the first step
  int launches = 0;            ///< kernels: 1, split 2, nothing to do 0
  int64_t lds_bytes = 0;       ///< static LDS of a workgroup
  int register_limit = 512;    ///< vector registers a lane may have, from the size of the workgroup
  int64_t workspace_bytes = 0; ///< used
  /// Workspace with which the reduction would be split over more workgroups; 0 where that is of no
  /// use. Lend as much, and the split kernel runs.
  int64_t best_workspace_bytes = 0;
  int64_t min_bytes_read = 0; ///< every element once
  int64_t min_bytes_written = 0;
  bool aligned = true; ///< false: 16-byte accesses at element alignment, which touch more lines
  reduce_refusal refused[reduce_kernel_count] = {}; ///< by reduce_kernel
  reduce_problem problem;
  int cu_count = 0;

  /// The plan in words, one line for the choice and one for each kernel that was refused.
  constexpr fixed_text<1600> describe() const;
};

namespace kernels {

/// Element types of inputs and results.
inline constexpr const char* reduce_type_names = "fp64, fp32, fp16, bf16, int32, int64";

} // namespace kernels

namespace detail {

constexpr status check_reduce_type(const char* argument, data_type type) {
  const bool is_float = type == data_type::fp64 || type == data_type::fp32 ||
                        type == data_type::fp16 || type == data_type::bf16;
  return check_data_type(argument, type,
                         is_float || type == data_type::int32 || type == data_type::int64,
                         kernels::reduce_type_names);
}

/// Lanes along the columns (log2) and workgroups along them.
constexpr void plan_across(reduce_plan& result, int64_t columns, int chunk,
                           int most_lanes_log2 = wave_size_log2) {
  const int64_t lanes = columns / chunk + columns % chunk;
  result.lanes_log2 = log2_up(lanes) < most_lanes_log2 ? log2_up(lanes) : most_lanes_log2;
  result.groups_across = divide_up(lanes, int64_t{1} << result.lanes_log2);
}

/// Chooses between a kernel and its split form, which works in `parts` parts.
constexpr void plan_split(reduce_plan& result, reduce_kernel whole, reduce_kernel split,
                          int64_t parts, int64_t bytes, bool many_groups) {
  const auto refuse = [&](reduce_kernel kernel, reduce_refusal reason) {
    result.refused[static_cast<int>(kernel)] = reason;
  };
  result.kernel = whole;
  if (many_groups) {
    refuse(split, reduce_refusal::many_groups);
  } else if (parts < 2) {
    refuse(split, reduce_refusal::too_little);
  } else {
    result.best_workspace_bytes = bytes;
    if (result.problem.workspace_bytes == 0) {
      refuse(split, reduce_refusal::needs_workspace);
      return;
    }
    refuse(whole, reduce_refusal::split_is_faster);
    result.kernel = split;
    result.workspace_bytes = bytes;
    if (result.problem.workspace_bytes < bytes && result.outcome.ok())
      result.outcome = status::failure(status_code::workspace_too_small, "memory.bytes",
                                       result.problem.workspace_bytes, ">= ")
                           .append(bytes)
                           .append(", or 0 for a kernel that needs none");
  }
}

} // namespace detail

/// The plan for a reduction on a device. Pure: no runtime call, usable for devices that are not
/// there.
///
/// Every element is read once. Rows of up to 512 chunks of 16 bytes go to lanes of a wave, longer
/// ones to a workgroup. Where that leaves CUs idle and there is enough to do for several
/// workgroups, the reduction is split, if a workspace is lent: one value a part, combined in fixed
/// order in a second step. How it is split depends on the shape alone.
constexpr reduce_plan plan(const reduce_problem& problem, const device_info& device) {
  constexpr int64_t lane_chunks = 512;  // of a row that one wave reads
  constexpr int64_t part_chunks = 4096; // least part of a row: 16 chunks a lane
  constexpr int64_t part_steps = 16;    // least part of the reduced axis: rows a lane
  constexpr int64_t most_parts = 1024;
  constexpr int64_t many_lanes = 1 << 20; // several times what a device has at a time
  reduce_plan result;
  result.problem = problem;
  const status checks[] = {
      detail::check_reduce_type("input", problem.input),
      detail::check_reduce_type("output", problem.output),
      detail::check_enumerator("form", problem.form, reduce_form::all, "rows, columns, all"),
      detail::check_range("value_bytes", problem.value_bytes, 1, 16),
      detail::check_count("leading", problem.leading),
      detail::check_count("reduced", problem.reduced),
      problem.form == reduce_form::columns ? detail::check_count("columns", problem.columns)
                                           : detail::check_range("columns", problem.columns, 1, 1),
      detail::check_count("workspace_bytes", problem.workspace_bytes),
      detail::check_elements("leading, reduced, columns", problem.leading, problem.reduced,
                             problem.columns),
      detail::check_elements("leading, columns", problem.leading, problem.columns)}; // results
  for (const status& outcome : checks)
    if (!outcome) {
      result.outcome = outcome;
      return result;
    }
  result.outcome = check_device(device);
  result.cu_count = device.cu_count;
  result.aligned = problem.aligned;
  result.config = reduce_config::for_values(problem.value_bytes);
  result.register_limit = 512;
  // the product of two is no array's where the third is 0, and too large, perhaps
  result.min_bytes_read = problem.results() == 0 ? 0
                                                 : problem.leading * problem.columns *
                                                       problem.reduced * size_of(problem.input);
  result.min_bytes_written = problem.results() * size_of(problem.output);
  const auto refuse = [&](reduce_kernel kernel, reduce_refusal reason) {
    result.refused[static_cast<int>(kernel)] = reason;
  };
  for (int i = 0; i < reduce_kernel_count; ++i)
    result.refused[i] = reduce_refusal::other_form;
  const auto consider = [&](reduce_kernel kernel) { refuse(kernel, reduce_refusal::none); };

  const int chunk = problem.chunk();
  const int threads = result.config.threads();
  const int64_t chunks = problem.reduced / chunk;
  const int64_t slot_bytes = round_up(problem.value_bytes, 4) * result.config.waves;
  if (problem.form == reduce_form::rows) {
    consider(reduce_kernel::row_lanes);
    consider(reduce_kernel::row_workgroup);
    consider(reduce_kernel::row_split);
    if (chunks <= lane_chunks) {
      refuse(reduce_kernel::row_workgroup, reduce_refusal::row_too_short);
      refuse(reduce_kernel::row_split, reduce_refusal::row_too_short);
      result.kernel = reduce_kernel::row_lanes;
      const int64_t tail = problem.reduced % chunk;
      int64_t shares = chunks;
      if (problem.leading * chunks >= many_lanes)
        shares = divide_up(chunks, result.config.chunks_a_lane());
      const int wanted = detail::log2_up(shares > tail ? shares : (tail > 1 ? tail : 1));
      result.lanes_log2 = wanted < wave_size_log2 ? wanted : wave_size_log2;
      result.groups = divide_up(problem.leading, int64_t{threads >> result.lanes_log2});
    } else {
      refuse(reduce_kernel::row_lanes, reduce_refusal::row_too_long);
      result.part_length = part_chunks;
      if (divide_up(chunks, part_chunks) > most_parts)
        result.part_length = divide_up(chunks, most_parts);
      result.parts = divide_up(chunks, result.part_length);
      detail::plan_split(result, reduce_kernel::row_workgroup, reduce_kernel::row_split,
                         result.parts, problem.leading * result.parts * problem.value_bytes,
                         problem.leading >= device.cu_count);
      result.groups =
          problem.leading * (result.kernel == reduce_kernel::row_split ? result.parts : 1);
      result.lds_bytes = slot_bytes > 16 ? slot_bytes : 16;
    }
  } else if (problem.form == reduce_form::columns) {
    consider(reduce_kernel::columns);
    consider(reduce_kernel::columns_split);
    detail::plan_across(result, problem.columns, chunk);
    const int64_t down = threads >> result.lanes_log2;
    const int64_t groups = problem.leading * result.groups_across;
    const int64_t steps = divide_up(problem.reduced, down);
    int64_t parts = divide_up(steps, part_steps);
    parts = parts < most_parts ? parts : most_parts;
    result.part_length = divide_up(steps, parts > 0 ? parts : 1) * down;
    result.parts = result.part_length > 0 ? divide_up(problem.reduced, result.part_length) : 1;
    detail::plan_split(result, reduce_kernel::columns, reduce_kernel::columns_split, result.parts,
                       problem.results() * result.parts * problem.value_bytes,
                       groups >= device.cu_count);
    result.groups = groups * (result.kernel == reduce_kernel::columns_split ? result.parts : 1);
    result.lds_bytes = int64_t{threads} * round_up(problem.value_bytes * chunk, 4);
  } else {
    consider(reduce_kernel::all_split);
    consider(reduce_kernel::all_workgroup);
    result.part_length = part_chunks;
    if (chunks > part_chunks * most_parts)
      result.part_length = divide_up(chunks, most_parts);
    result.parts = chunks > part_chunks ? divide_up(chunks, result.part_length) : 1;
    if (result.parts == 1)
      result.part_length = chunks;
    const int64_t units = problem.leading * result.parts;
    const int64_t groups = units < most_parts ? units : most_parts;
    const bool little = problem.leading * problem.reduced < int64_t{threads} * 64;
    detail::plan_split(result, reduce_kernel::all_workgroup, reduce_kernel::all_split,
                       little ? 1 : groups, groups * problem.value_bytes, false);
    result.groups = result.kernel == reduce_kernel::all_split ? groups : 1;
    result.lds_bytes = slot_bytes > 16 ? slot_bytes : 16;
  }
  const bool split = result.workspace_bytes != 0;
  if (problem.results() == 0)
    result.groups = 0;
  result.launches = result.groups == 0 ? 0 : (split ? 2 : 1);
  return result;
}

constexpr fixed_text<1600> reduce_plan::describe() const {
  fixed_text<1600> text;
  if (!outcome)
    return text.append(outcome.message());
  if (launches == 0)
    return text.append("nothing to do: there are no results");
  text.append(name_of(kernel)).append(": ");
  if (kernel == reduce_kernel::row_lanes)
    text.append(1 << lanes_log2).append(" lanes a row, ");
  if (kernel == reduce_kernel::columns || kernel == reduce_kernel::columns_split)
    text.append(1 << lanes_log2).append(" lanes along the columns, ");
  if (launches == 2)
    text.append(parts).append(" parts, ");
  text.append(groups)
      .append(" workgroups of ")
      .append(config.threads())
      .append(", ")
      .append(lds_bytes)
      .append(" bytes of LDS, ")
      .append(workspace_bytes)
      .append(" of workspace, at most ")
      .append(register_limit)
      .append(" registers a lane, input read once")
      .append(aligned ? ", 16-byte accesses" : ", 16-byte accesses at element alignment");
  for (int i = 0; i < reduce_kernel_count; ++i) {
    if (refused[i] == reduce_refusal::none)
      continue;
    text.append("\n  not ").append(name_of(static_cast<reduce_kernel>(i))).append(": ");
    switch (refused[i]) {
    case reduce_refusal::none:
      break;
    case reduce_refusal::other_form:
      text.append("it reduces another axis");
      break;
    case reduce_refusal::row_too_long:
      text.append(problem.reduced).append(" elements a row are too many for one wave");
      break;
    case reduce_refusal::row_too_short:
      text.append(problem.reduced).append(" elements a row are too few for a workgroup");
      break;
    case reduce_refusal::many_groups:
      text.append("unsplit work occupies all ").append(cu_count).append(" CUs");
      break;
    case reduce_refusal::too_little:
      text.append("there is too little to split");
      break;
    case reduce_refusal::needs_workspace:
      text.append("it needs ")
          .append(best_workspace_bytes)
          .append(" bytes of workspace, none lent");
      break;
    case reduce_refusal::split_is_faster:
      text.append("it would leave CUs idle");
      break;
    }
  }
  return text;
}

} // namespace wavetile
