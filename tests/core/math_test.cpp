// Bit tests and scalar functions on the host. Built a second time with -ffast-math, where every
// expectation must hold as well; the values come through volatile memory as a kernel's would.
#include "../support/random.hpp"

#include <wavetile/core/math.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace wavetile {
namespace {

// what the compiler knows nothing about
float loaded(uint32_t bits) {
  volatile uint32_t memory = bits;
  const uint32_t copy = memory;
  float result;
  std::memcpy(&result, &copy, sizeof result);
  return result;
}
double loaded(uint64_t bits) {
  volatile uint64_t memory = bits;
  const uint64_t copy = memory;
  double result;
  std::memcpy(&result, &copy, sizeof result);
  return result;
}
uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

TEST(bits, classify_fp32) {
  test::random_source random(1);
  for (int i = 0; i < 200000; ++i) {
    uint32_t bits = static_cast<uint32_t>(random.bits());
    if (i % 4 == 0)
      bits |= 0x7F800000u;
    if (i % 16 == 0)
      bits &= 0xFF800000u;
    const uint32_t exponent = bits >> 23 & 0xFF;
    const uint32_t mantissa = bits % 0x800000u;
    const float value = loaded(bits);
    EXPECT_EQ(is_nan(value), exponent == 255 && mantissa != 0) << bits;
    EXPECT_EQ(is_inf(value), exponent == 255 && mantissa == 0) << bits;
    EXPECT_EQ(is_negative_inf(value), bits == 0xFF800000u) << bits;
    EXPECT_EQ(is_finite(value), exponent != 255) << bits;
    EXPECT_EQ(float_bits(value), bits);
  }
}

TEST(bits, classify_fp64) {
  test::random_source random(2);
  for (int i = 0; i < 200000; ++i) {
    uint64_t bits = random.bits();
    if (i % 4 == 0)
      bits |= 0x7FF0000000000000u;
    if (i % 16 == 0)
      bits &= 0xFFF0000000000000u;
    const uint64_t exponent = bits >> 52 & 0x7FF;
    const uint64_t mantissa = bits % (uint64_t{1} << 52);
    const double value = loaded(bits);
    EXPECT_EQ(is_nan(value), exponent == 2047 && mantissa != 0) << bits;
    EXPECT_EQ(is_inf(value), exponent == 2047 && mantissa == 0) << bits;
    EXPECT_EQ(is_negative_inf(value), bits == 0xFFF0000000000000u) << bits;
    EXPECT_EQ(is_finite(value), exponent != 2047) << bits;
  }
}

TEST(bits, select_carries_any_bits) {
  for (uint32_t bits : {0x7F800000u, 0xFF800000u, 0x7FC00000u, 0x80000000u, 0x3F800000u}) {
    const float value = loaded(bits);
    volatile bool yes = true;
    EXPECT_EQ(bits_of(select(yes, value, 1.0f)), bits);
    EXPECT_EQ(bits_of(select(!yes, 1.0f, value)), bits);
  }
}

TEST(maximum, orders_numbers) {
  test::random_source random(3);
  for (int i = 0; i < 10000; ++i) {
    const float a = static_cast<float>(random.normal());
    const float b = static_cast<float>(random.normal());
    EXPECT_EQ(maximum(a, b), a > b ? a : b);
    EXPECT_EQ(minimum(a, b), a > b ? b : a);
    EXPECT_EQ(maximum<nan_rule::ignore>(a, b), a > b ? a : b);
    EXPECT_EQ(minimum<nan_rule::ignore>(double{a}, double{b}), a > b ? b : a);
    EXPECT_EQ(maximum(static_cast<int64_t>(a * 9), static_cast<int64_t>(b * 9)),
              static_cast<int64_t>((a > b ? a : b) * 9));
  }
  EXPECT_EQ(maximum(-3, 2), 2);
  EXPECT_EQ(minimum(3u, 2u), 2u);
}

TEST(maximum, propagates_nan) {
  for (uint32_t bits : {0x7FC00000u, 0xFFC12345u, 0x7F800001u}) {
    const float nan = loaded(bits);
    EXPECT_TRUE(is_nan(maximum(nan, loaded(0x3F800000u))));
    EXPECT_TRUE(is_nan(maximum(loaded(0x3F800000u), nan)));
    EXPECT_TRUE(is_nan(minimum(nan, loaded(0xFF800000u))));
    EXPECT_TRUE(is_nan(minimum(loaded(0x7F800000u), nan)));
  }
  const double nan = loaded(uint64_t{0x7FF8000000000000});
  EXPECT_TRUE(is_nan(maximum(nan, loaded(uint64_t{0}))));
  EXPECT_TRUE(is_nan(minimum(loaded(uint64_t{0}), nan)));
}

TEST(maximum, infinities_are_numbers) {
  const float inf = loaded(0x7F800000u);
  const float negative = loaded(0xFF800000u);
  EXPECT_EQ(bits_of(maximum(inf, loaded(0x3F800000u))), 0x7F800000u);
  EXPECT_EQ(bits_of(maximum(negative, loaded(0x3F800000u))), 0x3F800000u);
  EXPECT_EQ(bits_of(minimum(negative, loaded(0x3F800000u))), 0xFF800000u);
}

#if !WAVETILE_FINITE_MATH
TEST(maximum, can_ignore_nan) {
  const float nan = loaded(0x7FC00000u);
  EXPECT_EQ(maximum<nan_rule::ignore>(nan, 1.0f), 1.0f);
  EXPECT_EQ(maximum<nan_rule::ignore>(1.0f, nan), 1.0f);
  EXPECT_EQ(minimum<nan_rule::ignore>(nan, 1.0f), 1.0f);
}
#endif

// The host functions are libm's, here to at most 1 ulp; the device's are tested on the device.
TEST(functions, values) {
  for (float x : {-126.0f, -20.5f, -1.0f, 0.0f, 0.25f, 1.0f, 100.5f}) {
    const double expected = std::pow(2.0, static_cast<double>(x));
    EXPECT_NEAR(exp2(x), expected, expected * 0x1p-23);
  }
  EXPECT_EQ(exp2(-200.0f), 0.0f);
  EXPECT_NEAR(exp(1.0f), 2.718281828, 3e-7);
  EXPECT_NEAR(log(10.0f), 2.302585093, 3e-7);
  EXPECT_EQ(log2(8.0f), 3.0f);
  EXPECT_EQ(reciprocal(4.0f), 0.25f);
  EXPECT_NEAR(rsqrt(16.0f), 0.25f, 1e-7);
  EXPECT_EQ(wavetile::fma(2.0f, 3.0f, 4.0f), 10.0f);
  EXPECT_EQ(wavetile::fma(2.0, 3.0, 4.0), 10.0);
}

TEST(functions, integer_rounding) {
  EXPECT_EQ(divide_up(0, 4), 0);
  EXPECT_EQ(divide_up(1, 4), 1);
  EXPECT_EQ(divide_up(8, 4), 2);
  EXPECT_EQ(divide_up(INT64_MAX, 2), INT64_MAX / 2 + 1);
  EXPECT_EQ(round_up(int64_t{13}, 8), 16);
  static_assert(round_up(16, 8) == 16);
}

} // namespace
} // namespace wavetile
