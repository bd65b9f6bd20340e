// Long rows on NVIDIA GPUs with clusters.
#include "clusters_here.hpp"
#include "norm_case.hpp"

#include <initializer_list>
#include <string>

namespace {

using namespace wavetile;
using namespace wavetile::test;
using enum norm_kind;

const device_info hopper = describe_device("sm_90", 132);

norm_problem problem_of(data_type type, std::int64_t rows, std::int64_t columns) {
  norm_problem problem;
  problem.kind = layer;
  problem.input = problem.output = problem.weight = problem.residual = problem.sum = type;
  problem.has_weight = true;
  problem.rows = rows;
  problem.columns = columns;
  return problem;
}

void expect_words(const norm_plan& p, std::initializer_list<const char*> words) {
  const std::string text = p.describe().c_str();
  for (const char* const word : words)
    EXPECT_NE(text.find(word), std::string::npos) << word << " is not in\n" << text;
}

TEST(norm_cluster_plans, are_for_long_rows) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  constexpr std::int64_t one_step = kernels::row_ring{1}.lds_bytes(),
                         two_steps = kernels::row_ring{2}.lds_bytes();
  // six or three parts, a barrier of each wave for each, three for each row, statistics of rows
  static_assert(one_step == 6 * 32768 + (6 * 16 + 3 * 6) * 8 + 6 * (16 + 16 + 1) * 16);
  static_assert(two_steps == 3 * 65536 + (3 * 16 + 3 * 4) * 8 + 4 * (16 + 16 + 1) * 16);
  const struct {
    data_type type;
    std::int64_t columns;
    std::uint32_t parts; ///< 0: another kernel
    int threads, readings;
    std::int64_t groups, lds_bytes;
  } cases[] = {
      {data_type::bf16, 8192, 0, 0, 0, 0, 0},
      {data_type::fp32, 8192, 0, 0, 0, 0, 0},
      {data_type::bf16, 16384, 1, 128, 1, 500, 64 + 256 + 2 * 16384},
      {data_type::fp32, 16384, 1, 576, 1, 132, two_steps},
      {data_type::bf16, 32768, 1, 128, 1, 500, 64 + 256 + 65536},
      {data_type::bf16, 65536, 4, 576, 1, 132, one_step},
      {data_type::fp32, 32768, 2, 576, 1, 132, two_steps},
      {data_type::fp16, 131072, 8, 576, 1, 128, one_step},
      {data_type::fp32, 131072, 8, 576, 1, 128, two_steps},
      {data_type::bf16, 262144, 16, 576, 1, 128, one_step},
      {data_type::bf16, 524288, 16, 576, 1, 128, two_steps},
      // statistics of 8 waves and 16 workgroups, barriers, and steps of 32 KB
      {data_type::bf16, 1048576, 16, 256, 2, 8000, 2048 + 384 + 3 * 32768},
      {data_type::fp32, 1048576, 16, 256, 2, 8000, 2048 + 768 + 6 * 32768},
      {data_type::fp32, 1048580, 0, 0, 0, 0, 0},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.columns);
    const norm_plan p = plan(problem_of(c.type, 500, c.columns), hopper);
    ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
    ASSERT_EQ(p.kernel == norm_kernel::cluster, c.parts != 0) << p.describe().c_str();
    if (c.parts == 0)
      continue;
    EXPECT_EQ(p.parts, c.parts);
    EXPECT_EQ(p.config.threads(), c.threads);
    EXPECT_EQ(p.readings, c.readings);
    EXPECT_EQ(p.groups, c.groups);
    EXPECT_EQ(plan(problem_of(c.type, 3, c.columns), hopper).groups, 3 * std::int64_t{c.parts});
    EXPECT_EQ(p.launches, 1);
    EXPECT_EQ(p.lds_bytes, c.threads == 576 ? c.lds_bytes : (c.lds_bytes + 127) / 128 * 128)
        << p.describe().c_str();
    EXPECT_NE(std::string(p.describe().c_str()).find("clusters of "), std::string::npos);
  }
  norm_problem other = problem_of(data_type::bf16, 500, 16384);
  other.kind = rms;
  EXPECT_NE(plan(other, hopper).kernel, norm_kernel::cluster);
  other = problem_of(data_type::bf16, 500, 131072);
  EXPECT_NE(plan(other, describe_device("sm_80", 108)).kernel, norm_kernel::cluster);
  other = problem_of(data_type::bf16, 4, 524288);
  EXPECT_GT(plan(other, hopper).best_workspace_bytes, 0);
  other.workspace_bytes = 1 << 20;
  EXPECT_EQ(plan(other, hopper).kernel, norm_kernel::split);
  other.rows = 128;
  EXPECT_EQ(plan(other, hopper).kernel, norm_kernel::split);
  other.workspace_bytes = 0;
  EXPECT_EQ(plan(other, hopper).best_workspace_bytes, 0);
}

// Longer rows, with a workspace for what the workgroups of a row exchange.
TEST(norm_cluster_plans, take_longer_rows_with_a_workspace) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  constexpr kernels::row_ring ring{1, true};
  const struct {
    data_type type;
    std::int64_t columns;
    std::uint32_t parts;
    std::int64_t groups;
  } cases[] = {{data_type::bf16, 524296, 64, 128},
               {data_type::bf16, 1048576, 64, 128},
               {data_type::fp32, 524288, 64, 128},
               {data_type::fp32, 524292, 0, 0}};
  for (const auto& c : cases)
    for (const bool has_residual : {false, true}) {
      SCOPED_TRACE(c.columns);
      norm_problem problem = problem_of(c.type, 500, c.columns);
      problem.has_residual = has_residual;
      const std::int64_t best = plan(problem, hopper).best_workspace_bytes;
      problem.workspace_bytes = 1 << 20;
      const norm_plan p = plan(problem, hopper);
      if (c.parts == 0) {
        EXPECT_NE(p.kernel, norm_kernel::cluster);
        continue;
      }
      ASSERT_EQ(p.kernel, norm_kernel::cluster) << p.describe().c_str();
      EXPECT_EQ(p.parts, c.parts);
      EXPECT_EQ(p.groups, c.groups);
      EXPECT_EQ(p.readings, 1);
      EXPECT_EQ(p.config.threads(), 640);
      EXPECT_EQ(p.lds_bytes, ring.lds_bytes());
      EXPECT_EQ(p.workspace_bytes, c.groups * 6 * 32);
      EXPECT_EQ(p.workspace_bytes, best);
      expect_words(p, {" workgroups a row that exchange statistics through a workspace, 128",
                       "not split: workgroups that exchange statistics have the row in LDS"});
      problem.rows = 1;
      EXPECT_EQ(plan(problem, hopper).groups, c.parts);
      EXPECT_EQ(plan(problem, hopper).workspace_bytes, std::int64_t{c.parts} * 6 * 32);
      EXPECT_EQ(plan(problem, hopper).best_workspace_bytes, std::int64_t{c.parts} * 6 * 32);
      // not on a device that does not hold the workgroups of a row
      EXPECT_NE(plan(problem, describe_device("sm_90", 63)).kernel, norm_kernel::cluster);
    }
}

// A workspace that is too small for that is used as if there were no such kernels, and no error.
TEST(norm_cluster_plans, take_longer_rows_with_less_as_without_rings) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  for (const bool has_residual : {false, true}) {
    norm_problem problem = problem_of(data_type::bf16, 500, 524296);
    problem.has_residual = has_residual;
    for (const std::int64_t lent : {0, 16, 128 * 6 * 32 - 1}) {
      problem.workspace_bytes = lent;
      const norm_plan p = plan(problem, hopper);
      ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
      EXPECT_EQ(p.kernel, has_residual ? norm_kernel::stream : norm_kernel::cluster);
      EXPECT_EQ(p.workspace_bytes, 0);
      EXPECT_EQ(p.best_workspace_bytes, 128 * 6 * 32);
      expect_words(p, {"with a workspace of 24576 bytes rows would be read once"});
    }
    // few rows are split where that needs less
    problem.rows = 1;
    problem.workspace_bytes = 64 * 6 * 32 - 1;
    const norm_plan split = plan(problem, hopper);
    ASSERT_TRUE(split.outcome.ok()) << split.outcome.message();
    EXPECT_EQ(split.kernel, norm_kernel::split);
    EXPECT_EQ(split.workspace_bytes, std::int64_t{split.parts} * 8);
    problem.workspace_bytes = split.workspace_bytes - 1;
    const norm_plan less = plan(problem, hopper);
    ASSERT_TRUE(less.outcome.ok()) << less.outcome.message();
    EXPECT_EQ(less.kernel, has_residual ? norm_kernel::stream : norm_kernel::cluster);
    if (has_residual)
      expect_words(less, {"not split: it needs ", " bytes of workspace, 5"});
  }
  norm_problem longest = problem_of(data_type::bf16, 1, 3000000);
  longest.workspace_bytes = 16;
  EXPECT_EQ(plan(longest, hopper).outcome.code(), status_code::workspace_too_small);
}

// Of weight and bias as many as leave room in registers.
TEST(norm_cluster_plans, say_whether_weights_are_read_again) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  norm_problem problem = problem_of(data_type::bf16, 500, 131072);
  EXPECT_TRUE(plan(problem, hopper).keeps_parameters);
  problem.aligned = false;
  EXPECT_FALSE(plan(problem, hopper).keeps_parameters);
  problem.aligned = true;
  problem.has_bias = true;
  problem.weight = problem.bias = data_type::fp32;
  EXPECT_FALSE(plan(problem, hopper).keeps_parameters);
  expect_words(plan(problem, hopper), {"weight and bias read again for every row"});
  // a cluster for each row
  problem = problem_of(data_type::bf16, 500, 1048576);
  EXPECT_EQ(plan(problem, hopper).readings, 2);
  EXPECT_FALSE(plan(problem, hopper).keeps_parameters);
}

// h takes the place of x in LDS: they must be of one size, and without a workspace the row at most
// 1 MB.
TEST(norm_cluster_plans, may_have_a_residual) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  norm_problem problem = problem_of(data_type::bf16, 500, 131072);
  problem.has_residual = true;
  EXPECT_EQ(plan(problem, hopper).kernel, norm_kernel::cluster);
  EXPECT_EQ(plan(problem, hopper).readings, 1);
  for (const auto type : {&norm_problem::residual, &norm_problem::sum}) {
    norm_problem mixed = problem;
    mixed.*type = data_type::fp32;
    EXPECT_NE(plan(mixed, hopper).kernel, norm_kernel::cluster);
    mixed.*type = data_type::fp16;
    EXPECT_EQ(plan(mixed, hopper).kernel, norm_kernel::cluster);
  }
  problem.columns = 1048576;
  EXPECT_EQ(plan(problem, hopper).kernel, norm_kernel::stream);
  problem.columns = 16384;
  EXPECT_NE(plan(problem, hopper).kernel, norm_kernel::cluster);
}

TEST(norm_cluster_plans, are_those_of_this_device) {
  if (!has_clusters_here())
    GTEST_SKIP() << "no clusters here";
  EXPECT_EQ(plan(problem_of(data_type::bf16, 500, 131072), this_device()).kernel,
            norm_kernel::cluster);
}

/// All additions of an element as `norm_reference` has them for rows in memory.
template <norm_kind Kind, class T, class P = T>
void expect_right(std::int64_t columns, double mean = 0) {
  SCOPED_TRACE(columns);
  norm_case<Kind, T, T, P> c{.rows = 3, .columns = columns, .mean = mean};
  c.run_and_check();
}

// One workgroup to sixteen; steps, parts and waves that are full, short and empty; a tail or none;
// parts that LDS holds, and longer ones.
template <norm_kind Kind, class T>
void expect_widths() {
  for (const std::int64_t columns : {8193, 8200, 16384, 20003, 33001, 65536, 70005, 100008, 131072,
                                     140003, 262149, 300001, 900007}) {
    expect_right<Kind, T>(columns);
    if (testing::Test::HasFatalFailure())
      return;
  }
}
TEST(norm_clusters, rms_agrees_with_the_reference) {
  expect_widths<rms, float>();
  expect_widths<rms, bf16>();
}
TEST(norm_clusters, layer_agrees_with_the_reference) {
  expect_widths<layer, float>();
  expect_widths<layer, fp16>();
}

// weights of other types, without any, and where the mean is large
TEST(norm_clusters, with_other_weights) {
  for (const std::int64_t columns : {20003, 140003}) {
    expect_right<layer, float, bf16>(columns, 1000);
    expect_right<layer, bf16, float>(columns);
    expect_right<layer, float, void>(columns, 1000);
  }
}

template <class Case>
void expect_same_bits(Case dense) {
  dense.run_and_check();
  for (const std::int64_t pad : {1, 8})
    for (const std::size_t shift : {0u, 1u, 4u})
      for (const bool in_place : {false, true}) {
        auto other = dense;
        other.pad = pad;
        other.shift = shift;
        other.y_is_x = in_place;
        other.run();
        ASSERT_TRUE(verify_bits(other.y, dense.y))
            << dense.columns << ", " << pad << ", " << shift << ", " << in_place;
      }
}
TEST(norm_clusters, strides_addresses_and_place_change_no_bit) {
  for (const std::int64_t columns : {9000, 17000, 70005, 700000}) {
    expect_same_bits(norm_case<layer, bf16>{.rows = 3, .columns = columns});
    expect_same_bits(norm_case<rms, float>{.rows = 3, .columns = columns});
    expect_same_bits(norm_case<layer, float>{.rows = 3, .columns = columns});
    if (testing::Test::HasFatalFailure())
      return;
  }
}

// sum in an array of its own and in place of the residual; a tail or none; parts of one step and
// two; shorter rows of 16 bits are for other kernels
template <norm_kind Kind, class T>
void expect_sums() {
  for (const std::int64_t columns : {17001, 20003, 33001, 66008, 131072, 140003, 300001}) {
    SCOPED_TRACE(columns);
    norm_case<Kind, T, T, T, T> c{.rows = 3, .columns = columns};
    for (const bool in_place : {false, true}) {
      c.sum_is_residual = in_place;
      c.run_and_check();
      if (testing::Test::HasFatalFailure())
        return;
    }
  }
}
TEST(norm_clusters_with_residual, agree_with_the_reference) {
  expect_sums<rms, bf16>();
  expect_sums<layer, float>();
}
TEST(norm_clusters_with_residual, strides_addresses_and_place_change_no_bit) {
  for (const std::int64_t columns : {17000, 34000, 140003}) {
    expect_same_bits(norm_case<rms, bf16, bf16, bf16, bf16>{.rows = 3, .columns = columns});
    expect_same_bits(norm_case<layer, float, float, float, float>{.rows = 3, .columns = columns});
    if (testing::Test::HasFatalFailure())
      return;
  }
}

TEST(norm_clusters_with_workspace, agree_with_the_reference) {
  for (const std::int64_t columns : {300001, 500001}) {
    norm_case<layer, float, float, float, float> a{.rows = 5, .columns = columns, .lend = true};
    norm_case<rms, bf16> b{.rows = 9, .columns = 2 * columns - 1, .lend = true};
    a.run_and_check();
    b.run_and_check();
    if (testing::Test::HasFatalFailure())
      return;
    if (has_clusters_here()) {
      EXPECT_EQ(a.here.kernel, norm_kernel::cluster) << a.here.describe().c_str();
      EXPECT_EQ(b.here.kernel, norm_kernel::cluster) << b.here.describe().c_str();
    }
  }
}
TEST(norm_clusters_with_workspace, strides_addresses_and_place_change_no_bit) {
  expect_same_bits(norm_case<rms, bf16>{.rows = 3, .columns = 700001, .lend = true});
  expect_same_bits(
      norm_case<layer, float, float, float, float>{.rows = 3, .columns = 300004, .lend = true});
}

} // namespace
