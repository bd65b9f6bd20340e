// Denormals, overflow of int32, scales, repeatability.
#define WAVETILE_TEST_FEW_KERNELS
#include "matmul_case.hpp"

#include <limits>
#include <set>

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr auto only = matmul_choice::compact;

// Column-major 3 x 1 by k = 5, as a transposed row-major one: the example of a bug report.
TEST(matmul_values, column_major_example) {
  device_buffer<fp16> a(std::vector<fp16>{fp16(1), fp16(2), fp16(3), fp16(4), fp16(5), fp16(6),
                                          fp16(7), fp16(8), fp16(9), fp16(10), fp16(11), fp16(12),
                                          fp16(13), fp16(14), fp16(15)});
  device_buffer<fp16> b(std::vector<fp16>{fp16(5), fp16(4), fp16(3), fp16(2), fp16(1)});
  device_buffer<float> d(3);
  ASSERT_TRUE(matmul<only>(make_view(static_cast<const fp16*>(a.data()), 5, 3),
                           make_view(static_cast<const fp16*>(b.data()), 5, 1),
                           make_view(d.data(), 3, 1), {.transpose_a = true})
                  .ok());
  EXPECT_EQ(d.download(), (std::vector<float>{75, 90, 105}));
}

TEST(matmul_values, fp16_denormals_count) {
  for (const char* kernel : {"compact", "skinny"})
    for (const unsigned bits : {0x0001u, 0x03FFu}) {
      matmul_run<fp16, fp16, float> run({.m = 16, .n = 16, .k = 16, .kernel = kernel});
      run.a.fill([&] { return fp16::from_bits(static_cast<std::uint16_t>(bits)); });
      run.b.fill([] { return fp16(1024.0f); });
      ASSERT_TRUE(run.run().ok());
      for (const float value : run.result())
        EXPECT_EQ(value, std::ldexp(static_cast<float>(bits), -10));
    }
}

// Sum of `k` equal products, by both paths and split.
std::int32_t int8_sum(std::int64_t k, int x, int y, const char* kernel, int splits) {
  matmul_run<std::int8_t, std::int8_t, std::int32_t> run(
      {.m = 1, .n = 1, .k = k, .splits = splits, .kernel = kernel});
  run.a.fill([&] { return static_cast<std::int8_t>(x); });
  run.b.fill([&] { return static_cast<std::int8_t>(y); });
  EXPECT_TRUE(run.run().ok());
  return run.result()[0];
}

TEST(matmul_values, int8_sums_are_exact_and_wrap) {
  for (const char* kernel : {"compact", "skinny"})
    for (const int splits : {1, 3}) {
      EXPECT_EQ(int8_sum(2049, 127, 127, kernel, splits), 33048321);
      EXPECT_EQ(int8_sum(131071, -128, -128, kernel, splits), 2147467264);
      EXPECT_EQ(int8_sum(131072, -128, -128, kernel, splits),
                std::numeric_limits<std::int32_t>::min());
      EXPECT_EQ(int8_sum(5, -128, 127, kernel, splits), -81280);
      EXPECT_EQ(int8_sum(7, -3, 5, kernel, splits), -105);
    }
}

TEST(matmul_values, scales_of_8_bit_inputs) {
  using run_8 = matmul_run<fp8_e4m3, fp8_e4m3, float>;
  device_buffer<float> rows(std::vector<float>(20, 0.0f)), columns(std::vector<float>(50, 0.0f));
  std::vector<float> of_rows, of_columns;
  for (int i = 0; i < 20; ++i)
    of_rows.push_back(0.5f + static_cast<float>(i));
  for (int i = 0; i < 50; ++i)
    of_columns.push_back(2.0f - static_cast<float>(i) / 16);
  rows.upload(of_rows);
  columns.upload(of_columns);
  for (const char* kernel : {"compact", "skinny"})
    for (const scale_kind kind : {scale_kind::tensor, scale_kind::outer}) {
      run_8 run({.m = 15, .n = 50, .k = 70, .kernel = kernel});
      run.options.scale_a = {rows.data(), kind};
      run.options.scale_b = {columns.data(), kind};
      ASSERT_TRUE(run.run().ok());
      const auto expected = run.reference();
      const auto got = run.result();
      for (std::size_t i = 0; i < got.size(); ++i) {
        const bool outer = kind == scale_kind::outer;
        const double scale = static_cast<double>(of_rows[outer ? i / 50 : 0]) *
                             static_cast<double>(of_columns[outer ? i % 50 : 0]);
        ASSERT_NEAR(as_double(got[i]), scale * expected[i].value,
                    std::fabs(scale) * (run_8::allowed(expected[i], 70) + 0x1p-22));
      }
    }
}

// Every number of parts has one result, in every run; parts differ by a last place at most.
TEST(matmul_splits, repeatable) {
  std::vector<double> first;
  for (const int splits : {1, 2, 4, 8}) {
    matmul_run<bf16, bf16, bf16> run(
        {.m = 1, .n = 64, .k = 65536, .splits = splits, .kernel = "skinny"});
    std::set<std::vector<std::uint16_t>> distinct;
    for (int i = 0; i < 3; ++i) {
      run.d.buffer().poison();
      run.memory.poison();
      ASSERT_TRUE(run.run().ok());
      std::vector<std::uint16_t> bits;
      for (const bf16 value : run.result())
        bits.push_back(value.bits);
      distinct.insert(bits);
    }
    EXPECT_EQ(distinct.size(), 1u);
    const auto got = run.result();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double value = as_double(got[i]);
      if (splits == 1)
        first.push_back(value);
      else
        EXPECT_LE(std::fabs(value - first[i]), 0x1p-7 * std::fabs(first[i]) + 1e-4);
    }
  }
}

} // namespace
