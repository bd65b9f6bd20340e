// The verifier itself: what it must refuse.
#include "random.hpp"
#include "verify.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace {

using wavetile::test::verify;
using wavetile::test::verify_bits;
using wavetile::test::verify_within;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();
// Generous on purpose: none of the refusals below may depend on a tight bound.
constexpr wavetile::test::tolerance generous{.absolute = 1e3, .relative = 1e3};

bool passes(std::vector<float> got, std::vector<double> reference) {
  return static_cast<bool>(verify(got, reference, generous));
}

TEST(verify, nan_matches_only_nan) {
  EXPECT_FALSE(passes({nan}, {1}));
  EXPECT_FALSE(passes({1}, {nan}));
  EXPECT_TRUE(passes({nan}, {nan}));
}

TEST(verify, infinity_matches_only_itself) {
  EXPECT_TRUE(passes({inf}, {inf}));
  EXPECT_TRUE(passes({-inf}, {-inf}));
  EXPECT_FALSE(passes({inf}, {-inf}));
  EXPECT_FALSE(passes({1e30f}, {inf}));
  EXPECT_FALSE(passes({inf}, {1e30}));
  EXPECT_FALSE(passes({inf}, {nan}));
}

TEST(verify, sizes_must_agree_and_not_be_zero) {
  EXPECT_FALSE(passes({}, {}));
  EXPECT_NE(
      verify(std::vector<float>{}, std::vector<double>{}, generous).message.find("nothing checked"),
      std::string::npos);
  EXPECT_FALSE(passes({1, 2}, {1}));
  EXPECT_FALSE(passes({1}, {1, 2}));
}

TEST(verify, tolerance_is_absolute_plus_relative) {
  const std::vector<double> reference{100};
  EXPECT_TRUE(verify(std::vector<double>{103}, reference, {.absolute = 1, .relative = 0.02}));
  EXPECT_FALSE(verify(std::vector<double>{103.01}, reference, {.absolute = 1, .relative = 0.02}));
  EXPECT_TRUE(verify(std::vector<double>{100}, reference, {}));
  EXPECT_FALSE(verify(std::vector<double>{100.0000001}, reference, {}));
}

TEST(verify, one_bad_element_among_many_fails_and_is_named) {
  std::vector<float> got(1000, 1);
  const std::vector<double> reference(1000, 1);
  EXPECT_TRUE(verify(got, reference, {}));
  got[777] = 2;
  const auto outcome = verify(got, reference, {.absolute = 0.5});
  EXPECT_FALSE(outcome);
  EXPECT_EQ(outcome.failures, 1u);
  EXPECT_EQ(outcome.worst_index, 777u);
  EXPECT_EQ(outcome.max_error, 1.0);
  EXPECT_NE(outcome.message.find("777"), std::string::npos);
}

TEST(verify, a_nan_bound_fails) {
  const std::vector<double> one{1};
  EXPECT_FALSE(verify_within(one, one, [](std::size_t) { return std::nan(""); }));
}

TEST(verify, bits_tell_signed_zeros_and_nan_payloads_apart) {
  EXPECT_TRUE(verify_bits(std::vector<float>{nan, 0.0f}, std::vector<float>{nan, 0.0f}));
  EXPECT_FALSE(verify_bits(std::vector<float>{-0.0f}, std::vector<float>{0.0f}));
  EXPECT_FALSE(verify_bits(std::vector<float>{nan}, std::vector<float>{-nan}));
  EXPECT_FALSE(verify_bits(std::vector<float>{}, std::vector<float>{}));
  EXPECT_FALSE(verify_bits(std::vector<int>{1, 2}, std::vector<int>{1}));
}

TEST(random_source, normals_have_their_moments_and_repeat) {
  constexpr std::size_t count = 200000;
  const auto values = wavetile::test::random_normals<double>(count, 7);
  double mean = 0, square = 0, fourth = 0;
  for (const double v : values) {
    mean += v;
    square += v * v;
    fourth += v * v * v * v;
  }
  mean /= count;
  square /= count;
  fourth /= count;
  // Standard errors for n = 200,000: mean 0.0022, variance 0.0032, fourth moment sqrt(96/n) =
  // 0.022. The bounds are five of each.
  EXPECT_NEAR(mean, 0, 0.011);
  EXPECT_NEAR(square, 1, 0.016);
  EXPECT_NEAR(fourth, 3, 0.11);
  EXPECT_EQ(values, wavetile::test::random_normals<double>(count, 7));
  EXPECT_NE(values, wavetile::test::random_normals<double>(count, 8));
}

TEST(random_source, integers_cover_their_range) {
  const auto values = wavetile::test::random_integers<int>(10000, 3, -2, 2);
  bool seen[5] = {};
  for (const int v : values) {
    ASSERT_GE(v, -2);
    ASSERT_LE(v, 2);
    seen[v + 2] = true;
  }
  for (const bool s : seen)
    EXPECT_TRUE(s);
}

} // namespace
