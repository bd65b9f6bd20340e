// Rules for alpha, beta and k = 0, tails, many batches.
#define WAVETILE_TEST_FEW_KERNELS
#include "matmul_case.hpp"

#include <limits>

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr auto only = matmul_choice::compact;
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
  for (const char* kernel : {"compact", "skinny"})
    for_each_order({.m = 13, .n = 21, .k = 35, .kernel = kernel}, [](const matmul_case& test) {
      if (!has_kernel<T>(test))
        return;
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
  ASSERT_TRUE((check_matmul<float, float, float>(
      {.m = 2, .n = 2, .k = 2, .batches = 65539, .kernel = "compact"})));
}

TEST(matmul_batches, one_more_than_65535) {
  ASSERT_TRUE((check_matmul<float, float, float>(
      {.m = 2, .n = 2, .k = 2, .batches = 65536, .kernel = "compact"})));
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

} // namespace
