// Infinities, NaNs, extreme magnitudes and scales.
#include "softmax_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

template <class T>
T number(double value) {
  return convert<T>(value);
}

template <class T>
class softmax_special : public testing::Test {};
using element_types = testing::Types<float, fp16, bf16>;
TYPED_TEST_SUITE(softmax_special, element_types);

// entry (r, c) is -inf from column r mod width + 1 on
TYPED_TEST(softmax_special, rows_with_some_minus_infinities) {
  constexpr std::int64_t width = 71, rows = 8 * 12 * width;
  softmax_case<TypeParam> c{.rows = rows, .columns = width};
  c.fill(1);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = r % width + 1; i < width; ++i)
      c.x[static_cast<std::size_t>(r * width + i)] = number<TypeParam>(-INFINITY);
  c.run_and_check();
  for (std::int64_t r = 0; r < rows; ++r) {
    double sum = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      const double got = as_double(c.y[static_cast<std::size_t>(r * width + i)]);
      if (i > r % width)
        ASSERT_EQ(got, 0) << r << ", " << i;
      else
        ASSERT_TRUE(std::isfinite(got)) << r << ", " << i;
      sum += got;
    }
    // fp32: as promised; the others round 71 results by half a unit of their last place each
    const double allowed = std::is_same_v<TypeParam, float>  ? 1e-5
                           : std::is_same_v<TypeParam, fp16> ? 0x1p-11 + 71 * 0x1p-25 + 1e-5
                                                             : 0x1p-8 + 1e-5;
    ASSERT_NEAR(sum, 1, allowed) << r;
    if (r % width == 0)
      ASSERT_EQ(as_double(c.y[static_cast<std::size_t>(r * width)]), 1) << r;
  }
}

// PyTorch's rule: NaN throughout, and neighbours as ever
TYPED_TEST(softmax_special, rows_of_minus_infinities_alone) {
  for (const std::int64_t width : {1, 7, 64, 65, 1000, 5000}) {
    for (const bool logarithm : {false, true}) {
      softmax_case<TypeParam> c{.rows = 5, .columns = width, .logarithm = logarithm};
      c.fill(1);
      for (const std::int64_t r : {1, 3})
        for (std::int64_t i = 0; i < width; ++i)
          c.x[static_cast<std::size_t>(r * width + i)] = number<TypeParam>(-INFINITY);
      c.run_and_check(); // the reference has NaN there
      if (this->HasFatalFailure())
        return;
    }
  }
}

TYPED_TEST(softmax_special, nan_and_infinity_reach_their_whole_row_only) {
  for (const std::int64_t width : {2, 9, 64, 700, 3001, 70001}) {
    for (const double poison : {std::nan(""), static_cast<double>(INFINITY)}) {
      for (const std::int64_t place : {std::int64_t{0}, width / 2, width - 1}) {
        softmax_case<TypeParam> c{.rows = 3, .columns = width};
        c.chain = 100;
        c.fill(1);
        c.x[static_cast<std::size_t>(width + place)] = number<TypeParam>(poison);
        c.run_and_check();
        if (this->HasFatalFailure())
          return;
      }
    }
  }
}

TEST(softmax_magnitudes, finite_rows_of_any_size_are_finite) {
  // one dominant element, two equal ones, and the whole range
  const std::vector<std::vector<float>> rows = {
      {3.0e38f, 0, 0, 0},           {3.4e38f, 3.4e38f, 0, 0},
      {-3.4e38f, 3.4e38f, 0, 1},    {1e9f, 1e9f + 64, 1e9f, 0},
      {-1e9f, -1e9f, -1e9f, -1e9f}, {-3.4e38f, -3.4e38f, -3.4e38f, -3.3e38f},
      {1e-40f, -1e-40f, 0, 0},      {-3.4028235e38f, -3.4028235e38f, -INFINITY, -INFINITY}};
  softmax_case<float> c{.rows = static_cast<std::int64_t>(rows.size()), .columns = 4};
  for (const auto& row : rows)
    c.x.insert(c.x.end(), row.begin(), row.end());
  c.run_and_check();
  c.logarithm = true;
  c.run_and_check();
}

// l = 150 and 0 in fp16 inputs: scaled down, and up beyond what fp16 holds
TYPED_TEST(softmax_special, scales) {
  for (const float scale : {0.125f, 1.0f, 37.5f, -1.0f, -0.3f, 0.0f, 1e-30f, 1e6f}) {
    for (const std::int64_t width : {3, 100, 1500}) {
      for (const bool logarithm : {false, true}) {
        softmax_case<TypeParam> c{.rows = 3, .columns = width, .logarithm = logarithm};
        c.options.scale = scale;
        c.fill(2);
        c.run_and_check();
        if (this->HasFatalFailure())
          return;
      }
    }
  }
}

TEST(softmax_magnitudes, rows_do_not_influence_each_other) {
  // the same row everywhere in a batch gives the same bits
  for (const std::int64_t width : {3, 33, 71, 1001, 5003}) {
    softmax_case<float> c{.rows = 37, .columns = width};
    c.fill(3);
    for (std::int64_t r = 1; r < c.rows; ++r)
      std::copy_n(c.x.begin(), width, c.x.begin() + r * width);
    c.run();
    for (std::int64_t r = 1; r < c.rows; ++r)
      ASSERT_EQ(0, std::memcmp(c.y.data(), c.y.data() + r * width,
                               static_cast<std::size_t>(width) * sizeof(float)))
          << "row " << r << " of width " << width;
  }
}

// Rounding to bf16 could carry the bits of such a NaN over into a zero.
TEST(softmax_nan_bits, a_row_rounded_to_bf16_stays_nan_whatever_spoils_it) {
  for (const std::uint32_t bits : {0x7FFFFFFFu, 0xFFFFFFFFu, 0x7F800001u, 0xFFC00000u})
    for (const std::int64_t width : {8, 100, 1500, 5000})
      for (const bool logarithm : {false, true}) {
        std::vector<float> x(static_cast<std::size_t>(2 * width), 0.5f);
        x[static_cast<std::size_t>(width / 2)] = float_from_bits(bits);
        device_buffer<float> input(x);
        device_buffer<bf16> output(x.size());
        const auto in = make_view(static_cast<const float*>(input.data()), std::int64_t{2}, width);
        const auto out = make_view(output.data(), std::int64_t{2}, width);
        const status outcome = logarithm ? log_softmax(in, out) : softmax(in, out);
        ASSERT_TRUE(outcome.ok()) << outcome.message();
        const auto got = output.download();
        for (std::size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(std::isnan(static_cast<float>(got[i])), i < got.size() / 2)
              << "element " << i << " of width " << width << ", NaN " << std::hex << bits;
      }
}

} // namespace
