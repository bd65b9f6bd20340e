/// \file
/// Runs one normalisation on the device against fp64, and the error that the kernels may make.
#pragma once

#include "device_buffer.hpp"
#include "random.hpp"
#include "verify.hpp"

#include <wavetile/layer_norm.hpp>
#include <wavetile/rms_norm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace wavetile::test {

/// Half a unit in the last place of a result type, relative, and half its smallest number.
struct result_rounding {
  double relative, absolute;
};
template <class T>
constexpr result_rounding result_rounding_of() {
  if constexpr (std::is_same_v<T, fp16>)
    return {0x1p-11, 0x1p-25};
  else if constexpr (std::is_same_v<T, bf16>)
    return {0x1p-8, 0x1p-134};
  else if constexpr (std::is_same_v<T, fp8_e4m3_fnuz>)
    return {0x1p-4, 0x1p-11};
  else if constexpr (std::is_same_v<T, int8_t>)
    return {0, 0.5};
  else
    return {0, 0x1p-126}; // fp32: the last operation's rounding is in the bound
}

/// One row in fp64: its values, and the error allowed of each before it is rounded to the result
/// type.
struct norm_row {
  std::vector<double> values, allowed;
};

/// With u = 2^-24 and C the additions an element goes through: `chain` in a lane, 13 over chunk,
/// wave and workgroup.
///
/// The sum of squares has a relative error of (C + 1) u for rms, its product with the rounded 1/n
/// and the addition of epsilon 3 u more; v_rsq_f32 halves that and adds 2 u; two operations follow.
/// For layer the mean has an error dm of (C + 2) u times the mean magnitude of h (streams: their
/// running means are bounded by the largest). It shifts every element, and adds dm^2 to the
/// variance; differences and squares add 2 u more.
inline norm_row norm_reference(norm_kind kind, const std::vector<double>& h,
                               const std::vector<double>& weight, const std::vector<double>& bias,
                               double epsilon, double chain, bool streamed) {
  const double u = 0x1p-24;
  const auto n = static_cast<double>(h.size());
  const double additions = (streamed ? 3 * chain : chain) + 13;
  double mean = 0, squares = 0, magnitude = 0, largest = 0;
  for (const double x : h) {
    mean += x / n;
    magnitude += std::fabs(x) / n;
    largest = std::fmax(largest, std::fabs(x));
  }
  const double centre = kind == norm_kind::layer ? mean : 0;
  for (const double x : h)
    squares += (x - centre) * (x - centre);
  const double factor = 1 / std::sqrt(squares / n + epsilon);
  const double mean_error =
      kind == norm_kind::layer ? (additions + 2) * u * (streamed ? largest : magnitude) : 0;
  const double relative =
      u * ((additions + 5) / 2 + 4) + mean_error * mean_error * factor * factor / 2;
  norm_row row;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const double w = weight.empty() ? 1 : weight[i];
    const double scaled = (h[i] - centre) * factor * w;
    const double value = scaled + (bias.empty() ? 0 : bias[i]);
    row.values.push_back(value);
    row.allowed.push_back(std::fabs(scaled) * relative +
                          std::fabs(w) * factor * mean_error * (1 + relative) +
                          u * std::fabs(value));
  }
  return row;
}

/// `X`: x. `P`: weight, and bias for layer; void: none. `R`: residual and sum; void: none.
template <norm_kind Kind, class X, class Y = X, class P = X, class R = void, bool PerRow = false>
struct norm_case {
  static constexpr bool has_parameters = !std::is_void_v<P>;
  static constexpr bool has_bias = has_parameters && Kind == norm_kind::layer;
  static constexpr bool has_residual = !std::is_void_v<R>;
  static constexpr bool quantised = kernels::is_quantised<Y>;
  using H = std::conditional_t<has_residual, R, X>;
  using parameter = std::conditional_t<has_parameters, P, float>;

  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t pad = 0;  ///< elements between rows, other ones in each array
  std::size_t shift = 0; ///< elements past a 256-byte boundary
  bool y_is_x = false;   ///< in place
  bool sum_is_residual = false;
  bool lend = false; ///< the workspace that the plan asks for
  bool same_rows = false;
  norm_options options = {};
  double mean = 0;
  double deviation = 1;

  std::vector<Y> y = {}; ///< result
  std::vector<float> scales = {};
  norm_plan chosen = {}; ///< of the kernels whose errors are checked
  norm_plan here = {};   ///< on the device that is there
  std::vector<H> h = {}; ///< of the run, for the check
  std::vector<parameter> weight = {}, bias = {};

  void run_and_check() {
    run();
    if (!testing::Test::HasFatalFailure())
      check();
  }

  void run() {
    const auto count = static_cast<std::size_t>(rows * columns);
    auto x = random_normals<X>(same_rows ? static_cast<std::size_t>(columns) : count, 1, deviation,
                               mean);
    x.resize(count);
    for (std::int64_t r = 1; same_rows && r < rows; ++r)
      std::copy_n(x.begin(), columns, x.begin() + r * columns);
    h.assign(count, H{});
    std::vector<H> residual;
    if constexpr (has_residual) {
      residual = random_normals<R>(count, 2, deviation);
      for (std::size_t i = 0; i < count; ++i)
        h[i] = convert<R>(convert<float>(x[i]) + convert<float>(residual[i]));
    } else {
      h = x;
    }
    const auto width = static_cast<std::size_t>(columns);
    weight = random_normals<parameter>(has_parameters ? width : 0, 3, 0.5, 1);
    bias = random_normals<parameter>(has_bias ? width : 0, 4, 0.5);

    const std::int64_t x_stride = columns + pad, r_stride = columns + 2 * pad,
                       y_stride = y_is_x ? x_stride : columns + 3 * pad;
    device_buffer<X> x_buffer(spread(x, x_stride), shift);
    device_buffer<H> residual_buffer(spread(residual, r_stride), shift);
    device_buffer<H> sum_buffer(has_residual && !sum_is_residual ? span(r_stride) : 0, shift);
    device_buffer<Y> y_buffer(y_is_x ? 0 : span(y_stride), shift);
    device_buffer<parameter> weight_buffer(weight, shift), bias_buffer(bias, shift);
    device_buffer<float> scales_buffer(PerRow ? static_cast<std::size_t>(rows) : 0);
    Y* const to = y_is_x ? reinterpret_cast<Y*>(x_buffer.data()) : y_buffer.data();
    H* const sum = sum_is_residual ? residual_buffer.data() : sum_buffer.data();
    const auto matrix = [&]<class T>(T* data, std::int64_t stride) {
      return make_strided_view<T, 2>(data, {rows, columns}, {stride, 1});
    };
    const auto x_view = matrix(const_cast<const X*>(x_buffer.data()), x_stride);
    const auto y_view = matrix(to, y_stride);
    const auto w_view = make_view(const_cast<const parameter*>(weight_buffer.data()), columns);
    const auto b_view = make_view(const_cast<const parameter*>(bias_buffer.data()), columns);
    const auto r_view = matrix(const_cast<const H*>(residual_buffer.data()), r_stride);
    const auto s_view = matrix(sum, r_stride);
    const auto scales_view = make_view(scales_buffer.data(), rows);
    const auto pick = []<bool There, class View>(std::bool_constant<There>, View view) {
      if constexpr (There)
        return view;
      else
        return no_array{};
    };
    const norm_arrays arrays{.x = x_view,
                             .y = y_view,
                             .weight = pick(std::bool_constant<has_parameters>{}, w_view),
                             .bias = pick(std::bool_constant<has_bias>{}, b_view),
                             .residual = pick(std::bool_constant<has_residual>{}, r_view),
                             .sum = pick(std::bool_constant<has_residual>{}, s_view),
                             .scales = pick(std::bool_constant<PerRow>{}, scales_view)};
    status outcome;
    const device_info bounds = describe_device("gfx942", 304); // whose kernels errors are those of
    device_info device = bounds;
    if (WAVETILE_CUDA)
      ASSERT_TRUE(known_device(0, device).ok());
    const auto plan_with = [&](std::int64_t bytes, const device_info& on) {
      norm_options all = options;
      all.memory.bytes = bytes;
      if constexpr (Kind == norm_kind::rms)
        return plan(rms_norm_problem_of(arrays, all), on);
      else
        return plan(layer_norm_problem_of(arrays, all), on);
    };
    // what a call with memory enough uses, so that the guards lie behind it
    const auto wanted = [&](const device_info& on) {
      return lend ? plan_with(std::int64_t{1} << 40, on).workspace_bytes : 0;
    };
    norm_options all = options;
    const std::int64_t lent = wanted(device);
    device_buffer<float> memory(static_cast<std::size_t>(lent / 4));
    if (lent != 0)
      all.memory = {memory.data(), lent};
    chosen = plan_with(wanted(bounds), bounds);
    here = plan_with(lent, device);
    if constexpr (Kind == norm_kind::rms)
      outcome = rms_norm(arrays, all);
    else
      outcome = layer_norm(arrays, all);
    ASSERT_TRUE(outcome.ok()) << outcome.message();

    if constexpr (has_residual) {
      const auto image = sum_is_residual ? residual_buffer.download() : sum_buffer.download();
      ASSERT_TRUE(verify_bits(gather(image, r_stride), h)) << "x + residual";
    }
    if (y_is_x) {
      const auto image = x_buffer.download();
      std::vector<Y> bytes(image.size());
      std::memcpy(static_cast<void*>(bytes.data()), image.data(), image.size() * sizeof(Y));
      y = gather(bytes, y_stride);
    } else {
      y = gather(y_buffer.download(), y_stride);
    }
    if constexpr (PerRow)
      scales = scales_buffer.download();
  }

  void check() {
    // additions in a lane: of its elements; split, also of its share of the parts and over a wave
    const double parts = chosen.parts;
    const bool split = chosen.kernel == norm_kernel::split;
    const bool streamed = split || chosen.kernel == norm_kernel::stream;
    const double chain = split      ? static_cast<double>(columns) / parts / 256 + parts / 64 + 8
                         : streamed ? static_cast<double>(columns) / 1024 + 1
                                    : 16;
    for (std::int64_t r = 0; r < rows; ++r)
      check_row(r, chain, streamed);
  }

private:
  std::size_t span(std::int64_t stride) const {
    return static_cast<std::size_t>((rows - 1) * stride + columns);
  }
  /// Rows `stride` apart, NaNs between them.
  template <class T>
  std::vector<T> spread(const std::vector<T>& dense, std::int64_t stride) const {
    if (dense.empty())
      return {};
    std::vector<T> result(span(stride));
    std::memset(static_cast<void*>(result.data()), 0xFF, result.size() * sizeof(T));
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(dense.begin() + r * columns, columns, result.begin() + r * stride);
    return result;
  }
  /// The rows; what lies between them must be as it was.
  template <class T>
  std::vector<T> gather(const std::vector<T>& image, std::int64_t stride) const {
    std::vector<T> dense;
    std::size_t touched = 0;
    for (std::size_t i = 0; i < image.size(); ++i) {
      if (static_cast<std::int64_t>(i) % stride < columns) {
        dense.push_back(image[i]);
        continue;
      }
      std::uint64_t bits = 0;
      std::memcpy(&bits, &image[i], sizeof(T));
      touched += bits != (~std::uint64_t{0} >> (64 - 8 * sizeof(T))) ? 1 : 0;
    }
    EXPECT_EQ(touched, 0u) << "elements between rows were written";
    return dense;
  }

  void check_row(std::int64_t r, double chain, bool streamed) {
    const auto as_doubles = [](auto first, auto last) {
      std::vector<double> result;
      for (; first != last; ++first)
        result.push_back(as_double(*first));
      return result;
    };
    const auto at = static_cast<std::ptrdiff_t>(r * columns), end = at + columns;
    const norm_row row = norm_reference(Kind, as_doubles(h.begin() + at, h.begin() + end),
                                        as_doubles(weight.begin(), weight.end()),
                                        as_doubles(bias.begin(), bias.end()),
                                        static_cast<double>(options.epsilon), chain, streamed);
    std::vector<double> expected = row.values;
    double scale = 1;
    if constexpr (quantised) {
      const double limit = as_double(numeric_traits<Y>::highest());
      if constexpr (PerRow) {
        double largest = 0x1p-100, allowed = 0;
        for (std::size_t i = 0; i < row.values.size(); ++i)
          if (std::fabs(row.values[i]) > largest) {
            largest = std::fabs(row.values[i]);
            allowed = row.allowed[i];
          }
        for (const double error : row.allowed)
          allowed = std::fmax(allowed, error);
        scale = static_cast<double>(scales[static_cast<std::size_t>(r)]);
        ASSERT_NEAR(scale, largest / limit, allowed / limit + largest / limit * 0x1p-23) << r;
      } else {
        scale = static_cast<double>(options.scale);
      }
      const double lowest = as_double(numeric_traits<Y>::lowest());
      for (double& value : expected)
        value = std::fmin(std::fmax(value / scale, lowest), limit);
    }
    const result_rounding out = result_rounding_of<Y>();
    const std::vector<Y> got(y.begin() + at, y.begin() + end);
    const verification result = verify_within(got, expected, [&](std::size_t i) {
      // a quantised value goes through two more operations
      const double before =
          (row.allowed[i] + (quantised ? 0x1p-22 * std::fabs(row.values[i]) : 0)) / scale;
      return before + (std::fabs(expected[i]) + before) * out.relative + out.absolute;
    });
    ASSERT_TRUE(result) << "row " << r << " of " << rows << " x " << columns << ": " << result;
  }
};

} // namespace wavetile::test
