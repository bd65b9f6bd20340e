// Rules for alpha, beta and k = 0, many batches, denormals, overflow of int32, repeatability.
#define WAVETILE_TEST_FEW_KERNELS
#include "matmul_case.hpp"

#include <limits>
#include <set>

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr auto only = matmul_choice::small;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

template <class T>
class matmul_rules : public testing::Test {};
using results = testing::Types<float, bf16>;
TYPED_TEST_SUITE(matmul_rules, results);

TYPED_TEST(matmul_rules, beta_0_does_not_read_c) {
  using T = TypeParam;
  for (const float poison : {nan, inf})
    for (const matmul_case& size :
         {matmul_case{.m = 2, .n = 2, .k = 2}, {.m = 65, .n = 33, .k = 17}}) {
      auto test = size;
      test.beta = 1; // makes a C
      matmul_run<T, T, T> run(test);
      run.c.fill([&] { return convert<T>(poison); });
      run.options.beta = 0;
      ASSERT_TRUE(run.run().ok());
      for (const T value : run.result())
        ASSERT_TRUE(std::isfinite(as_double(value)));
    }
}

TYPED_TEST(matmul_rules, k_0_scales_c) {
  using T = TypeParam;
  const struct {
    double beta;
    float c, expected;
  } cases[] = {{0.5, 4, 2}, {0, nan, 0}, {1, 4, 4}};
  for (const auto& one : cases) {
    matmul_run<T, T, T> run({.m = 3, .n = 2, .k = 0, .beta = 1, .pad_d = 2});
    run.c.fill([&] { return convert<T>(one.c); });
    run.options.beta = one.beta;
    const view<const T, 2> a{nullptr, {3, 0}, {0, 1}}, b{nullptr, {0, 2}, {2, 1}};
    ASSERT_TRUE(
        matmul(a, b, view<const T, 2>(run.c.as_matrix()), run.d.as_matrix(), run.options).ok());
    for (const T value : run.result())
      EXPECT_EQ(as_double(value), static_cast<double>(one.expected));
  }
}

TYPED_TEST(matmul_rules, alpha_0_reads_neither_a_nor_b) {
  using T = TypeParam;
  for (const double beta : {2.0, 0.0}) {
    matmul_run<T, T, T> run({.m = 4, .n = 4, .k = 4, .alpha = 0, .beta = 1});
    run.a.fill([&] { return convert<T>(nan); });
    run.b.fill([&] { return convert<T>(inf); });
    run.c.fill([&] { return convert<T>(3.0f); });
    run.options.beta = beta;
    ASSERT_TRUE(run.run().ok());
    for (const T value : run.result())
      EXPECT_EQ(as_double(value), 3 * beta);
    const view<const T, 2> none{nullptr, {4, 4}, {4, 1}};
    run.d.buffer().poison();
    ASSERT_TRUE(
        matmul(none, none, view<const T, 2>(run.c.as_matrix()), run.d.as_matrix(), run.options)
            .ok());
    for (const T value : run.result())
      EXPECT_EQ(as_double(value), 3 * beta);
  }
}

TYPED_TEST(matmul_rules, infinities_meet_no_zeros_from_tails) {
  using T = TypeParam;
  // one infinite column of op(B) and finite data: its column of D is infinite or NaN, no other
  for (const char* kernel : {"small", "skinny"})
    for_each_order({.m = 13, .n = 21, .k = 35, .kernel = kernel}, [](const matmul_case& test) {
      matmul_run<T, T, T> run(test);
      std::int64_t count = 0;
      run.a.fill([] { return convert<T>(1.0f); });
      run.b.fill([&] {
        const std::int64_t column = test.transpose_b ? count / test.k : count % test.n;
        ++count;
        return convert<T>(column == 20 ? inf : 1.0f);
      });
      ASSERT_TRUE(run.run().ok());
      const auto got = run.result();
      for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(as_double(got[i]), i % 21 == 20 ? static_cast<double>(inf) : 35.0)
            << test.text() << " element " << i;
    });
}

TYPED_TEST(matmul_rules, in_place_of_c) {
  using T = TypeParam;
  matmul_run<T, T, T> run({.m = 20, .n = 30, .k = 40, .alpha = 0.5, .beta = 2});
  const auto expected = run.reference();
  ASSERT_TRUE(matmul<only>(view<const T, 2>(run.a.as_matrix()), view<const T, 2>(run.b.as_matrix()),
                           view<const T, 2>(run.c.as_matrix()), run.c.as_matrix(), run.options)
                  .ok());
  const auto got = run.c.buffer().download();
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(as_double(got[i]), expected[i].value,
                (matmul_run<T, T, T>::allowed(expected[i], 40)));
}

TEST(matmul_batches, more_than_65535) {
  for (const std::int64_t batches : {65535, 65536, 65539})
    ASSERT_TRUE((check_matmul<float, float, float>(
        {.m = 2, .n = 2, .k = 2, .batches = batches, .kernel = "small"})));
}

TEST(matmul_batches, a_batch_may_repeat_its_inputs) {
  matmul_run<bf16, bf16, bf16> run({.m = 20, .n = 30, .k = 40});
  device_buffer<bf16> d(3 * 600);
  auto a = run.a.as_batch();
  a.extent[0] = 3;
  a.stride[0] = 0;
  auto b = run.b.as_batch();
  b.extent[0] = 3;
  b.stride[0] = 0;
  ASSERT_TRUE(
      matmul<only>(view<const bf16, 3>(a), view<const bf16, 3>(b), make_view(d.data(), 3, 20, 30))
          .ok());
  ASSERT_TRUE(run.run().ok());
  const auto one = run.result();
  const auto all = d.download();
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i].bits, one[i % 600].bits);
}

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
  for (const char* kernel : {"small", "skinny"})
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
  for (const char* kernel : {"small", "skinny"})
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
  using run_8 = matmul_run<fp8_e4m3_fnuz, fp8_e4m3_fnuz, float>;
  device_buffer<float> rows(std::vector<float>(20, 0.0f)), columns(std::vector<float>(50, 0.0f));
  std::vector<float> of_rows, of_columns;
  for (int i = 0; i < 20; ++i)
    of_rows.push_back(0.5f + static_cast<float>(i));
  for (int i = 0; i < 50; ++i)
    of_columns.push_back(2.0f - static_cast<float>(i) / 16);
  rows.upload(of_rows);
  columns.upload(of_columns);
  for (const char* kernel : {"small", "skinny"})
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
