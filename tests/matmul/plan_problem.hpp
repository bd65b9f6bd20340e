// What tests of plans of products start from. No device.
#pragma once

#include <wavetile/kernels/matmul/plan.hpp>

namespace wavetile::test {

inline constexpr device_info mi300x = describe_device("gfx942:sramecc+:xnack-", 304, 8);

inline matmul_problem problem_of(int64_t m, int64_t n, int64_t k) {
  matmul_problem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.order_b = operand_order::k_contiguous;
  return problem;
}

} // namespace wavetile::test
