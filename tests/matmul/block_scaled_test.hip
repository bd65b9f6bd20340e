// 8-bit floats with scales for blocks of 128.
#include "matmul_case.hpp"

#include <wavetile/matmul_block_scaled.hpp>

namespace {

using namespace wavetile;
using namespace wavetile::test;

using run_8 = matmul_run<fp8_e4m3, fp8_e4m3, float>;

status run_scaled(run_8& run, device_buffer<float>& of_a, device_buffer<float>& of_b) {
  const std::int64_t blocks = (run.test.k + 127) / 128, bands = (run.test.n + 127) / 128;
  const float *scales_a = of_a.data(), *scales_b = of_b.data();
  if (run.test.batches > 1) {
    const view<const fp8_e4m3, 3> a = run.a.as_batch(), b = run.b.as_batch();
    return matmul_block_scaled(a, make_view(scales_a, run.test.batches, run.test.m, blocks), b,
                               make_view(scales_b, run.test.batches, bands, blocks),
                               run.d.as_batch(), run.options);
  }
  const view<const fp8_e4m3, 2> a = run.a.as_matrix(), b = run.b.as_matrix();
  const auto of_rows = make_view(scales_a, run.test.m, blocks);
  const auto of_columns = make_view(scales_b, bands, blocks);
  if (run.test.beta != 0)
    return matmul_block_scaled(a, of_rows, b, of_columns, view<const float, 2>(run.c.as_matrix()),
                               run.d.as_matrix(), run.options);
  return matmul_block_scaled(a, of_rows, b, of_columns, run.d.as_matrix(), run.options);
}

void check_scaled(const matmul_case& t) {
  run_8 run(t);
  const std::int64_t blocks = (t.k + 127) / 128, bands = (t.n + 127) / 128;
  std::vector<float> of_a, of_b;
  random_source source(11);
  for (std::int64_t i = 0; i < t.batches * t.m * blocks; ++i)
    of_a.push_back(static_cast<float>(0.25 + source.uniform()));
  for (std::int64_t i = 0; i < t.batches * bands * blocks; ++i)
    of_b.push_back(static_cast<float>(source.normal()));
  device_buffer<float> scale_a(of_a), scale_b(of_b);
  const status outcome = run_scaled(run, scale_a, scale_b);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  const auto got = run.result();
  for (std::int64_t batch = 0; batch < t.batches; ++batch)
    for (std::int64_t i = 0; i < t.m; ++i)
      for (std::int64_t j = 0; j < t.n; ++j) {
        double sum = t.beta != 0 ? t.beta * as_double(run.c.host(batch, i, j)) : 0;
        double magnitude = std::fabs(sum);
        for (std::int64_t k = 0; k < t.k; ++k) {
          const std::int64_t row = (batch * t.m + i) * blocks + k / 128;
          const std::int64_t band = (batch * bands + j / 128) * blocks + k / 128;
          const double scale = static_cast<double>(of_a[static_cast<std::size_t>(row)]) *
                               static_cast<double>(of_b[static_cast<std::size_t>(band)]);
          const double product = t.alpha * scale * run.a_at(batch, i, k) * run.b_at(batch, k, j);
          sum += product;
          magnitude += std::fabs(product);
        }
        const double bound = 0x1p-24 * std::fabs(sum) +
                             matmul_error_factor * static_cast<double>(t.k) * 0x1p-24 * magnitude;
        const std::int64_t at = (batch * t.m + i) * t.n + j;
        ASSERT_NEAR(as_double(got[static_cast<std::size_t>(at)]), sum, bound)
            << t.text() << " at " << i << ", " << j;
      }
}

#if WAVETILE_CUDA

TEST(matmul_block_scaled, is_refused_where_there_is_no_kernel) {
  run_8 run({.m = 20, .n = 30, .k = 128});
  device_buffer<float> of_a(20), of_b(1);
  const status outcome = run_scaled(run, of_a, of_b);
  EXPECT_EQ(outcome.code(), status_code::wrong_architecture) << outcome.message();
  EXPECT_NE(std::string(outcome.message()).find("matmul_block_scaled"), std::string::npos);
}

#else

TEST(matmul_block_scaled, against_fp64_in_all_orders) {
  struct {
    std::int64_t m, n, k;
  } const sizes[] = {{1, 1, 1}, {20, 140, 128}, {130, 129, 300}, {70, 270, 515}, {9, 8, 320}};
  for (const auto& size : sizes)
    for_each_order({.m = size.m, .n = size.n, .k = size.k, .alpha = 0.5, .pad_a = 3, .pad_d = 1},
                   check_scaled);
}

TEST(matmul_block_scaled, beta_batches_and_parts_of_k) {
  for (const std::int64_t k : {0, 200, 640}) {
    check_scaled({.m = 20, .n = 140, .k = k, .alpha = 2, .beta = -0.5, .pad_c = 3});
    check_scaled({.m = 20, .n = 140, .k = k, .batches = 3, .transpose_b = true});
  }
  for (const int splits : {2, 4}) {
    check_scaled({.m = 40, .n = 150, .k = 1200, .beta = 2, .splits = splits});
    check_scaled({.m = 40, .n = 150, .k = 1200, .batches = 2, .splits = splits});
  }
}

TEST(matmul_block_scaled, refuses_scales_of_other_shapes) {
  run_8 run({.m = 4, .n = 140, .k = 200});
  device_buffer<float> some(100);
  const auto a = view<const fp8_e4m3, 2>(run.a.as_matrix());
  const auto b = view<const fp8_e4m3, 2>(run.b.as_matrix());
  const auto scales = [&](std::int64_t rows, std::int64_t columns) {
    return make_view(static_cast<const float*>(some.data()), rows, columns);
  };
  const status wrong_a = matmul_block_scaled(a, scales(4, 1), b, scales(2, 2), run.d.as_matrix());
  EXPECT_EQ(wrong_a.code(), status_code::unsupported_shape);
  EXPECT_STREQ(wrong_a.argument(), "scale_a.extent[1]");
  const status wrong_b = matmul_block_scaled(a, scales(4, 2), b, scales(1, 2), run.d.as_matrix());
  EXPECT_STREQ(wrong_b.argument(), "scale_b.extent[0]");
  const float* inside = run.d.as_matrix().data;
  EXPECT_EQ(
      matmul_block_scaled(a, make_view(inside, 4, 2), b, scales(2, 2), run.d.as_matrix()).code(),
      status_code::overlapping);
  EXPECT_TRUE(run.d.buffer().untouched());
}

#endif

} // namespace
