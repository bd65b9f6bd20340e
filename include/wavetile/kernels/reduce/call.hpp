/// \file
/// Host checks of a reduction's arrays, and the problem they make.
#pragma once

#include <wavetile/kernels/reduce/plan.hpp>
#include <wavetile/kernels/reduce/problem.hpp>
#include <wavetile/kernels/rows/element_types.hpp>
#include <wavetile/kernels/rows/operand.hpp>

namespace wavetile {

/// In place of the number of an axis: everything.
inline constexpr int all_axes = 0x7FFFFFFF;

namespace kernels {

template <class T>
inline constexpr bool is_reduce_type =
    wavetile::detail::is_any_of_v<T, double, float, fp16, bf16, int32_t, int64_t>;

template <class Op>
inline constexpr bool is_arg_op =
    wavetile::detail::is_any_of_v<Op, op::arg_minimum, op::arg_maximum>;

/// Element types of results.
template <class Op, class T>
inline constexpr bool is_reduce_result = is_reduce_type<T> &&
                                         (!is_arg_op<Op> || wavetile::detail::is_integer_v<T>);
template <class Op>
inline constexpr const char* reduce_result_names =
    is_arg_op<Op> ? "int32, int64" : reduce_type_names;

/// Whether there is code for an operation, and for elements of x and y with it.
template <class Op, class Input, class Output>
inline constexpr bool has_reduction =
    !wavetile::detail::is_const_v<Output> && is_reduce_op<Op> &&
    is_reduce_type<storage_or_self_t<Input>> && is_reduce_result<Op, storage_or_self_t<Output>>;

/// Why there is none: which of x and y is to blame. What is no operation does not compile.
template <class Op, class Input, class Output>
status refuse_reduction() {
  static_assert(!wavetile::detail::is_const_v<Output>,
                "wavetile: the output y is written, its elements are const");
  static_assert(is_reduce_op<Op>,
                "wavetile: the operation of a reduction is one of op::plus, mean, multiply, "
                "minimum, maximum, arg_minimum, arg_maximum, sum_of_squares, or made by "
                "make_reduction(identity, combine, enter)");
  if (!is_reduce_type<storage_or_self_t<Input>>)
    return unsupported_element("x", type_name<Input>(), reduce_type_names);
  return unsupported_element("y", type_name<Output>(), reduce_result_names<Op>);
}

/// What the checks of a call find out.
struct reduce_call {
  operand x, y;
  reduce_problem problem;
  int64_t reduced_stride = 0;
  int64_t count = 0; ///< elements behind a result
  int axes = 0;      ///< leading axes
  int64_t extent[max_leading_axes] = {};
  int64_t stride[2][max_leading_axes] = {};
};

/// y has the extents of x without the axis, or with 1 in its place; over everything: one element.
inline status check_result_extents(const reduce_call& call, int axis) {
  const operand& x = call.x;
  const operand& y = call.y;
  const bool all = axis == all_axes;
  const bool kept = !all && y.rank == x.rank;
  if (!all && !kept && y.rank != (x.rank > 1 ? x.rank - 1 : 1))
    return status::failure(status_code::unsupported_shape, "y", "has rank ")
        .append(y.rank)
        .append(", allowed: the rank of x or one less");
  for (int own = 0; own < y.rank; ++own) {
    const int of_x = kept || own < axis ? own : own + 1;
    const int64_t expected = all || of_x == axis || of_x >= x.rank ? 1 : x.extent[of_x];
    if (y.extent[own] != expected)
      return status::failure(status_code::unsupported_shape, member_name(y, "extent", own).c_str(),
                             y.extent[own], "")
          .append(expected);
  }
  return {};
}

/// Finds the form of the problem and its leading axes. The extents have been checked.
inline void describe_reduction(reduce_call& call, int axis) {
  const operand& x = call.x;
  const operand& y = call.y;
  reduce_problem& problem = call.problem;
  const int last = x.rank - 1;
  const auto add_axis = [&](int64_t extent, int64_t x_stride, int64_t y_stride) {
    call.extent[call.axes] = extent;
    call.stride[0][call.axes] = x_stride;
    call.stride[1][call.axes] = y_stride;
    ++call.axes;
    problem.leading *= extent;
  };
  const auto y_stride_of = [&](int x_axis) {
    const int own = y.rank == x.rank || x_axis < axis ? x_axis : x_axis - 1;
    return y.stride[own];
  };
  problem.leading = 1;
  problem.columns = 1;
  if (axis == all_axes) {
    int64_t size = 1, dense = 1;
    bool is_dense = true;
    for (int i = last; i >= 0; --i) {
      is_dense = is_dense && (x.extent[i] == 1 || x.stride[i] == dense);
      dense *= x.extent[i];
      size *= x.extent[i];
    }
    call.count = size;
    problem.form = is_dense || size == 0 ? reduce_form::rows : reduce_form::all;
    problem.reduced = is_dense || size == 0 ? size : x.extent[last];
    if (problem.form == reduce_form::all)
      for (int i = 0; i < last; ++i)
        add_axis(x.extent[i], x.stride[i], 0);
  } else if (axis == last) {
    problem.form = reduce_form::rows;
    problem.reduced = x.extent[last];
    call.count = problem.reduced;
    for (int i = 0; i < last; ++i)
      add_axis(x.extent[i], x.stride[i], y_stride_of(i));
  } else {
    problem.form = reduce_form::columns;
    problem.reduced = x.extent[axis];
    problem.columns = x.extent[last];
    call.count = problem.reduced;
    call.reduced_stride = x.stride[axis];
    for (int i = 0; i < last; ++i)
      if (i != axis)
        add_axis(x.extent[i], x.stride[i], y_stride_of(i));
    // leading axes that continue the columns in both arrays lengthen them
    while (call.axes > 0 && call.stride[0][call.axes - 1] == problem.columns &&
           call.stride[1][call.axes - 1] == problem.columns) {
      const int64_t extent = call.extent[--call.axes];
      problem.columns *= extent;
      problem.leading = 1;
      for (int i = 0; i < call.axes; ++i)
        problem.leading *= call.extent[i];
    }
  }
  const int64_t bytes = x.element_bytes;
  problem.aligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(x.data)) % 16 == 0 &&
                    call.reduced_stride * bytes % 16 == 0;
  for (int i = 0; i < call.axes; ++i)
    problem.aligned =
        problem.aligned && (call.extent[i] == 1 || call.stride[0][i] * bytes % 16 == 0);
}

inline status check_reduction(reduce_call& call, int& axis, int64_t most_count) {
  const int rank = call.x.rank;
  if (axis != all_axes && (axis < -rank || axis >= rank))
    return status::failure(status_code::invalid_argument, "axis", axis, "")
        .append(-rank)
        .append(" to ")
        .append(rank - 1)
        .append(", or all_axes");
  if (axis < 0)
    axis += rank;
  for (const operand* array : {&call.x, &call.y})
    if (const status outcome = check_extents(*array); !outcome)
      return outcome;
  if (const status outcome = check_result_extents(call, axis); !outcome)
    return outcome;
  describe_reduction(call, axis);
  if (call.count > most_count)
    return status::above_limit(status_code::unsupported_shape, "x", call.count, most_count,
                               "elements for an index of the type of y");
  if (call.problem.results() == 0)
    return {};
  if (!call.x.empty())
    if (const status outcome = check_access(call.x); !outcome)
      return outcome;
  if (const status outcome = check_access(call.y); !outcome)
    return outcome;
  if (const status outcome = check_rows_apart(call.y); !outcome)
    return outcome;
  if (!call.x.empty() && share_memory(call.y, call.x))
    return overlap_failure(call.y, call.x, "apart from x");
  return {};
}

} // namespace kernels

} // namespace wavetile
