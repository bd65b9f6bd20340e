// convert<To>(from) between all pairs of types, against arithmetic in long double.
#include "../support/random.hpp"
#include "small_float_oracle.hpp"

#include <wavetile/core/vec.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace wavetile {
namespace {

using test::small_float_oracle;

// Doubles where rounding in two steps goes wrong: just off the midpoints of a small format, by less
// than fp32 can tell.
std::vector<double> near_midpoints(const small_float_oracle& oracle) {
  std::vector<double> result;
  for (unsigned code = 0; code + 1 < oracle.sign(); code += oracle.sign() > 256 ? 37 : 1) {
    const long double low = oracle.decode(code);
    const long double high = oracle.decode(code + 1);
    if (!std::isfinite(low) || !std::isfinite(high))
      continue;
    const double middle = static_cast<double>((low + high) / 2);
    for (double value : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300),
                         middle * (1 + 0x1p-40), middle * (1 - 0x1p-40)}) {
      result.push_back(value);
      result.push_back(-value);
    }
  }
  return result;
}

template <class T>
void check_from_double(const small_float_oracle& oracle) {
  std::vector<double> values = near_midpoints(oracle);
  for (double value : {0.0, -0.0, 1e-320, 1e-45, 1e300, -1e300, 3.4e38, 1e39, 0x1p-149, 0x1.8p-149,
                       0x1p-150, 0x1.000001p-134, 0x1p-134, 0x1.fffffep127})
    values.push_back(value);
  test::random_source random(3);
  for (int i = 0; i < 100000; ++i)
    values.push_back(random.normal() * std::exp2(300 * random.uniform() - 150));
  for (double value : values)
    EXPECT_EQ(convert<T>(value).bits, static_cast<unsigned>(oracle.encode(value)))
        << testing::PrintToString(value);
  EXPECT_TRUE(is_nan(static_cast<float>(convert<T>(std::numeric_limits<double>::quiet_NaN()))));
  EXPECT_TRUE(is_nan(static_cast<float>(convert<T>(std::numeric_limits<double>::signaling_NaN()))));
  const T inf = convert<T>(-std::numeric_limits<double>::infinity());
  EXPECT_EQ(inf.bits, T(-infinity).bits);
}

TEST(convert, fp64_rounds_once) {
  check_from_double<fp16>(test::fp16_oracle());
  check_from_double<bf16>(test::bf16_oracle());
  check_from_double<fp8_e4m3_fnuz>(test::e4m3_fnuz_oracle());
  check_from_double<fp8_e5m2_fnuz>(test::e5m2_fnuz_oracle());
  check_from_double<fp8_e4m3_ocp>(test::e4m3_ocp_oracle());
  check_from_double<fp8_e5m2_ocp>(test::e5m2_ocp_oracle());
}

template <class T, class Integer>
void check_from_integer(const small_float_oracle& oracle, uint64_t seed) {
  using limits = std::numeric_limits<Integer>;
  std::vector<Integer> values = {0, 1, limits::max(), limits::min(),
                                 static_cast<Integer>(limits::max() - 1)};
  test::random_source random(seed);
  for (int i = 0; i < 20000; ++i)
    values.push_back(static_cast<Integer>(random.bits() >> (random.bits() % 64)));
  for (int bit = 8; bit < limits::digits; ++bit) // either side of ties
    for (int offset = -2; offset <= 2; ++offset)
      values.push_back(
          static_cast<Integer>((uint64_t{0x101} << (bit - 8)) + static_cast<uint64_t>(offset)));
  for (Integer value : values)
    EXPECT_EQ(convert<T>(value).bits,
              static_cast<unsigned>(oracle.encode(static_cast<long double>(value))))
        << +value;
}

TEST(convert, integers_round_once) {
  check_from_integer<fp16, int64_t>(test::fp16_oracle(), 1);
  check_from_integer<fp16, int32_t>(test::fp16_oracle(), 2);
  check_from_integer<bf16, int64_t>(test::bf16_oracle(), 3);
  check_from_integer<bf16, uint64_t>(test::bf16_oracle(), 4);
  check_from_integer<bf16, uint32_t>(test::bf16_oracle(), 5);
  check_from_integer<fp8_e4m3_fnuz, int64_t>(test::e4m3_fnuz_oracle(), 6);
  check_from_integer<fp8_e5m2_ocp, int32_t>(test::e5m2_ocp_oracle(), 7);
  check_from_integer<fp16, int8_t>(test::fp16_oracle(), 8);
}

// nearest even, saturating, by long double
template <class Integer>
Integer rounded(long double value) {
  using limits = std::numeric_limits<Integer>;
  const long double whole = std::nearbyint(value); // default mode: nearest even
  if (whole >= static_cast<long double>(limits::max()))
    return limits::max();
  if (whole <= static_cast<long double>(limits::min()))
    return limits::min();
  return static_cast<Integer>(whole);
}

template <class Integer, class Float>
void check_to_integer(uint64_t seed) {
  using limits = std::numeric_limits<Integer>;
  const Float top = static_cast<Float>(limits::max());
  std::vector<Float> values = {0,
                               Float(0.5),
                               Float(1.5),
                               Float(2.5),
                               top,
                               -top,
                               std::nextafter(top, Float(0)),
                               std::nextafter(top, top * 2),
                               static_cast<Float>(limits::min()),
                               std::numeric_limits<Float>::max(),
                               std::numeric_limits<Float>::infinity()};
  test::random_source random(seed);
  for (int i = 0; i < 50000; ++i) {
    const double size = std::exp2(70 * random.uniform() - 3);
    values.push_back(static_cast<Float>(random.normal() * size));
    values.push_back(static_cast<Float>(static_cast<double>(i) - 20000.5));
    values.push_back(static_cast<Float>(top - static_cast<Float>(random.uniform() * 4)));
  }
  for (Float positive : values)
    for (Float value : {positive, -positive})
      EXPECT_EQ(convert<Integer>(value), rounded<Integer>(value)) << value;
  EXPECT_EQ(convert<Integer>(std::numeric_limits<Float>::quiet_NaN()), Integer{0});
}

TEST(convert, floats_to_integers) {
  check_to_integer<int8_t, float>(1);
  check_to_integer<int16_t, float>(2);
  check_to_integer<int32_t, float>(3);
  check_to_integer<int64_t, float>(4);
  check_to_integer<uint8_t, float>(5);
  check_to_integer<uint32_t, float>(6);
  check_to_integer<uint64_t, float>(7);
  check_to_integer<int8_t, double>(8);
  check_to_integer<int32_t, double>(9);
  check_to_integer<int64_t, double>(10);
  check_to_integer<uint64_t, double>(11);
  EXPECT_EQ(convert<int8_t>(fp16(2.5f)), 2);
  EXPECT_EQ(convert<int8_t>(bf16(-300.0f)), -128);
  EXPECT_EQ(convert<uint8_t>(fp8_e4m3_fnuz(-3.0f)), 0);
}

TEST(convert, integers_saturate) {
  EXPECT_EQ(convert<int8_t>(200), 127);
  EXPECT_EQ(convert<int8_t>(-200), -128);
  EXPECT_EQ(convert<uint8_t>(-1), 0);
  EXPECT_EQ(convert<uint8_t>(int64_t{256}), 255);
  EXPECT_EQ(convert<int64_t>(~uint64_t{0}), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(convert<uint64_t>(int8_t{-1}), 0u);
  EXPECT_EQ(convert<int32_t>(uint32_t{0x80000000u}), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(convert<int32_t>(int64_t{-5}), -5);
}

TEST(convert, between_small_floats) {
  EXPECT_EQ(convert<bf16>(fp16(1.5f)).bits, 0x3FC0);
  EXPECT_EQ(convert<fp16>(bf16(1e30f)).bits, 0x7C00);
  EXPECT_EQ(static_cast<float>(convert<fp8_e4m3_fnuz>(fp16(1000.0f))), 240.0f);
  EXPECT_EQ(static_cast<float>(convert<fp8_e5m2_fnuz>(fp8_e4m3_fnuz(3.5f))), 3.5f);
  EXPECT_EQ(convert<double>(fp16(0.1f)), static_cast<double>(static_cast<float>(fp16(0.1f))));
  EXPECT_EQ(convert<float>(7), 7.0f);
  static_assert(convert<bf16>(2.0).bits == 0x4000, "usable in constant expressions");
}

TEST(convert, vectors_convert_element_by_element) {
  test::random_source random(5);
  for (int round = 0; round < 10000; ++round) {
    vec<float, 8> from{};
    for (int i = 0; i < 8; ++i)
      from[i] = float_from_bits(static_cast<uint32_t>(random.bits()));
    const vec<bf16, 8> b = convert<bf16>(from);
    const vec<fp16, 8> h = convert<fp16>(from);
    const vec<fp8_e4m3_fnuz, 8> f = convert<fp8_e4m3_fnuz>(from);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(b[i].bits, bf16(from[i]).bits);
      EXPECT_EQ(h[i].bits, fp16(from[i]).bits);
      EXPECT_EQ(f[i].bits, fp8_e4m3_fnuz(from[i]).bits);
    }
  }
}

TEST(numeric_traits, accumulators) {
  static_assert(std::is_same_v<accumulator_t<fp16>, float>);
  static_assert(std::is_same_v<accumulator_t<const bf16>, float>);
  static_assert(std::is_same_v<accumulator_t<double>, double>);
  static_assert(std::is_same_v<accumulator_t<int8_t>, int32_t>);
  static_assert(std::is_same_v<accumulator_t<int64_t>, int64_t>);
  static_assert(std::is_same_v<storage_t<fp8_e4m3_ocp>, fp8_e4m3_ocp>);
  static_assert(!numeric<char*> && !numeric<bool> && numeric<const float>);
}

TEST(numeric_traits, integer_ends) {
  const auto check = []<class T>(T) {
    EXPECT_EQ(numeric_traits<T>::lowest(), std::numeric_limits<T>::min());
    EXPECT_EQ(numeric_traits<T>::highest(), std::numeric_limits<T>::max());
    EXPECT_EQ(numeric_traits<T>::digits, std::numeric_limits<T>::digits);
    EXPECT_EQ(size_of(numeric_traits<T>::type), static_cast<int>(sizeof(T)));
  };
  check(int8_t{});
  check(int16_t{});
  check(int32_t{});
  check(int64_t{});
  check(uint8_t{});
  check(uint16_t{});
  check(uint32_t{});
  check(uint64_t{});
}

TEST(numeric_traits, names_and_sizes) {
  EXPECT_STREQ(name_of(numeric_traits<fp8_e4m3_fnuz>::type), "fp8_e4m3_fnuz");
  EXPECT_STREQ(name_of(numeric_traits<bf16>::type), "bf16");
  EXPECT_STREQ(name_of(data_type::uint64), "uint64");
  EXPECT_EQ(size_of(data_type::fp64), 8);
  EXPECT_EQ(size_of(data_type::fp8_e5m2_ocp), 1);
  EXPECT_EQ(numeric_traits<fp16>::digits, 11);
  EXPECT_EQ(numeric_traits<double>::digits, std::numeric_limits<double>::digits);
}

} // namespace
} // namespace wavetile
