/// \file
/// A kernel of one's own: started, counted where wavesim runs it, checked against fp64, and
/// refused. Exit code: 0, 1 when a result is wrong or there is no device.
#include "common/clocks.hpp"
#include "common/device_array.hpp"
#include "own_kernel/kernel.hpp"

#include <cmath>
#include <exception>
#include <random>

namespace {

using namespace own;
using wavetile::make_view;

template <class T>
std::vector<T> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& value : values)
    value = T(normal(engine));
  return values;
}

/// Error of fp32: four times 2^-24 of the terms for each of k + 1 sums (`matmul_error_factor`); so
/// much may a tile's largest be off, too. Rounding to 8 bits adds half a scale, and the factors on
/// the way there, up to 127 with three roundings, as many 2^-24 of a scale.
bool check(const char* name, std::int64_t rows, std::int64_t columns, std::int64_t k) {
  const auto x = random_values<bf16>(rows * k, 1), w = random_values<bf16>(columns * k, 2);
  const auto bias = random_values<float>(columns, 3);
  const std::int64_t down = (rows + side - 1) / side, across = (columns + side - 1) / side;
  const auto count = [](std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); };
  const example::device_array<bf16> x_there{std::span(x)}, w_there{std::span(w)};
  const example::device_array<float> bias_there{std::span(bias)}, scales(count(down, across));
  const example::device_array<std::int8_t> results(count(rows, columns));

  wavesim_counters counters;
  const bool counting = wavesim_counters_find(&counters) != 0 && counters.begin() == 0;
  example::check(scale_product({make_view<const bf16>(x_there.data(), rows, k),
                                make_view<const bf16>(w_there.data(), columns, k),
                                bias_there.data(), make_view(results.data(), rows, columns),
                                make_view(scales.data(), down, across)}));
  const auto q = results.to_host();
  const auto scale = scales.to_host();
  std::printf("%-34s ", name);
  wavesim_counts counts{};
  counts.size = sizeof counts;
  if (counting && counters.end(&counts) == 0)
    example::print_clocks(counts, 2.0 * double(rows) * double(columns) * double(k));
  else
    std::printf("%10s\n", "n/a");

  bool good = true;
  std::vector<double> largest(scale.size()), slack(scale.size()); // of tiles
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      double y = double{bias[count(1, j)]}, terms = std::abs(y);
      for (std::int64_t d = 0; d < k; ++d) {
        const double product =
            double{float(x[count(1, i * k + d)])} * float(w[count(1, j * k + d)]);
        y += product;
        terms += std::abs(product);
      }
      const std::size_t tile = count(1, i / side * across + j / side);
      const double error = 4 * double(k + 1) * 0x1p-24 * terms, unit = double{scale[tile]};
      largest[tile] = std::max(largest[tile], std::abs(y));
      slack[tile] = std::max(slack[tile], error);
      const double off = std::abs(unit * q[count(1, i * columns + j)] - y);
      good &= off <= unit * (0.5 + 127 * 3 * 0x1p-24) + error;
    }
  for (std::size_t t = 0; t < scale.size(); ++t)
    good &= std::abs(double{scale[t]} * 127 - largest[t]) <= slack[t] + 0x1p-23 * largest[t];
  if (!good)
    std::printf("  FAIL: results differ from those of fp64\n");
  return good;
}

} // namespace

int main() try {
  std::printf(
      "q = (x w^T + bias) / scale in int8, a scale for each tile of 64 x 64; x, w: bf16. "
      "Clocks of one compute\nunit, simulated. Layout of tiles: %d bytes a row, %d chunks of "
      "%d bytes swizzled; reads and writes %d clocks,\nat least %d.\n\n",
      choice.chosen.pitch, choice.chosen.mask + 1, choice.chosen.chunk, choice.clocks,
      choice.minimum);
  example::print_clock_heads("flop/clk");
  bool good = check("256 x 192 x 512", 256, 192, 512);
  good &= check("100 x 90 x 130, tiles at edges", 100, 90, 130);
  const wavetile::status refused = scale_product({}); // nothing is started
  std::printf("\n%s\n", refused.message());
  return good && refused.code() == wavetile::status_code::null_pointer ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_kernel: error: %s\n", error.what());
  return 1;
}
