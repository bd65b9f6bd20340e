/// \file
/// Many products of different shapes in one launch.
#pragma once

#include <wavetile/kernels/matmul/list.hpp>
#include <wavetile/matmul.hpp>

namespace wavetile {

/// One product of a list: d = epilogue(alpha op(a) op(b) + beta c).
template <class A, class B, class D>
struct matmul_item {
  view<const A, 2> a;
  view<const B, 2> b;
  view<D, 2> d;
  view<const D, 2> c = {}; ///< where beta is not 0
};

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
  call.has_c = options.beta != 0;
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
  if (options.alpha == 0)
    call.problem.k = 0;
  return kernels::check_product(call);
}

/// Tiles of a list for a choice, counted product by product.
template <class A, class B, class D>
int64_t tiles_of_list(const matmul_item<A, B, D>* items, int64_t count,
                      const matmul_options& options, const matmul_cut& cut) {
  int64_t tiles = 0;
  for (int64_t i = 0; i < count; ++i)
    tiles += divide_up(items[i].a.extent[options.transpose_a ? 1 : 0], cut.tile_m) *
             divide_up(items[i].b.extent[options.transpose_b ? 0 : 1], cut.tile_n);
  return tiles;
}

} // namespace detail

/// Bytes of workspace that `matmul_grouped` needs for `count` products.
template <class A, class B, class D, class Epilogue = epilogue::steps<>>
constexpr int64_t matmul_grouped_workspace_bytes(int64_t count) {
  using types = wavetile::detail::list_types<A, B, D, Epilogue>;
  return count * static_cast<int64_t>(sizeof(kernels::matmul_listed_task<types>));
}

/// `count` products of any shapes, in one launch, so that small ones fill the device together:
///
///     matmul_item<bf16, bf16, bf16> items[] = {{a0, b0, d0}, {a1, b1, d1}};
///     matmul_grouped(items, 2, {.memory = memory}, stream);
///
/// `items` lies on the host and is read before the call returns. Options hold for all products;
/// `memory` must have `matmul_grouped_workspace_bytes`. k is not split. The list reaches the device
/// in the arguments of small kernels ahead of the launch, so the call may be captured. Results of
/// one product must not overlap operands or results of another (not checked). Everything else as
/// `matmul`; errors name the number of the product.
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
  if (count < 0)
    return status::failure(status_code::invalid_argument, "count", count, ">= 0");
  if (count > 0 && items == nullptr)
    return status::failure(status_code::null_pointer, "items", "null pointer to a list");
  if (const status outcome = wavetile::detail::check_factors<types>(options, true); !outcome)
    return outcome;
  if (options.splits > 1)
    return status::failure(status_code::invalid_argument, "splits", options.splits, "0 or 1");
  const int64_t bytes = matmul_grouped_workspace_bytes<A, B, D, Epilogue>(count);
  matmul_problem largest; // the extents of all together, for the choice
  bool work = false;
  for (int64_t i = 0; i < count; ++i) {
    matmul_call call;
    if (status outcome = wavetile::detail::describe_item<types>(call, items[i], options); !outcome)
      return outcome.append(" (product ").append(i).append(" of the list)");
    const matmul_problem& problem = call.problem;
    const epilogue::output_shape shape{count, problem.m, problem.n / problem.columns_per_output};
    if (status outcome = steps.check(shape); !outcome)
      return outcome.append(" (product ").append(i).append(" of the list)");
    for (const operand* array : {&call.a, &call.b, &call.c, &call.d})
      if (status outcome = check_memory_apart(options.memory.data, bytes, *array); !outcome)
        return outcome.append(" (product ").append(i).append(" of the list)");
    work = work || (problem.m > 0 && problem.n > 0);
    const int64_t m = problem.m > largest.m ? problem.m : largest.m;
    const int64_t k = problem.k > largest.k ? problem.k : largest.k;
    largest = problem;
    largest.m = m;
    largest.k = k;
  }
  if (!work)
    return {};

  matmul_choice choice = matmul_choice::automatic;
  if (const status outcome = wavetile::detail::find_choice(options.kernel, choice); !outcome)
    return outcome;
  if (Choice != matmul_choice::automatic && choice != matmul_choice::automatic && choice != Choice)
    return status::failure(status_code::invalid_argument, "kernel", "it is ")
        .append(options.kernel)
        .append(", and this call has code for ")
        .append(name_of(Choice))
        .append(" only");
  if (Choice != matmul_choice::automatic)
    choice = Choice;
  else if (choice != matmul_choice::automatic && !in_every_call(choice))
    return status::failure(status_code::invalid_argument, "kernel", "it is ")
        .append(options.kernel)
        .append(", which only calls with it as template argument have code for");
  if (choice == matmul_choice::skinny && largest.m > skinny_rows)
    return status::failure(status_code::unsupported_shape, "kernel",
                           "skinny takes at most 16 rows of op(A), here are ")
        .append(largest.m);
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome)
    return outcome;
  if (const status outcome = check_device(device); !outcome)
    return outcome;
  if (choice == matmul_choice::automatic && largest.m <= skinny_rows)
    choice = matmul_choice::skinny;
  if (choice == matmul_choice::automatic) {
    double best = 0;
    for (const auto one : {matmul_choice::large, matmul_choice::middle, matmul_choice::compact}) {
      const auto cut = wavetile::detail::cut_of(one, largest, device.facts());
      const int64_t tiles = wavetile::detail::tiles_of_list(items, count, options, cut);
      const double time = static_cast<double>(divide_up(
                              tiles, int64_t{device.cu_count > 0 ? device.cu_count : 1})) *
                          cut.tile_m * cut.tile_n / cut.efficiency;
      if (choice == matmul_choice::automatic || time < best) {
        choice = one;
        best = time;
      }
    }
  }

  if (options.memory.bytes < bytes)
    return status::failure(status_code::workspace_too_small, "workspace.bytes",
                           options.memory.bytes, ">= ")
        .append(bytes)
        .append(" for the list");
  if (const status outcome = wavetile::detail::check_workspace(options.memory, bytes); !outcome)
    return outcome;

  const auto cut = wavetile::detail::cut_of(choice, largest, device.facts());
  auto* const list = static_cast<matmul_listed_task<types>*>(options.memory.data);
  int64_t tiles = 0;
  matmul_list_arguments<types> upload{};
  for (int64_t i = 0; i < count; ++i) {
    const auto& item = items[i];
    matmul_listed_task<types>& entry = upload.entries[upload.count++];
    const int64_t m = item.a.extent[options.transpose_a ? 1 : 0];
    const int64_t n = item.b.extent[options.transpose_b ? 0 : 1];
    entry.first_tile = tiles;
    entry.task = {storage_pointer(item.a.data),
                  storage_pointer(item.b.data),
                  options.beta != 0 ? storage_pointer(item.c.data) : nullptr,
                  storage_pointer(item.d.data),
                  item.a.stride[0],
                  item.b.stride[0],
                  item.c.stride[0],
                  item.d.stride[0],
                  m,
                  n,
                  options.alpha == 0 ? 0 : item.a.extent[options.transpose_a ? 0 : 1]};
    tiles += divide_up(m, cut.tile_m) * divide_up(n, cut.tile_n);
    if (upload.count < upload.capacity && i + 1 < count)
      continue;
    upload.to = list + (i + 1 - upload.count);
    const launch_shape shape{.grid = 1, .block = 64};
    if (const status outcome = launch(&matmul_write_list<types>, shape, stream, upload); !outcome)
      return outcome;
    upload.count = 0;
  }

  matmul_arguments<types> arguments{};
  arguments.list = list;
  arguments.batches = count;
  arguments.alpha = wavetile::detail::factor_as<typename types::compute>(options.alpha);
  arguments.beta = wavetile::detail::factor_as<typename types::compute>(options.beta);
  arguments.scale_a = options.scale_a.data;
  arguments.scale_b = options.scale_b.data;
  arguments.kind_a = options.scale_a.kind;
  arguments.kind_b = options.scale_b.kind;
  arguments.split_k = largest.k;
  arguments.epilogue = steps;
  matmul_plan chosen;
  chosen.choice = choice;
  chosen.groups = tiles;
  chosen.threads = cut.threads;
  chosen.tile_m = cut.tile_m;
  chosen.tile_n = cut.tile_n;
  wavetile::detail::set_order(arguments, chosen, largest, device);
  return wavetile::detail::launch_product<Choice>(chosen, largest, arguments, stream);
}

} // namespace wavetile
