// Views: offsets in 64 bits, strides, dense and padded shapes.
#include <wavetile/core/numeric_traits.hpp>
#include <wavetile/core/view.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

namespace wavetile {
namespace {

using matrix = view<float, 2>;
static_assert(std::is_trivially_copyable_v<matrix> && std::is_standard_layout_v<matrix>);
static_assert(sizeof(matrix) == 40 && offsetof(matrix, extent) == 8 &&
              offsetof(matrix, stride) == 24);
static_assert(std::is_convertible_v<matrix, view<const float, 2>>);
static_assert(!std::is_convertible_v<view<const float, 2>, matrix>);

TEST(view, multiplies_in_64_bits) {
  const int row = 65536;
  const int column = 32768;
  const int leading_dimension = 32769;
  static_assert(element_offset<2>({65536, 32768}, {32769, 1}) == 2147581952);
  const auto v = make_strided_view<fp16, 2>(nullptr, {65537, 32769}, {leading_dimension, 1});
  EXPECT_EQ(v.offset(row, column), int64_t{2147581952});
  static_assert(std::is_same_v<decltype(v.offset(row, column)), int64_t>);
  const auto huge = make_view<fp16>(nullptr, (int64_t{1} << 31) + 7, 3);
  EXPECT_EQ(huge.extent[0], (int64_t{1} << 31) + 7);
  EXPECT_EQ(huge.size(), 3 * ((int64_t{1} << 31) + 7));
}

TEST(view, dense_shapes) {
  float data[24] = {};
  const auto v = make_view(data, 2, 3, 4);
  EXPECT_EQ(v.stride[0], 12);
  EXPECT_EQ(v.stride[1], 4);
  EXPECT_EQ(v.stride[2], 1);
  EXPECT_TRUE(v.is_dense());
  EXPECT_EQ(v.size(), 24);
  EXPECT_EQ(v.span(), 24);
  v(1, 2, 3) = 5.0f;
  EXPECT_EQ(data[23], 5.0f);
  EXPECT_EQ(&v(0, 1, 0), data + 4);
}

TEST(view, padded_rows) {
  float data[5 * 9] = {};
  const auto v = make_strided_view(data, {5, 3}, {9, 1});
  EXPECT_FALSE(v.is_dense());
  EXPECT_EQ(v.span(), 4 * 9 + 3);
  EXPECT_EQ(v.offset(4, 2), 38);
  EXPECT_FALSE(v.empty());
  // an extent of one permits any stride
  EXPECT_TRUE(make_strided_view(data, {1, 3}, {9, 1}).is_dense());
}

TEST(view, empty_shapes) {
  const auto v = make_view<float>(nullptr, 0, 8);
  EXPECT_TRUE(v.empty());
  EXPECT_EQ(v.size(), 0);
  EXPECT_EQ(v.span(), 0);
}

TEST(view, converts_to_const) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  const view<const float, 2> v = make_view(data, 2, 3);
  EXPECT_EQ(v(1, 2), 6.0f);
  EXPECT_EQ(v.stride[0], 3);
}

} // namespace
} // namespace wavetile
