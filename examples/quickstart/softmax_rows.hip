#include "quickstart/data.hpp"
#include "quickstart/table.hpp"

#include <wavetile/softmax.hpp>

#include <algorithm>

namespace quickstart {
namespace {

using wavetile::make_view;

struct softmax_case {
  const char* name = "softmax";
  std::int64_t rows = 0, columns = 0;
  bool log = false, masked = false, causal = false;
  float scale = 1.0f;
};

/// fp64, from the definition. Of log_softmax with `log`.
void reference_row(const softmax_case& c, const std::vector<double>& x,
                   const std::vector<bool>& shown, std::vector<double>& y) {
  double largest = -INFINITY;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (shown[i])
      largest = std::max(largest, double{c.scale} * x[i]);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += shown[i] ? std::exp(double{c.scale} * x[i] - largest) : 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double l = double{c.scale} * x[i] - largest;
    y[i] = c.log ? (shown[i] ? l - std::log(sum) : -INFINITY) : (shown[i] ? std::exp(l) / sum : 0);
  }
}

/// Error allowed against fp64: rounding the result to T, and fp32 arithmetic on the way. Of the
/// latter, the exponent (l - max) log2 e, of a magnitude up to 64 here, has a relative error of a
/// few 2^-24, so an exponential has one up to 2^-17, to which sum and quotient add a few 2^-24.
template <class T>
double allowed_error(const softmax_case& c, double reference) {
  if (c.log)
    return rounding<T> * std::abs(reference) + 0x1p-17;
  return (rounding<T> + 0x1p-16) * reference + 0x1p-24;
}

template <class T>
void softmax_row(table& out, const softmax_case& c) {
  const auto x = random_values<T>(c.rows * c.columns, 1);
  std::vector<std::uint8_t> mask(c.masked ? x.size() : 0);
  std::mt19937 engine(2);
  for (auto& kept : mask)
    kept = engine() % 4 != 0;
  const example::device_array<T> device_x{std::span<const T>(x)};
  const example::device_array<T> device_y(x.size());
  const example::device_array<std::uint8_t> device_mask{std::span<const std::uint8_t>(mask)};
  const auto x_view = make_view(static_cast<const T*>(device_x.data()), c.rows, c.columns);
  const auto y_view = make_view(device_y.data(), c.rows, c.columns);

  wavetile::softmax_options options{.scale = c.scale, .causal = c.causal};
  wavetile::device_info device;
  example::check(wavetile::stream_device(nullptr, device));
  const auto plan = wavetile::plan(wavetile::softmax_problem_of(x_view, y_view, options), device);
  const example::device_array<std::byte> memory(
      static_cast<std::size_t>(plan.best_workspace_bytes));
  options.memory = {memory.data(), plan.best_workspace_bytes};
  const auto moved = count([&] {
    if (c.masked) {
      const auto mask_view =
          make_view(static_cast<const std::uint8_t*>(device_mask.data()), c.rows, c.columns);
      return wavetile::softmax(x_view, y_view, mask_view, options);
    }
    return c.log ? wavetile::log_softmax(x_view, y_view, options)
                 : wavetile::softmax(x_view, y_view, options);
  });
  const std::vector<T> y = device_y.to_host();

  accuracy result;
  std::uint64_t read = 0;
  const auto columns = static_cast<std::size_t>(c.columns);
  std::vector<double> row(columns), expected(columns);
  std::vector<bool> shown(columns);
  for (std::int64_t r = 0; r < c.rows; ++r) {
    const std::size_t start = static_cast<std::size_t>(r) * columns;
    const auto visible = static_cast<std::size_t>(
        c.causal ? std::max<std::int64_t>(0, r + 1 + c.columns - c.rows) : c.columns);
    read += std::min(visible, columns) * (sizeof(T) + (c.masked ? 1 : 0));
    for (std::size_t i = 0; i < columns; ++i) {
      row[i] = as_double(x[start + i]);
      shown[i] = i < visible && (!c.masked || mask[start + i] != 0);
    }
    reference_row(c, row, shown, expected);
    for (std::size_t i = 0; i < columns; ++i)
      result.add(as_double(y[start + i]), expected[i], allowed_error<T>(c, expected[i]));
  }
  out.row(c.name, shape_of(c.rows, c.columns), dtype_name<T>, result, moved,
          read + x.size() * sizeof(T));
}

} // namespace

void softmax_rows(table& out) {
  softmax_row<float>(out, {.rows = 8192, .columns = 1024});
  softmax_row<wavetile::fp16>(out, {.rows = 2048, .columns = 4096});
  softmax_row<wavetile::bf16>(out, {.rows = 2048, .columns = 4096});
  softmax_row<float>(out, {.rows = 100000, .columns = 10});
  softmax_row<float>(out, {.name = "softmax, long rows", .rows = 2, .columns = 1000000});
  softmax_row<wavetile::bf16>(
      out, {.name = "softmax, boolean mask", .rows = 1000, .columns = 1000, .masked = true});
  softmax_row<wavetile::fp16>(
      out,
      {.name = "softmax, causal", .rows = 1024, .columns = 1024, .causal = true, .scale = 0.125f});
  softmax_row<float>(out, {.name = "log_softmax", .rows = 1024, .columns = 1000, .log = true});
}

} // namespace quickstart
