/// \file
/// Runs one reduction on the device against a reference written from its definition.
#pragma once

#include "device_buffer.hpp"
#include "random.hpp"
#include "verify.hpp"

#include <wavetile/reduce.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace wavetile::test {

/// What the reference of an operator is: a result, and the magnitude that errors are relative to.
struct reduced {
  double value = 0;
  std::int64_t integer = 0; ///< integers: exact, wrapping at 64 bits
  double magnitude = 0;     ///< sum of |x|, or |result|
};

template <class Op>
struct is_arg : std::bool_constant<kernels::is_arg_op<Op>> {};

/// Everything about one reduction in fp64, or 64-bit integers.
template <class Op, class Input>
reduced reduce_reference(const std::vector<Input>& elements) {
  constexpr bool integers = std::is_integral_v<Input>;
  reduced r;
  const auto n = static_cast<double>(elements.size());
  const double infinite = std::numeric_limits<double>::infinity();
  if constexpr (std::is_same_v<Op, op::multiply>) {
    r.value = 1;
    r.integer = 1;
  }
  if constexpr (is_arg<Op>::value)
    r.integer = -1;
  if constexpr (std::is_same_v<Op, op::minimum> || std::is_same_v<Op, op::maximum>) {
    constexpr bool smallest = std::is_same_v<Op, op::minimum>;
    r.value = smallest ? infinite : -infinite;
    if constexpr (integers)
      r.integer = smallest ? std::numeric_limits<Input>::max() : std::numeric_limits<Input>::min();
  }
  std::uint64_t sum = 0, product = 1;
  double extremum = 0;
  std::int64_t extremum_integer = 0;
  bool extremum_is_nan = false;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double x = as_double(elements[i]);
    std::int64_t k = 0;
    if constexpr (integers)
      k = elements[i];
    if constexpr (std::is_same_v<Op, op::plus> || std::is_same_v<Op, op::mean>) {
      r.value += x;
      r.magnitude += std::fabs(x);
      sum += static_cast<std::uint64_t>(k);
    } else if constexpr (std::is_same_v<Op, op::sum_of_squares>) {
      r.value += x * x;
      r.magnitude += x * x;
      sum += static_cast<std::uint64_t>(k) * static_cast<std::uint64_t>(k);
    } else if constexpr (std::is_same_v<Op, op::multiply>) {
      r.value *= x;
      product *= static_cast<std::uint64_t>(k);
    } else if constexpr (std::is_same_v<Op, op::minimum>) {
      r.value = std::isnan(x) || std::isnan(r.value) ? std::nan("") : std::fmin(r.value, x);
      r.integer = k < r.integer ? k : r.integer;
    } else if constexpr (std::is_same_v<Op, op::maximum>) {
      r.value = std::isnan(x) || std::isnan(r.value) ? std::nan("") : std::fmax(r.value, x);
      r.integer = k > r.integer ? k : r.integer;
    } else {
      constexpr bool smallest = std::is_same_v<Op, op::arg_minimum>;
      const bool better = integers ? (smallest ? k < extremum_integer : k > extremum_integer)
                                   : (smallest ? x < extremum : x > extremum);
      if (i == 0 || (!extremum_is_nan && (std::isnan(x) || better))) {
        r.integer = static_cast<std::int64_t>(i);
        extremum = x;
        extremum_integer = k;
        extremum_is_nan = std::isnan(x);
      }
    }
  }
  if constexpr (integers &&
                (std::is_same_v<Op, op::plus> || std::is_same_v<Op, op::sum_of_squares>))
    r.integer = static_cast<std::int64_t>(sum);
  if constexpr (integers && std::is_same_v<Op, op::multiply>)
    r.integer = static_cast<std::int64_t>(product);
  if constexpr (std::is_same_v<Op, op::mean>) {
    if constexpr (integers) {
      const auto exact = static_cast<std::int64_t>(sum);
      r.integer = elements.empty() ? 0 : exact / static_cast<std::int64_t>(elements.size());
      r.value = static_cast<double>(exact) / n;
    } else {
      r.value /= n;
    }
    r.magnitude /= n;
  }
  if constexpr (std::is_same_v<Op, op::multiply>)
    r.magnitude = std::fabs(r.value);
  return r;
}

/// Digits of what the kernel accumulates in, and of its result.
template <class Input, class Output>
double accumulator_unit() {
  return std::is_same_v<Input, double> || std::is_same_v<Output, double> ? 0x1p-53 : 0x1p-24;
}
template <class T>
double result_unit() {
  return std::is_same_v<T, double>  ? 0x1p-53
         : std::is_same_v<T, float> ? 0x1p-24
         : std::is_same_v<T, fp16>  ? 0x1p-11
                                    : 0x1p-8;
}

/// A reduction of a strided array of rank 1 to 4 along an axis or all of them.
template <class Op, class Input, class Output>
struct reduce_case {
  std::vector<std::int64_t> extent;
  int axis = -1;
  std::vector<std::int64_t> stride = {}; ///< of x; dense when empty
  std::size_t x_shift = 0;
  std::size_t y_shift = 0;
  bool keep_axis = false; ///< y has the reduced axis, with extent 1
  std::int64_t workspace_bytes = 0;
  std::vector<Input> x = {}; ///< all elements that the strides reach
  Op operation = {};
  std::vector<Output> y = {}; ///< results, in order

  std::int64_t span() {
    if (stride.empty()) {
      stride.assign(extent.size(), 1);
      for (std::size_t i = extent.size() - 1; i > 0; --i)
        stride[i - 1] = stride[i] * extent[i];
    }
    std::int64_t last = 1;
    for (std::size_t i = 0; i < extent.size(); ++i) {
      if (extent[i] == 0)
        return 0;
      last += (extent[i] - 1) * stride[i];
    }
    return last;
  }

  /// Normals, or integers with room for overflow.
  void fill(std::uint64_t seed = 1, double deviation = 1, double mean = 0) {
    const auto count = static_cast<std::size_t>(span());
    if constexpr (std::is_integral_v<Input>)
      x = random_integers<Input>(count, seed, std::numeric_limits<Input>::min(),
                                 std::numeric_limits<Input>::max());
    else
      x = random_normals<Input>(count, seed, deviation, mean);
  }

  int positive_axis() const {
    return axis == all_axes || axis >= 0 ? axis : axis + static_cast<int>(extent.size());
  }

  std::vector<std::int64_t> result_extent() const {
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < extent.size(); ++i) {
      const bool gone = axis == all_axes || static_cast<int>(i) == positive_axis();
      if (!gone)
        result.push_back(extent[i]);
      else if (keep_axis)
        result.push_back(1);
    }
    if (result.empty())
      result.push_back(1);
    return result;
  }

  template <int Rank, int ResultRank>
  status call(const Input* from, Output* to) const {
    view<const Input, Rank> x_view{from, {}, {}};
    for (int i = 0; i < Rank; ++i) {
      x_view.extent[i] = extent[static_cast<std::size_t>(i)];
      x_view.stride[i] = stride[static_cast<std::size_t>(i)];
    }
    view<Output, ResultRank> y_view{to, {}, {}};
    const auto shape = result_extent();
    std::int64_t dense = 1;
    for (int i = ResultRank - 1; i >= 0; --i) {
      y_view.extent[i] = shape[static_cast<std::size_t>(i)];
      y_view.stride[i] = dense;
      dense *= y_view.extent[i];
    }
    device_buffer<unsigned char> memory(static_cast<std::size_t>(workspace_bytes));
    const reduce_options options{
        .axis = axis, .memory = {workspace_bytes == 0 ? nullptr : memory.data(), workspace_bytes}};
    const status outcome = reduce(x_view, y_view, operation, options);
    WAVETILE_TEST_HIP(hipDeviceSynchronize());
    return outcome;
  }

  void run() {
    (void)span();
    std::int64_t results = 1;
    for (const std::int64_t e : result_extent())
      results *= e;
    device_buffer<Input> from(x, x_shift);
    device_buffer<Output> to(static_cast<std::size_t>(results), y_shift);
    const int rank = static_cast<int>(extent.size());
    const int result_rank = static_cast<int>(result_extent().size());
    status outcome;
    switch (rank * 10 + result_rank) {
    case 11:
      outcome = call<1, 1>(from.data(), to.data());
      break;
    case 21:
      outcome = call<2, 1>(from.data(), to.data());
      break;
    case 22:
      outcome = call<2, 2>(from.data(), to.data());
      break;
    case 31:
      outcome = call<3, 1>(from.data(), to.data());
      break;
    case 32:
      outcome = call<3, 2>(from.data(), to.data());
      break;
    case 41:
      outcome = call<4, 1>(from.data(), to.data());
      break;
    case 43:
      outcome = call<4, 3>(from.data(), to.data());
      break;
    default:
      FAIL() << "no such ranks in the test";
    }
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    y = to.download();
  }

  /// The elements behind each result, in order of the reduced index.
  std::vector<std::vector<Input>> groups() const {
    const int rank = static_cast<int>(extent.size());
    std::int64_t results = 1;
    for (const std::int64_t e : result_extent())
      results *= e;
    std::vector<std::vector<Input>> all(static_cast<std::size_t>(results));
    std::int64_t count = 1;
    for (const std::int64_t e : extent)
      count *= e;
    for (std::int64_t flat = 0; flat < count; ++flat) {
      std::int64_t rest = flat, at = 0, result = 0, dense = 1;
      for (int i = rank - 1; i >= 0; --i) {
        const auto u = static_cast<std::size_t>(i);
        const std::int64_t index = rest % extent[u];
        rest /= extent[u];
        at += index * stride[u];
        if (axis != all_axes && i != positive_axis()) {
          result += index * dense;
          dense *= extent[u];
        }
      }
      all[static_cast<std::size_t>(result)].push_back(x[static_cast<std::size_t>(at)]);
    }
    return all;
  }

  /// Exact for integers, extrema and indices. Sums: each addition rounds a partial sum of at most
  /// the sum of magnitudes A, by u A; a term goes through `depth` additions, where a lane adds its
  /// share in several chains and a tree joins them (at most 3 + 6 + 2 levels, and as many in a
  /// second step). Products: each of n multiplications rounds once. One more for a square, for the
  /// division by the count, and for the result's type.
  void check() const {
    const auto all = groups();
    ASSERT_EQ(all.size(), y.size());
    for (std::size_t r = 0; r < all.size(); ++r) {
      const reduced expected = reduce_reference<Op>(all[r]);
      const auto n = static_cast<double>(all[r].size());
      if constexpr (is_arg<Op>::value) {
        ASSERT_EQ(static_cast<std::int64_t>(y[r]), expected.integer) << "result " << r;
      } else if constexpr (std::is_integral_v<Input> && std::is_integral_v<Output>) {
        ASSERT_EQ(y[r], static_cast<Output>(expected.integer)) << "result " << r;
      } else {
        double value = expected.value;
        if (std::is_integral_v<Input> && !std::is_same_v<Op, op::mean>)
          value = static_cast<double>(expected.integer);
        const double got = as_double(y[r]);
        double allowed = 0;
        if (!std::is_integral_v<Input>) {
          const double u = accumulator_unit<Input, Output>();
          const bool product = std::is_same_v<Op, op::multiply>;
          const bool exact = std::is_same_v<Op, op::minimum> || std::is_same_v<Op, op::maximum>;
          // rows: 64 lanes and several chains; columns: 4 waves
          const double chain =
              axis == all_axes || positive_axis() + 1 == static_cast<int>(extent.size())
                  ? n / 128 + 2
                  : n / 4 + 2;
          const double depth = product ? n : chain + 22;
          allowed = exact ? 0 : u * (depth + 2) * expected.magnitude;
        }
        allowed += std::fabs(value) * result_unit<Output>() + 0x1p-25 * (sizeof(Output) == 2);
        if (std::isnan(value)) {
          ASSERT_TRUE(std::isnan(got)) << "result " << r << ": " << got;
        } else if (std::isinf(value)) {
          ASSERT_EQ(got, value) << "result " << r;
        } else if (std::is_same_v<Output, fp16> && std::fabs(value) - allowed > 65520) {
          // beyond half a unit above 65504, the largest fp16: rounding to nearest gives infinity
          ASSERT_EQ(got, std::copysign(HUGE_VAL, value)) << "result " << r;
        } else {
          ASSERT_LE(std::fabs(got - value), allowed)
              << "result " << r << ": got " << got << ", expected " << value;
        }
      }
    }
  }

  void run_and_check() {
    run();
    if (!testing::Test::HasFatalFailure())
      check();
  }
};

/// A name for the failing case's trace.
inline std::string shape_text(const std::vector<std::int64_t>& extent, int axis) {
  std::string text = "extents";
  for (const std::int64_t e : extent)
    text += " " + std::to_string(e);
  return text + ", axis " + (axis == all_axes ? "all" : std::to_string(axis));
}

} // namespace wavetile::test
