/// \file
/// Six ways to compute the same attention, and what LDS, vector and matrix unit have to do in each:
/// counted by wavesim when the program runs on it, checked against fp64 in any case. The first is
/// wrong, as ported code is that takes a wave for a warp: it must be.
///
/// Exit code: 0, 1 when a result is not what it should be or there is no device, 2 for an argument.
#include "attention_ladder/kernels.hpp"
#include "common/clocks.hpp"
#include "common/device_array.hpp"
#include "common/no_arguments.hpp"

#include <wavetile/attention.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <random>
#include <vector>

namespace {

using namespace ladder;
using wavetile::make_view;

constexpr std::int64_t length = 256; ///< queries and keys; 64 divides it

struct inputs {
  std::vector<bf16> q, k, v;
  std::vector<double> expected, allowed;

  inputs() {
    std::mt19937 engine(1);
    std::normal_distribution<float> normal;
    for (auto* values : {&q, &k, &v})
      for (std::int64_t i = 0; i < length * elements; ++i)
        values->push_back(bf16(normal(engine)));
    const auto at = [](const std::vector<bf16>& values, std::int64_t row, std::int64_t e) {
      return double{static_cast<float>(values[static_cast<std::size_t>(row * elements + e)])};
    };
    std::vector<double> weight(length);
    for (std::int64_t i = 0; i < length; ++i) {
      double top = -INFINITY, sum = 0, terms = 0;
      for (std::int64_t j = 0; j < length; ++j) {
        double dot = 0, magnitude = 0;
        for (std::int64_t e = 0; e < elements; ++e) {
          dot += at(q, i, e) * at(k, j, e);
          magnitude += std::abs(at(q, i, e) * at(k, j, e));
        }
        weight[static_cast<std::size_t>(j)] = dot * double{score_scale};
        top = std::max(top, dot * double{score_scale});
        terms = std::max(terms, magnitude * double{score_scale});
      }
      for (double& each : weight)
        sum += each = std::exp(each - top);
      for (std::int64_t e = 0; e < elements; ++e) {
        double value = 0, magnitude = 0;
        for (std::int64_t j = 0; j < length; ++j) {
          value += weight[static_cast<std::size_t>(j)] * at(v, j, e);
          magnitude += weight[static_cast<std::size_t>(j)] * std::abs(at(v, j, e));
        }
        expected.push_back(value / sum);
        // A weight is rounded to bf16 in the last step, half a unit in 8 bits. Its exponent is off
        // by a rounding of each of the 64 products and sums of a score, and exp by a few more;
        // sums over the keys by one each, in numerator and denominator.
        allowed.push_back((0x1p-8 + 0x1p-24 * (2 * elements * terms + 2 * double{length} + 64)) *
                          magnitude / sum);
      }
    }
  }
};

using attention_step = std::function<void(rows_in, rows_in, rows_in, rows_out)>;

/// Wrong rows by the place of their warp in a wave of two, where a warp has a row.
struct wrong_rows {
  int of_first = 0, of_second = 0;
};

/// Runs a step and prints what it did.
wrong_rows run_step(const char* name, const inputs& data, const attention_step& run) {
  const example::device_array<bf16> q{std::span<const bf16>(data.q)},
      k{std::span<const bf16>(data.k)}, v{std::span<const bf16>(data.v)};
  const example::device_array<float> o(data.expected.size());
  example::check(hipMemset(o.data(), 0xFF, o.size() * sizeof(float)), "hipMemset"); // NaNs
  const auto input = [](const example::device_array<bf16>& array) {
    return make_view(static_cast<const bf16*>(array.data()), length, std::int64_t{elements});
  };
  wavesim_counters counters;
  const bool counting = wavesim_counters_find(&counters) != 0 && counters.begin() == 0;
  run(input(q), input(k), input(v), make_view(o.data(), length, std::int64_t{elements}));
  example::check(hipDeviceSynchronize(), "hipDeviceSynchronize");
  std::printf("%-34s ", name);
  if (counting) {
    wavesim_counts counts{};
    counts.size = sizeof counts;
    counters.end(&counts);
    example::print_clocks(counts, 4.0 * double{length} * double{length} * elements);
  } else {
    std::printf("%10s\n", "n/a");
  }
  const auto got = o.to_host();
  wrong_rows wrong;
  for (std::int64_t i = 0; i < length; ++i) {
    bool good = true;
    for (std::int64_t e = 0; e < elements; ++e) {
      const auto at = static_cast<std::size_t>(i * elements + e);
      good &= std::abs(double{got[at]} - data.expected[at]) <= data.allowed[at];
    }
    (i % 2 == 0 ? wrong.of_first : wrong.of_second) += good ? 0 : 1;
  }
  return wrong;
}

bool step(const char* name, const inputs& data, const attention_step& run) {
  const wrong_rows wrong = run_step(name, data, run);
  const int rows = wrong.of_first + wrong.of_second;
  if (rows != 0)
    std::printf("  FAIL: %d of %d rows are wrong\n", rows, static_cast<int>(length));
  return rows == 0;
}

/// The port as it comes. Rows of the first warp of each wave are right. Those of the second are
/// divided by the sum of the first's: wrong, but for a few whose sum happens to be much the same.
bool step_that_fails(const char* name, const inputs& data, const attention_step& run) {
  const wrong_rows wrong = run_step(name, data, run);
  std::printf("  %d of %d rows are wrong: in every second warp lane 0 is not the warp's own\n",
              wrong.of_first + wrong.of_second, static_cast<int>(length));
  const bool as_expected = wrong.of_first == 0 && wrong.of_second > length / 4;
  if (!as_expected)
    std::printf("  FAIL: rows of first warps should be right, most of second ones not\n");
  return as_expected;
}

} // namespace

int main(int argc, char** argv) try {
  if (const auto code = example::exit_of_arguments(
          argc, argv, "attention_ladder",
          "takes attention from a CUDA port to the library's, step by step"))
    return *code;
  const inputs data;
  std::printf(
      "o = softmax(q k^T / 8) v, %d queries and keys of %d elements, bf16 to fp32. Clocks of "
      "one compute unit,\nsimulated: bank conflicts, all of LDS, and the least that the "
      "busiest unit takes.\n\n",
      static_cast<int>(length), elements);
  example::print_clock_heads("flop/clk");
  const auto launch = [](auto* kernel, int queries) {
    return [=](rows_in q, rows_in k, rows_in v, rows_out o) {
      example::check(wavetile::launch(kernel, {.grid = {length / queries}, .block = 256}, nullptr,
                                      q, k, v, o));
    };
  };
  bool good = true;
  good &= step_that_fails("CUDA port", data, launch(&cuda_port<wavetile::wave_size>, 8));
  good &= step("warps of 32 lanes, said so", data, launch(&cuda_port<warp>, 8));
  good &= step("tiles of 32 keys in LDS", data, launch(&tiled<0>, 8));
  good &= step("rows padded by one float", data, launch(&tiled<1>, 8));
  good &= step("for waves, chosen layout", data,
               launch(&wave_aware, for_waves::waves * for_waves::queries));
  good &= step("matrix cores (attention)", data, [](rows_in q, rows_in k, rows_in v, rows_out o) {
    const auto head = [](const auto& rows) {
      return make_view(rows.data, std::int64_t{1}, length, std::int64_t{1}, std::int64_t{elements});
    };
    example::check(wavetile::attention(head(q), head(k), head(v), head(o)));
  });
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "attention_ladder: error: %s\n", error.what());
  return 1;
}
