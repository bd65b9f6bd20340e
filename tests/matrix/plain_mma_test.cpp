// The plain product of fragments on the host, and what fragments do with elements.
#include "random.hpp"

#include <wavetile/matrix/accumulator.hpp>
#include <wavetile/matrix/plain_mma.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace wavetile {
namespace {

template <class T>
T random_element(test::random_source& random) {
  if constexpr (detail::is_same_v<T, int8_t>)
    return static_cast<int8_t>(random.between(-128, 127));
  else
    return convert<T>(random.normal());
}

template <class T>
double value_of(T x) {
  if constexpr (sizeof(T) <= 2 && !detail::is_same_v<T, int8_t>)
    return static_cast<double>(static_cast<float>(x));
  else
    return static_cast<double>(x);
}

template <class A, class B, matrix_shape Shape>
void check_product() {
  using fragments = product_fragments<Shape, A, B>;
  using C = typename fragments::accumulator::element_type;
  test::random_source random(Shape.m * 100 + Shape.k);
  wave_fragments<typename fragments::a> a{};
  wave_fragments<typename fragments::b> b{};
  wave_fragments<typename fragments::accumulator> d{};
  std::vector<std::vector<double>> ma(Shape.m, std::vector<double>(Shape.k)),
      mb(Shape.k, std::vector<double>(Shape.n)), mc(Shape.m, std::vector<double>(Shape.n));
  for (int i = 0; i < Shape.m; ++i)
    for (int k = 0; k < Shape.k; ++k) {
      const A x = random_element<A>(random);
      a.set(i, k, x);
      ma[static_cast<size_t>(i)][static_cast<size_t>(k)] = value_of(x);
      ASSERT_EQ(value_of(a.at(i, k)), value_of(x));
    }
  for (int k = 0; k < Shape.k; ++k)
    for (int j = 0; j < Shape.n; ++j) {
      const B x = random_element<B>(random);
      b.set(k, j, x);
      mb[static_cast<size_t>(k)][static_cast<size_t>(j)] = value_of(x);
    }
  for (int i = 0; i < Shape.m; ++i)
    for (int j = 0; j < Shape.n; ++j) {
      const C x = detail::is_same_v<C, int32_t> ? static_cast<C>(random.between(-1000000, 1000000))
                                                : static_cast<C>(random.normal());
      d.set(i, j, x);
      mc[static_cast<size_t>(i)][static_cast<size_t>(j)] = value_of(x);
    }
  plain_mma(d, a, b);
  // k roundings, each at most half an ulp of a partial sum that stays below the sum of magnitudes.
  const double unit = detail::is_same_v<C, double>  ? 0x1p-53
                      : detail::is_same_v<C, float> ? 0x1p-24
                                                    : 0;
  for (int i = 0; i < Shape.m; ++i)
    for (int j = 0; j < Shape.n; ++j) {
      long double exact = mc[static_cast<size_t>(i)][static_cast<size_t>(j)];
      double total = std::fabs(static_cast<double>(exact));
      for (int k = 0; k < Shape.k; ++k) {
        const double p = ma[static_cast<size_t>(i)][static_cast<size_t>(k)] *
                         mb[static_cast<size_t>(k)][static_cast<size_t>(j)];
        exact += p;
        total += std::fabs(p);
      }
      ASSERT_LE(std::fabs(static_cast<double>(value_of(d.at(i, j)) - exact)),
                Shape.k * unit * total * 1.01)
          << "row " << i << " column " << j;
    }
}

template <class T>
void check_shapes() {
  check_product<T, T, shape_16x16<T>>();
  if constexpr (sizeof(T) < 8)
    check_product<T, T, shape_32x32<T>>();
}

TEST(plain_mma, every_type_and_shape) {
  check_shapes<double>();
  check_shapes<float>();
  check_shapes<fp16>();
  check_shapes<bf16>();
  check_shapes<int8_t>();
  check_shapes<fp8_e4m3_fnuz>();
  check_shapes<fp8_e5m2_fnuz>();
  check_product<fp8_e4m3_fnuz, fp8_e5m2_fnuz, shape_32x32<fp8_e4m3_fnuz>>();
  check_product<fp8_e5m2_fnuz, fp8_e4m3_fnuz, shape_16x16<fp8_e4m3_fnuz>>();
}

TEST(plain_mma, int8_wraps) {
  using fragments = product_fragments<shape_16x16<int8_t>, int8_t>;
  wave_fragments<fragments::a> a{};
  wave_fragments<fragments::b> b{};
  wave_fragments<fragments::accumulator> d{};
  for (int lane = 0; lane < 64; ++lane) {
    a.lane[lane] = fragments::a::filled(-128);
    b.lane[lane] = fragments::b::filled(-128);
    d.lane[lane] = fragments::accumulator::filled(2147483647);
  }
  plain_mma(d, a, b);
  EXPECT_EQ(d.at(3, 4), static_cast<int32_t>(2147483647u + 32u * 16384u));
}

TEST(fragment, elements_keep_their_bits) {
  using f = fragment<fragment_role::a, shape_32x32<bf16>, bf16>;
  f x{};
  for (int i = 0; i < f::size; ++i)
    EXPECT_EQ(x[i].bits, 0);
  for (int i = 0; i < f::size; ++i)
    x.set(i, bf16::from_bits(static_cast<uint16_t>(0x7FA0 + i))); // NaN payloads too
  for (int i = 0; i < f::size; ++i)
    EXPECT_EQ(x[i].bits, 0x7FA0 + i);
  const f y = f::from_vec(x.to_vec());
  EXPECT_EQ(std::memcmp(&x, &y, sizeof x), 0);
  // Element 0 is the low half of the first register, on every compiler.
  uint32_t word;
  std::memcpy(&word, &x, 4);
  EXPECT_EQ(word, 0x7FA17FA0u);

  fragment<fragment_role::b, shape_16x16<fp8_e4m3_fnuz>, fp8_e4m3_fnuz> bytes{};
  for (int i = 0; i < 8; ++i)
    bytes.set(i, fp8_e4m3_fnuz::from_bits(static_cast<uint8_t>(0x79 + i)));
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(bytes[i].bits, 0x79 + i);
}

TEST(accumulator, converts_and_transforms) {
  using d32 = fragment<fragment_role::accumulator, shape_32x32<bf16>, float>;
  d32 d{};
  transform(d, 64, 128, 37, [](float, int row, int column) {
    return static_cast<float>(row) * 0.001f + static_cast<float>(column);
  });
  for (int i = 0; i < d32::size; ++i) {
    const matrix_element at = d32::element(37, i);
    const float expected =
        static_cast<float>(64 + at.row) * 0.001f + static_cast<float>(128 + at.column);
    EXPECT_EQ(d[i], expected);
    EXPECT_EQ(convert<bf16>(d)[i].bits, bf16(expected).bits);
    EXPECT_EQ(convert<fp16>(d)[i].bits, fp16(expected).bits);
    EXPECT_EQ(convert<fp8_e4m3_fnuz>(d)[i].bits, fp8_e4m3_fnuz(expected).bits);
  }
  // A conversion keeps the layout of the instruction: fp64's differs from fp32's.
  using d64 = fragment<fragment_role::accumulator, shape_16x16<double>, double>;
  using narrowed = decltype(convert<float>(d64{}));
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < d64::size; ++i)
      EXPECT_EQ(narrowed::element(lane, i), d64::element(lane, i));
  EXPECT_NE(narrowed::element(0, 1),
            (fragment<fragment_role::accumulator, shape_16x16<float>, float>::element(0, 1)));
}

// An accumulator's parts are operands of the next product: no element changes lanes.
template <class T, int M, int Part>
void check_operand_part() {
  constexpr matrix_shape shape = M == 32 ? shape_32x32<T> : shape_16x16<T>;
  using accumulator = fragment<fragment_role::accumulator, shape, float>;
  using operand_b = fragment<fragment_role::b, shape, T>;
  using operand_a = fragment<fragment_role::a, shape, T>;
  for (int lane = 0; lane < 64; ++lane) {
    accumulator d;
    for (int i = 0; i < accumulator::size; ++i)
      d.set(i, static_cast<float>(accumulator::element(lane, i).row * 8 +
                                  accumulator::element(lane, i).column % 8));
    const auto b = as_operand<fragment_role::b, T, Part>(d);
    const auto a = as_operand<fragment_role::a, T, Part>(d);
    for (int i = 0; i < operand_b::size; ++i) {
      const matrix_element k_column = operand_b::element(lane, i);
      const int row = k_column.row + Part * shape.k;
      EXPECT_EQ(static_cast<float>(b[i]),
                static_cast<float>(T(static_cast<float>(row * 8 + k_column.column % 8))));
      const matrix_element row_k = operand_a::element(lane, i);
      EXPECT_EQ(static_cast<float>(a[i]),
                static_cast<float>(
                    T(static_cast<float>((row_k.column + Part * shape.k) * 8 + row_k.row % 8))));
    }
  }
}

TEST(accumulator, parts_are_operands) {
  check_operand_part<bf16, 32, 0>();
  check_operand_part<bf16, 32, 3>();
  check_operand_part<fp16, 32, 1>();
  check_operand_part<fp16, 16, 0>();
}

} // namespace
} // namespace wavetile
