// 8-bit floats with scales for blocks of 128.
#include "matmul_case.hpp"

#include <wavetile/matmul_block_scaled.hpp>

namespace {

using namespace wavetile;
using namespace wavetile::test;

using run_8 = matmul_run<fp8_e4m3_fnuz, fp8_e4m3_fnuz, float>;

status run_scaled(run_8& run, device_buffer<float>& of_a, device_buffer<float>& of_b) {
  const std::int64_t blocks = (run.test.k + 127) / 128;
  return matmul_block_scaled(
      view<const fp8_e4m3_fnuz, 2>(run.a.as_matrix()),
      make_view(static_cast<const float*>(of_a.data()), run.test.m, blocks),
      view<const fp8_e4m3_fnuz, 2>(run.b.as_matrix()),
      make_view(static_cast<const float*>(of_b.data()), (run.test.n + 127) / 128, blocks),
      run.d.as_matrix(), run.options);
}

TEST(matmul_block_scaled, against_fp64_in_all_orders) {
  struct {
    std::int64_t m, n, k;
  } const sizes[] = {{1, 1, 1}, {20, 140, 128}, {130, 129, 300}, {70, 270, 515}};
  for (const auto& size : sizes)
    for_each_order(
        {.m = size.m, .n = size.n, .k = size.k, .alpha = 0.5, .pad_a = 3, .pad_d = 1},
        [](const matmul_case& t) {
          run_8 run(t);
          const std::int64_t blocks = (t.k + 127) / 128, bands = (t.n + 127) / 128;
          std::vector<float> of_a, of_b;
          random_source source(11);
          for (std::int64_t i = 0; i < t.m * blocks; ++i)
            of_a.push_back(static_cast<float>(0.25 + source.uniform()));
          for (std::int64_t i = 0; i < bands * blocks; ++i)
            of_b.push_back(static_cast<float>(source.normal()));
          device_buffer<float> scale_a(of_a), scale_b(of_b);
          const status outcome = run_scaled(run, scale_a, scale_b);
          ASSERT_TRUE(outcome.ok()) << outcome.message();
          const auto got = run.result();
          for (std::int64_t i = 0; i < t.m; ++i)
            for (std::int64_t j = 0; j < t.n; ++j) {
              double sum = 0, magnitude = 0;
              for (std::int64_t k = 0; k < t.k; ++k) {
                const double scale =
                    static_cast<double>(of_a[static_cast<std::size_t>(i * blocks + k / 128)]) *
                    static_cast<double>(of_b[static_cast<std::size_t>(j / 128 * blocks + k / 128)]);
                const double product = 0.5 * scale * run.a_at(0, i, k) * run.b_at(0, k, j);
                sum += product;
                magnitude += std::fabs(product);
              }
              const double bound = 0x1p-24 * std::fabs(sum) + matmul_error_factor *
                                                                  static_cast<double>(t.k) *
                                                                  0x1p-24 * magnitude;
              ASSERT_NEAR(as_double(got[static_cast<std::size_t>(i * t.n + j)]), sum, bound)
                  << t.text() << " at " << i << ", " << j;
            }
        });
}

TEST(matmul_block_scaled, refuses_scales_of_other_shapes) {
  run_8 run({.m = 4, .n = 140, .k = 200});
  device_buffer<float> some(100);
  const auto a = view<const fp8_e4m3_fnuz, 2>(run.a.as_matrix());
  const auto b = view<const fp8_e4m3_fnuz, 2>(run.b.as_matrix());
  const auto scales = [&](std::int64_t rows, std::int64_t columns) {
    return make_view(static_cast<const float*>(some.data()), rows, columns);
  };
  const status wrong_a = matmul_block_scaled(a, scales(4, 1), b, scales(2, 2), run.d.as_matrix());
  EXPECT_EQ(wrong_a.code(), status_code::unsupported_shape);
  EXPECT_STREQ(wrong_a.argument(), "scale_a");
  const status wrong_b = matmul_block_scaled(a, scales(4, 2), b, scales(1, 2), run.d.as_matrix());
  EXPECT_STREQ(wrong_b.argument(), "scale_b");
  EXPECT_EQ(matmul_block_scaled(a, scales(4, 2), b, scales(2, 2), run.d.as_matrix(), {.splits = 2})
                .code(),
            status_code::invalid_argument);
  EXPECT_TRUE(run.d.buffer().untouched());
}

} // namespace
