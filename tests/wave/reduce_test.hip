// Reductions over lanes: every type, width and operation; order, ties, NaNs, functors of one's own,
// partial waves.
#include "lane_values.hpp"
#include "random.hpp"
#include "reference.hpp"
#include "verify.hpp"

#include <wavetile/wave/reduce.hpp>

#include <gtest/gtest.h>

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr int block = 128;
constexpr unsigned items = 128;
constexpr unsigned lanes = wave_size;
constexpr unsigned widths = wave_size_log2 + 1; ///< 1, 2, 4, … lanes

// ---- sums, products, minima and maxima ---------------------------------------------------------

/// Both forms at every width; row 2k: reduce, row 2k + 1: all_reduce, for Width = 1 << k.
template <class Op>
struct reduce_at_all_widths {
  template <int Width, class T>
  WAVETILE_DEVICE static void at(const T& value, T* out, int thread, int row) {
    out[2 * row * block + thread] = wave::reduce<Width>(value, Op{});
    out[(2 * row + 1) * block + thread] = wave::all_reduce<Width>(value, Op{});
  }
  template <class T>
  WAVETILE_DEVICE void operator()(const T* in, T* out, int thread) const {
    const T value = in[thread];
    at<1>(value, out, thread, 0);
    at<2>(value, out, thread, 1);
    at<4>(value, out, thread, 2);
    at<8>(value, out, thread, 3);
    at<16>(value, out, thread, 4);
    at<32>(value, out, thread, 5);
    if constexpr (wave_size > 32)
      at<wave_size>(value, out, thread, 6);
  }
};

/// `same(got, expected)` decides.
template <class Op, class T, class Same>
void check_widths(const std::vector<T>& in, Same same, const char* what) {
  const auto out = run_workgroup<reduce_at_all_widths<Op>, T>(in, block, items * 2 * widths);
  for (unsigned k = 0; k < widths; ++k) {
    const unsigned width = 1u << k;
    for (unsigned group = 0; group < items; group += width) {
      const T expected = tree_fold<Op>(&in[group], width);
      const T& held = out[2 * k * items + group + width - 1];
      ASSERT_TRUE(same(held, expected))
          << what << ", reduce, width " << width << ", lane " << group + width - 1 << ": got "
          << as_double(held) << ", expected " << as_double(expected);
      for (unsigned lane = group; lane < group + width; ++lane) {
        const T& everywhere = out[(2 * k + 1) * items + lane];
        ASSERT_TRUE(same(everywhere, expected))
            << what << ", all_reduce, width " << width << ", lane " << lane << ": got "
            << as_double(everywhere) << ", expected " << as_double(expected);
      }
    }
  }
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
/// NaN with NaN; +0 with -0, whose order minimum and maximum leave open.
template <class T>
bool same_number(const T& a, const T& b) {
  const double x = as_double(a), y = as_double(b);
  return x == y || (std::isnan(x) && std::isnan(y));
}

template <class T>
struct reductions : testing::Test {};
using all_types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                 std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float,
                                 double, fp16, bf16, __half, __hip_bfloat16>;
TYPED_TEST_SUITE(reductions, all_types);

template <class T>
std::vector<T> random_values(std::uint64_t seed, double deviation) {
  if constexpr (std::is_integral_v<T>)
    return random_integers<T>(items, seed, std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::int64_t>::max());
  else {
    std::vector<T> values;
    for (const float v : random_normals<float>(items, seed, deviation))
      values.push_back(convert<T>(v));
    return values;
  }
}

// Sums are formed in the documented tree, so even rounded results agree bit for bit.
TYPED_TEST(reductions, sum_in_the_documented_order) {
  check_widths<op::plus>(random_values<TypeParam>(1, 10), same_bits<TypeParam>, "sum");
}
TYPED_TEST(reductions, product_in_the_documented_order) {
  check_widths<op::multiply>(random_values<TypeParam>(2, 1), same_bits<TypeParam>, "product");
}
TYPED_TEST(reductions, minimum) {
  check_widths<op::minimum>(random_values<TypeParam>(3, 100), same_bits<TypeParam>, "minimum");
}
TYPED_TEST(reductions, maximum) {
  check_widths<op::maximum>(random_values<TypeParam>(4, 100), same_bits<TypeParam>, "maximum");
}

TYPED_TEST(reductions, sum_of_lane_numbers) {
  if constexpr (sizeof(TypeParam) >= 4) {
    constexpr unsigned sum = lanes * (lanes - 1) / 2;
    std::vector<TypeParam> in;
    for (unsigned t = 0; t < items; ++t)
      in.push_back(static_cast<TypeParam>(t % lanes));
    const auto out =
        run_workgroup<reduce_at_all_widths<op::plus>, TypeParam>(in, block, items * 2 * widths);
    EXPECT_EQ(out[(2 * widths - 2) * items + lanes - 1],
              static_cast<TypeParam>(sum)); // a quarter of it: half the wave was lost
    for (unsigned t = 0; t < items; ++t)
      EXPECT_EQ(out[(2 * widths - 1) * items + t], static_cast<TypeParam>(sum));
  }
}

// ---- special floats ----------------------------------------------------------------------------

template <class T>
struct special_floats : testing::Test {};
using float_types = testing::Types<float, double, fp16, bf16>;
TYPED_TEST_SUITE(special_floats, float_types);

TYPED_TEST(special_floats, nans_infinities_and_zeros_in_minima_and_maxima) {
  using T = TypeParam;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& pattern : std::vector<std::vector<float>>{
           {0.0f, -0.0f},
           {-inf},
           {inf, 1, -inf, -1},
           {nan, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18},
           {-nan, -inf, inf},
           {1e-40f, -1e-40f, 0},
           {-3, -2, -1, -2, -3, -4, -5}}) {
    std::vector<T> in;
    for (unsigned t = 0; t < items; ++t)
      in.push_back(convert<T>(pattern[t % pattern.size()]));
    check_widths<op::minimum>(in, same_number<T>, "minimum");
    check_widths<op::maximum>(in, same_number<T>, "maximum");
  }
}

TYPED_TEST(special_floats, one_nan_reaches_its_group_and_no_other) {
  using T = TypeParam;
  auto in = random_values<T>(5, 1);
  in[37] = convert<T>(std::numeric_limits<float>::quiet_NaN());
  check_widths<op::minimum>(in, same_number<T>, "minimum");
  check_widths<op::maximum>(in, same_number<T>, "maximum");
  check_widths<op::plus>(in, same_number<T>, "sum");
}

TEST(special_floats, signalling_nans_count_as_nans) {
  std::vector<float> in = random_normals<float>(items, 6);
  const std::uint32_t signalling[] = {0x7F800001u, 0xFF800001u, 0x7FBFFFFFu};
  for (unsigned i = 0; i < 3; ++i)
    std::memcpy(&in[20 + 40 * i], &signalling[i], 4);
  check_widths<op::minimum>(in, same_number<float>, "minimum");
  check_widths<op::maximum>(in, same_number<float>, "maximum");
}

TEST(special_floats, all_reduce_gives_all_lanes_the_same_bits) {
  std::vector<float> in;
  for (unsigned t = 0; t < items; ++t)
    in.push_back(t % 2 == 0 ? 0.0f : -0.0f);
  std::vector<double> in64(in.begin(), in.end());
  const auto check = [](const auto& out) {
    for (unsigned k = 0; k < widths; ++k)
      for (unsigned lane = 0; lane < items; ++lane)
        ASSERT_TRUE(
            same_bits(out[(2 * k + 1) * items + lane], out[(2 * k + 1) * items + (lane >> k << k)]))
            << "width " << (1u << k) << ", lane " << lane;
  };
  check(run_workgroup<reduce_at_all_widths<op::maximum>, float>(in, block, items * 2 * widths));
  check(run_workgroup<reduce_at_all_widths<op::minimum>, float>(in, block, items * 2 * widths));
  check(run_workgroup<reduce_at_all_widths<op::maximum>, double>(in64, block, items * 2 * widths));
  check(run_workgroup<reduce_at_all_widths<op::minimum>, double>(in64, block, items * 2 * widths));
}

// ---- argmin and argmax -------------------------------------------------------------------------

template <class Op, class T, class Index>
void check_arg(const std::vector<T>& values, bool larger, std::int64_t first_index) {
  using item = indexed<T, Index>;
  std::vector<item> in(items);
  std::memset(in.data(), 0, items * sizeof(item));
  for (unsigned t = 0; t < items; ++t) {
    in[t].value = values[t];
    in[t].index = static_cast<Index>(first_index + t * 7919 % items); // no order with the lanes
  }
  const auto out = run_workgroup<reduce_at_all_widths<Op>, item>(in, block, items * 2 * widths);
  for (unsigned k = 0; k < widths; ++k) {
    const unsigned width = 1u << k;
    for (unsigned group = 0; group < items; group += width) {
      // By the rule itself: NaNs first, then the value, then the index.
      item best = in[group];
      for (unsigned lane = group; lane < group + width; ++lane) {
        const double x = as_double(in[lane].value), y = as_double(best.value);
        const bool better = std::isnan(x) || std::isnan(y) ? std::isnan(x) && !std::isnan(y)
                                                           : (larger ? x > y : x < y);
        const bool equal = x == y || (std::isnan(x) && std::isnan(y));
        if (better || (equal && in[lane].index < best.index))
          best = in[lane];
      }
      for (unsigned lane = group; lane < group + width; ++lane) {
        const item& everywhere = out[(2 * k + 1) * items + lane];
        ASSERT_EQ(everywhere.index, best.index) << "width " << width << ", lane " << lane;
        ASSERT_TRUE(same_number(everywhere.value, best.value));
      }
      ASSERT_EQ(out[2 * k * items + group + width - 1].index, best.index);
    }
  }
}

template <class T, class Index>
void check_arg_of(std::int64_t first_index = 0) {
  for (const bool larger : {false, true}) {
    const auto check = [=](const std::vector<T>& values) {
      if (larger)
        check_arg<op::arg_maximum, T, Index>(values, true, first_index);
      else
        check_arg<op::arg_minimum, T, Index>(values, false, first_index);
    };
    check(random_values<T>(7, 1));
    std::vector<T> ties;
    for (unsigned t = 0; t < items; ++t)
      ties.push_back(convert<T>(static_cast<float>(t * t % 5)));
    check(ties);
    check(std::vector<T>(items, convert<T>(1.0f)));
    if constexpr (!std::is_integral_v<T>) {
      const float nan = std::numeric_limits<float>::quiet_NaN();
      std::vector<T> special = ties;
      for (unsigned t = 0; t < items; ++t)
        special[t] = convert<T>(t % 3 == 0 ? -0.0f : 0.0f);
      check(special);
      for (const unsigned t : {19u, 44u, 90u})
        special[t] = convert<T>(t == 44 ? -nan : nan);
      check(special);
      check(std::vector<T>(items, convert<T>(-std::numeric_limits<float>::infinity())));
      check(std::vector<T>(items, convert<T>(nan)));
    }
  }
}

TEST(arg_reductions, every_value_and_index_type) {
  check_arg_of<float, std::int32_t>();
  check_arg_of<float, std::uint32_t>(4294967000);
  check_arg_of<float, std::int64_t>(std::int64_t{1} << 40);
  check_arg_of<double, std::int32_t>();
  check_arg_of<double, std::int64_t>(-7);
  check_arg_of<fp16, std::int32_t>(-50);
  check_arg_of<bf16, std::int64_t>();
  check_arg_of<fp8_e4m3_fnuz, std::int16_t>();
  check_arg_of<std::int32_t, std::int32_t>();
  check_arg_of<std::int64_t, std::int64_t>();
  check_arg_of<std::uint8_t, std::int32_t>();
}

// ---- functors of one's own ---------------------------------------------------------------------

TEST(own_functors, order_is_kept_and_only_values_are_seen) {
  const auto in = affine_maps(items);
  const auto out =
      run_workgroup<reduce_at_all_widths<compose>, affine>(in, block, items * 2 * widths);
  for (unsigned k = 0; k < widths; ++k) {
    const unsigned width = 1u << k;
    for (unsigned group = 0; group < items; group += width) {
      const affine expected = tree_fold<compose>(&in[group], width);
      ASSERT_EQ(expected.tag, affine::valid_tag);
      ASSERT_EQ(out[2 * k * items + group + width - 1], expected) << "width " << width;
      for (unsigned lane = group; lane < group + width; ++lane)
        ASSERT_EQ(out[(2 * k + 1) * items + lane], expected) << "width " << width;
    }
  }
}

struct add_lambda {
  WAVETILE_DEVICE void operator()(const int* in, int* out, int thread) const {
    const int offset = in[0];
    // state of the functor travels with it
    out[thread] = wave::all_reduce(in[thread], [offset](int a, int b) { return a + b + offset; });
  }
};

TEST(own_functors, may_carry_state) {
  std::vector<int> in(wave_size, 3);
  const auto out = run_workgroup<add_lambda, int>(in, wave_size, wave_size);
  for (const int value : out)
    EXPECT_EQ(value, wave_size * 3 + (wave_size - 1) * 3);
}

// ---- partial waves -----------------------------------------------------------------------------

struct reduce_active {
  WAVETILE_DEVICE void operator()(const float* in, float* out, int thread) const {
    const int active = workgroup_size();
    out[thread] = wave::all_reduce_active(in[thread], active, op::plus{});
    out[wave_size + thread] = wave::all_reduce_active(in[thread], active, op::maximum{});
    out[2 * wave_size + thread] = wave::all_reduce_active(in[thread], active, op::minimum{});
  }
};

struct compose_active {
  WAVETILE_DEVICE void operator()(const affine* in, affine* out, int thread) const {
    out[thread] = wave::all_reduce_active(in[thread], workgroup_size(), compose{});
  }
};

TEST(partial_wave, every_number_of_lanes) {
  for (int active = 1; active <= wave_size; ++active) {
    std::vector<float> in;
    for (int t = 0; t < wave_size; ++t)
      in.push_back(t < active ? static_cast<float>(t + 1) : 1e9f);
    const auto out = run_workgroup<reduce_active, float>(in, active, 3 * wave_size);
    const auto maps = affine_maps(lanes);
    const auto composed = run_workgroup<compose_active, affine>(maps, active, wave_size);
    const affine expected = tree_fold<compose>(maps.data(), static_cast<unsigned>(active));
    for (unsigned t = 0; t < static_cast<unsigned>(active); ++t) {
      ASSERT_EQ(out[t], static_cast<float>(active * (active + 1) / 2)) << active;
      ASSERT_EQ(out[lanes + t], static_cast<float>(active)) << active;
      ASSERT_EQ(out[2 * lanes + t], 1.0f) << active;
      ASSERT_EQ(composed[t], expected) << active;
    }
    for (unsigned t = static_cast<unsigned>(active); t < lanes; ++t)
      ASSERT_TRUE(std::isnan(out[t])) << "a lane that does not exist wrote";
  }
}

} // namespace
