#include "quickstart/data.hpp"
#include "quickstart/table.hpp"

#include <wavetile/layer_norm.hpp>
#include <wavetile/rms_norm.hpp>

namespace quickstart {
namespace {

using wavetile::make_view;
using wavetile::norm_arrays;

struct norm_case {
  const char* name = "";
  std::int64_t rows = 0, columns = 0;
  bool layer = false;
};

/// fp64, from the definition; rms where the mean is not taken off.
void reference_row(const norm_case& c, const std::vector<double>& x,
                   const std::vector<double>& weight, std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  double mean = 0, squares = 0;
  for (const double value : x)
    mean += c.layer ? value / n : 0;
  for (const double value : x)
    squares += (value - mean) * (value - mean);
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = (x[i] - mean) / std::sqrt(squares / n + 1e-5) * weight[i];
}

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values, std::size_t start, std::size_t count) {
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i)
    result[i] = as_double(values[start + i]);
  return result;
}

/// y and what `arrays` adds to x and y. The error allowed: the rounding to the type of y, relative
/// 2^-20 for fp32 arithmetic, and for layer the mean's error, 2^-20 of a deviation.
template <class T>
void norm_row(table& out, const norm_case& c, bool has_residual) {
  const auto x = random_values<T>(c.rows * c.columns, 1);
  const auto residual = random_values<T>(c.rows * c.columns, 2);
  const auto weight = random_values<T>(c.columns, 3);
  const example::device_array<T> device_x{std::span<const T>(x)},
      device_residual{std::span<const T>(residual)}, device_weight{std::span<const T>(weight)};
  const example::device_array<T> device_y(x.size());
  const auto view_of = [&](const auto& array) {
    return make_view(array.data(), c.rows, c.columns);
  };
  const auto w = make_view(static_cast<const T*>(device_weight.data()), c.columns);
  const auto moved = count([&] {
    if (has_residual)
      return wavetile::rms_norm(norm_arrays{.x = view_of(device_x),
                                            .y = view_of(device_y),
                                            .weight = w,
                                            .residual = view_of(device_residual),
                                            .sum = view_of(device_residual)});
    const norm_arrays arrays{.x = view_of(device_x), .y = view_of(device_y), .weight = w};
    return c.layer ? wavetile::layer_norm(arrays) : wavetile::rms_norm(arrays);
  });
  const std::vector<T> y = device_y.to_host();
  const std::vector<T> h = has_residual ? device_residual.to_host() : x;

  accuracy result;
  const auto columns = static_cast<std::size_t>(c.columns);
  const auto weights = as_doubles(weight, 0, columns);
  std::vector<double> expected(columns);
  for (std::size_t start = 0; start < x.size(); start += columns) {
    reference_row(c, as_doubles(h, start, columns), weights, expected);
    for (std::size_t i = 0; i < columns; ++i)
      result.add(as_double(y[start + i]), expected[i],
                 (rounding<T> + 0x1p-20) * std::abs(expected[i]) + 0x1p-20 * std::abs(weights[i]) +
                     0x1p-24);
  }
  out.row(c.name, shape_of(c.rows, c.columns), dtype_name<T>, result, moved,
          x.size() * sizeof(T) * (has_residual ? 4 : 2) + columns * sizeof(T));
}

/// An fp8 y with a scale for each row.
void quantised_row(table& out, const norm_case& c) {
  using wavetile::bf16, wavetile::fp8_e4m3_fnuz;
  const auto x = random_values<bf16>(c.rows * c.columns, 1);
  const auto weight = random_values<bf16>(c.columns, 3);
  const example::device_array<bf16> device_x{std::span<const bf16>(x)},
      device_weight{std::span<const bf16>(weight)};
  const example::device_array<fp8_e4m3_fnuz> device_y(x.size());
  const example::device_array<float> device_scales(static_cast<std::size_t>(c.rows));
  const auto moved = count([&] {
    return wavetile::rms_norm(
        norm_arrays{.x = make_view(static_cast<const bf16*>(device_x.data()), c.rows, c.columns),
                    .y = make_view(device_y.data(), c.rows, c.columns),
                    .weight = make_view(static_cast<const bf16*>(device_weight.data()), c.columns),
                    .scales = make_view(device_scales.data(), c.rows)});
  });
  const auto y = device_y.to_host();
  const auto scales = device_scales.to_host();
  accuracy result;
  const auto columns = static_cast<std::size_t>(c.columns);
  const auto weights = as_doubles(weight, 0, columns);
  std::vector<double> expected(columns);
  for (std::size_t r = 0; r < scales.size(); ++r) {
    reference_row(c, as_doubles(x, r * columns, columns), weights, expected);
    for (std::size_t i = 0; i < columns; ++i) // 4 significant bits; 2^-10 is the smallest number
      result.add(static_cast<double>(scales[r]) * as_double(y[r * columns + i]), expected[i],
                 (0x1p-4 + 0x1p-20) * std::abs(expected[i]) +
                     static_cast<double>(scales[r]) * 0x1p-11);
  }
  out.row(c.name, shape_of(c.rows, c.columns), "bf16-fp8", result, moved,
          x.size() * 3 + columns * sizeof(bf16) + scales.size() * 4);
}

} // namespace

void norm_rows(table& out) {
  using wavetile::bf16;
  norm_row<bf16>(out, {.name = "rms_norm", .rows = 8192, .columns = 4096}, false);
  norm_row<bf16>(out, {.name = "rms_norm, residual", .rows = 1024, .columns = 4096}, true);
  norm_row<float>(out, {.name = "layer_norm", .rows = 4096, .columns = 1000, .layer = true}, false);
  quantised_row(out, {.name = "rms_norm, fp8 y", .rows = 2048, .columns = 4096});
}

} // namespace quickstart
