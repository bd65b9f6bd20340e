// The five kernels of the ladder compute the product, whatever feeds their matrix units. What the
// counters and the bound say of them: test_ladder_model.cpp, which starts this program.
#include "tests/ladder_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace {

constexpr int m = 256, n = 256, k = 1024;

/// Values of bf16 with a few bits, so that products and sums of k of them are exact in fp32.
std::vector<ladder::half_bits> numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ladder::half_bits> out(count);
  for (auto& x : out) {
    const float value = static_cast<float>(static_cast<int>(random() % 17) - 8) / 8.0f;
    unsigned bits;
    std::memcpy(&bits, &value, sizeof bits);
    x = static_cast<ladder::half_bits>(bits >> 16);
  }
  return out;
}

double value(ladder::half_bits x) {
  const unsigned bits = unsigned{x} << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

TEST(Ladder, AllComputeTheProduct) {
  const auto a = numbers(std::size_t{m} * k, 1), b = numbers(std::size_t{n} * k, 2);
  std::vector<float> expected(std::size_t{m} * n), c(expected.size());
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int x = 0; x < k; ++x)
        sum += value(a[static_cast<std::size_t>(i * k + x)]) *
               value(b[static_cast<std::size_t>(j * k + x)]);
      expected[static_cast<std::size_t>(i * n + j)] = static_cast<float>(sum);
    }
  ladder::half_bits *device_a = nullptr, *device_b = nullptr;
  float* device_c = nullptr;
  ASSERT_EQ(hipMalloc(&device_a, a.size() * 2), hipSuccess);
  ASSERT_EQ(hipMalloc(&device_b, b.size() * 2), hipSuccess);
  ASSERT_EQ(hipMalloc(&device_c, c.size() * 4), hipSuccess);
  ASSERT_EQ(hipMemcpy(device_a, a.data(), a.size() * 2, hipMemcpyHostToDevice), hipSuccess);
  ASSERT_EQ(hipMemcpy(device_b, b.data(), b.size() * 2, hipMemcpyHostToDevice), hipSuccess);
  const ladder::arguments arguments{device_a, device_b, device_c, n, k};
  for (const auto kernel : {ladder::plain_narrow, ladder::padded_narrow, ladder::swizzled_narrow,
                            ladder::swizzled_ahead, ladder::swizzled_wide, ladder::swizzled_sunk}) {
    ASSERT_EQ(hipMemset(device_c, 0xff, c.size() * 4), hipSuccess);
    kernel<<<dim3(n / ladder::block, m / ladder::block), ladder::threads>>>(arguments);
    ASSERT_EQ(hipMemcpy(c.data(), device_c, c.size() * 4, hipMemcpyDeviceToHost), hipSuccess);
    EXPECT_EQ(c, expected);
  }
  EXPECT_EQ(hipFree(device_a), hipSuccess);
  EXPECT_EQ(hipFree(device_b), hipSuccess);
  EXPECT_EQ(hipFree(device_c), hipSuccess);
}

} // namespace
