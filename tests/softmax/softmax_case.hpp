/// \file
/// Runs one softmax on the device against the reference.
#pragma once

#include "softmax_reference.hpp"

#include "device_buffer.hpp"
#include "random.hpp"
#include "verify.hpp"

#include <wavetile/softmax.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace wavetile::test {

// 24, 11 and 8 significant bits; fp16 has denormals down to 2^-24, bf16 down to 2^-133.
template <>
inline rounding rounding_of<float>() {
  return {0, 0}; // the last operation's rounding is in the bound
}
template <>
inline rounding rounding_of<fp16>() {
  return {0x1p-11, 0x1p-25};
}
template <>
inline rounding rounding_of<bf16>() {
  return {0x1p-8, 0x1p-134};
}

/// What a correctly rounding conversion makes of numbers beyond the type's range.
template <class T>
void overflow_to_infinity(std::vector<double>& values) {
  const double highest = as_double(numeric_traits<T>::highest());
  // half a unit past the highest number rounds up
  const double limit = highest * (1 + std::ldexp(1.0, -numeric_traits<T>::digits - 1));
  for (double& value : values)
    if (std::fabs(value) >= limit)
      value = std::copysign(std::numeric_limits<double>::infinity(), value);
}

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values) {
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    result[i] = as_double(values[i]);
  return result;
}

/// Whether a case may have a mask: masks triple the kernels to compile.
enum class masks { none, any };

/// A matrix problem: rows x columns elements, dense unless a stride is given.
template <class Input, class Output = Input, masks Masks = masks::none>
struct softmax_case {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t x_stride = 0; ///< 0: columns
  std::int64_t y_stride = 0;
  std::size_t x_shift = 0; ///< elements past a 256-byte boundary
  std::size_t y_shift = 0;
  bool logarithm = false;
  bool in_place = false;
  softmax_options options = {};
  std::int64_t workspace_bytes = 0;
  std::vector<Input> x = {}; ///< rows x columns
  /// rows x columns, or empty
  std::vector<std::uint8_t> keep = {};
  std::vector<Input> bias = {};
  /// Additions in a lane's chain; see softmax_bound.
  double chain = 16;

  std::vector<Output> y = {}; ///< result

  /// Fills x with normals of the given deviation.
  void fill(double deviation, std::uint64_t seed = 1) {
    x = random_normals<Input>(static_cast<std::size_t>(rows * columns), seed, deviation);
  }

  /// Runs; y gets the result. Elements between rows must stay as they are.
  void run(hipStream_t stream = nullptr) {
    const std::int64_t from_stride = x_stride == 0 ? columns : x_stride;
    const std::int64_t to_stride = in_place ? from_stride : (y_stride == 0 ? columns : y_stride);
    const auto span = [&](std::int64_t stride) {
      return static_cast<std::size_t>((rows - 1) * stride + columns);
    };
    std::vector<Input> padded(span(from_stride));
    // what lies between rows must not matter: a NaN
    std::memset(static_cast<void*>(padded.data()), 0xFF, padded.size() * sizeof(Input));
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        padded[static_cast<std::size_t>(r * from_stride + c)] =
            x[static_cast<std::size_t>(r * columns + c)];
    device_buffer<Input> from(padded, x_shift);
    device_buffer<Output> to(in_place ? 0 : span(to_stride), y_shift);
    device_buffer<unsigned char> memory(static_cast<std::size_t>(workspace_bytes));
    Output* result = in_place ? reinterpret_cast<Output*>(from.data()) : to.data();
    options.memory = {workspace_bytes == 0 ? nullptr : memory.data(), workspace_bytes};
    const auto x_view =
        make_strided_view<const Input, 2>(from.data(), {rows, columns}, {from_stride, 1});
    const auto y_view = make_strided_view<Output, 2>(result, {rows, columns}, {to_stride, 1});
    const auto call = [&](auto... mask) {
      return logarithm ? log_softmax(x_view, y_view, mask..., options, stream)
                       : softmax(x_view, y_view, mask..., options, stream);
    };
    status outcome;
    if constexpr (Masks == masks::any) {
      if (!keep.empty()) {
        device_buffer<std::uint8_t> mask(keep);
        outcome = call(make_view(static_cast<const std::uint8_t*>(mask.data()), rows, columns));
      } else {
        device_buffer<Input> mask(bias);
        outcome = call(make_view(static_cast<const Input*>(mask.data()), rows, columns));
      }
    } else {
      outcome = call();
    }
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    std::vector<Output> image;
    if (in_place) {
      const std::vector<Input> raw = from.download();
      image.resize(raw.size());
      std::memcpy(static_cast<void*>(image.data()), raw.data(), raw.size() * sizeof(Input));
    } else {
      image = to.download();
      const std::vector<Input> after = from.download();
      EXPECT_TRUE(verify_bits(after, padded)) << "x was written";
    }
    y.assign(static_cast<std::size_t>(rows * columns), Output{});
    std::size_t touched = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < to_stride; ++c) {
        const auto at = static_cast<std::size_t>(r * to_stride + c);
        if (c < columns) {
          y[static_cast<std::size_t>(r * columns + c)] = image[at];
        } else if (at < image.size()) {
          std::uint64_t bits = 0;
          std::memcpy(&bits, &image[at], sizeof(Output));
          touched += bits != (~std::uint64_t{0} >> (64 - 8 * sizeof(Output))) ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(touched, 0u) << "elements between the rows of y were written";
  }

  softmax_row row(std::int64_t r) const {
    softmax_row result;
    const auto first = static_cast<std::ptrdiff_t>(r * columns);
    const auto last = first + static_cast<std::ptrdiff_t>(columns);
    result.x = as_doubles(std::vector<Input>(x.begin() + first, x.begin() + last));
    result.scale = static_cast<double>(options.scale);
    result.has_mask = !keep.empty() || !bias.empty() || options.causal;
    if (!bias.empty())
      result.bias = as_doubles(std::vector<Input>(bias.begin() + first, bias.begin() + last));
    if (!keep.empty() || options.causal) {
      result.hidden.assign(static_cast<std::size_t>(columns), 0);
      for (std::int64_t c = 0; c < columns; ++c) {
        const std::int64_t diagonal =
            options.anchor == causal_anchor::bottom_right ? columns - rows : 0;
        const bool future = options.causal && c > r + diagonal;
        const bool masked = !keep.empty() && keep[static_cast<std::size_t>(r * columns + c)] == 0;
        result.hidden[static_cast<std::size_t>(c)] = future || masked ? 1 : 0;
      }
    }
    return result;
  }

  /// Compares every row with the reference; rows of softmax must also sum to 1.
  void check() const {
    double largest_bias = 0;
    for (const auto& b : as_doubles(bias))
      if (std::isfinite(b))
        largest_bias = std::fmax(largest_bias, std::fabs(b));
    if (!bias.empty()) // the logit that an fma rounds
      for (const auto& value : as_doubles(x))
        if (std::isfinite(value))
          largest_bias =
              std::fmax(largest_bias, std::fabs(value * static_cast<double>(options.scale)));
    const auto n = static_cast<std::size_t>(columns);
    const rounding out = rounding_of<Output>();
    for (std::int64_t r = 0; r < rows; ++r) {
      std::vector<double> expected = softmax_reference(row(r), logarithm);
      overflow_to_infinity<Output>(expected);
      const auto first = y.begin() + static_cast<std::ptrdiff_t>(r * columns);
      const std::vector<Output> got(first, first + static_cast<std::ptrdiff_t>(columns));
      const verification result = verify_within(got, expected, [&](std::size_t i) {
        return logarithm ? log_softmax_bound(expected[i], n, largest_bias, chain, out)
                         : softmax_bound(expected[i], n, largest_bias, chain, out);
      });
      ASSERT_TRUE(result) << "row " << r << " of " << rows << " x " << columns << ": " << result;
      if (!logarithm && std::isfinite(expected[0])) {
        double sum = 0, reference_sum = 0, allowed = 0;
        for (std::size_t i = 0; i < n; ++i) {
          sum += as_double(got[i]);
          reference_sum += expected[i];
          allowed += softmax_bound(expected[i], n, largest_bias, chain, out);
        }
        ASSERT_NEAR(sum, reference_sum, allowed) << "row " << r;
      }
    }
  }

  void run_and_check() {
    run();
    if (!testing::Test::HasFatalFailure())
      check();
  }
};

} // namespace wavetile::test
