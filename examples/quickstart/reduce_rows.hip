#include "quickstart/data.hpp"
#include "quickstart/table.hpp"

#include <wavetile/reduce.hpp>

#include <algorithm>

namespace quickstart {
namespace {

using wavetile::make_view;

/// Runs one reduction of `x` and compares it with `reference(r)`, within `allowed(r)`.
template <class Output, class Input, class XView, class YView, class Op, class Reference,
          class Allowed>
void reduce_row(table& out, const char* name, const std::string& shape, XView x, YView y,
                const example::device_array<Output>& results, Op operation, int axis,
                Reference reference, Allowed allowed) {
  wavetile::reduce_options options{.axis = axis};
  wavetile::device_info device;
  example::check(wavetile::stream_device(nullptr, device));
  const auto plan = wavetile::plan(wavetile::reduce_problem_of(x, y, operation, options), device);
  const example::device_array<std::byte> memory(
      static_cast<std::size_t>(plan.best_workspace_bytes));
  options.memory = {memory.data(), plan.best_workspace_bytes};
  const auto moved = count([&] { return wavetile::reduce(x, y, operation, options); });
  const std::vector<Output> host = results.to_host();
  accuracy result;
  for (std::size_t r = 0; r < host.size(); ++r)
    result.add(as_double(host[r]), reference(r), allowed(r));
  out.row(name, shape, dtype_name<Input>, result, moved,
          static_cast<std::uint64_t>(x.size()) * sizeof(Input) + host.size() * sizeof(Output));
}

struct sums {
  double value = 0, magnitude = 0;
};

/// Sum and sum of magnitudes of `count` elements, `stride` apart.
template <class T>
sums sum_of(const std::vector<T>& x, std::size_t first, std::size_t count, std::size_t stride) {
  sums result;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = as_double(x[first + i * stride]);
    result.value += value;
    result.magnitude += std::abs(value);
  }
  return result;
}

/// Error allowed of a sum: rounding the result to T, and fp32 additions. No term passes through
/// more than 512 of them at these shapes, each off by at most 2^-24 of what it holds.
template <class T>
double allowed_sum(const sums& s) {
  return rounding<T> * std::abs(s.value) + 512 * 0x1p-24 * s.magnitude;
}

} // namespace

void reduce_rows(table& out) {
  constexpr std::int64_t rows = 2048, columns = 4096;
  const auto row_count = static_cast<std::size_t>(rows);
  const auto column_count = static_cast<std::size_t>(columns);
  const std::string shape = shape_of(rows, columns);
  {
    using T = float;
    const auto x = random_values<T>(rows * columns, 3);
    const example::device_array<T> device_x{std::span<const T>(x)};
    const auto x_view = make_view(static_cast<const T*>(device_x.data()), rows, columns);

    const example::device_array<T> row_sums(row_count);
    const auto of_row = [&](std::size_t r) { return sum_of(x, r * column_count, column_count, 1); };
    reduce_row<T, T>(
        out, "reduce sum, rows", shape, x_view, make_view(row_sums.data(), rows), row_sums,
        wavetile::op::plus{}, 1, [&](std::size_t r) { return of_row(r).value; },
        [&](std::size_t r) { return allowed_sum<T>(of_row(r)); });

    const example::device_array<T> total(1);
    const sums all = sum_of(x, 0, x.size(), 1);
    reduce_row<T, T>(
        out, "reduce sum, all", shape, x_view, make_view(total.data(), 1), total,
        wavetile::op::plus{}, wavetile::all_axes, [&](std::size_t) { return all.value; },
        [&](std::size_t) { return allowed_sum<T>(all); });

    const example::device_array<std::int64_t> where(row_count);
    reduce_row<std::int64_t, T>(
        out, "reduce argmax, rows", shape, x_view, make_view(where.data(), rows), where,
        wavetile::op::arg_maximum{}, 1,
        [&](std::size_t r) {
          const auto first = x.begin() + static_cast<std::ptrdiff_t>(r * column_count);
          return static_cast<double>(std::max_element(first, first + columns) - first);
        },
        [](std::size_t) { return 0.5; });
  }
  {
    using T = wavetile::bf16;
    const auto x = random_values<T>(rows * columns, 4);
    const example::device_array<T> device_x{std::span<const T>(x)};
    const auto x_view = make_view(static_cast<const T*>(device_x.data()), rows, columns);
    const example::device_array<T> column_sums(column_count);
    const auto of_column = [&](std::size_t c) { return sum_of(x, c, row_count, column_count); };
    reduce_row<T, T>(
        out, "reduce sum, columns", shape, x_view, make_view(column_sums.data(), columns),
        column_sums, wavetile::op::plus{}, 0, [&](std::size_t c) { return of_column(c).value; },
        [&](std::size_t c) { return allowed_sum<T>(of_column(c)); });
  }
}

} // namespace quickstart
