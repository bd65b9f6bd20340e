/// \file
/// Which softmax kernel would run for a problem, and why not another.
#pragma once

#include <wavetile/core/device_check.hpp>
#include <wavetile/core/math.hpp>
#include <wavetile/kernels/rows/cluster.hpp>
#include <wavetile/kernels/softmax/cuts.hpp>
#include <wavetile/kernels/softmax/describe_plan.hpp>

namespace wavetile {

namespace detail {

/// sum over q = 0 … queries-1 of clamp(q + shift, 0, keys)
constexpr int64_t visible_elements(int64_t queries, int64_t keys, int64_t shift) {
  const int64_t first_partial = shift < 0 ? -shift : 0;           // first query that sees a key
  const int64_t first_full = keys - shift < 0 ? 0 : keys - shift; // first that sees all
  const int64_t from = first_partial < queries ? first_partial : queries;
  const int64_t to = first_full < queries ? first_full : queries;
  int64_t sum = (queries - to) * keys;
  if (to > from) {
    const int64_t a = from + shift, b = to - 1 + shift; // arithmetic series a … b
    const int64_t n = to - from;
    sum += n % 2 == 0 ? n / 2 * (a + b) : (a + b) / 2 * n;
  }
  return sum;
}

/// What a problem that views make has by construction: sizes, and types with kernels.
constexpr status check_problem(const softmax_problem& problem) {
  const status checks[] = {
      check_enumerator("form", problem.form, softmax_form::log_softmax_backward,
                       "softmax, log_softmax, softmax_backward, log_softmax_backward"),
      check_enumerator("mask", problem.mask, mask_kind::additive, "none, keep, additive"),
      kernels::check_anchor(problem.anchor)};
  for (const status& outcome : checks)
    if (!outcome)
      return outcome;
  const struct {
    const char* name;
    int64_t value, least;
  } sizes[] = {{"rows", problem.rows, 0},
               {"columns", problem.columns, 0},
               {"queries", problem.queries, problem.causal && problem.rows > 0 ? 1 : 0},
               {"workspace_bytes", problem.workspace_bytes, 0}};
  for (const auto& size : sizes)
    if (size.value < size.least)
      return status::failure(status_code::invalid_argument, size.name, size.value, ">= ")
          .append(size.least);
  if (const status outcome = check_elements("rows, columns", problem.rows, problem.columns);
      !outcome)
    return outcome;
  if (problem.causal && problem.rows > 0 && problem.rows % problem.queries != 0)
    return status::failure(status_code::invalid_argument, "queries", problem.queries,
                           "a divisor of rows, ")
        .append(problem.rows);
  const auto is_float = [](data_type type) {
    return type == data_type::fp32 || type == data_type::fp16 || type == data_type::bf16;
  };
  const bool keep = problem.mask == mask_kind::keep;
  const struct {
    const char* name;
    data_type type;
    bool allowed;
    const char* types;
  } types[] = {
      {"input", problem.input, is_float(problem.input), "fp32, fp16, bf16"},
      {"gradient", problem.gradient, !is_backward(problem.form) || is_float(problem.gradient),
       "fp32, fp16, bf16"},
      {"output", problem.output, is_float(problem.output), "fp32, fp16, bf16"},
      {"mask_type", problem.mask_type,
       problem.mask == mask_kind::none ||
           (keep ? problem.mask_type == data_type::uint8 : is_float(problem.mask_type)),
       keep ? "uint8" : "fp32, fp16, bf16"},
  };
  for (const auto& entry : types)
    if (const status outcome = check_data_type(entry.name, entry.type, entry.allowed, entry.types);
        !outcome)
      return outcome;
  return {};
}

} // namespace detail

/// The plan for a problem on a device. Pure: no runtime call, usable for devices that are not there
/// (`describe_device("gfx942", 304)`).
///
/// A row that fits in registers stays there, and each element is read and written once: up to
/// 65,536 fp32 or 131,072 fp16 columns, on NVIDIA GPUs half as many (half with an additive mask or,
/// for 16-bit types, any mask; half for gradients, a quarter for those of 16-bit types with an
/// additive mask; fewer for some mixtures of types). Longer rows are read twice: where there are
/// fewer rows than CUs by several workgroups a row, which needs a workspace of 8 bytes a part, else
/// by one.
///
/// On NVIDIA GPUs of compute capability 9.0, in programs with code for sm_90, rows of more than 16
/// KB of 16-bit elements or 128 KB of fp32 without masks are held in LDS: up to 1 MB by clusters of
/// up to 16 workgroups, which take rows in turn and read each part once; of rows up to 4 MB at most
/// about a quarter is read again, from L2.
constexpr softmax_plan plan(const softmax_problem& problem, const device_info& device) {
  softmax_plan result;
  result.outcome = check_device(device);
  if (result.outcome.ok())
    result.outcome = detail::check_problem(problem);
  if (!result.outcome)
    return result;
  const int chunk = problem.chunk();
  const int64_t chunks = problem.columns / chunk;
  const int64_t tail = problem.columns % chunk;
  result.chunk = chunk;
  result.problem_rows = problem.rows;
  result.problem_chunks = chunks;
  result.cu_count = device.cu_count;
  result.aligned = problem.aligned;
  const auto config_for = [&](softmax_kernel kernel, int cut) {
    return kernels::config_of(kernel, problem.form, problem.mask, chunk, problem.held_bytes(), cut);
  };
  // the first cut of a kernel that holds the row, -1 where none does
  const auto cut_for = [&](softmax_kernel kernel) {
    const int cuts = kernels::cuts_of(kernel, problem.form, problem.mask, chunk);
    int cut = 0;
    while (cut < cuts && config_for(kernel, cut).chunk_capacity() < chunks)
      ++cut;
    return cut == cuts ? -1 : cut;
  };
  const auto refuse = [&](softmax_kernel kernel, softmax_refusal reason) {
    result.refused[static_cast<int>(kernel)] = reason;
  };

  constexpr int64_t least_part = 1024; // chunks: four of each lane of a workgroup
  constexpr int64_t most_parts = 1024; // each workgroup reads the results of all parts of its row
  const int64_t part_chunks = round_up(divide_up(chunks > 0 ? chunks : 1, most_parts), least_part);
  const int64_t parts = divide_up(chunks > 0 ? chunks : 1, part_chunks);
  const int64_t split_bytes = problem.rows * parts * 8;

  kernels::row_cluster cluster;
  const bool halves = size_of(problem.input) == 2;
  if (!is_backward(problem.form) && problem.mask == mask_kind::none && !problem.causal)
    cluster = kernels::row_cluster_for(device, chunks, chunk * size_of(problem.input),
                                       halves ? 16 * 1024 : 128 * 1024, halves, halves);
  // few rows are shared by more workgroups if a workspace is lent
  const bool leaves_idle = problem.rows * cluster.workgroups < device.cu_count;

  bool fits = false;
  for (int i = 0; i < static_cast<int>(softmax_kernel::split); ++i) {
    const auto kernel = static_cast<softmax_kernel>(i);
    if (fits) {
      refuse(kernel, softmax_refusal::not_needed);
    } else if (const int cut = cut_for(kernel); cut < 0) {
      refuse(kernel, softmax_refusal::row_too_long);
    } else {
      fits = true;
      result.kernel = kernel;
      result.cut = cut;
    }
  }
  if (fits) {
    refuse(softmax_kernel::split, softmax_refusal::row_fits);
    refuse(softmax_kernel::stream, softmax_refusal::row_fits);
  } else if (problem.rows >= device.cu_count) {
    refuse(softmax_kernel::split, softmax_refusal::many_rows);
    result.kernel = softmax_kernel::stream;
  } else {
    result.best_workspace_bytes = split_bytes;
    if (problem.workspace_bytes == 0) {
      refuse(softmax_kernel::split, softmax_refusal::needs_workspace);
      result.kernel = softmax_kernel::stream;
    } else {
      refuse(softmax_kernel::stream, softmax_refusal::split_is_faster);
      result.kernel = softmax_kernel::split;
      if (problem.workspace_bytes < split_bytes)
        result.outcome = status::failure(status_code::workspace_too_small, "memory.bytes",
                                         problem.workspace_bytes, ">= ")
                             .append(split_bytes)
                             .append(", or 0 for a kernel that needs none");
    }
  }

  refuse(softmax_kernel::cluster, softmax_refusal::not_clustered);
  if (cluster.workgroups > 0) {
    if (result.kernel == softmax_kernel::split && leaves_idle) {
      refuse(softmax_kernel::cluster, softmax_refusal::split_is_faster);
    } else {
      if (!leaves_idle)
        result.best_workspace_bytes = 0;
      result.outcome = {};
      refuse(result.kernel, softmax_refusal::cluster_is_faster);
      if (result.refused[static_cast<int>(softmax_kernel::stream)] ==
          softmax_refusal::split_is_faster)
        refuse(softmax_kernel::stream, softmax_refusal::cluster_is_faster);
      refuse(softmax_kernel::cluster, softmax_refusal::none);
      result.kernel = softmax_kernel::cluster;
      result.cut = cluster.cut;
    }
  }
  const bool clustered = result.kernel == softmax_kernel::cluster;

  result.config = config_for(result.kernel, clustered ? 0 : result.cut);
  if (clustered) {
    result.config = {softmax_method::cluster, cluster.threads / wave_size,
                     cluster.lane_bytes / (chunk * size_of(problem.input))};
  }
  const bool short_rows = result.kernel == softmax_kernel::short_rows;
  const bool split = result.kernel == softmax_kernel::split;
  result.lanes_log2 = wave_size_log2;
  if (short_rows) {
    const int64_t filled = divide_up(chunks, result.config.slots);
    result.lanes_log2 = detail::log2_up(filled > tail ? filled : tail);
    result.rows_per_group = result.config.threads() >> result.lanes_log2;
  } else if (result.kernel == softmax_kernel::wave_rows) {
    result.rows_per_group = result.config.waves;
  }
  const bool empty = problem.rows == 0 || problem.columns == 0;
  result.parts = split       ? static_cast<uint32_t>(parts)
                 : clustered ? static_cast<uint32_t>(cluster.workgroups)
                             : 1;
  result.part_chunks = split ? part_chunks : clustered ? cluster.part_chunks : chunks;
  result.groups = empty       ? 0
                  : clustered ? cluster.groups(problem.rows, device.cu_count)
                              : divide_up(problem.rows, result.rows_per_group) *
                                    static_cast<int64_t>(result.parts);
  result.launches = empty ? 0 : (split ? 2 : 1);
  result.readings = result.config.keeps_row() || (clustered && !cluster.reads_again) ? 1 : 2;
  const int arrays = is_backward(problem.form) ? 2 : 1;
  const int held_bytes = // of an element, in registers
      is_backward(problem.form) || result.config.slots * chunk > 64 ? size_of(problem.input) : 4;
  if (result.config.keeps_row())
    result.row_registers = result.config.slots * chunk * held_bytes / 4 * arrays;
  const int waves_per_simd = result.config.waves > 4 ? result.config.waves / 4 : 1;
  result.register_limit = device.facts().is_nvidia() ? device.facts().vgprs : 512 / waves_per_simd;
  if (!short_rows && result.kernel != softmax_kernel::wave_rows)
    result.lds_bytes = 3 * (result.config.waves * 4 > 16 ? result.config.waves * 4 : 16);
  if (clustered)
    result.lds_bytes = cluster.lds_bytes;
  result.workspace_bytes = split ? split_bytes : 0;
  result.split_bytes = split_bytes;

  int64_t elements = problem.rows * problem.columns;
  if (problem.causal && !empty && problem.queries > 0) {
    const auto limit = kernels::make_causal_limit(problem.queries, problem.columns, problem.anchor);
    elements = problem.rows / problem.queries *
               detail::visible_elements(problem.queries, problem.columns, limit.shift);
  }
  const int read_bytes =
      size_of(problem.input) + (is_backward(problem.form) ? size_of(problem.gradient) : 0);
  result.min_bytes_read =
      elements * (read_bytes + (problem.mask == mask_kind::none ? 0 : size_of(problem.mask_type)));
  result.min_bytes_written = problem.rows * problem.columns * size_of(problem.output);
  return result;
}

} // namespace wavetile
