// Results of 8 bits: with a given scale, and with one for each row.
#include "norm_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr std::int64_t widths[] = {1, 7, 64, 333, 1024, 4100, 9001, 40000, 140001};

template <class Case>
void expect_right(Case c = {}) {
  for (const std::int64_t columns : widths) {
    SCOPED_TRACE(columns);
    c.rows = 3;
    c.columns = columns;
    c.run_and_check();
    if (testing::Test::HasFatalFailure())
      return;
  }
}

TEST(quantised_norm, fp8_with_a_scale_for_each_row) {
  expect_right<norm_case<norm_kind::rms, bf16, fp8_e4m3_fnuz, bf16, void, true>>();
}

TEST(quantised_norm, fp8_with_a_residual_and_a_scale_for_each_row) {
  expect_right<norm_case<norm_kind::rms, bf16, fp8_e4m3_fnuz, float, bf16, true>>();
}

TEST(quantised_norm, int8_with_a_scale_for_each_row) {
  expect_right<norm_case<norm_kind::layer, fp16, int8_t, fp16, void, true>>();
}

TEST(quantised_norm, with_a_given_scale) {
  norm_case<norm_kind::layer, fp16, fp8_e4m3_fnuz, float> fp8;
  fp8.options.scale = 0.01f;
  expect_right(fp8);
  norm_case<norm_kind::rms, float, int8_t> int8;
  int8.options.scale = 0.015f; // 127 of it are 1.9: some values saturate
  expect_right(int8);
}

// The largest magnitude of a row becomes the largest number of the type, to the last bit of fp32.
TEST(quantised_norm, the_scale_is_the_largest_magnitude_over_the_largest_number) {
  norm_case<norm_kind::rms, float, fp8_e4m3_fnuz, float, void, true> c{.rows = 50, .columns = 500};
  c.run_and_check();
  for (std::int64_t r = 0; r < c.rows; ++r) {
    float largest = 0;
    for (std::int64_t i = 0; i < c.columns; ++i)
      largest = std::fmax(
          largest, std::fabs(static_cast<float>(c.y[static_cast<std::size_t>(r * c.columns + i)])));
    EXPECT_EQ(largest, 240.0f) << r;
  }
}

// Rows of zeros have the scale of 2^-100, and zeros.
TEST(quantised_norm, rows_of_zeros) {
  for (const std::int64_t columns : {9, 5000, 140000}) {
    norm_case<norm_kind::rms, bf16, fp8_e4m3_fnuz, bf16, void, true> c{.rows = 2,
                                                                       .columns = columns};
    c.deviation = 0;
    c.run_and_check();
    for (const float scale : c.scales)
      EXPECT_EQ(scale, 0x1p-100f / 240);
    for (const fp8_e4m3_fnuz value : c.y)
      EXPECT_EQ(static_cast<float>(value), 0.0f);
  }
}

// A NaN or an infinity reaches the scale and its own row, and no other.
TEST(quantised_norm, what_is_not_finite_stays_in_its_row) {
  for (const std::int64_t columns : {70, 3000, 140000}) {
    for (const float bad : {__builtin_nanf(""), __builtin_inff()}) {
      const auto n = static_cast<std::size_t>(columns);
      auto values = random_normals<float>(3 * n, 5);
      values[n + n / 2] = bad;
      device_buffer<float> x(values), scales(3);
      device_buffer<fp8_e4m3_fnuz> y(3 * n);
      ASSERT_TRUE(rms_norm(norm_arrays{.x = make_view(x.data(), 3, columns),
                                       .y = make_view(y.data(), 3, columns),
                                       .scales = make_view(scales.data(), 3)})
                      .ok());
      const auto found = scales.download();
      EXPECT_TRUE(std::isfinite(found[0]) && std::isfinite(found[2]));
      EXPECT_TRUE(std::isnan(found[1])) << "the formula gives NaN for an infinity, too";
      const auto results = y.download();
      for (std::size_t i = 0; i < 3 * n; ++i) {
        const bool in_row = i / n == 1;
        ASSERT_EQ(std::isnan(static_cast<float>(results[i])), in_row) << i;
      }
    }
  }
}

} // namespace
