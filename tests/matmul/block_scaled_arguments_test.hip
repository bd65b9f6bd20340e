// What products with scales of blocks refuse, in which words. Linked with a mock runtime.
#include "mock_runtime.hpp"

#include <wavetile/matmul_block_scaled.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

using fp8 = fp8_e4m3_fnuz;

struct block_scaled_arguments : testing::Test {
  void SetUp() override {
    mock::current() = {};
    mock::current().devices.assign(2, {});
  }
  alignas(256) fp8 a[4096] = {};
  alignas(256) fp8 b[65536] = {};
  alignas(256) float d[4096] = {};
  alignas(256) float scales[64] = {};
  using matrix = view<const fp8, 2>;
  using numbers = view<const float, 2>;

  matrix of_a(std::int64_t m, std::int64_t k) const { return make_view(a, m, k); }
  matrix of_b(std::int64_t k, std::int64_t n) const { return make_view(b, k, n); }
  numbers of_scales(std::int64_t rows, std::int64_t blocks) const {
    return make_view(scales, rows, blocks);
  }
  /// 4 x 200 times 200 x 140: scales of 4 x 2 and 2 x 2.
  status run(numbers scale_a, numbers scale_b, const matmul_options& options = {}) {
    return matmul_block_scaled(of_a(4, 200), scale_a, of_b(200, 140), scale_b, make_view(d, 4, 140),
                               options);
  }
  static void expect(const status& outcome, const char* message) {
    EXPECT_STREQ(outcome.message(), message);
    EXPECT_EQ(mock::current().count("hipLaunchKernel"), 0);
  }
};

TEST_F(block_scaled_arguments, extents_of_scales) {
  const numbers right_a = of_scales(4, 2), right_b = of_scales(2, 2);
  expect(run(of_scales(5, 2), right_b),
         "unsupported_shape: scale_a.extent[0] = 5, allowed: 4, the rows of op(A)");
  expect(run(of_scales(4, 1), right_b),
         "unsupported_shape: scale_a.extent[1] = 1, allowed: 2, the blocks of 128 of k");
  expect(run(right_a, of_scales(140, 2)),
         "unsupported_shape: scale_b.extent[0] = 140, allowed: 2, the blocks of 128 columns of "
         "op(B)");
  expect(run(right_a, of_scales(2, 3)),
         "unsupported_shape: scale_b.extent[1] = 3, allowed: 2, the blocks of 128 of k");
  expect(run(of_scales(-4, 2), right_b), "invalid_argument: scale_a.extent[0] = -4, allowed: >= 0");
  expect(run(right_a, of_scales(2, -1)), "invalid_argument: scale_b.extent[1] = -1, allowed: >= 0");
  const auto batch = [&](std::int64_t batches_a, std::int64_t batches_b, std::int64_t blocks) {
    return matmul_block_scaled(make_view(static_cast<const fp8*>(a), 2, 4, 100),
                               make_view(static_cast<const float*>(scales), batches_a, 4, 1),
                               make_view(static_cast<const fp8*>(b), 2, 100, 140),
                               make_view(static_cast<const float*>(scales), batches_b, 2, blocks),
                               make_view(d, 2, 4, 140));
  };
  expect(batch(1, 2, 1), "unsupported_shape: scale_a.extent[0] = 1, allowed: 2, the batches of d");
  expect(batch(2, 3, 1), "unsupported_shape: scale_b.extent[0] = 3, allowed: 2, the batches of d");
  expect(batch(2, 2, 2),
         "unsupported_shape: scale_b.extent[2] = 2, allowed: 1, the blocks of 128 of k");
  EXPECT_TRUE(batch(2, 2, 1).ok());
}

// What is wrong with the matrices is said of them, not of the scales that follow from them.
TEST_F(block_scaled_arguments, extents_of_matrices) {
  const auto product = [&](matrix x, matrix y, std::int64_t m = 4, std::int64_t n = 140) {
    return matmul_block_scaled(x, of_scales(4, 2), y, of_scales(2, 2), make_view(d, m, n));
  };
  expect(product(of_a(4, -200), of_b(-200, 140)),
         "invalid_argument: a.extent[1] = -200, allowed: >= 0");
  expect(product(of_a(-4, 200), of_b(200, 140)),
         "invalid_argument: a.extent[0] = -4, allowed: >= 0");
  expect(product(of_a(4, 200), of_b(200, -140)),
         "invalid_argument: b.extent[1] = -140, allowed: >= 0");
  expect(product(of_a(4, 200), of_b(300, 140)),
         "unsupported_shape: b.extent[0] = 300, allowed: 200, the k of op(A)");
  expect(product(of_a(4, 200), of_b(200, 140), 5),
         "unsupported_shape: d.extent[0] = 5, allowed: 4, the rows of op(A)");
  expect(product(of_a(4, 200), of_b(200, 140), 4, 130),
         "unsupported_shape: d.extent[1] = 130, allowed: 140, the columns of op(B)");
}

TEST_F(block_scaled_arguments, memory) {
  const numbers right_a = of_scales(4, 2), right_b = of_scales(2, 2);
  const float* const none = nullptr;
  expect(run(make_view(none, 4, 2), right_b),
         "null_pointer: scale_a: null pointer to an array that is not empty");
  expect(run(right_a, make_view(none, 2, 2)),
         "null_pointer: scale_b: null pointer to an array that is not empty");
  const auto* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(scales) + 2);
  const std::string address = std::to_string(reinterpret_cast<std::uintptr_t>(odd));
  expect(run(make_view(odd, 4, 2), right_b),
         ("misaligned: scale_a = " + address +
          ", allowed: a multiple of 4 bytes, the size of an element")
             .c_str());
  expect(run(right_a, make_view(odd, 2, 2)),
         ("misaligned: scale_b = " + address +
          ", allowed: a multiple of 4 bytes, the size of an element")
             .c_str());
  const float* inside = d;
  expect(run(make_view(inside + 8, 4, 2), right_b),
         "overlapping: d: starts 32 bytes before scale_a and overlaps it, allowed: apart");
  // block by block: the last column is 4 rows behind the first
  expect(run(right_a, make_strided_view<const float, 2>(inside - 2, {2, 2}, {1, 2})),
         "overlapping: d: starts 8 bytes after scale_b and overlaps it, allowed: apart");
  const std::int64_t far = std::int64_t{1} << 60;
  expect(run(make_strided_view<const float, 2>(scales, {4, 2}, {far, 1}), right_b),
         "unsupported_shape: scale_a: extents 4 x 2, strides 1152921504606846976 x 1, allowed: < "
         "2^62 elements, and <= 2^60 bytes along each axis");
  // any steps, and repeated numbers
  EXPECT_TRUE(run(make_strided_view<const float, 2>(scales, {4, 2}, {1, 4}),
                  make_strided_view<const float, 2>(scales, {2, 2}, {0, 0}))
                  .ok());
  // nothing is read where nothing is multiplied
  EXPECT_TRUE(run(make_view(none, 4, 2), make_view(none, 2, 2), {.alpha = 0}).ok());
}

TEST_F(block_scaled_arguments, options) {
  const numbers right_a = of_scales(4, 2), right_b = of_scales(2, 2);
  expect(run(right_a, right_b, {.scale_a = {scales, scale_kind::tensor}}),
         "invalid_argument: options.scale_a: its kind is tensor, and there are data; allowed: none "
         "without data, as blocks have scales of their own");
  expect(run(right_a, right_b, {.scale_b = {nullptr, scale_kind::outer}}),
         "invalid_argument: options.scale_b: its kind is outer; allowed: none without data, as "
         "blocks have scales of their own");
  expect(run(right_a, right_b, {.scale_b = {scales}}),
         "invalid_argument: options.scale_b: its kind is none, and there are data; allowed: none "
         "without data, as blocks have scales of their own");
  expect(run(right_a, right_b, {.kernel = "wide"}),
         "invalid_argument: kernel: it is wide, and this call has code for middle only");
  EXPECT_TRUE(run(right_a, right_b, {.kernel = "middle"}).ok());
}

} // namespace
