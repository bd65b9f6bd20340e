/// \file
/// Five ways to multiply the same matrices, and what the LDS has to do with each: counted by
/// wavesim when the program runs on it, checked against fp64 in any case.
///
/// Exit code: 0, 1 when a result is wrong or there is no device, 2 for an argument.
#include "common/clocks.hpp"
#include "common/device_array.hpp"
#include "common/no_arguments.hpp"
#include "lds_ladder/kernels.hpp"

#include <wavetile/matmul.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <random>
#include <vector>

namespace {

using namespace ladder;
using wavetile::make_view;

constexpr std::int64_t size = 256; ///< of all three extents; 64 divides it

struct inputs {
  std::vector<bf16> a, b;
  std::vector<double> expected, allowed;

  inputs() {
    std::mt19937 engine(1);
    std::normal_distribution<float> normal;
    for (auto* values : {&a, &b})
      for (std::int64_t i = 0; i < size * size; ++i)
        values->push_back(bf16(normal(engine)));
    for (std::int64_t i = 0; i < size; ++i)
      for (std::int64_t j = 0; j < size; ++j) {
        double sum = 0, terms = 0;
        for (std::int64_t k = 0; k < size; ++k) {
          const double product =
              double{static_cast<float>(a[static_cast<std::size_t>(i * size + k)])} *
              double{static_cast<float>(b[static_cast<std::size_t>(j * size + k)])};
          sum += product;
          terms += std::abs(product);
        }
        expected.push_back(sum);
        // as wavetile::matmul_error_factor says
        allowed.push_back(0x1p-24 * std::abs(sum) +
                          wavetile::matmul_error_factor * double{size} * 0x1p-24 * terms);
      }
  }
};

bool step(const char* name, const inputs& data,
          const std::function<void(matrix, matrix, result)>& run) {
  const example::device_array<bf16> a{std::span<const bf16>(data.a)},
      b{std::span<const bf16>(data.b)};
  const example::device_array<float> d(data.expected.size());
  wavesim_counters counters;
  const bool counting = wavesim_counters_find(&counters) != 0 && counters.begin() == 0;
  run(make_view(static_cast<const bf16*>(a.data()), size, size),
      make_view(static_cast<const bf16*>(b.data()), size, size), make_view(d.data(), size, size));
  example::check(hipDeviceSynchronize(), "hipDeviceSynchronize");
  std::printf("%-34s ", name);
  if (counting) {
    wavesim_counts counts{};
    counts.size = sizeof counts;
    counters.end(&counts);
    example::print_clocks(counts, 2.0 * double{size} * double{size} * double{size});
  } else {
    std::printf("%10s\n", "n/a");
  }
  const auto got = d.to_host();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(double{got[i]} - data.expected[i]) <= data.allowed[i])) {
      std::printf("  FAIL: element %zu is %g, expected %g\n", i, double{got[i]}, data.expected[i]);
      return false;
    }
  return true;
}

} // namespace

int main(int argc, char** argv) try {
  if (const auto code = example::exit_of_arguments(
          argc, argv, "lds_ladder", "takes a product from a CUDA port to matmul, step by step"))
    return *code;
  const inputs data;
  std::printf("d = a b^T, %d x %d x %d, bf16 to fp32. Clocks of one compute unit, simulated: bank "
              "conflicts, all of LDS,\nand the least that the busiest unit takes.\n\n",
              static_cast<int>(size), static_cast<int>(size), static_cast<int>(size));
  example::print_clock_heads("flop/clk");
  bool good = true;
  const auto launch = [](auto* kernel, int side, int threads) {
    return [=](matrix a, matrix b, result d) {
      example::check(wavetile::launch(
          kernel, {.grid = {size / side, size / side}, .block = threads}, nullptr, a, b, d));
    };
  };
  good &= step("CUDA port, tile of 32 floats a row", data, launch(&cuda_port<0>, 32, 1024));
  good &= step("rows padded by one float", data, launch(&cuda_port<1>, 32, 1024));
  good &= step("matrix cores, chosen layout", data, launch(&chosen_layout<1>, 64, 256));
  good &= step("reads of 16 bytes", data, launch(&chosen_layout<2>, 64, 256));
  good &= step("pipelined, 64 x 64 a wave (matmul)", data, [](matrix a, matrix b, result d) {
    example::check(
        wavetile::matmul<wavetile::matmul_choice::middle>(a, b, d, {.transpose_b = true}));
  });
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "lds_ladder: error: %s\n", error.what());
  return 1;
}
