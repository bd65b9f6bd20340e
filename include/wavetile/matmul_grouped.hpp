/// \file
/// Many products of different shapes in one launch.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/matmul/list.hpp>
#include <wavetile/matmul.hpp>
#include <wavetile/matmul_list.hpp>

namespace wavetile {

namespace detail {

/// Types of the kernels for a list.
template <class A, class B, class D, class Epilogue>
using list_types =
    kernels::matmul_types<storage_t<A>, storage_t<B>, storage_t<D>, storage_t<D>, Epilogue>;

template <class Types, class A, class B, class D>
status describe_item(kernels::matmul_call& call, const matmul_item<A, B, D>& item,
                     const matmul_options& options) {
  call.a = kernels::describe("a", item.a);
  call.b = kernels::describe("b", item.b);
  call.d = kernels::describe("d", item.d);
  call.has_c = !vanishes(options.beta, numeric_traits<typename Types::a>::type,
                         numeric_traits<typename Types::d>::type);
  if (call.has_c && item.c.data == nullptr && !call.d.empty())
    return kernels::number_failure("beta", options.beta,
                                   ", and there is no C to multiply it with; allowed: 0");
  if (call.has_c)
    call.c = kernels::describe("c", item.c);
  call.transpose_a = options.transpose_a;
  call.transpose_b = options.transpose_b;
  call.problem.a = numeric_traits<typename Types::a>::type;
  call.problem.b = numeric_traits<typename Types::b>::type;
  call.problem.c = call.problem.d = numeric_traits<typename Types::d>::type;
  call.problem.columns_per_output = Types::epilogue::columns_per_output;
  kernels::describe_product(call);
  call.problem.reads_c = call.has_c;
  if (vanishes(options.alpha, call.problem.a, call.problem.d))
    call.problem.k = 0;
  return kernels::check_product(call);
}

/// What all products of a list are together.
struct list_summary {
  matmul_problem largest; ///< the most rows and the longest k of any
  bool work = false;      ///< one of them has results
  int64_t bytes_read = 0, bytes_written = 0;
  double flops = 0;
};

/// Checks every product of a list and `options`, but not the device.
template <class Types, class A, class B, class D, class Epilogue>
status summarize_list(const matmul_item<A, B, D>* items, int64_t count,
                      const matmul_options& options, const Epilogue& steps, list_summary& summary) {
  if (count < 0)
    return status::failure(status_code::invalid_argument, "count", count, ">= 0");
  if (count > 0 && items == nullptr)
    return status::failure(status_code::null_pointer, "items", "null pointer to a list");
  if (const status outcome = check_factors<Types>(options, true); !outcome)
    return outcome;
  matmul_problem& largest = summary.largest;
  for (int64_t i = 0; i < count; ++i) {
    const auto numbered = [&](status outcome) {
      return outcome.append(" (product ").append(i).append(" of the list)");
    };
    kernels::matmul_call call;
    if (const status outcome = describe_item<Types>(call, items[i], options); !outcome)
      return numbered(outcome);
    const matmul_problem& problem = call.problem;
    const int64_t m = problem.m, n = problem.n, columns = n / problem.columns_per_output;
    if (const status outcome = steps.check({count, m, columns, &call.d}); !outcome)
      return numbered(outcome);
    if (m > 0 && n > 0) {
      summary.work = true;
      if (problem.k > 0) {
        if (const status outcome = check_scale_array("scale_a", options.scale_a, m, call.d);
            !outcome)
          return numbered(outcome);
        if (const status outcome = check_scale_array("scale_b", options.scale_b, n, call.d);
            !outcome)
          return numbered(outcome);
      }
      summary.flops +=
          2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(problem.k);
      summary.bytes_read += (m + n) * problem.k * size_of(problem.a) +
                            (problem.reads_c ? m * n * size_of(problem.c) : 0);
      summary.bytes_written += m * columns * size_of(problem.d);
    }
    const int64_t rows = m > largest.m ? m : largest.m;
    const int64_t depth = problem.k > largest.k ? problem.k : largest.k;
    const bool aligned = problem.aligned && (i == 0 || largest.aligned);
    largest = problem;
    largest.m = rows;
    largest.k = depth;
    largest.aligned = aligned;
  }
  largest.named = find_choice(options.kernel, largest.choice);
  return {};
}

/// Whether the workspace that is used lies apart from the arrays of all products.
template <class Types, class A, class B, class D>
status check_list_memory(const matmul_item<A, B, D>* items, int64_t count,
                         const matmul_options& options, int64_t used) {
  for (int64_t i = 0; i < count; ++i) {
    kernels::matmul_call call;
    if (status outcome = describe_item<Types>(call, items[i], options); !outcome)
      return outcome;
    for (const kernels::operand* array : {&call.a, &call.b, &call.c, &call.d})
      if (status outcome = kernels::check_memory_apart(options.memory.data, used, *array); !outcome)
        return outcome.append(" (product ").append(i).append(" of the list)");
  }
  return {};
}

/// The plan for a list that has been summarised, and how it splits k.
template <matmul_choice Choice, class Types, class A, class B, class D>
matmul_plan plan_of_list(const matmul_item<A, B, D>* items, int64_t count,
                         const matmul_options& options, const list_summary& summary,
                         int64_t list_bytes, const device_info& device, list_splitting& splitting) {
  const matmul_problem& largest = summary.largest;
  matmul_plan result;
  result.outcome = largest.named;
  matmul_choice choice = largest.choice;
  const target& facts = device.facts();
  const status code = check_code<Choice>("matmul_grouped", choice);
  for (const status& outcome : {code, check_device(device), check_types(largest, facts),
                                check_forced(largest, facts, largest.m, choice)})
    if (result.outcome.ok())
      result.outcome = outcome;
  const int64_t cus = device.cu_count > 0 ? device.cu_count : 1;
  constexpr int accumulator = static_cast<int>(sizeof(typename Types::accumulator));
  const bool product = !vanishes(options.alpha, largest.a, largest.d);
  const int64_t lent = options.memory.bytes > list_bytes ? options.memory.bytes - list_bytes : 0;
  const auto splitting_of = [&](const matmul_cut& cut, int64_t bytes) -> list_splitting {
    if (options.splits > 0)
      return {options.splits, 0};
    return best_splitting(items, count, options, product, cut, cus, bytes, accumulator);
  };
  choose_tile(result, largest, facts, largest.m, choice, [&](matmul_choice one) {
    const auto cut = cut_of(one, largest, facts);
    const list_totals all =
        total_of_list(items, count, options, product, cut, splitting_of(cut, lent));
    if (all.groups == 0)
      return 0.0;
    const double depth = static_cast<double>(divide_up(all.groups, cus)) * all.tile_depths /
                         static_cast<double>(all.groups);
    const auto longest = static_cast<double>(all.longest_part);
    return (depth > longest ? depth : longest) * cut.tile_m * cut.tile_n / cut.efficiency;
  });
  const auto cut = cut_of(result.choice, largest, facts);
  describe_cut(result, cut, facts);
  result.most_skinny_rows = skinny_rows_of(facts);
  splitting = splitting_of(cut, lent);
  const list_totals all = total_of_list(items, count, options, product, cut, splitting);
  const list_totals best =
      total_of_list(items, count, options, product, cut, splitting_of(cut, int64_t{1} << 62));
  result.rows = largest.m;
  result.columns = largest.n;
  result.depth = largest.k;
  result.splits = static_cast<int>(all.most_splits);
  result.split_products = all.split_products;
  result.split_k = all.longest_part;
  result.aligned = largest.aligned;
  result.flops = summary.flops;
  result.min_bytes_read = summary.bytes_read;
  result.min_bytes_written = summary.bytes_written;
  if (!summary.work)
    return result;
  result.tiles = total_of_list(items, count, options, product, cut, {}).groups;
  result.groups = all.groups;
  constexpr int64_t entries = kernels::matmul_list_arguments<Types>::capacity;
  result.launches =
      static_cast<int>(divide_up(count, entries)) + 1 + (all.split_products > 0 ? 1 : 0);
  result.workspace_bytes = list_bytes + product_of(all.partials, accumulator);
  result.best_workspace_bytes = list_bytes + product_of(best.partials, accumulator);
  double padded = 0;
  for (int64_t i = 0; i < count; ++i) {
    const listed_product one = listed_product_of(items[i], options, product, cut, {});
    padded += 2.0 * static_cast<double>(round_up(one.m, int64_t{cut.wave_m})) *
              static_cast<double>(round_up(one.n, int64_t{cut.wave_n})) *
              static_cast<double>(round_up(one.k, int64_t{cut.wave_k}));
  }
  result.useful = padded > 0 ? summary.flops / padded : 1;
  if (!result.outcome)
    return result;
  if (options.memory.bytes < result.workspace_bytes)
    result.outcome =
        status::failure(status_code::workspace_too_small, "memory.bytes", options.memory.bytes,
                        ">= ")
            .append(result.workspace_bytes)
            .append(all.split_products > 0 ? " for the list and parts of k" : " for the list");
  else
    result.outcome = check_list_memory<Types>(items, count, options, result.workspace_bytes);
  return result;
}

} // namespace detail

/// Bytes of workspace that `matmul_grouped` needs for `count` products of which k is not split.
template <class A, class B, class D, class Epilogue = epilogue::steps<>>
constexpr int64_t matmul_grouped_workspace_bytes(int64_t count) {
  using types = wavetile::detail::list_types<A, B, D, Epilogue>;
  return count * static_cast<int64_t>(sizeof(kernels::matmul_listed_task<types>));
}

/// What `matmul_grouped` does with a list: the choice for all products and why no other, launches,
/// tiles as `groups`, LDS and registers, workspace, sums of flops and bytes; of how many products k
/// is split, and into how many parts at most. `outcome` is what the call would return but for
/// runtime errors. Pure: no runtime call, nothing on a device is read.
template <matmul_choice Choice = matmul_choice::automatic, class A, class B, class D,
          class Epilogue = epilogue::steps<>>
matmul_plan matmul_grouped_plan(const matmul_item<A, B, D>* items, int64_t count,
                                const matmul_options& options, const device_info& device,
                                const Epilogue& steps = {}) {
  using types = detail::list_types<A, B, D, Epilogue>;
  const int64_t bytes = matmul_grouped_workspace_bytes<A, B, D, Epilogue>(count > 0 ? count : 0);
  detail::list_summary summary;
  if (const status outcome = detail::summarize_list<types>(items, count, options, steps, summary);
      !outcome) {
    matmul_plan refused;
    refused.outcome = outcome;
    return refused;
  }
  detail::list_splitting splitting;
  return detail::plan_of_list<Choice, types>(items, count, options, summary, bytes, device,
                                             splitting);
}

/// `count` products of any shapes, in one launch, so that small ones fill the device together:
///
///     matmul_item<bf16, bf16, bf16> items[] = {{a0, b0, d0}, {a1, b1, d1}};
///     matmul_grouped(items, 2, {.memory = memory}, stream);
///
/// `items` lies on the host and is read before the call returns. Options hold for all products;
/// `memory` must have `matmul_grouped_workspace_bytes`; with more, up to the plan's
/// `best_workspace_bytes`, the k of products that would keep some CUs busy while others are idle is
/// split, as `options.splits` says or the plan finds best, and a second pass adds the parts in
/// fixed order (on NVIDIA GPUs by a simpler model than that of `matmul`, which may choose otherwise
/// for one product). The list reaches the device in the arguments of small kernels ahead of the
/// launch, so the call may be captured. Results of one product must not overlap operands or results
/// of another (not checked). Everything else as `matmul`; errors name the number of the product.
/// Which kernel runs: `matmul_grouped_plan`.
template <matmul_choice Choice = matmul_choice::automatic, class A, class B, class D,
          class Epilogue = epilogue::steps<>>
status matmul_grouped(const matmul_item<A, B, D>* items, int64_t count,
                      const matmul_options& options = {}, hipStream_t stream = nullptr,
                      const Epilogue& steps = {}) {
  using namespace kernels;
  using types = wavetile::detail::list_types<A, B, D, Epilogue>;
  static_assert(wavetile::detail::are_matmul_inputs<typename types::a, typename types::b>() &&
                    wavetile::detail::is_matmul_result<typename types::a, typename types::d>(),
                "wavetile::matmul_grouped: no kernel multiplies these types; see matmul");
  const int64_t bytes = matmul_grouped_workspace_bytes<A, B, D, Epilogue>(count > 0 ? count : 0);
  wavetile::detail::list_summary summary;
  if (const status outcome =
          wavetile::detail::summarize_list<types>(items, count, options, steps, summary);
      !outcome)
    return outcome;
  if (const status outcome = wavetile::detail::check_lent(options.memory); !outcome)
    return outcome;
  if (!summary.work)
    return {};
  const matmul_problem& largest = summary.largest;
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome)
    return outcome;
  wavetile::detail::list_splitting splitting;
  const matmul_plan chosen = wavetile::detail::plan_of_list<Choice, types>(
      items, count, options, summary, bytes, device, splitting);
  if (!chosen.outcome)
    return chosen.outcome;
  if (const status outcome = wavetile::detail::check_workspace(options.memory, bytes); !outcome)
    return outcome;

  auto* const list = static_cast<matmul_listed_task<types>*>(options.memory.data);
  const auto cut = wavetile::detail::cut_of(chosen.choice, largest, device.facts());
  const bool product = !wavetile::detail::vanishes(options.alpha, largest.a, largest.d);
  int64_t groups = 0, partials = 0, combine_groups = 0;
  matmul_list_arguments<types> upload{};
  for (int64_t i = 0; i < count; ++i) {
    const auto& item = items[i];
    matmul_listed_task<types>& entry = upload.entries[upload.count++];
    const auto one = wavetile::detail::listed_product_of(item, options, product, cut, splitting);
    entry = {{storage_pointer(item.a.data), storage_pointer(item.b.data),
              largest.reads_c ? storage_pointer(item.c.data) : nullptr,
              storage_pointer(item.d.data), item.a.stride[0], item.b.stride[0], item.c.stride[0],
              item.d.stride[0], one.m, one.n, one.k},
             groups,
             one.splits,
             one.split_k,
             partials,
             combine_groups};
    groups += one.groups;
    partials += one.partials;
    combine_groups += one.combine_groups;
    if (upload.count < upload.capacity && i + 1 < count)
      continue;
    upload.to = list + (i + 1 - upload.count);
    const launch_shape shape{.grid = 1, .block = matmul_wave_size};
    if (const status outcome = launch(&matmul_write_list<types>, shape, stream, upload); !outcome)
      return outcome;
    upload.count = 0;
  }

  matmul_arguments<types> arguments{};
  arguments.list = list;
  arguments.batches = count;
  arguments.alpha = wavetile::detail::factor_as<typename types::compute>(options.alpha);
  arguments.beta = wavetile::detail::factor_as<typename types::compute>(options.beta);
  if (product && largest.k > 0) { // else nothing reads them, and they were not checked
    arguments.scale_a = options.scale_a.data;
    arguments.scale_b = options.scale_b.data;
    arguments.kind_a = options.scale_a.kind;
    arguments.kind_b = options.scale_b.kind;
  }
  arguments.partials = static_cast<unsigned char*>(options.memory.data) + bytes;
  arguments.epilogue = steps;
  wavetile::detail::set_order(arguments, chosen, largest, device);
  if (const status outcome =
          wavetile::detail::launch_product<Choice>(chosen, largest, arguments, stream);
      !outcome)
    return outcome;
  return combine_groups > 0
             ? wavetile::detail::launch_combine_of_list(arguments, combine_groups, stream)
             : status{};
}

} // namespace wavetile
