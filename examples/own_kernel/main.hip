/// \file
/// A kernel of one's own: started, counted where wavesim runs it, checked against fp64, and
/// refused. Exit code: 0, 1 when a result is wrong or there is no device, 2 for an argument.
#include "common/clocks.hpp"
#include "common/device_array.hpp"
#include "common/no_arguments.hpp"
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

/// A product with random numbers, of which its maker may change some.
struct product {
  std::int64_t rows, columns, k;
  std::vector<bf16> x = random_values<bf16>(rows * k, 1), w = random_values<bf16>(columns * k, 2);
  std::vector<float> bias = random_values<float>(columns, 3);
  std::int64_t down = (rows + side - 1) / side, across = (columns + side - 1) / side;
  std::vector<std::int8_t> q = {}; ///< results
  std::vector<float> scale = {};

  static std::size_t at(std::int64_t number) { return static_cast<std::size_t>(number); }

  void run() {
    const example::device_array<bf16> x_there{std::span(x)}, w_there{std::span(w)};
    const example::device_array<float> bias_there{std::span(bias)}, scales(at(down * across));
    const example::device_array<std::int8_t> results(at(rows * columns));
    example::check(scale_product({make_view<const bf16>(x_there.data(), rows, k),
                                  make_view<const bf16>(w_there.data(), columns, k),
                                  bias_there.data(), make_view(results.data(), rows, columns),
                                  make_view(scales.data(), down, across)}));
    q = results.to_host();
    scale = scales.to_host();
  }

  /// Whether it is the product. Error of fp32: four times 2^-24 of the terms for each of k + 1 sums
  /// (`matmul_error_factor`); so much may a tile's largest be off, too. Rounding to 8 bits adds
  /// half a scale, and the factors on the way there, up to 127 with two roundings, as many 2^-24
  /// of a scale. Tiles with a NaN have a NaN for a scale.
  bool is_right() const {
    bool good = true;
    std::vector<double> largest(scale.size()), slack(scale.size()); // of tiles
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        double y = double{bias[at(j)]}, terms = std::abs(y);
        for (std::int64_t d = 0; d < k; ++d) {
          const double term = double{float(x[at(i * k + d)])} * float(w[at(j * k + d)]);
          y += term;
          terms += std::abs(term);
        }
        const std::size_t tile = at(i / side * across + j / side);
        const double error = 4 * double(k + 1) * 0x1p-24 * terms, unit = double{scale[tile]};
        if (!(std::abs(y) <= largest[tile]) && !std::isnan(largest[tile]))
          largest[tile] = std::abs(y);
        slack[tile] = std::max(slack[tile], error);
        const double off = std::abs(unit * q[at(i * columns + j)] - y);
        good &= std::isnan(largest[tile]) || std::isnan(unit) ||
                off <= unit * (0.5 + 127 * 2 * 0x1p-24) + error;
      }
    for (std::size_t t = 0; t < scale.size(); ++t) {
      const double expected = std::max(largest[t], 127 * 0x1p-126), got = double{scale[t]} * 127;
      good &= std::isnan(largest[t]) ? std::isnan(got)
                                     : std::abs(got - expected) <= slack[t] + 0x1p-23 * expected;
    }
    if (!good)
      std::printf("  FAIL: results differ from those of fp64\n");
    return good;
  }
};

/// Runs one and prints its counts.
bool check(const char* name, product one) {
  wavesim_counters counters;
  const bool counting = wavesim_counters_find(&counters) != 0 && counters.begin() == 0;
  one.run();
  std::printf("%-34s ", name);
  wavesim_counts counts{};
  counts.size = sizeof counts;
  if (counting && counters.end(&counts) == 0)
    example::print_clocks(counts, 2.0 * double(one.rows) * double(one.columns) * double(one.k));
  else
    std::printf("%10s\n", "n/a");
  return one.is_right();
}

/// A tile with a NaN, one whose scale would have no reciprocal in fp32, one of zeros and one beside
/// them.
bool check_scales() {
  product one{.rows = 4 * side, .columns = side, .k = side};
  one.bias.assign(one.bias.size(), 0);
  const auto shrink = [](std::span<bf16> values, float factor) {
    for (bf16& value : values)
      value = bf16(float(value) * factor);
  };
  const std::size_t tile = product::at(side * one.k);
  one.x[5] = bf16(NAN);
  shrink(one.w, 0x1p-25f);
  shrink(std::span(one.x).subspan(tile, tile), 0x1p-100f);
  shrink(std::span(one.x).subspan(2 * tile, tile), 0);
  one.run();
  return one.is_right() && std::isnan(one.scale[0]) && one.scale[1] == 0x1p-126f;
}

} // namespace

int main(int argc, char** argv) try {
  if (const auto code = example::exit_of_arguments(
          argc, argv, "own_kernel",
          "runs a kernel made of the library's parts and compares with fp64"))
    return *code;
  std::printf(
      "q = (x w^T + bias) / scale in int8, a scale for each tile of 64 x 64; x, w: bf16. "
      "Clocks of one compute\nunit, simulated. Layout of tiles: %d bytes a row, %d chunks of "
      "%d bytes swizzled; reads and writes %d clocks,\nat least %d.\n\n",
      choice.chosen.pitch, choice.chosen.mask + 1, choice.chosen.chunk, choice.clocks,
      choice.minimum);
  example::print_clock_heads("flop/clk");
  bool good = check("256 x 192 x 512", {.rows = 256, .columns = 192, .k = 512});
  good &= check("100 x 90 x 130, tiles at edges", {.rows = 100, .columns = 90, .k = 130});
  good &= check_scales();
  const wavetile::status refused = scale_product({}); // nothing is started
  std::printf("\n%s\n", refused.message());
  return good && refused.code() == wavetile::status_code::null_pointer ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_kernel: error: %s\n", error.what());
  return 1;
}
