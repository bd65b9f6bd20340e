// The programs of README.md, run: their results, and what the page says that they print.
#include "device_buffer.hpp"
#include "sim_counters.hpp"

#include <hip/hip_runtime.h>

#include "readme.hpp" // made of README.md when this is built

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

namespace {
using namespace wavetile;
using namespace wavetile::test;

/// Numbers whose sums are exact.
std::vector<float> small_numbers(std::int64_t count) {
  std::vector<float> result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(static_cast<float>(i * 37 % 201 - 100));
  return result;
}

TEST(readme, the_kernel_sums_columns_without_conflicts) {
  for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{256, 128}, {70, 68}}) {
    const auto numbers = small_numbers(rows * columns);
    const std::int64_t blocks = (rows + 63) / 64;
    device_buffer<float> x(numbers), sums(static_cast<std::size_t>(blocks * columns));
    const auto run = [&] {
      const status outcome = readme_column_sums::start_column_sums(
          make_view(static_cast<const float*>(x.data()), rows, columns),
          make_view(sums.data(), blocks, columns), nullptr);
      ASSERT_TRUE(outcome.ok()) << outcome.message();
    };
    if (const auto counts = count_kernels(run))
      EXPECT_EQ(counts->lds_conflicts, 0u) << rows << " x " << columns;
    else
      run();
    const std::vector<float> got = sums.download();
    for (std::int64_t i = 0; i < blocks * columns; ++i) {
      float want = 0;
      for (std::int64_t r = i / columns * 64; r < std::min(rows, (i / columns + 1) * 64); ++r)
        want += numbers[static_cast<std::size_t>(r * columns + i % columns)];
      EXPECT_EQ(got[static_cast<std::size_t>(i)], want) << rows << " x " << columns << ": " << i;
    }
  }
}

TEST(readme, a_softmax_and_its_plan) {
  constexpr std::int64_t rows = 1024, columns = 4096;
  device_info device;
  ASSERT_TRUE(stream_device(nullptr, device).ok());
  device_buffer<float> logits(small_numbers(rows * columns));
  device_buffer<fp16> weights(static_cast<std::size_t>(rows * columns));
  testing::internal::CaptureStdout();
  readme_describe::use(logits.data(), weights.data(), rows, columns, nullptr);
  const std::string printed = testing::internal::GetCapturedStdout();
  const auto* const end = std::end(readme::shown);
  if (device.cu_count == 304) // as the page says
    EXPECT_NE(std::find(std::begin(readme::shown), end, printed), end) << printed;
  // causal: row r sees columns up to r + columns - rows
  const auto got = weights.download();
  const auto numbers = small_numbers(rows * columns);
  for (const std::int64_t r : {std::int64_t{0}, std::int64_t{777}, rows - 1}) {
    const auto exponential = [&](std::int64_t c) {
      return std::exp(0.125 * (double{numbers[static_cast<std::size_t>(r * columns + c)]} - 100));
    };
    double total = 0;
    for (std::int64_t c = 0; c <= r + columns - rows; ++c)
      total += exponential(c);
    for (std::int64_t c = 0; c < columns; ++c) {
      const double want = c <= r + columns - rows ? exponential(c) / total : 0;
      // to fp16: half a unit of 11 bits, of denormals 2^-25
      EXPECT_NEAR(double{convert<float>(got[static_cast<std::size_t>(r * columns + c)])}, want,
                  0x1p-10 * want + 0x1p-24)
          << r << ", " << c;
    }
  }
}

} // namespace
