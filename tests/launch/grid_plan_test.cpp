// Every workgroup of a problem runs in exactly one dispatch, and no dispatch has 2^32 work-items.
#include <wavetile/launch/grid_plan.hpp>

#include <gtest/gtest.h>

namespace {

using wavetile::grid_plan;
using wavetile::grid_slice;
using wavetile::plan_groups;
using wavetile::plan_items;

/// Slices are disjoint, in order, cover everything, and each fits one dispatch.
void expect_exact_cover(const grid_plan& plan) {
  std::int64_t next = 0;
  for (std::int64_t i = 0; i < plan.launches(); ++i) {
    const grid_slice slice = plan.slice(i);
    ASSERT_EQ(slice.first, next);
    ASSERT_GT(slice.count, 0);
    ASSERT_LE(slice.count, 2147483647); // grid x
    ASSERT_LE(slice.count * plan.block, wavetile::max_dispatch_work_items);
    next += slice.count;
  }
  EXPECT_EQ(next, plan.groups);
}

TEST(grid_plan, limit_is_one_below_two_to_the_32) {
  EXPECT_EQ(wavetile::max_dispatch_work_items, (std::int64_t{1} << 32) - 1);
}

TEST(grid_plan, just_above_two_to_the_32_items) {
  const std::int64_t items = (std::int64_t{1} << 32) + 5;
  const grid_plan plan = plan_items(items, 256, 256);
  EXPECT_EQ(plan.groups, 16777217);
  EXPECT_EQ(plan.launches(), 2);
  EXPECT_EQ(plan.slice(0).count, 16777215);
  EXPECT_EQ(plan.slice(1).first, 16777215);
  EXPECT_EQ(plan.slice(1).count, 2);
  expect_exact_cover(plan);
}

TEST(grid_plan, six_billion_items_in_blocks_of_1024) {
  const std::int64_t items = 6402156544;
  const grid_plan plan = plan_items(items, 1024, 1024);
  EXPECT_EQ(plan.groups, 6252106);
  EXPECT_EQ(plan.launches(), 2);
  expect_exact_cover(plan);
  // every item belongs to one workgroup
  EXPECT_GE(plan.groups * 1024, items);
  EXPECT_LT((plan.groups - 1) * 1024, items);
}

TEST(grid_plan, blocks_of_one_work_item_stay_in_grid_x) {
  // 2^32 - 1 workgroups of one work-item fit the packet, and 2^31 - 1 fit grid x
  expect_exact_cover(plan_groups((std::int64_t{1} << 33) + 7, 1));
}

TEST(grid_plan, every_block_size_and_awkward_counts) {
  for (int block = 1; block <= 1024; ++block)
    for (const std::int64_t groups :
         {std::int64_t{0}, std::int64_t{1}, wavetile::max_dispatch_work_items / block,
          wavetile::max_dispatch_work_items / block + 1, std::int64_t{1} << 34})
      expect_exact_cover(plan_groups(groups, block));
}

TEST(grid_plan, nothing_to_do_is_no_launch) {
  EXPECT_EQ(plan_items(0, 256, 256).launches(), 0);
  EXPECT_EQ(plan_groups(0, 64).launches(), 0);
}

TEST(grid_plan, a_kernel_may_ask_for_smaller_dispatches) {
  const grid_plan plan = plan_groups(1000, 64, 300);
  EXPECT_EQ(plan.launches(), 4);
  EXPECT_EQ(plan.slice(3).count, 100);
  expect_exact_cover(plan);
}

TEST(grid_plan, counts_beyond_32_bits_keep_their_sign) {
  const grid_plan plan = plan_items((std::int64_t{1} << 31) + 7, 1024, 1);
  EXPECT_EQ(plan.groups, (std::int64_t{1} << 31) + 7);
  expect_exact_cover(plan);
}

static_assert(plan_items(100, 64, 64).groups == 2, "plans are constant expressions");

} // namespace
