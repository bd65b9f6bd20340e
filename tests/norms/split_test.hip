// Rows that no workgroup holds, with a workspace: shared by several workgroups.
#include "norm_case.hpp"

#include "sim_counters.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;
using enum norm_kind;

template <class Case>
void expect_split(Case c) {
  c.lend = true;
  c.run_and_check();
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  EXPECT_EQ(c.chosen.kernel, norm_kernel::split) << c.chosen.describe().c_str();
}

// Just too long for the chip, with and without a tail; parts of which the last is short.
TEST(norm_split, rows_of_every_type) {
  for (const std::int64_t columns : {65540, 65543, 70000}) {
    expect_split(norm_case<rms, float>{.rows = 2, .columns = columns});
    expect_split(norm_case<layer, float>{.rows = 2, .columns = columns, .mean = 100});
  }
  expect_split(norm_case<rms, bf16>{.rows = 3, .columns = 131080 + 5, .pad = 3, .shift = 1});
  expect_split(norm_case<layer, fp16, fp16, float>{.rows = 1, .columns = 150001});
}

TEST(norm_split, without_weights_and_in_place) {
  expect_split(norm_case<rms, float, float, void>{.rows = 2, .columns = 66001, .y_is_x = true});
  expect_split(norm_case<layer, float, float, void>{.rows = 2, .columns = 66001, .y_is_x = true});
}

TEST(norm_split, with_a_residual) {
  for (const bool in_place : {false, true}) {
    expect_split(norm_case<rms, bf16, bf16, bf16, bf16>{
        .rows = 2, .columns = 65600 + 3, .sum_is_residual = in_place});
    expect_split(norm_case<layer, bf16, bf16, bf16, float>{
        .rows = 2, .columns = 40003, .sum_is_residual = in_place});
  }
}

TEST(norm_split, quantised) {
  expect_split(norm_case<rms, bf16, fp8_e4m3_fnuz, bf16, void, true>{.rows = 3, .columns = 131085});
  expect_split(norm_case<layer, float, int8_t, float, void, true>{.rows = 2, .columns = 65601});
  norm_case<rms, bf16, fp8_e4m3_fnuz> given{.rows = 2, .columns = 131085};
  given.options.scale = 0.03f;
  expect_split(given);
}

// Parts longer than a workgroup holds weights of at a time: more than 1024 parts of 1024 chunks.
TEST(norm_split, parts_of_several_turns) {
  expect_split(norm_case<rms, float>{.rows = 1, .columns = 4 * 1024 * 1024 + 4 * 700 + 3});
}

// Two readings of the rows, weights once for each run of rows that a workgroup takes, and the
// statistics of the parts: within 2 %.
TEST(norm_split, reads_weights_once_for_many_rows) {
  norm_case<rms, float> c{.rows = 150, .columns = 65540, .lend = true, .same_rows = true};
  const auto counts = count_kernels([&] { c.run(); });
  if (!counts)
    GTEST_SKIP() << "only wavesim counts";
  ASSERT_EQ(c.chosen.kernel, norm_kernel::split);
  ASSERT_TRUE(c.chosen.keeps_parameters);
  const std::int64_t runs = c.chosen.groups / c.chosen.parts, row = c.columns * 4;
  EXPECT_EQ(runs, 50); // 72 would have a last turn of 6
  const auto least = static_cast<double>(2 * c.rows * row + runs * row);
  EXPECT_LE(static_cast<double>(counts->bytes_read), 1.02 * least);
  EXPECT_EQ(counts->bytes_written, static_cast<std::uint64_t>(c.rows * (row + c.chosen.parts * 8)));
  EXPECT_EQ(counts->workgroups, static_cast<std::uint64_t>(2 * c.chosen.groups));
}

// The same where a row and its weights fit: each workgroup reads the weights once.
TEST(norm_wide_rows, read_weights_once_for_each_workgroup) {
  norm_case<rms, bf16> c{.rows = 320, .columns = 32776, .same_rows = true};
  const auto counts = count_kernels([&] { c.run(); });
  if (!counts)
    GTEST_SKIP() << "only wavesim counts";
  ASSERT_EQ(c.chosen.kernel, norm_kernel::wide_workgroup);
  ASSERT_TRUE(c.chosen.keeps_parameters);
  EXPECT_EQ(c.chosen.groups, 160);
  EXPECT_EQ(counts->bytes_read,
            static_cast<std::uint64_t>((c.rows + c.chosen.groups) * c.columns * 2));
  EXPECT_EQ(counts->bytes_written, static_cast<std::uint64_t>(c.rows * c.columns * 2));
}

// A row of 2^20 columns occupies most of the device.
TEST(norm_split, shares_few_rows) {
  norm_case<layer, float> c{.rows = 1, .columns = 1 << 20, .lend = true};
  c.run_and_check();
  EXPECT_EQ(c.chosen.groups, 256);
}

// The same bit for bit wherever the row stands and however many there are.
TEST(norm_split, is_the_same_bit_for_bit) {
  norm_case<layer, float> many{.rows = 90, .columns = 65540, .lend = true, .same_rows = true};
  many.run_and_check();
  ASSERT_FALSE(HasFatalFailure());
  for (std::int64_t r = 1; r < many.rows; ++r)
    ASSERT_EQ(std::memcmp(many.y.data(), many.y.data() + r * many.columns, 4 * 65540), 0) << r;
  norm_case<layer, float> one = many;
  one.rows = 1;
  one.pad = 5;
  one.run_and_check();
  ASSERT_EQ(std::memcmp(many.y.data(), one.y.data(), 4 * 65540), 0);
}

} // namespace
