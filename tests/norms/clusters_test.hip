// Long rows on NVIDIA GPUs with clusters.
#include "norm_case.hpp"

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

TEST(norm_cluster_plans, are_for_long_rows) {
  if (!kernels::has_cluster_code(hopper))
    GTEST_SKIP() << "compiled without code for sm_90";
  const struct {
    data_type type;
    std::int64_t columns;
    std::uint32_t parts; ///< 0: another kernel
    int threads, readings;
    std::int64_t lds_bytes;
  } cases[] = {
      {data_type::bf16, 8192, 0, 0, 0, 0},
      {data_type::fp32, 8192, 0, 0, 0, 0},
      // statistics of 4 waves and 32 barriers, then steps of 16 KB
      {data_type::bf16, 16384, 1, 128, 1, 64 + 256 + 2 * 16384},
      {data_type::fp32, 16384, 1, 128, 1, 64 + 256 + 65536},
      {data_type::fp16, 131072, 4, 128, 1, 256 + 256 + 65536},
      {data_type::fp32, 131072, 8, 128, 1, 512 + 256 + 65536},
      {data_type::bf16, 1048576, 16, 256, 2, 2048 + 384 + 3 * 32768},
      {data_type::fp32, 1048576, 16, 256, 2, 2048 + 768 + 6 * 32768},
      {data_type::fp32, 1048580, 0, 0, 0, 0},
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
    EXPECT_EQ(p.groups, 500 * std::int64_t{c.parts});
    EXPECT_EQ(p.launches, 1);
    EXPECT_EQ(p.lds_bytes, (c.lds_bytes + 127) / 128 * 128) << p.describe().c_str();
    EXPECT_NE(std::string(p.describe().c_str()).find("clusters of "), std::string::npos);
  }
  norm_problem other = problem_of(data_type::bf16, 500, 16384);
  other.kind = rms;
  EXPECT_NE(plan(other, hopper).kernel, norm_kernel::cluster);
  other = problem_of(data_type::bf16, 500, 131072);
  EXPECT_NE(plan(other, describe_device("sm_80", 108)).kernel, norm_kernel::cluster);
  other.has_residual = true;
  EXPECT_NE(plan(other, hopper).kernel, norm_kernel::cluster);
  other = problem_of(data_type::bf16, 4, 1048576);
  EXPECT_GT(plan(other, hopper).best_workspace_bytes, 0);
  other.workspace_bytes = 1 << 20;
  EXPECT_EQ(plan(other, hopper).kernel, norm_kernel::split);
  other.rows = 128;
  EXPECT_EQ(plan(other, hopper).kernel, norm_kernel::split);
  other.workspace_bytes = 0;
  EXPECT_EQ(plan(other, hopper).best_workspace_bytes, 0);
}

TEST(norm_cluster_plans, are_those_of_this_device) {
  device_info device;
  ASSERT_TRUE(known_device(0, device).ok());
  if (device.arch() != architecture::sm90 || !kernels::has_cluster_code(device))
    GTEST_SKIP() << "no clusters here";
  EXPECT_EQ(plan(problem_of(data_type::bf16, 500, 131072), device).kernel, norm_kernel::cluster);
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
  for (const std::int64_t columns : {9000, 70005, 700000}) {
    expect_same_bits(norm_case<layer, bf16>{.rows = 3, .columns = columns});
    expect_same_bits(norm_case<rms, float>{.rows = 3, .columns = columns});
    if (testing::Test::HasFatalFailure())
      return;
  }
}

} // namespace
