// fp32 to and from every small format, on the host, over all codes and all places where rounding
// decides, against the enumerated reference.
#include "../support/random.hpp"
#include "small_float_oracle.hpp"

#include <wavetile/core/numeric_traits.hpp>

#include <gtest/gtest.h>

namespace wavetile {
namespace {

using test::small_float_oracle;

template <class T>
struct format;
template <>
struct format<fp16> {
  static small_float_oracle oracle() { return test::fp16_oracle(); }
};
template <>
struct format<bf16> {
  static small_float_oracle oracle() { return test::bf16_oracle(); }
};
template <>
struct format<fp8_e4m3_fnuz> {
  static small_float_oracle oracle() { return test::e4m3_fnuz_oracle(); }
};
template <>
struct format<fp8_e5m2_fnuz> {
  static small_float_oracle oracle() { return test::e5m2_fnuz_oracle(); }
};
template <>
struct format<fp8_e4m3_ocp> {
  static small_float_oracle oracle() { return test::e4m3_ocp_oracle(); }
};
template <>
struct format<fp8_e5m2_ocp> {
  static small_float_oracle oracle() { return test::e5m2_ocp_oracle(); }
};

template <class T>
class small_float : public testing::Test {};
using small_floats =
    testing::Types<fp16, bf16, fp8_e4m3_fnuz, fp8_e5m2_fnuz, fp8_e4m3_ocp, fp8_e5m2_ocp>;
TYPED_TEST_SUITE(small_float, small_floats);

template <class T>
T from_code(unsigned code) {
  return T::from_bits(static_cast<decltype(T::bits)>(code));
}

template <class T>
void expect_encoded(const small_float_oracle& oracle, float value) {
  const unsigned code = T(value).bits;
  const int expected = oracle.encode(value);
  if (expected < 0)
    EXPECT_TRUE(std::isnan(oracle.decode(code))) << value << " became " << code;
  else
    EXPECT_EQ(code, static_cast<unsigned>(expected)) << value << " " << float_bits(value);
}

TYPED_TEST(small_float, decodes_every_code_exactly) {
  const small_float_oracle oracle = format<TypeParam>::oracle();
  for (unsigned code = 0; code < oracle.codes(); ++code) {
    const float value = static_cast<float>(from_code<TypeParam>(code));
    const long double expected = oracle.decode(code);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << code;
      continue;
    }
    EXPECT_EQ(static_cast<long double>(value), expected) << code;
    EXPECT_EQ(std::signbit(value), std::signbit(expected)) << code;
  }
}

TYPED_TEST(small_float, encode_undoes_decode) {
  const small_float_oracle oracle = format<TypeParam>::oracle();
  for (unsigned code = 0; code < oracle.codes(); ++code) {
    const float value = static_cast<float>(from_code<TypeParam>(code));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(value)))) << code;
    else if (std::isfinite(value))
      EXPECT_EQ(TypeParam(value).bits, code);
    else // an infinity: kept by fp16 and bf16, saturated by e5m2 OCP
      EXPECT_EQ(TypeParam(value).bits, sizeof(TypeParam) == 1 ? code - 1 : code);
  }
}

TYPED_TEST(small_float, rounds_to_nearest_even_at_every_edge) {
  const small_float_oracle oracle = format<TypeParam>::oracle();
  for (float value : oracle.edges())
    expect_encoded<TypeParam>(oracle, value);
}

TYPED_TEST(small_float, rounds_random_bits) {
  const small_float_oracle oracle = format<TypeParam>::oracle();
  test::random_source random(7);
  for (int i = 0; i < 300000; ++i) // any exponent, NaNs included
    expect_encoded<TypeParam>(oracle, float_from_bits(static_cast<uint32_t>(random.bits())));
  // exponents of the format itself: most random bits are far outside
  for (int i = 0; i < 300000; ++i)
    expect_encoded<TypeParam>(
        oracle, static_cast<float>(random.normal() * std::exp2(48 * random.uniform() - 30)));
}

TYPED_TEST(small_float, every_nan_stays_a_nan) {
  for (uint32_t payload = 1; payload < 0x00800000u; payload += 0x1001u) {
    for (uint32_t sign : {0u, 0x80000000u}) {
      const float nan = __builtin_bit_cast(float, sign | 0x7F800000u | payload);
      EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(nan)))) << payload;
    }
  }
}

TYPED_TEST(small_float, the_ends_are_those_of_the_format) {
  using traits = numeric_traits<TypeParam>;
  const small_float_oracle oracle = format<TypeParam>::oracle();
  long double highest = 0;
  for (unsigned code = 0; code < oracle.codes(); ++code)
    if (std::isfinite(oracle.decode(code)))
      highest = std::max(highest, oracle.decode(code));
  EXPECT_EQ(static_cast<float>(traits::highest()), static_cast<float>(highest));
  EXPECT_EQ(static_cast<float>(traits::lowest()), static_cast<float>(-highest));
}

TYPED_TEST(small_float, compares_as_numbers) {
  const small_float_oracle oracle = format<TypeParam>::oracle();
  const unsigned step = sizeof(TypeParam) == 1 ? 1 : 251;
  for (unsigned a = 0; a < oracle.codes(); a += step)
    for (unsigned b : {a, a ^ oracle.sign(), a + 1 < oracle.codes() ? a + 1 : 0u, 0u})
      EXPECT_EQ(from_code<TypeParam>(a) == from_code<TypeParam>(b),
                oracle.decode(a) == oracle.decode(b))
          << a << " " << b;
}

TEST(fp16_codes, nan_keeps_sign_and_upper_payload) {
  EXPECT_EQ(fp16(__builtin_bit_cast(float, 0x7FC00000u)).bits, 0x7E00);
  EXPECT_EQ(fp16(__builtin_bit_cast(float, 0xFFC02000u)).bits, 0xFE01);
  EXPECT_EQ(fp16(__builtin_bit_cast(float, 0x7F800001u)).bits, 0x7E00);
}

TEST(bf16_codes, published_rounding_table) {
  const uint32_t from[] = {0x3F808000u, 0x3F818000u, 0x3E89CCD5u, 0x7F7FFFFFu,
                           0x7F7F7FFFu, 0x00008000u, 0x00018000u, 0x80000000u};
  const unsigned to[] = {0x3F80, 0x3F82, 0x3E8A, 0x7F80, 0x7F7F, 0x0000, 0x0002, 0x8000};
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(bf16(float_from_bits(from[i])).bits, to[i]) << i;
}

TEST(bf16_codes, named_roundings) {
  const auto bits = [](bf16 value) { return static_cast<unsigned>(value.bits); };
  const float tie = float_from_bits(0x3F808000u);
  EXPECT_EQ(bits(round_to_bf16<bf16_rounding::nearest_even>(tie)), 0x3F80u);
  EXPECT_EQ(bits(round_to_bf16<bf16_rounding::nearest_even_finite>(tie)), 0x3F80u);
  EXPECT_EQ(bits(round_to_bf16<bf16_rounding::nearest_away>(tie)), 0x3F81u);
  EXPECT_EQ(bits(round_to_bf16<bf16_rounding::truncate>(tie)), 0x3F80u);
  EXPECT_EQ(bits(round_to_bf16<bf16_rounding::nearest_away>(-tie)), 0xBF81u);

  // the long double value rounded by the definition of each mode
  const test::small_float_oracle oracle = test::bf16_oracle();
  test::random_source random(11);
  for (int i = 0; i < 300000; ++i) {
    const float value = float_from_bits(static_cast<uint32_t>(random.bits()));
    if (std::isnan(value)) {
      EXPECT_EQ(bits(round_to_bf16<bf16_rounding::truncate>(value)), 0x7FC0u);
      EXPECT_EQ(bits(round_to_bf16<bf16_rounding::nearest_away>(value)), 0x7FC0u);
      continue;
    }
    if (std::isinf(value))
      continue;
    EXPECT_EQ(bits(round_to_bf16<bf16_rounding::nearest_even_finite>(value)),
              static_cast<unsigned>(oracle.encode(value)));
    const unsigned cut = bits(round_to_bf16<bf16_rounding::truncate>(value));
    const long double down = oracle.decode(cut);
    const long double next = oracle.decode(cut + 1);
    EXPECT_LE(std::fabs(down), std::fabs(static_cast<long double>(value)));
    if (std::isfinite(next)) {
      EXPECT_GT(std::fabs(next), std::fabs(static_cast<long double>(value)));
      const bool up = std::fabs(static_cast<long double>(value) - down) >=
                      std::fabs(next - static_cast<long double>(value));
      EXPECT_EQ(bits(round_to_bf16<bf16_rounding::nearest_away>(value)), cut + (up ? 1u : 0u));
    }
  }
}

TEST(bf16_codes, pairs_are_two_singles) {
  test::random_source random(13);
  for (int i = 0; i < 100000; ++i) {
    const float low = float_from_bits(static_cast<uint32_t>(random.bits()));
    const float high = float_from_bits(static_cast<uint32_t>(random.bits()));
    const uint32_t pair = pack_bf16(low, high);
    EXPECT_EQ(pair & 0xFFFFu, bf16(low).bits);
    EXPECT_EQ(pair >> 16, bf16(high).bits);
  }
}

} // namespace
} // namespace wavetile
