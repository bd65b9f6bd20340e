// Scans over lanes: every width, several types and operations, functors of one's own, partial
// waves.
#include "lane_values.hpp"
#include "random.hpp"
#include "reference.hpp"
#include "verify.hpp"

#include <wavetile/wave/scan.hpp>

#include <gtest/gtest.h>

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr int block = 128;
constexpr unsigned items = 128;
constexpr unsigned lanes = wave_size;
constexpr unsigned widths = wave_size_log2 + 1; ///< 1, 2, 4, … lanes

/// Row 2k: inclusive, row 2k + 1: exclusive from in[items], for Width = 1 << k.
template <class Op>
struct scan_at_all_widths {
  template <int Width, class T>
  WAVETILE_DEVICE static void at(const T& value, const T& initial, T* out, int thread, int row) {
    out[2 * row * block + thread] = wave::inclusive_scan<Width>(value, Op{});
    out[(2 * row + 1) * block + thread] = wave::exclusive_scan<Width>(value, initial, Op{});
  }
  template <class T>
  WAVETILE_DEVICE void operator()(const T* in, T* out, int thread) const {
    const T value = in[thread];
    const T initial = in[items];
    at<1>(value, initial, out, thread, 0);
    at<2>(value, initial, out, thread, 1);
    at<4>(value, initial, out, thread, 2);
    at<8>(value, initial, out, thread, 3);
    at<16>(value, initial, out, thread, 4);
    at<32>(value, initial, out, thread, 5);
    if constexpr (wave_size > 32)
      at<wave_size>(value, initial, out, thread, 6);
  }
};

/// `in` holds one more value than there are work-items: the initial one.
template <class Op, class T, class Same>
void check_scans(const std::vector<T>& in, Same same, const char* what) {
  const auto out = run_workgroup<scan_at_all_widths<Op>, T>(in, block, items * 2 * widths);
  for (unsigned k = 0; k < widths; ++k) {
    const unsigned width = 1u << k;
    for (unsigned group = 0; group < items; group += width) {
      T running = in[items];
      for (unsigned lane = group; lane < group + width; ++lane) {
        ASSERT_TRUE(same(out[(2 * k + 1) * items + lane], running))
            << what << ", exclusive, width " << width << ", lane " << lane;
        running = apply<Op>(running, in[lane]);
      }
      T inclusive = in[group];
      for (unsigned lane = group; lane < group + width; ++lane) {
        if (lane != group)
          inclusive = apply<Op>(inclusive, in[lane]);
        ASSERT_TRUE(same(out[2 * k * items + lane], inclusive))
            << what << ", inclusive, width " << width << ", lane " << lane;
      }
    }
  }
}

template <class T>
bool equal(const T& a, const T& b) {
  const double x = as_double(a), y = as_double(b);
  return x == y || (std::isnan(x) && std::isnan(y));
}

TEST(scan, of_ones_counts_lanes) {
  const auto out = run_workgroup<scan_at_all_widths<op::plus>, int>(std::vector<int>(items + 1, 1),
                                                                    block, items * 2 * widths);
  for (unsigned t = 0; t < items; ++t) {
    EXPECT_EQ(out[2 * (widths - 1) * items + t], static_cast<int>(t % lanes + 1));
    EXPECT_EQ(out[10 * items + t], static_cast<int>(t % 32 + 1));
    EXPECT_EQ(out[8 * items + t], static_cast<int>(t % 16 + 1));
  }
  EXPECT_EQ(out[2 * (widths - 1) * items + lanes - 1], wave_size);
}

template <class T>
struct scans : testing::Test {};
using all_types = testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint32_t,
                                 std::int64_t, std::uint64_t, float, double, fp16, bf16, __half>;
TYPED_TEST_SUITE(scans, all_types);

// Small whole numbers: every partial sum is exact in every type, in any order.
TYPED_TEST(scans, of_whole_numbers_are_exact) {
  std::vector<TypeParam> sums, factors, any;
  random_source source(11);
  for (unsigned t = 0; t <= items; ++t) {
    sums.push_back(convert<TypeParam>(static_cast<float>(source.between(0, 1))));
    factors.push_back(convert<TypeParam>(t % 37 == 5 ? 2.0f : 1.0f));
    any.push_back(convert<TypeParam>(static_cast<float>(source.between(0, 100))));
  }
  check_scans<op::plus>(sums, equal<TypeParam>, "sum");
  check_scans<op::multiply>(factors, equal<TypeParam>, "product");
  check_scans<op::minimum>(any, equal<TypeParam>, "minimum");
  check_scans<op::maximum>(any, equal<TypeParam>, "maximum");
}

TEST(scan, integers_wrap) {
  check_scans<op::plus>(random_integers<std::int32_t>(items + 1, 12,
                                                      std::numeric_limits<std::int32_t>::min(),
                                                      std::numeric_limits<std::int32_t>::max()),
                        equal<std::int32_t>, "sum");
  check_scans<op::maximum>(random_integers<std::int32_t>(items + 1, 13,
                                                         std::numeric_limits<std::int32_t>::min(),
                                                         std::numeric_limits<std::int32_t>::max()),
                           equal<std::int32_t>, "maximum");
  check_scans<op::minimum>(random_integers<std::uint32_t>(items + 1, 14, 0, 4294967295),
                           equal<std::uint32_t>, "minimum");
}

// fp32 sums: each prefix is a sum of at most 65 terms in some order, whose error is at most
// 64 * 2^-24 * (sum of absolute values) to first order; 2^-17 leaves a factor of two.
TEST(scan, fp32_sums_stay_within_their_bound) {
  const auto in = random_normals<float>(items + 1, 15, 100);
  const auto out =
      run_workgroup<scan_at_all_widths<op::plus>, float>(in, block, items * 2 * widths);
  for (unsigned k = 0; k < widths; ++k) {
    std::vector<float> got(out.begin() + 2 * k * items, out.begin() + (2 * k + 1) * items);
    std::vector<double> expected, magnitude;
    for (unsigned t = 0; t < items; ++t) {
      double sum = 0, absolute = 0;
      for (unsigned i = t >> k << k; i <= t; ++i) {
        sum += in[i];
        absolute += std::fabs(in[i]);
      }
      expected.push_back(sum);
      magnitude.push_back(absolute);
    }
    EXPECT_TRUE(verify_within(got, expected, [&](size_t i) { return magnitude[i] * 0x1p-17; }));
  }
}

TEST(scan, keeps_negative_zero_and_spreads_nans_upwards_only) {
  std::vector<float> in(items + 1, -0.0f);
  auto out = run_workgroup<scan_at_all_widths<op::plus>, float>(in, block, items * 2 * widths);
  for (const float value : out)
    ASSERT_TRUE(value == 0 && std::signbit(value)) << "a zero was added to a lane without a source";
  in = random_normals<float>(items + 1, 16);
  in[21] = std::numeric_limits<float>::quiet_NaN();
  check_scans<op::maximum>(in, equal<float>, "maximum");
  check_scans<op::minimum>(in, equal<float>, "minimum");
}

TEST(scan, own_functors_keep_order_and_see_only_values) {
  const auto in = affine_maps(items + 1);
  check_scans<compose>(
      in, [](const affine& a, const affine& b) { return a == b; }, "composition");
}

template <class Op>
struct scan_partial {
  template <class T>
  WAVETILE_DEVICE void operator()(const T* in, T* out, int thread) const {
    out[thread] = wave::inclusive_scan(in[thread], Op{});
    out[wave_size + thread] = wave::exclusive_scan(in[thread], in[wave_size], Op{});
    out[2 * wave_size + thread] = wave::inclusive_scan<16>(in[thread], Op{});
  }
};

TEST(scan, of_every_partial_wave) {
  std::vector<int> in(wave_size + 1, 1);
  const auto maps = affine_maps(lanes + 1);
  for (int active = 1; active <= wave_size; ++active) {
    const auto out = run_workgroup<scan_partial<op::plus>, int>(in, active, 3 * wave_size);
    const auto composed = run_workgroup<scan_partial<compose>, affine>(maps, active, 3 * wave_size);
    affine running = maps[lanes];
    for (unsigned t = 0; t < static_cast<unsigned>(active); ++t) {
      ASSERT_EQ(out[t], static_cast<int>(t + 1)) << active;
      ASSERT_EQ(out[lanes + t], static_cast<int>(t + 1)) << active;
      ASSERT_EQ(out[2 * lanes + t], static_cast<int>(t % 16 + 1)) << active;
      ASSERT_EQ(composed[lanes + t], running) << active;
      running = compose{}(running, maps[t]);
    }
    for (unsigned t = static_cast<unsigned>(active); t < lanes; ++t)
      ASSERT_EQ(out[t], -1) << "a lane that does not exist wrote";
  }
}

} // namespace
