// The tiled product for one pair of types, from the command line of the compiler: every order, and
// shapes that end anywhere.
#include "mainloop_case.hpp"

#include <gtest/gtest.h>

namespace wavetile::test {
namespace {

using enum operand_order;
using A = WAVETILE_TEST_A;
using B = WAVETILE_TEST_B;
template <operand_order OrderA, operand_order OrderB>
constexpr matmul_config config = config_of(matmul_kernel::WAVETILE_TEST_KERNEL,
                                           static_cast<int>(sizeof(A)), OrderA, OrderB);

template <operand_order OrderA, operand_order OrderB>
void check_shapes() {
  constexpr matmul_config cut = config<OrderA, OrderB>;
  constexpr int64_t m = cut.tile_m, n = cut.tile_n;
  constexpr int64_t step = cut.tile_k(static_cast<int>(sizeof(A)));
  const auto check = [](const product_shape& shape) {
    check_product<A, B, OrderA, OrderB, config<OrderA, OrderB>>(shape);
  };
  check({m, n, 1 * step}); // the pipeline's shortest ways
  check({m, n, 2 * step});
  check({m, n, 5 * step, 16});
  check({m + 44, n / 2 + 14, 3 * step + 11, 5, 1}); // nothing aligned, a tail in k
  check({m + 1, n + 3, 2 * step + 1, 3, 1});        // edge tiles with less than a load
  check({m - 5, n - 1, 4 * step - 1});
  check({1, 1, 1});
  check({5, 3, 2 * step + 8, 1, 1});
  check({2, 70, step, 0, 0});
  check({20, 33, 4 * step, 8, 0, step + 3, 4 * step - 1}); // a part of k
  check({20, 33, 2 * step, 8, 0, 7, 7});                   // nothing of it
  check({33, 40, 3 * step + 5, 0, 0, 0, -1, true});        // exact
}

// Rows so far apart that offsets inside a tile do not fit 32 bits.
TEST(mainloop, rows_apart) {
  constexpr matmul_config cut = config<k_contiguous, k_contiguous>;
  constexpr int64_t bytes = sizeof(A), apart = (int64_t{1} << 32) / (cut.tile_m * bytes);
  check_product<A, B, k_contiguous, k_contiguous, cut>({2, 2, 2 * cut.tile_k(bytes), apart});
}

TEST(mainloop, both_dense) {
  check_shapes<k_contiguous, k_contiguous>();
}
TEST(mainloop, b_strided) {
  check_shapes<k_contiguous, k_strided>();
}
TEST(mainloop, a_strided) {
  check_shapes<k_strided, k_contiguous>();
}
TEST(mainloop, both_strided) {
  check_shapes<k_strided, k_strided>();
}

} // namespace
} // namespace wavetile::test
