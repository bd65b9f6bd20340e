// Row numbers to addresses, and what the checks of a row operator's arrays find.
#include <wavetile/kernels/rows/causal.hpp>
#include <wavetile/kernels/rows/operand.hpp>
#include <wavetile/kernels/rows/row_map.hpp>

#include "random.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace {

using namespace wavetile;
using namespace wavetile::kernels;
using wavetile::test::random_source;

TEST(divider, is_exact) {
  random_source source(1);
  const std::int64_t highest = 0x7FFFFFFFFFFFFFFF;
  std::vector<std::int64_t> divisors = {1,
                                        2,
                                        3,
                                        5,
                                        7,
                                        64,
                                        1000,
                                        65535,
                                        65536,
                                        65537,
                                        (1ll << 31) - 1,
                                        1ll << 31,
                                        (1ll << 32) + 1,
                                        (1ll << 62) - 1,
                                        1ll << 62,
                                        highest - 1,
                                        highest};
  for (int i = 0; i < 200; ++i)
    divisors.push_back(static_cast<std::int64_t>(source.bits() >> (1 + source.bits() % 62)) | 1);
  for (const std::int64_t d : divisors) {
    const divider by(d);
    ASSERT_EQ(by.divisor(), d);
    std::vector<std::int64_t> numbers = {0, 1, d - 1, d, highest, highest - 1};
    if (d < highest / 2) {
      numbers.push_back(2 * d - 1);
      numbers.push_back(2 * d);
    }
    for (int i = 0; i < 100; ++i)
      numbers.push_back(static_cast<std::int64_t>(source.bits() >> (1 + source.bits() % 62)));
    for (int i = 0; i < 20; ++i) {
      const std::int64_t multiple = source.between(0, highest / d) * d;
      numbers.push_back(multiple);
      numbers.push_back(multiple == 0 ? 0 : multiple - 1);
    }
    for (const std::int64_t n : numbers) {
      ASSERT_EQ(by.quotient(n), n / d) << n << " / " << d;
      ASSERT_EQ(by.remainder(n), n % d) << n << " % " << d;
    }
  }
}

TEST(row_map, offsets_are_64_bit) {
  const std::int64_t extent[] = {65537};
  const std::int64_t stride[1][max_leading_axes] = {{32769}};
  const auto map = make_row_map<1>(1, extent, stride);
  std::int64_t offset[1];
  map.locate(65536, offset);
  EXPECT_EQ(offset[0] + 32768, 2147581952);
  map.locate((1ll << 31) + 7, offset); // a row count beyond 32 bits keeps its sign
  EXPECT_EQ(offset[0], ((1ll << 31) + 7) * 32769);
}

TEST(row_map, equals_nested_loops) {
  random_source source(2);
  for (int trial = 0; trial < 300; ++trial) {
    const int axes = static_cast<int>(source.between(0, 3));
    std::int64_t extent[3] = {}, stride[2][max_leading_axes] = {};
    for (int axis = 0; axis < axes; ++axis)
      extent[axis] = source.between(1, 5);
    for (auto& of_operand : stride) {
      std::int64_t dense = source.between(1, 9);
      for (int axis = axes - 1; axis >= 0; --axis) { // dense, broadcast or anything
        const auto kind = source.between(0, 3);
        of_operand[axis] = kind == 0 ? 0 : kind == 1 ? source.between(-50, 50) : dense;
        dense *= extent[axis];
      }
    }
    const auto map = make_row_map<2>(axes, extent, stride);
    std::int64_t row = 0;
    const auto e = [&](int axis) { return axis < axes ? extent[axis] : 1; };
    for (std::int64_t i = 0; i < e(0); ++i)
      for (std::int64_t j = 0; j < e(1); ++j)
        for (std::int64_t k = 0; k < e(2); ++k, ++row) {
          std::int64_t offset[2];
          map.locate(row, offset);
          for (int o = 0; o < 2; ++o)
            ASSERT_EQ(offset[o], i * stride[o][0] + j * stride[o][1] + k * stride[o][2]);
        }
  }
}

TEST(row_map, joins_even_axes) {
  const std::int64_t extent[] = {4, 5, 6};
  const std::int64_t even[2][max_leading_axes] = {{300, 60, 10}, {3000, 600, 100}};
  EXPECT_EQ(make_row_map<2>(3, extent, even).axes, 1);
  const std::int64_t odd[2][max_leading_axes] = {{300, 60, 10}, {0, 600, 100}};
  EXPECT_EQ(make_row_map<2>(3, extent, odd).axes, 2);
}

TEST(causal_limit, counts_visible_keys) {
  for (const std::int64_t queries : {1, 2, 5, 9})
    for (const std::int64_t keys : {1, 2, 5, 9})
      for (const auto anchor : {causal_anchor::bottom_right, causal_anchor::top_left}) {
        const auto limit = make_causal_limit(queries, keys, anchor);
        for (std::int64_t row = 0; row < 3 * queries; ++row) {
          const std::int64_t q = row % queries;
          std::int64_t count = 0;
          for (std::int64_t k = 0; k < keys; ++k)
            count += k <= q + (anchor == causal_anchor::bottom_right ? keys - queries : 0);
          ASSERT_EQ(limit.visible(row, keys), count);
        }
      }
}

operand matrix(const char* name, const float* data, std::int64_t rows, std::int64_t columns,
               std::int64_t stride) {
  return describe(name, make_strided_view<const float, 2>(data, {rows, columns}, {stride, 1}));
}

// against an enumeration of every address
TEST(overlap, is_found_exactly_for_equal_steps) {
  static float memory[4000];
  random_source source(3);
  int shared = 0, apart = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const std::int64_t rows = source.between(1, 6), stride = source.between(1, 30);
    const std::int64_t b_rows = source.between(1, 6);
    const std::int64_t a_columns = source.between(1, 12), b_columns = source.between(1, 12);
    const std::int64_t b_first = source.between(0, 200);
    const operand a = matrix("a", memory + 100, rows, a_columns, stride);
    const operand b = matrix("b", memory + b_first, b_rows, b_columns, stride);
    std::set<const float*> touched;
    bool meets = false;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < a_columns; ++c)
        touched.insert(memory + 100 + r * stride + c);
    for (std::int64_t r = 0; r < b_rows; ++r)
      for (std::int64_t c = 0; c < b_columns; ++c)
        meets = meets || touched.count(memory + b_first + r * stride + c) != 0;
    ASSERT_EQ(share_memory(a, b), meets)
        << rows << " and " << b_rows << " rows of " << a_columns << " and " << b_columns
        << ", stride " << stride << ", " << b_first - 100 << " apart";
    (meets ? shared : apart)++;
  }
  EXPECT_GT(shared, 500); // the trials say something about both answers
  EXPECT_GT(apart, 500);
}

TEST(overlap, column_ranges_of_one_matrix_are_apart) {
  static float memory[1000];
  EXPECT_FALSE(share_memory(matrix("a", memory, 8, 50, 100), matrix("b", memory + 50, 8, 50, 100)));
  EXPECT_TRUE(share_memory(matrix("a", memory, 8, 51, 100), matrix("b", memory + 50, 8, 50, 100)));
  EXPECT_TRUE(share_memory(matrix("a", memory, 8, 50, 100), matrix("b", memory + 51, 8, 50, 100)));
}

TEST(rows_apart, finds_rows_that_overlap_themselves) {
  static float memory[1000];
  EXPECT_TRUE(check_rows_apart(matrix("y", memory, 3, 10, 10)).ok());
  EXPECT_TRUE(check_rows_apart(matrix("y", memory + 100, 3, 10, -10)).ok());
  EXPECT_TRUE(check_rows_apart(matrix("y", memory, 1, 10, 0)).ok());
  for (const std::int64_t stride : {0, 1, 9, -9})
    EXPECT_EQ(check_rows_apart(matrix("y", memory + 100, 3, 10, stride)).code(),
              status_code::overlapping);
}

TEST(extents, that_62_bits_do_not_hold_are_refused) {
  static float memory[1];
  const status large = check_extents(matrix("x", memory, 1ll << 40, 1ll << 40, 1ll << 40));
  EXPECT_EQ(large.code(), status_code::unsupported_shape);
  EXPECT_STREQ(large.message(),
               "unsupported_shape: x: extents 1099511627776 x 1099511627776, strides 1099511627776 "
               "x 1, allowed: < 2^62 elements, and <= 2^60 bytes along each axis");
  EXPECT_EQ(check_extents(matrix("x", memory, 4, 8, 1ll << 62)).code(),
            status_code::unsupported_shape);
  EXPECT_TRUE(check_extents(matrix("x", memory, 1ll << 40, 0, 1ll << 40)).ok());
  const status negative = check_extents(matrix("x", memory, -3, 8, 8));
  EXPECT_EQ(negative.code(), status_code::invalid_argument);
  EXPECT_STREQ(negative.argument(), "x.extent[0]");
}

} // namespace
