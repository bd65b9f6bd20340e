// Plans: what runs for which shape, and what is said about it. No device.
#include "plan_problem.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace wavetile;
using namespace wavetile::test;

TEST(matmul_plan, shapes_choose_kernels) {
  EXPECT_EQ(plan(problem_of(8192, 8192, 8192), mi300x).choice, matmul_choice::large);
  EXPECT_EQ(plan(problem_of(4096, 4864, 32896), mi300x).choice, matmul_choice::large);
  EXPECT_EQ(plan(problem_of(1024, 1024, 1024), mi300x).choice, matmul_choice::compact);
  EXPECT_EQ(plan(problem_of(100, 100, 100), mi300x).choice, matmul_choice::compact);
  EXPECT_EQ(plan(problem_of(16, 8192, 8192), mi300x).choice, matmul_choice::skinny);
  EXPECT_EQ(plan(problem_of(1, 64, 65536), mi300x).choice, matmul_choice::skinny);
  EXPECT_NE(plan(problem_of(17, 8192, 8192), mi300x).choice, matmul_choice::skinny);
  // what fills 304 CUs with large tiles fills 38 with many more: nothing is a constant of one chip
  const auto partition = describe_device("gfx942", 38, 1);
  EXPECT_EQ(plan(problem_of(2048, 2048, 1024), partition).choice, matmul_choice::large);
  EXPECT_NE(plan(problem_of(2048, 2048, 1024), mi300x).choice, matmul_choice::large);
}

TEST(matmul_plan, numbers_of_the_choice) {
  const auto p = plan(problem_of(8192, 4096, 2048), mi300x);
  ASSERT_TRUE(p.outcome.ok());
  EXPECT_EQ(p.choice, matmul_choice::large);
  EXPECT_EQ(p.tile_m, 256);
  EXPECT_EQ(p.tile_n, 256);
  EXPECT_EQ(p.tiles, 32 * 16);
  EXPECT_EQ(p.groups, 32 * 16);
  EXPECT_EQ(p.launches, 1);
  EXPECT_LE(p.lds_bytes, 65536);
  EXPECT_EQ(p.accumulator_registers, 128);
  EXPECT_EQ(p.register_limit, 256);
  EXPECT_EQ(p.splits, 1);
  EXPECT_EQ(p.flops, 2.0 * 8192 * 4096 * 2048);
  EXPECT_EQ(p.useful, 1.0);
  EXPECT_EQ(p.min_bytes_read, int64_t{2} * (8192 + 4096) * 2048);
  EXPECT_EQ(p.min_bytes_written, int64_t{2} * 8192 * 4096);
}

// Little padding on ragged shapes: 4000 x 4104 x 4072, and those of AMD's "typical attained"
// figure.
TEST(matmul_plan, ragged_shapes_compute_little_padding) {
  std::vector<matmul_problem> shapes = {problem_of(4000, 4104, 4072)};
  for (const int64_t m : {32, 32768}) {
    shapes.push_back(problem_of(m, 2112, 7168));
    shapes.push_back(problem_of(m, 3072, 1536));
    shapes.push_back(problem_of(m, 7168, 2048));
    shapes.push_back(problem_of(m, 4608, 7168));
    shapes.push_back(problem_of(m, 7168, 256));
  }
  using enum operand_order;
  for (matmul_problem problem : shapes)
    for (const data_type type : {data_type::bf16, data_type::fp8_e4m3_fnuz})
      for (const operand_order order_a : {k_contiguous, k_strided})
        for (const operand_order order_b : {k_contiguous, k_strided}) {
          problem.a = problem.b = type;
          problem.order_a = order_a;
          problem.order_b = order_b;
          const auto p = plan(problem, mi300x);
          EXPECT_GE(p.useful, 0.95) << problem.m << " x " << problem.n << " x " << problem.k << ' '
                                    << p.describe().c_str();
        }
}

TEST(matmul_plan, k_is_split_where_memory_is_lent_and_of_use) {
  auto problem = problem_of(256, 256, 65536);
  const auto alone = plan(problem, mi300x);
  EXPECT_EQ(alone.splits, 1);
  EXPECT_EQ(alone.workspace_bytes, 0);
  ASSERT_GT(alone.best_workspace_bytes, 0);
  problem.workspace_bytes = alone.best_workspace_bytes;
  const auto lent = plan(problem, mi300x);
  EXPECT_GT(lent.splits, 1);
  EXPECT_LE(lent.workspace_bytes, problem.workspace_bytes);
  EXPECT_EQ(lent.launches, 2);
  EXPECT_GE(lent.split_k * lent.splits, problem.k);
  EXPECT_LT(lent.split_k * (lent.splits - 1), problem.k);
  EXPECT_EQ(plan(problem_of(8192, 8192, 8192), mi300x).best_workspace_bytes, 0);

  problem.splits = 7;
  problem.workspace_bytes = 1000;
  const auto refused = plan(problem, mi300x);
  EXPECT_EQ(refused.outcome.code(), status_code::workspace_too_small);
  EXPECT_NE(std::string(refused.outcome.message()).find("1000"), std::string::npos);
  EXPECT_NE(std::string(refused.outcome.message()).find(std::to_string(7 * 256 * 256 * 4)),
            std::string::npos)
      << refused.outcome.message();
}

// Absurd numbers of parts need more memory than there is; they do not wrap around to little.
TEST(matmul_plan, parts_beyond_64_bits) {
  auto problem = problem_of(int64_t{1} << 28, int64_t{1} << 28, int64_t{1} << 30);
  problem.splits = 1 << 30;
  problem.workspace_bytes = int64_t{1} << 40;
  const auto p = plan(problem, mi300x);
  EXPECT_EQ(p.outcome.code(), status_code::workspace_too_small);
  EXPECT_EQ(p.workspace_bytes, int64_t{1} << 62);
}

TEST(matmul_plan, parts_are_whole_blocks_of_scales) {
  auto problem = problem_of(256, 256, 5000);
  problem.a = problem.b = data_type::fp8_e4m3_fnuz;
  problem.choice = matmul_choice::middle;
  problem.k_multiple = 128;
  problem.splits = 7;
  problem.workspace_bytes = int64_t{1} << 40;
  const auto p = plan(problem, mi300x);
  EXPECT_EQ(p.split_k % 128, 0);
  EXPECT_GE(p.split_k * p.splits, 5000);
}

// How busy LDS is while the matrix cores are: at most 52 % for large tiles.
TEST(matmul_plan, large_tiles_leave_lds_half_idle) {
  const auto share = [](const matmul_config& config) {
    return static_cast<double>(config.lds_clocks()) / config.matrix_clocks();
  };
  using enum matmul_kernel;
  using enum operand_order;
  for (const matmul_kernel kernel : {large, ping_pong, large_four, wide})
    for (const operand_order order_a : {k_contiguous, k_strided})
      for (const operand_order order_b : {k_contiguous, k_strided})
        for (const int bytes : {1, 2})
          EXPECT_LE(share(config_of(kernel, bytes, order_a, order_b)), 0.52) << name_of(kernel);
  EXPECT_EQ(share(config_of(large, 1)), 0.5);
  EXPECT_EQ(share(config_of(wide, 2)), 0.4375);
  EXPECT_EQ(share(config_of(middle, 2)), 0.75);
  EXPECT_EQ(share(config_of(compact, 2)), 1.5);
  // written two bytes at a time, 256 columns cost as much again as they do to write
  const matmul_config pairs = config_of(large, 1, k_strided, k_strided);
  EXPECT_TRUE(pairs.pairs_of_b);
  EXPECT_EQ(share(pairs), 0.5);
}

TEST(matmul_plan, forced_choices) {
  auto problem = problem_of(512, 512, 512);
  problem.choice = matmul_choice::wide;
  const auto p = plan(problem, mi300x);
  EXPECT_EQ(p.choice, matmul_choice::wide);
  EXPECT_EQ(p.tile_m, 128);
  EXPECT_EQ(p.tile_n, 256);
  EXPECT_EQ(p.refused[static_cast<int>(matmul_choice::large)], matmul_refusal::another_forced);
  // the operand whose k is strided has the 128
  problem.order_b = operand_order::k_strided;
  EXPECT_EQ(plan(problem, mi300x).tile_m, 256);
  EXPECT_EQ(plan(problem, mi300x).tile_n, 128);
  EXPECT_EQ(plan(problem, mi300x).threads, 128);
  problem.order_a = operand_order::k_strided;
  EXPECT_EQ(plan(problem, mi300x).tile_m, 128);
  problem.choice = matmul_choice::skinny;
  const auto refused = plan(problem, mi300x);
  EXPECT_EQ(refused.outcome.code(), status_code::unsupported_shape);
  EXPECT_NE(std::string(refused.outcome.message()).find("512"), std::string::npos);
}

TEST(matmul_plan, describes_itself_and_what_it_refused) {
  const std::string text = plan(problem_of(8192, 8192, 8192), mi300x).describe().c_str();
  for (const char* word :
       {"large: tiles of 256 x 256", "registers", "LDS", "workspace",
        "not large_four: compiled only", "not ping_pong: compiled only",
        "not middle: expected to take longer", "not skinny: op(A) has 8192 rows, more than 16"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  EXPECT_EQ(plan(problem_of(0, 8, 8), mi300x).launches, 0);
  const auto only_c = plan(problem_of(8, 8, 0), mi300x);
  EXPECT_FALSE(only_c.product);
  EXPECT_EQ(only_c.launches, 1);
  EXPECT_EQ(plan(problem_of(8, 8, 8), describe_device("gfx1100", 96)).outcome.code(),
            status_code::wrong_architecture);
}

// Bytes of which both operands are transposed have fewer and larger waves.
TEST(matmul_plan, transposed_bytes_have_four_waves) {
  auto problem = problem_of(8192, 8192, 8192);
  problem.a = problem.b = data_type::fp8_e4m3_fnuz;
  EXPECT_EQ(plan(problem, mi300x).threads, 512);
  problem.order_a = problem.order_b = operand_order::k_strided;
  const auto p = plan(problem, mi300x);
  EXPECT_EQ(p.choice, matmul_choice::large);
  EXPECT_EQ(p.threads, 256);
  EXPECT_EQ(p.accumulator_registers, 256);
  EXPECT_EQ(p.register_limit, 512);
}

TEST(matmul_plan, every_kernel_fits_every_type) {
  for (const data_type type : {data_type::fp64, data_type::fp32, data_type::bf16, data_type::int8})
    for (int i = 1; i < matmul_choice_count; ++i) {
      auto problem = problem_of(8, 512, 512);
      problem.a = problem.b = type;
      problem.d = type == data_type::fp64 || type == data_type::fp32 ? type : data_type::bf16;
      problem.choice = static_cast<matmul_choice>(i);
      const auto p = plan(problem, mi300x);
      ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
      EXPECT_LE(p.lds_bytes, 65536);
      EXPECT_LT(p.accumulator_registers, p.register_limit);
    }
}

// NVIDIA GPUs have kernels of their own.
constexpr device_info h200 = describe_device("sm_90", 132, 1);
constexpr device_info a100 = describe_device("sm_80", 108, 1);

TEST(matmul_plan, nvidia_shapes_choose_kernels) {
  EXPECT_EQ(plan(problem_of(8192, 8192, 8192), h200).choice, matmul_choice::large);
  EXPECT_EQ(plan(problem_of(1024, 1024, 1024), h200).choice, matmul_choice::compact);
  EXPECT_EQ(plan(problem_of(16, 8192, 8192), h200).choice, matmul_choice::skinny);
  EXPECT_EQ(plan(problem_of(32, 8192, 8192), h200).choice, matmul_choice::skinny);
  EXPECT_NE(plan(problem_of(33, 8192, 8192), h200).choice, matmul_choice::skinny);
  auto fp32 = problem_of(16, 8192, 8192);
  fp32.a = fp32.b = fp32.c = fp32.d = data_type::fp32;
  const auto p = plan(fp32, h200);
  EXPECT_NE(p.choice, matmul_choice::skinny);
  EXPECT_EQ(p.refused[static_cast<int>(matmul_choice::skinny)], matmul_refusal::no_kernel);
  EXPECT_NE(std::string(p.describe().c_str()).find("not skinny: there is no code for it"),
            std::string::npos)
      << p.describe().c_str();
}

// A second pass costs a launch: k of a product that takes a few microseconds is not split for it.
TEST(matmul_plan, nvidia_splits_k_where_it_pays) {
  auto problem = problem_of(1024, 1024, 1024);
  problem.workspace_bytes = int64_t{64} << 20;
  auto p = plan(problem, h200);
  EXPECT_EQ(p.choice, matmul_choice::compact);
  EXPECT_EQ(p.splits, 1);
  EXPECT_EQ(p.best_workspace_bytes, 0);
  problem = problem_of(256, 256, 16384);
  problem.workspace_bytes = int64_t{64} << 20;
  p = plan(problem, h200);
  EXPECT_GT(p.splits, 1);
  EXPECT_LE(p.workspace_bytes, p.best_workspace_bytes);
  problem.workspace_bytes = 0;
  EXPECT_EQ(plan(problem, h200).splits, 1);
}

TEST(matmul_plan, nvidia_cuts_fit_every_device) {
  for (const device_info& device : {h200, a100})
    for (const data_type type :
         {data_type::bf16, data_type::int8, data_type::fp32, data_type::fp64})
      for (const auto choice :
           {matmul_choice::large, matmul_choice::middle, matmul_choice::compact}) {
        auto problem = problem_of(4096, 4096, 4096);
        problem.a = problem.b = type;
        problem.d = type == data_type::fp64 || type == data_type::fp32 ? type : data_type::bf16;
        problem.choice = choice;
        const auto p = plan(problem, device);
        ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
        EXPECT_EQ(p.choice, choice);
        EXPECT_LE(p.lds_bytes, device.lds_bytes);
        EXPECT_LE(p.threads, 256);
        EXPECT_LE(p.accumulator_registers, 128);
        EXPECT_EQ(p.register_limit, 255);
      }
}

TEST(matmul_plan, nvidia_skinny_fits_every_device) {
  for (const device_info& device : {h200, a100})
    for (const data_type type : {data_type::bf16, data_type::int8})
      for (const auto order : {operand_order::k_contiguous, operand_order::k_strided})
        for (const int64_t rows : {1, 16, 17, 32}) {
          auto problem = problem_of(rows, 13312, 16384);
          problem.a = problem.b = type;
          problem.order_b = order;
          const auto p = plan(problem, device);
          ASSERT_TRUE(p.outcome.ok()) << p.outcome.message();
          EXPECT_EQ(p.choice, matmul_choice::skinny);
          EXPECT_LE(p.lds_bytes, device.lds_bytes);
          EXPECT_EQ(p.tile_m, rows <= 16 ? 16 : 32);
        }
}

// Few rows of 16 bits: workgroups of 64 columns, of which two fit a multiprocessor's LDS with four
// stages of 128 values of k each.
TEST(matmul_plan, nvidia_skinny_has_two_workgroups_a_multiprocessor) {
  for (const auto order : {operand_order::k_contiguous, operand_order::k_strided})
    for (const int64_t rows : {1, 16, 17, 32}) {
      auto problem = problem_of(rows, 13312, 16384);
      problem.order_b = order;
      const auto p = plan(problem, h200);
      EXPECT_EQ(p.tile_n, 64);
      EXPECT_EQ(p.groups, 208);
      EXPECT_EQ(p.threads, rows <= 16 ? 256 : 128);
      EXPECT_EQ(p.lds_bytes, 4 * (64 + p.tile_m) * 128 * 2);
      EXPECT_LE(2 * (p.lds_bytes + 1024), 228 * 1024); // a workgroup costs 1 KiB more
    }
}

} // namespace
