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

} // namespace
