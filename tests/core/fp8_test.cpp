// The four 8-bit formats: the codes that set them apart, and that they do not mix.
#include <wavetile/core/convert.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

namespace wavetile {
namespace {

template <class T>
float value_of(unsigned code) {
  return static_cast<float>(T::from_bits(static_cast<uint8_t>(code)));
}

TEST(fp8_codes, e4m3_fnuz) {
  int nans = 0;
  for (unsigned code = 0; code < 256; ++code)
    nans += std::isnan(value_of<fp8_e4m3_fnuz>(code));
  EXPECT_EQ(nans, 1);
  EXPECT_TRUE(std::isnan(value_of<fp8_e4m3_fnuz>(0x80)));
  EXPECT_EQ(value_of<fp8_e4m3_fnuz>(0x7F), 240.0f);
  EXPECT_EQ(value_of<fp8_e4m3_fnuz>(0x40), 1.0f);
  EXPECT_EQ(value_of<fp8_e4m3_fnuz>(0x01), 0x1p-10f);
  EXPECT_EQ(fp8_e4m3_fnuz(-0.0f).bits, 0x00);
  EXPECT_EQ(fp8_e4m3_fnuz(-0x1p-12f).bits, 0x00);
}

TEST(fp8_codes, e4m3_ocp) {
  EXPECT_TRUE(std::isnan(value_of<fp8_e4m3_ocp>(0x7F)));
  EXPECT_TRUE(std::isnan(value_of<fp8_e4m3_ocp>(0xFF)));
  EXPECT_EQ(value_of<fp8_e4m3_ocp>(0x80), 0.0f);
  EXPECT_TRUE(std::signbit(value_of<fp8_e4m3_ocp>(0x80)));
  EXPECT_EQ(value_of<fp8_e4m3_ocp>(0x7E), 448.0f);
  EXPECT_EQ(value_of<fp8_e4m3_ocp>(0x38), 1.0f);
  EXPECT_EQ(value_of<fp8_e4m3_ocp>(0x01), 0x1p-9f);
}

TEST(fp8_codes, e5m2) {
  EXPECT_EQ(value_of<fp8_e5m2_fnuz>(0x7F), 57344.0f);
  EXPECT_EQ(value_of<fp8_e5m2_fnuz>(0x01), 0x1p-17f);
  EXPECT_TRUE(std::isnan(value_of<fp8_e5m2_fnuz>(0x80)));
  EXPECT_EQ(value_of<fp8_e5m2_ocp>(0x7B), 57344.0f);
  EXPECT_EQ(value_of<fp8_e5m2_ocp>(0x01), 0x1p-16f);
  EXPECT_TRUE(std::isinf(value_of<fp8_e5m2_ocp>(0xFC)));
  EXPECT_TRUE(std::isnan(value_of<fp8_e5m2_ocp>(0x7D)));
}

TEST(fp8_codes, saturate) {
  const float inf = infinity;
  for (float value : {449.0f, 1e30f, inf}) {
    EXPECT_EQ(static_cast<float>(fp8_e4m3_ocp(value)), 448.0f);
    EXPECT_EQ(static_cast<float>(fp8_e4m3_fnuz(-value)), -240.0f);
  }
  EXPECT_EQ(static_cast<float>(fp8_e5m2_ocp(inf)), 57344.0f);
  EXPECT_EQ(static_cast<float>(fp8_e5m2_fnuz(-inf)), -57344.0f);
}

template <class To, class From>
constexpr bool mixes = std::is_convertible_v<From, To> || std::is_constructible_v<To, From> ||
                       std::is_assignable_v<To&, From>;

TEST(fp8_types, do_not_mix) {
  static_assert(!mixes<fp8_e4m3_fnuz, fp8_e4m3_ocp> && !mixes<fp8_e4m3_ocp, fp8_e4m3_fnuz>);
  static_assert(!mixes<fp8_e5m2_fnuz, fp8_e5m2_ocp> && !mixes<fp8_e5m2_ocp, fp8_e5m2_fnuz>);
  static_assert(!mixes<fp8_e4m3_fnuz, fp8_e5m2_fnuz> && !mixes<fp8_e4m3_ocp, fp8_e5m2_ocp>);
  static_assert(!mixes<fp16, bf16> && !mixes<bf16, fp16> && !mixes<fp16, fp8_e4m3_fnuz>);
  // and nothing slips in or out through fp32 unasked
  static_assert(!std::is_convertible_v<float, fp8_e4m3_fnuz>);
  static_assert(!std::is_convertible_v<fp8_e4m3_fnuz, float>);
  static_assert(!std::is_convertible_v<float, fp16> && !std::is_convertible_v<bf16, float>);
  EXPECT_EQ(value_of<fp8_e4m3_ocp>(0x38), 1.0f);
  EXPECT_EQ(value_of<fp8_e4m3_fnuz>(0x38), 0.5f);
}

template <class Ocp>
void check_to_fnuz() {
  for (unsigned code = 0; code < 256; ++code) {
    const Ocp from = Ocp::from_bits(static_cast<uint8_t>(code));
    const auto to = ocp_to_fnuz(from);
    EXPECT_EQ(to.scale, 2.0f);
    const float before = static_cast<float>(from);
    const float after = static_cast<float>(to.value) * to.scale;
    if (std::isnan(before)) {
      EXPECT_EQ(to.value.bits, 0x80) << code;
    } else if (std::isinf(before)) {
      EXPECT_EQ(after, before > 0 ? 114688.0f : -114688.0f);
    } else {
      EXPECT_EQ(after, before) << code;
      EXPECT_EQ(to.value.bits, code == 0x80 ? 0u : code);
    }
  }
  EXPECT_EQ(ocp_to_fnuz(Ocp(1.0f), 0.25f).scale, 0.5f);
}

TEST(fp8_rescaling, ocp_to_fnuz) {
  check_to_fnuz<fp8_e4m3_ocp>();
  check_to_fnuz<fp8_e5m2_ocp>();
  static_assert(std::is_same_v<decltype(ocp_to_fnuz(fp8_e5m2_ocp{})), scaled<fp8_e5m2_fnuz>>);
}

template <class Fnuz, class Ocp>
void check_to_ocp() {
  for (unsigned code = 0; code < 256; ++code) {
    const Fnuz from = Fnuz::from_bits(static_cast<uint8_t>(code));
    const scaled<Ocp> to = fnuz_to_ocp(from, 3.0f);
    EXPECT_EQ(to.scale, 1.5f);
    const float before = static_cast<float>(from) * 3.0f;
    const float after = static_cast<float>(to.value) * to.scale;
    const float largest = static_cast<float>(numeric_traits<Ocp>::highest()) * 1.5f;
    if (std::isnan(before))
      EXPECT_TRUE(std::isnan(after));
    else if (std::fabs(before) > largest)
      EXPECT_EQ(after, std::copysign(largest, before));
    else
      EXPECT_EQ(after, before) << code;
  }
}

TEST(fp8_rescaling, fnuz_to_ocp) {
  check_to_ocp<fp8_e4m3_fnuz, fp8_e4m3_ocp>();
  check_to_ocp<fp8_e5m2_fnuz, fp8_e5m2_ocp>();
}

TEST(fp8_types, storage_is_one_byte) {
  static_assert(sizeof(fp8_e4m3_fnuz) == 1 && alignof(fp8_e4m3_fnuz) == 1);
  static_assert(std::is_trivially_copyable_v<fp8_e4m3_fnuz> &&
                std::is_trivially_default_constructible_v<fp8_e4m3_fnuz> &&
                std::is_standard_layout_v<fp8_e4m3_fnuz>);
  static_assert(sizeof(fp16) == 2 && std::is_trivially_default_constructible_v<fp16>);
  static_assert(sizeof(bf16) == 2 && std::is_trivially_default_constructible_v<bf16>);
}

} // namespace
} // namespace wavetile
