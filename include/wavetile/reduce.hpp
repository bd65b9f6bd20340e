/// \file
/// Reductions over an axis or over everything, on the host side.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/reduce/call.hpp>
#include <wavetile/kernels/reduce/columns.hpp>
#include <wavetile/kernels/reduce/rows.hpp>
#include <wavetile/kernels/rows/element_types.hpp>
#include <wavetile/launch/launch_groups.hpp>
#include <wavetile/launch/plan_call.hpp>
#include <wavetile/launch/workspace.hpp>

namespace wavetile {

/// Options of `reduce`: `reduce(x, y, op::plus{}, {.axis = 0}, stream)`.
struct reduce_options {
  /// The axis that disappears: 0 the first (columns of a matrix), … ; -1 the last (its rows), … ;
  /// `all_axes`.
  int axis = -1;
  /// Only of use for few results of many elements; see `reduce_plan::best_workspace_bytes`.
  workspace memory = {};
};

namespace detail {

/// Rows of `columns` partial results each: the second step of split rows, and of everything.
template <class Types>
status reduce_partial_rows(const kernels::reduce_call& call,
                           kernels::reduce_row_arguments<Types> arguments, int64_t rows,
                           int64_t columns, hipStream_t stream) {
  constexpr auto config = reduce_config::for_values(sizeof(typename Types::value));
  // partial results of row r: a matrix with rows of `columns`; results where the first step had
  // them
  int64_t stride[2][kernels::max_leading_axes] = {};
  int64_t dense = columns;
  for (int i = call.axes - 1; i >= 0 && rows > 1; --i) {
    stride[0][i] = dense;
    stride[1][i] = call.stride[1][i];
    dense *= call.extent[i];
  }
  arguments.map = kernels::make_row_map<2>(rows > 1 ? call.axes : 0, call.extent, stride);
  arguments.rows = rows;
  arguments.columns = columns;
  const int wanted = log2_up(divide_up(columns, Types::chunk));
  const int64_t tail = columns % Types::chunk;
  const int for_tail = log2_up(tail > 1 ? tail : 1);
  const int lanes_log2 = wanted > for_tail ? wanted : for_tail;
  arguments.lanes_log2 =
      static_cast<uint32_t>(lanes_log2 < wave_size_log2 ? lanes_log2 : wave_size_log2);
  const int64_t rows_per_group = config.threads() >> arguments.lanes_log2;
  using arguments_type = kernels::reduce_row_arguments<Types>;
  return launch_groups(&kernels::reduce_row_lanes<Types, config>, divide_up(rows, rows_per_group),
                       config.threads(), rows_per_group, &arguments_type::first_row, arguments,
                       stream);
}

template <class Types, class Second>
status run_rows(const kernels::reduce_call& call, const reduce_plan& plan,
                kernels::reduce_row_arguments<Types> arguments, hipStream_t stream) {
  using namespace kernels;
  constexpr auto config = reduce_config::for_values(sizeof(typename Types::value));
  using arguments_type = reduce_row_arguments<Types>;
  arguments.map = make_row_map<2>(call.axes, call.extent, call.stride);
  arguments.rows = plan.problem.leading;
  arguments.columns = plan.problem.reduced;
  arguments.count = call.count;
  arguments.lanes_log2 = static_cast<uint32_t>(plan.lanes_log2);
  if (plan.kernel == reduce_kernel::row_lanes)
    return launch_groups(&reduce_row_lanes<Types, config>, plan.groups, config.threads(),
                         config.threads() >> plan.lanes_log2, &arguments_type::first_row, arguments,
                         stream);
  if (plan.kernel == reduce_kernel::row_workgroup)
    return launch_groups(&reduce_row_workgroup<Types, config>, plan.groups, config.threads(), 1,
                         &arguments_type::first_row, arguments, stream);
  // row_split, all_split, all_workgroup
  const bool all = plan.problem.form == reduce_form::all;
  arguments.parts = divider(plan.parts);
  arguments.part_chunks = plan.part_length;
  arguments.units = plan.problem.leading * plan.parts;
  arguments.group_stride = plan.groups;
  arguments.running_index = all;
  arguments.finish = plan.kernel == reduce_kernel::all_workgroup;
  const launch_shape shape{.grid = plan.groups, .block = config.threads()};
  if (const status outcome = launch(&reduce_row_parts<Types, config>, shape, stream, arguments);
      !outcome || arguments.finish)
    return outcome;
  reduce_row_arguments<Second> second{};
  second.x = arguments.partials;
  second.y = arguments.y;
  second.reduction = {arguments.reduction};
  second.count = arguments.count;
  return reduce_partial_rows(call, second, all ? 1 : plan.problem.leading,
                             all ? plan.groups : plan.parts, stream);
}

template <class Types, class Second>
status run_columns(const kernels::reduce_call& call, const reduce_plan& plan,
                   kernels::reduce_column_arguments<Types> arguments, hipStream_t stream) {
  using namespace kernels;
  constexpr auto config = reduce_config::for_values(sizeof(typename Types::value));
  arguments.map = make_row_map<2>(call.axes, call.extent, call.stride);
  arguments.leading = divider(plan.problem.leading);
  arguments.reduced = plan.problem.reduced;
  arguments.reduced_stride = call.reduced_stride;
  arguments.columns = plan.problem.columns;
  arguments.count = call.count;
  arguments.groups_across = divider(plan.groups_across);
  arguments.split = plan.kernel == reduce_kernel::columns_split;
  arguments.part_length = arguments.split ? plan.part_length : plan.problem.reduced;
  arguments.across_log2 = static_cast<uint32_t>(plan.lanes_log2);
  using arguments_type = reduce_column_arguments<Types>;
  if (const status outcome =
          launch_groups(&reduce_columns<Types, config>, plan.groups, config.threads(), 1,
                        &arguments_type::first_group, arguments, stream);
      !outcome || !arguments.split)
    return outcome;

  // the parts are rows of a matrix of all results
  constexpr auto second_config = reduce_config::for_values(sizeof(typename Second::value));
  using second_type = reduce_column_arguments<Second>;
  second_type second{};
  reduce_plan across;
  // 128 bytes of each part, the other lanes down the parts: else few lanes read one after the other
  constexpr int line_lanes_log2 = 3;
  const int64_t down = second_config.threads() >> wave_size_log2;
  plan_across(across, plan.problem.columns, Second::chunk,
              plan.parts > down * second_config.at_once ? line_lanes_log2 : wave_size_log2);
  int64_t stride[2][max_leading_axes] = {};
  int64_t dense = plan.problem.columns;
  for (int i = call.axes - 1; i >= 0; --i) {
    stride[0][i] = dense;
    stride[1][i] = call.stride[1][i];
    dense *= call.extent[i];
  }
  second.x = arguments.partials;
  second.y = arguments.y;
  second.reduction = {arguments.reduction};
  second.map = make_row_map<2>(call.axes, call.extent, stride);
  second.leading = arguments.leading;
  second.reduced = plan.parts;
  second.reduced_stride = plan.problem.leading * plan.problem.columns;
  second.columns = plan.problem.columns;
  second.count = call.count;
  second.groups_across = divider(across.groups_across);
  second.part_length = plan.parts;
  second.across_log2 = static_cast<uint32_t>(across.lanes_log2);
  return launch_groups(&reduce_columns<Second, second_config>,
                       plan.problem.leading * across.groups_across, second_config.threads(), 1,
                       &second_type::first_group, second, stream);
}

template <class Op, class Input, class Output>
status reduce_arrays(kernels::reduce_call& call, const Input* x, Output* y, const Op& operation,
                     const reduce_options& options, hipStream_t stream) {
  using reduction = kernels::reduction<Op, Input, Output>;
  using types = kernels::reduce_types<Input, Output, reduction>;
  using value = typename reduction::value;
  using second = kernels::reduce_types<value, Output, kernels::second_step<reduction, Output>>;
  static_assert(is_trivially_copyable_v<value> && sizeof(value) <= 16,
                "wavetile::reduce: the values of a reduction are trivially copyable and have at "
                "most 16 bytes");
  call.problem.input = numeric_traits<Input>::type;
  call.problem.output = numeric_traits<Output>::type;
  call.problem.value_bytes = static_cast<int>(sizeof(value));
  call.problem.workspace_bytes = options.memory.bytes;
  int axis = options.axis;
  int64_t most_count = numeric_traits<int64_t>::highest();
  if constexpr (kernels::is_arg_op<Op>)
    most_count = static_cast<int64_t>(numeric_traits<Output>::highest());
  if (const status outcome = kernels::check_reduction(call, axis, most_count); !outcome)
    return outcome;
  if (const status outcome = check_lent(options.memory); !outcome)
    return outcome;
  if (call.problem.results() == 0)
    return {};
  const reduce_plan chosen = plan_call(call.problem, options.memory, stream, call.x, call.y);
  if (!chosen.outcome)
    return chosen.outcome;
  const auto run = [&](auto arguments) {
    arguments.x = x;
    arguments.y = y;
    arguments.partials = static_cast<value*>(options.memory.data);
    if constexpr (requires { arguments.reduction.own; })
      arguments.reduction.own = operation;
    return arguments;
  };
  if (call.problem.form == reduce_form::columns)
    return run_columns<types, second>(call, chosen, run(kernels::reduce_column_arguments<types>{}),
                                      stream);
  return run_rows<types, second>(call, chosen, run(kernels::reduce_row_arguments<types>{}), stream);
}

} // namespace detail

/// The problem that `reduce(x, y, operation, options)` solves, for `plan`. Arrays that `reduce`
/// would refuse give a problem without meaning.
template <class Op, numeric Input, numeric Output, int Rank, int ResultRank>
reduce_problem reduce_problem_of(view<Input, Rank> x, view<Output, ResultRank> y, const Op&,
                                 const reduce_options& options = {}) {
  static_assert(kernels::is_reduce_op<Op>,
                "wavetile::reduce_problem_of: the operation is one that reduce takes, such as "
                "op::plus, or made by make_reduction(identity, combine, enter)");
  kernels::reduce_call call;
  call.x = kernels::describe("x", x);
  call.y = kernels::describe("y", y);
  call.problem.input = numeric_traits<detail::remove_cv_t<Input>>::type;
  call.problem.output = numeric_traits<detail::remove_cv_t<Output>>::type;
  if constexpr (kernels::is_reduce_op<Op>) {
    using reduction = kernels::reduction<Op, storage_t<Input>, storage_t<Output>>;
    call.problem.value_bytes = static_cast<int>(sizeof(typename reduction::value));
  }
  call.problem.workspace_bytes = options.memory.bytes;
  int axis = options.axis;
  if (kernels::check_reduction(call, axis, numeric_traits<int64_t>::highest()).ok())
    return call.problem;
  return {};
}

/// y = the combination of the elements of x along an axis, or of all.
///
/// `operation`: op::plus (sum), op::mean, op::multiply (product), op::minimum, op::maximum,
/// op::arg_minimum, op::arg_maximum (index along the axis, or in row-major order over all),
/// op::sum_of_squares, or `make_reduction(identity, combine, enter)` of one's own.
///
/// x: a view of rank 1 to 4 of fp64, fp32, fp16, bf16 (also HIP's own types), int32 or int64; any
/// extents, any strides but that the last is 1. y: the extents of x without the axis, or with 1 in
/// its place (one element for all_axes); any of these types, for indices int32 or int64; its last
/// stride is 1 too, and its rows lie apart, one axis nested in the other. Pointers need only be
/// multiples of the element size. y must not overlap x: where both have the same strides between
/// rows that is decided exactly, else by the range of addresses from the first to the last element
/// of each, so that a y in the gaps between the rows of x is refused.
///
/// Sums, means, products and sums of squares are formed in fp32, in fp64 where x or y is fp64;
/// integers in the wider of both types (64 bits where y is a float), wrapping; then converted to
/// the type of y, integers saturating. Minima and maxima propagate NaN; indices are the lowest of
/// equal elements, the first NaN before any number. Where the axis has no elements y gets what the
/// operation makes of nothing: 0, 1, NaN (mean), the infinity or integer that loses (minimum,
/// maximum), -1 (index), the identity. That is also why an empty x may be null, and why y may not.
///
/// Every element is read once. The order of combination depends on the shape alone, so results are
/// the same bit for bit from run to run, at every address and for every row. Asynchronous on
/// `stream`, which may be capturing; nothing is allocated. Which kernel runs:
/// `plan(reduce_problem_of(x, y, operation, options), device)`.
///
/// Errors: an axis that does not exist, negative or unsuitable extents, last stride not 1, null or
/// misaligned pointer, y overlapping x or itself, element types without a kernel, workspace too
/// small (only if one is lent), device without code. Whatever the error, y is untouched.
template <class Op, class Input, class Output, int Rank, int ResultRank>
status reduce(view<Input, Rank> x, view<Output, ResultRank> y, Op operation,
              const reduce_options& options = {}, hipStream_t stream = nullptr) {
  using input = kernels::storage_or_self_t<Input>;
  using output = kernels::storage_or_self_t<Output>;
  if constexpr (!kernels::has_reduction<Op, Input, Output>) {
    return kernels::refuse_reduction<Op, Input, Output>();
  } else {
    kernels::reduce_call call;
    call.x = kernels::describe("x", x);
    call.y = kernels::describe("y", y);
    return detail::reduce_arrays(call, reinterpret_cast<const input*>(x.data),
                                 reinterpret_cast<output*>(y.data), operation, options, stream);
  }
}

} // namespace wavetile
