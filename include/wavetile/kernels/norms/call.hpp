/// \file
/// The arrays of a normalisation as the host is given them, and their checks.
#pragma once

#include <wavetile/kernels/norms/plan.hpp>
#include <wavetile/kernels/rows/element_types.hpp>
#include <wavetile/kernels/rows/row_arrays.hpp>

namespace wavetile {

/// In place of an array that a call does not have.
struct no_array {};

/// The arrays of `rms_norm` and `layer_norm`, views or `no_array`:
/// `norm_arrays{.x = x, .y = y, .weight = w}`.
template <class X, class Y, class Weight = no_array, class Bias = no_array,
          class Residual = no_array, class Sum = no_array, class Scales = no_array>
struct norm_arrays {
  X x;                    ///< read
  Y y;                    ///< written; extents of x
  Weight weight = {};     ///< factors, one a column; else 1
  Bias bias = {};         ///< summands, one a column; else 0
  Residual residual = {}; ///< added to x first; extents of x
  Sum sum = {};           ///< with a residual: gets x + residual; extents of x
  Scales scales = {};     ///< 8-bit y: gets the scale of each row; a vector of fp32
};

namespace kernels {

template <class T>
inline constexpr bool is_norm_input =
    wavetile::detail::is_any_of_v<storage_or_self_t<T>, float, fp16, bf16>;
template <class T>
inline constexpr bool is_quantised =
    wavetile::detail::is_any_of_v<storage_or_self_t<T>, fp8_e4m3_fnuz, int8_t>;

/// Element type of an array that there may be.
template <class Array>
struct array_element {
  using type = absent;
};
template <class T, int Rank>
struct array_element<view<T, Rank>> {
  using type = T;
};
template <class Array>
using array_element_t = typename array_element<Array>::type;
/// The same as kernels have it.
template <class Array>
struct array_storage {
  using type = absent;
};
template <class T, int Rank>
struct array_storage<view<T, Rank>> {
  using type = storage_or_self_t<T>;
};
template <class Array>
using array_storage_t = typename array_storage<Array>::type;

template <class T, int Rank>
operand describe_any(const char* name, const view<T, Rank>& array) {
  return describe(name, array);
}
inline operand describe_any(const char* name, no_array) {
  operand none;
  none.name = name;
  return none;
}

/// What the checks of a call find out.
struct norm_call {
  operand x, y, weight, bias, residual, sum, scales;
  norm_problem problem;
  bool empty = true;
};

/// A vector with an element for each of `count` columns or rows.
inline status check_vector(const operand& array, int64_t count, const char* counted) {
  if (array.rank != 1)
    return status::failure(status_code::unsupported_shape, array.name, "has rank ")
        .append(array.rank)
        .append(", allowed: 1");
  if (array.extent[0] != count)
    return status::failure(status_code::unsupported_shape, member_name(array, "extent", 0).c_str(),
                           array.extent[0], "")
        .append(count)
        .append(counted);
  return {};
}

inline status check_norm(norm_call& call) {
  const norm_problem& problem = call.problem;
  const bool has_scales = problem.scaling == norm_scaling::per_row;
  const struct {
    const operand* array;
    bool there, written;
  } arrays[] = {{&call.x, true, false},
                {&call.y, true, true},
                {&call.weight, problem.has_weight, false},
                {&call.bias, problem.has_bias, false},
                {&call.residual, problem.has_residual, false},
                {&call.sum, problem.has_residual, true},
                {&call.scales, has_scales, true}};
  for (const auto& entry : arrays)
    if (const status outcome = check_extents(*entry.array); !outcome)
      return outcome;
  for (const operand* array : {&call.y, &call.residual, &call.sum})
    if (array == &call.y || problem.has_residual)
      if (const status outcome = check_same_extents(*array, call.x); !outcome)
        return outcome;
  if (problem.has_weight)
    if (const status outcome = check_vector(call.weight, call.x.columns(), ", the columns of x");
        !outcome)
      return outcome;
  if (problem.has_bias)
    if (const status outcome = check_vector(call.bias, call.x.columns(), ", the columns of x");
        !outcome)
      return outcome;
  if (has_scales)
    if (const status outcome = check_vector(call.scales, call.x.rows(), ", the rows of x");
        !outcome)
      return outcome;
  call.empty = call.x.empty();
  if (call.empty)
    return {};
  for (const auto& entry : arrays)
    if (entry.there)
      if (const status outcome = check_access(*entry.array); !outcome)
        return outcome;
  for (const auto& entry : arrays) {
    if (!entry.there || !entry.written)
      continue;
    if (const status outcome = check_rows_apart(*entry.array); !outcome)
      return outcome;
    for (const auto& other : arrays) {
      if (!other.there || other.array == entry.array)
        continue;
      const bool may_be_same = !other.written && entry.array != &call.scales &&
                               (other.array == &call.x || other.array == &call.residual);
      if (may_be_same) {
        if (const status outcome = check_in_place_or_apart(*entry.array, *other.array); !outcome)
          return outcome;
      } else if (share_memory(*entry.array, *other.array)) {
        return overlap_failure(*entry.array, *other.array, "apart");
      }
    }
  }
  return {};
}

} // namespace kernels

} // namespace wavetile
