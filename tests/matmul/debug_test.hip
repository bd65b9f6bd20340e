// The kernels compiled without optimisation.
#define WAVETILE_TEST_FEW_KERNELS
#include "matmul_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

TEST(matmul_debug, tiles) {
  for_each_order(
      {.m = 67, .n = 70, .k = 75, .alpha = 0.5, .beta = -1},
      [](const matmul_case& test) { ASSERT_TRUE((check_matmul<bf16, bf16, float>(test))); });
}

TEST(matmul_debug, few_rows_and_k_in_parts) {
  ASSERT_TRUE((check_matmul<bf16, bf16, float>({.m = 5, .n = 130, .k = 300, .kernel = "skinny"})));
  ASSERT_TRUE((check_matmul<bf16, bf16, float>({.m = 20, .n = 30, .k = 300, .splits = 3})));
}

} // namespace
