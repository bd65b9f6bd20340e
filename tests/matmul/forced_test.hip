// Kernels that only calls which name them have.
#include "matmul_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

TEST(matmul_forced, wide) {
  for_each_order({.m = 150, .n = 300, .k = 100}, [](const matmul_case& test) {
    ASSERT_TRUE((check_matmul<bf16, bf16, bf16, bf16, matmul_choice::wide>(test)));
  });
}

TEST(matmul_forced, large_four) {
  for_each_order({.m = 270, .n = 300, .k = 100}, [](const matmul_case& test) {
    ASSERT_TRUE((check_matmul<bf16, bf16, bf16, bf16, matmul_choice::large_four>(test)));
  });
}

// Both operands transposed byte by byte need the most LDS addresses of all.
TEST(matmul_forced, large_four_of_bytes) {
  for_each_order({.m = 270, .n = 300, .k = 200}, [](const matmul_case& test) {
    ASSERT_TRUE((check_matmul<fp8_e4m3, fp8_e5m2, float, float, matmul_choice::large_four>(test)));
  });
}

TEST(matmul_forced, ping_pong) {
  for (const std::int64_t k : {0, 31, 32, 64, 96, 200})
    ASSERT_TRUE((check_matmul<bf16, bf16, bf16, bf16, matmul_choice::ping_pong>(
        {.m = 270, .n = 300, .k = k, .transpose_b = true})));
}

} // namespace
