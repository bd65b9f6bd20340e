// All sizes around multiples of 64, all four orders, fp16: the planned kernel, and the error bound
// |error| <= 2 k 2^-24 max|a| max|b| + half a unit in the last place, which is tighter than that of
// `matmul_error_factor` for these numbers only where sums cancel; both must hold.
#include "matmul_case.hpp"

#include <algorithm>

namespace {

using namespace wavetile;
using namespace wavetile::test;

void sweep(std::initializer_list<std::int64_t> sizes, std::initializer_list<std::int64_t> depths) {
  for (const std::int64_t k : depths)
    for (const std::int64_t m : sizes)
      for (const std::int64_t n : sizes)
        for_each_order({.m = m, .n = n, .k = k}, [](const matmul_case& test) {
          matmul_run<fp16, fp16, fp16> run(test);
          const status outcome = run.run();
          ASSERT_TRUE(outcome.ok()) << outcome.message();
          double a = 0, b = 0;
          for (std::int64_t i = 0; i < test.m; ++i)
            for (std::int64_t j = 0; j < test.k; ++j)
              a = std::max(a, std::fabs(run.a_at(0, i, j)));
          for (std::int64_t i = 0; i < test.k; ++i)
            for (std::int64_t j = 0; j < test.n; ++j)
              b = std::max(b, std::fabs(run.b_at(0, i, j)));
          const auto expected = run.reference();
          const auto got = run.result();
          for (std::size_t i = 0; i < got.size(); ++i) {
            const double error = std::fabs(as_double(got[i]) - expected[i].value);
            const double rounding = 0x1p-11 * std::fabs(expected[i].value) + 0x1p-25;
            ASSERT_LE(error, 2 * static_cast<double>(test.k) * 0x1p-24 * a * b + rounding)
                << test.text() << " element " << i;
            ASSERT_LE(error, (run.allowed(expected[i], test.k))) << test.text() << " element " << i;
          }
        });
}

TEST(matmul_sweep, sizes_around_tiles) {
  sweep({1, 2, 3, 63, 64, 65, 127, 128}, {1, 3, 7, 31, 33, 133});
}

TEST(matmul_sweep, deep) {
  sweep({1, 3, 63, 65, 128}, {4097});
}

} // namespace
