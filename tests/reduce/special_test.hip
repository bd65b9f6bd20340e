// NaNs, infinities, ties, wrapping integers, nothing at all, functors of one's own.
#include "reduce_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

template <class T>
class reduce_special : public testing::Test {};
using float_types = testing::Types<float, double, fp16, bf16>;
TYPED_TEST_SUITE(reduce_special, float_types);

template <class Op, class Input, class Output>
void along_every_form(const std::vector<Input>& x, std::int64_t rows, std::int64_t columns) {
  for (const int axis : {0, 1, all_axes}) {
    SCOPED_TRACE(shape_text({rows, columns}, axis));
    reduce_case<Op, Input, Output> c{.extent = {rows, columns}, .axis = axis};
    c.x = x;
    c.run_and_check();
  }
}

TYPED_TEST(reduce_special, extrema_propagate_nan_and_indices_find_the_first) {
  for (const std::int64_t columns : {3, 70, 1500}) {
    auto x = random_normals<TypeParam>(static_cast<std::size_t>(7 * columns), 4);
    const auto put = [&](std::int64_t row, std::int64_t column, float value) {
      x[static_cast<std::size_t>(row * columns + column)] = convert<TypeParam>(value);
    };
    put(1, columns - 1, std::nanf(""));
    put(1, columns / 2, std::nanf(""));
    put(2, 0, INFINITY);
    put(3, columns / 3, -INFINITY);
    put(4, 0, std::nanf(""));
    along_every_form<op::minimum, TypeParam, TypeParam>(x, 7, columns);
    along_every_form<op::maximum, TypeParam, TypeParam>(x, 7, columns);
    along_every_form<op::arg_minimum, TypeParam, int64_t>(x, 7, columns);
    along_every_form<op::arg_maximum, TypeParam, int64_t>(x, 7, columns);
    along_every_form<op::plus, TypeParam, TypeParam>(x, 7, columns);
  }
}

TYPED_TEST(reduce_special, indices_are_the_lowest_of_equals) {
  for (const std::int64_t columns : {2, 65, 2000}) {
    auto x =
        std::vector<TypeParam>(static_cast<std::size_t>(6 * columns), convert<TypeParam>(0.0f));
    random_source source(5);
    for (auto& value : x) // few different values, -0 among them
      value = convert<TypeParam>(static_cast<float>(source.between(-1, 1)) * -0.0f +
                                 static_cast<float>(source.between(0, 2)));
    along_every_form<op::arg_minimum, TypeParam, int64_t>(x, 6, columns);
    along_every_form<op::arg_maximum, TypeParam, int32_t>(x, 6, columns);
    std::fill(x.begin(), x.end(), convert<TypeParam>(-INFINITY));
    along_every_form<op::arg_maximum, TypeParam, int64_t>(x, 6, columns);
    std::fill(x.begin(), x.end(), convert<TypeParam>(INFINITY));
    along_every_form<op::arg_minimum, TypeParam, int64_t>(x, 6, columns);
  }
}

template <class Op, class Input, class Output>
void expect_of_nothing(double expected, std::int64_t rows, std::int64_t columns, int axis) {
  reduce_case<Op, Input, Output> c{.extent = {rows, columns}, .axis = axis};
  c.stride = {columns, 1};
  c.run();
  ASSERT_FALSE(c.y.empty());
  for (const Output& y : c.y) {
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(as_double(y)));
    else
      EXPECT_EQ(as_double(y), expected);
  }
}

TYPED_TEST(reduce_special, nothing_gives_the_identity) {
  using T = TypeParam;
  for (const auto& [rows, columns, axis] : std::vector<std::tuple<std::int64_t, std::int64_t, int>>{
           {3, 0, 1}, {0, 5, 0}, {0, 5, all_axes}, {0, 0, all_axes}}) {
    expect_of_nothing<op::plus, T, T>(0, rows, columns, axis);
    expect_of_nothing<op::sum_of_squares, T, T>(0, rows, columns, axis);
    expect_of_nothing<op::multiply, T, T>(1, rows, columns, axis);
    expect_of_nothing<op::mean, T, T>(std::nan(""), rows, columns, axis);
    expect_of_nothing<op::minimum, T, T>(INFINITY, rows, columns, axis);
    expect_of_nothing<op::maximum, T, T>(-INFINITY, rows, columns, axis);
    expect_of_nothing<op::arg_maximum, T, int64_t>(-1, rows, columns, axis);
  }
}

TEST(reduce_integers, of_nothing) {
  expect_of_nothing<op::mean, int32_t, int32_t>(0, 0, 4, 0);
  expect_of_nothing<op::mean, int32_t, double>(std::nan(""), 0, 4, 0);
  expect_of_nothing<op::minimum, int32_t, int32_t>(2147483647, 0, 4, 0);
  expect_of_nothing<op::maximum, int32_t, int32_t>(-2147483648.0, 0, 4, 0);
}

// random integers over the whole range: sums and products wrap
TEST(reduce_integers, wrap) {
  for (const int axis : {0, 1, all_axes}) {
    reduce_case<op::plus, int32_t, int32_t> sum{.extent = {40, 500}, .axis = axis};
    sum.fill();
    sum.run_and_check();
    reduce_case<op::multiply, int64_t, int64_t> product{.extent = {40, 500}, .axis = axis};
    product.fill();
    for (auto& x : product.x)
      x |= 1; // or everything becomes 0
    product.run_and_check();
    reduce_case<op::sum_of_squares, int32_t, int64_t> squares{.extent = {40, 500}, .axis = axis};
    squares.fill();
    squares.run_and_check();
  }
}

// 3 x 2^30 does not fit 32 bits, its mean does
TEST(reduce_integers, have_exact_means) {
  reduce_case<op::mean, int32_t, int32_t> whole{.extent = {2, 3}, .axis = 1};
  whole.x = {1 << 30, 1 << 30, 1 << 30, -7, -8, -7};
  whole.run();
  EXPECT_EQ(whole.y, (std::vector<int32_t>{1 << 30, -7})); // -22 / 3 toward zero
  reduce_case<op::mean, int32_t, double> exact{.extent = {2, 3}, .axis = 1};
  exact.x = whole.x;
  exact.run();
  EXPECT_EQ(exact.y, (std::vector<double>{1073741824.0, -22.0 / 3}));
}

TEST(reduce_integers, to_a_wider_type_do_not_wrap) {
  reduce_case<op::plus, int32_t, int64_t> sum{.extent = {3, 1000}, .axis = 1};
  sum.x.assign(3000, 2147483647);
  sum.run();
  EXPECT_EQ(sum.y, (std::vector<int64_t>(3, 2147483647000)));
}

// fp32 input, fp64 result: as exact as fp64
TEST(reduce_wide, results_are_accumulated_wide) {
  reduce_case<op::plus, float, double> sum{.extent = {2, 100000}, .axis = 1};
  sum.x.assign(200000, 0.1f);
  sum.run();
  const double exact = static_cast<double>(0.1f) * 100000;
  for (const double y : sum.y)
    EXPECT_NEAR(y, exact, exact * 1e-12);
}

struct larger_magnitude {
  WAVETILE_HD float operator()(float a, float b) const {
    return __builtin_fabsf(b) > __builtin_fabsf(a) ? b : a;
  }
};
struct weighted_square {
  float weight;
  template <class T>
  WAVETILE_HD float operator()(T element) const {
    const float x = convert<float>(element);
    return weight * x * x;
  }
};

/// A value that no element type is: the two extremes at once.
struct range {
  float low, high;
};
struct join_ranges {
  WAVETILE_HD range operator()(range a, range b) const {
    return {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high};
  }
};
struct to_range {
  template <class T>
  WAVETILE_HD range operator()(T element) const {
    const float x = convert<float>(element);
    return {x, x};
  }
};

TEST(reduce_own, functors) {
  for (const int axis : {0, 1, all_axes}) {
    for (const std::int64_t columns : {7, 300, 3000}) {
      const std::int64_t rows = 30;
      const auto x = random_normals<bf16>(static_cast<std::size_t>(rows * columns), 8);
      const auto largest = make_reduction(0.0f, larger_magnitude{});
      reduce_case<std::remove_const_t<decltype(largest)>, bf16, float> magnitude{
          .extent = {rows, columns}, .axis = axis};
      magnitude.x = x;
      magnitude.operation = largest;
      magnitude.run();
      const auto squares = make_reduction(0.0f, op::plus{}, weighted_square{0.5f});
      reduce_case<std::remove_const_t<decltype(squares)>, bf16, float> energy{
          .extent = {rows, columns}, .axis = axis};
      energy.x = x;
      energy.operation = squares;
      energy.run();
      const auto groups = magnitude.groups();
      for (std::size_t r = 0; r < groups.size(); ++r) {
        double best = 0, sum = 0;
        for (const bf16 value : groups[r]) {
          if (std::fabs(as_double(value)) > std::fabs(best))
            best = as_double(value);
          sum += 0.5 * as_double(value) * as_double(value);
        }
        ASSERT_EQ(std::fabs(as_double(magnitude.y[r])), std::fabs(best));
        // n additions of positive terms, each with two roundings of its own
        const auto n = static_cast<double>(groups[r].size());
        ASSERT_NEAR(as_double(energy.y[r]), sum, sum * 0x1p-24 * (n / 4 + 30));
      }
    }
  }
}

} // namespace
