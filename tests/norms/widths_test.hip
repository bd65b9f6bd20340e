// Every kernel at every kind of width, with the types and the normalisation the build names.
#include "norm_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;

using element = WAVETILE_TEST_TYPE;
constexpr norm_kind kind = norm_kind::WAVETILE_TEST_KIND;

template <class Case>
void expect_right(Case c) {
  c.run_and_check();
}

TEST(norm_widths, agree_with_the_reference) {
  for (const std::int64_t columns :
       {1,    2,    3,     7,     8,     31,    33,    63,     64,    65,   127,
        255,  256,  257,   511,   513,   1000,  1024,  1025,   2047,  4096, 4099,
        8191, 8192, 16384, 16385, 32769, 65536, 70001, 131072, 140003}) {
    SCOPED_TRACE(columns);
    expect_right(norm_case<kind, element>{.rows = columns > 10000 ? 2 : 5, .columns = columns});
    if (testing::Test::HasFatalFailure())
      return;
  }
}

TEST(norm_widths, with_a_residual_agree_with_the_reference) {
  for (const std::int64_t columns : {1, 5, 64, 200, 1001, 2048, 5000, 9000, 20001, 40000, 70001}) {
    SCOPED_TRACE(columns);
    for (const bool in_place : {false, true})
      expect_right(norm_case<kind, element, element, element, element>{
          .rows = 3, .columns = columns, .y_is_x = in_place, .sum_is_residual = in_place});
    if (testing::Test::HasFatalFailure())
      return;
  }
}

// more rows than workgroups that can be there at a time: each takes several
TEST(norm_rows, are_as_many_as_there_are) {
  for (const std::int64_t rows : {2500, 20000, 77777})
    expect_right(norm_case<kind, element>{.rows = rows, .columns = 13});
  expect_right(norm_case<kind, element>{.rows = 9800, .columns = 300});
  // two waves a row, the last slot not full
  constexpr std::int64_t chunk = 16 / sizeof(element);
  norm_case<kind, element> wide{.rows = 20000 / chunk, .columns = 275 * chunk};
  wide.run_and_check();
  if (!WAVETILE_CUDA)
    EXPECT_EQ(wide.chosen.config.waves, 2);
}

TEST(norm_layout, strides_and_addresses_change_no_bit) {
  for (const std::int64_t columns : {3, 50, 640, 3001, 9000}) {
    norm_case<kind, element> dense{.rows = 4, .columns = columns};
    dense.run_and_check();
    for (const std::int64_t pad : {1, 8, 61})
      for (const std::size_t shift : {0u, 1u, 2u}) {
        auto other = dense;
        other.pad = pad;
        other.shift = shift;
        other.run_and_check();
        ASSERT_TRUE(verify_bits(other.y, dense.y)) << columns << ", " << pad << ", " << shift;
        other.y_is_x = true;
        other.run_and_check();
        ASSERT_TRUE(verify_bits(other.y, dense.y)) << columns << " in place";
      }
    if (testing::Test::HasFatalFailure())
      return;
  }
}

// A mean a thousand times the deviation: differences of sums would leave no digit of the variance.
TEST(norm_numerics, a_large_mean_costs_little) {
  for (const std::int64_t columns : {40, 1000, 5000, 40000, 150000}) {
    norm_case<kind, float, float> c{.rows = 2, .columns = columns};
    c.mean = 1000;
    c.run_and_check();
  }
}

TEST(norm_numerics, constant_rows_and_zeros) {
  for (const double value : {0.0, 3.5}) {
    norm_case<kind, element> c{.rows = 3, .columns = 777};
    c.mean = value;
    c.deviation = 0;
    c.run_and_check();
  }
}

TEST(norm_numerics, the_longest_rows) {
  expect_right(norm_case<kind, element>{.rows = 1, .columns = 1000003});
}

} // namespace
