// What the plan of a normalisation chooses, and why. No device and no HIP.
#include <wavetile/kernels/norms/plan.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

constexpr device_info mi300x = describe_device("gfx942:sramecc+:xnack-", 304, 8);

norm_problem matrix(std::int64_t rows, std::int64_t columns, data_type type = data_type::fp32) {
  norm_problem problem;
  problem.rows = rows;
  problem.columns = columns;
  problem.input = problem.output = problem.residual = problem.sum = type;
  return problem;
}

TEST(norm_plan, grows_with_the_row) {
  using kernel = norm_kernel;
  const struct {
    std::int64_t fp32_columns;
    kernel expected;
  } cases[] = {{1, kernel::short_rows},          {256, kernel::short_rows},
               {260, kernel::wave_rows},         {1024, kernel::wave_rows},
               {1028, kernel::small_workgroup},  {4096, kernel::small_workgroup},
               {4100, kernel::workgroup},        {16384, kernel::workgroup},
               {16388, kernel::wide_workgroup},  {32768, kernel::wide_workgroup},
               {32772, kernel::large_workgroup}, {65536, kernel::large_workgroup},
               {65540, kernel::stream},          {1000000, kernel::stream}};
  for (const auto& c : cases) {
    EXPECT_EQ(plan(matrix(100, c.fp32_columns), mi300x).kernel, c.expected) << c.fp32_columns;
    EXPECT_EQ(plan(matrix(100, 2 * c.fp32_columns, data_type::bf16), mi300x).kernel, c.expected)
        << c.fp32_columns;
  }
  // a wave a row is a workgroup of its own; small workgroups have two waves, or four
  EXPECT_EQ(plan(matrix(100, 1024), mi300x).groups, 100);
  EXPECT_EQ(plan(matrix(100, 1024), mi300x).config.waves, 1);
  EXPECT_EQ(plan(matrix(100, 2048), mi300x).config.waves, 2);
  EXPECT_EQ(plan(matrix(100, 2052), mi300x).config.waves, 4);
  auto with_residual = matrix(100, 32768);
  with_residual.has_residual = true;
  EXPECT_EQ(plan(with_residual, mi300x).kernel, kernel::large_workgroup);
  with_residual.columns += 4;
  EXPECT_EQ(plan(with_residual, mi300x).kernel, kernel::stream);
}

TEST(norm_plan, has_as_many_workgroups_as_the_device_holds) {
  EXPECT_EQ(plan(matrix(10, 4096), mi300x).groups, 10);
  EXPECT_EQ(plan(matrix(std::int64_t{1} << 40, 1024), mi300x).groups, 304 * 32);
  EXPECT_EQ(plan(matrix(std::int64_t{1} << 40, 2048), mi300x).groups, 304 * 16);
  EXPECT_EQ(plan(matrix(std::int64_t{1} << 40, 4096), mi300x).groups, 304 * 8);
  EXPECT_EQ(plan(matrix(std::int64_t{1} << 40, 16384), mi300x).groups, 304 * 2);
  EXPECT_EQ(plan(matrix(std::int64_t{1} << 40, 32768), mi300x).groups, 304); // fill a CU
  const norm_plan few = plan(matrix(10, 3), mi300x); // 4 lanes a row: 64 rows a workgroup
  EXPECT_EQ(few.groups, 1);
  EXPECT_EQ(few.rows_per_group, 64);
  EXPECT_EQ(plan(matrix(2500, 4096), mi300x).groups, 1250); // two turns, both full
  EXPECT_EQ(plan(matrix(0, 10), mi300x).launches, 0);
  EXPECT_EQ(plan(matrix(10, 0), mi300x).launches, 0);
}

// what a row becomes does not depend on the rows beside it
TEST(norm_plan, has_one_cut_however_many_rows) {
  for (const std::int64_t columns : {300, 1024, 2048, 4096, 8192, 16384, 65536}) {
    auto problem = matrix(1, columns, data_type::bf16);
    problem.has_weight = true;
    const norm_plan one = plan(problem, mi300x);
    for (const std::int64_t rows : {2, 304, 2433, 8192, 1 << 20}) {
      problem.rows = rows;
      const norm_plan many = plan(problem, mi300x);
      EXPECT_EQ(many.kernel, one.kernel) << rows << " x " << columns;
      EXPECT_EQ(many.cut, one.cut) << rows << " x " << columns;
      EXPECT_EQ(many.lanes_log2, one.lanes_log2) << rows << " x " << columns;
    }
  }
}

TEST(norm_plan, splits_rows_that_do_not_fit_with_a_workspace) {
  auto problem = matrix(10, 1 << 20);
  problem.has_weight = true;
  norm_plan chosen = plan(problem, mi300x);
  EXPECT_EQ(chosen.kernel, norm_kernel::stream);
  EXPECT_EQ(chosen.best_workspace_bytes, 10 * 256 * 8);
  EXPECT_EQ(chosen.workspace_bytes, 0);
  EXPECT_EQ(chosen.refused[static_cast<int>(norm_kernel::split)], norm_refusal::needs_workspace);
  EXPECT_FALSE(chosen.keeps_parameters);
  problem.workspace_bytes = chosen.best_workspace_bytes + 1;
  chosen = plan(problem, mi300x);
  EXPECT_EQ(chosen.kernel, norm_kernel::split);
  EXPECT_EQ(chosen.workspace_bytes, 10 * 256 * 8);
  EXPECT_EQ(chosen.parts, 256u);
  EXPECT_EQ(chosen.part_chunks, 1024);
  EXPECT_EQ(chosen.groups, 256 * 5); // 4 workgroups a CU: 5 runs of rows
  EXPECT_EQ(chosen.launches, 2);
  EXPECT_EQ(chosen.readings, 2);
  EXPECT_TRUE(chosen.keeps_parameters);
  const std::string words = chosen.describe().c_str();
  for (const char* part : {"split: 256 workgroups a row, 1280 workgroups of 256",
                           "20480 of workspace", "read twice", "not stream: it has one workgroup"})
    EXPECT_NE(words.find(part), std::string::npos) << part << " in\n" << words;
  problem.output = data_type::int8;
  problem.scaling = norm_scaling::per_row;
  EXPECT_EQ(plan(problem, mi300x).outcome.code(), status_code::workspace_too_small);
  problem.workspace_bytes = 10 * 256 * 12;
  chosen = plan(problem, mi300x);
  EXPECT_TRUE(chosen.outcome.ok()) << chosen.outcome.message();
  EXPECT_EQ(chosen.launches, 3);
  EXPECT_EQ(chosen.readings, 3);
  // at most 1024 parts; longer ones are taken piece by piece, each with its weights for all rows
  problem.columns = std::int64_t{1} << 24;
  problem.workspace_bytes = std::int64_t{1} << 30;
  chosen = plan(problem, mi300x);
  EXPECT_EQ(chosen.parts, 1024u);
  EXPECT_EQ(chosen.part_chunks, 4096);
  EXPECT_TRUE(chosen.keeps_parameters);
  // rows that fit are not split, whatever is lent
  problem.columns = 65536;
  chosen = plan(problem, mi300x);
  EXPECT_EQ(chosen.kernel, norm_kernel::large_workgroup);
  EXPECT_EQ(chosen.best_workspace_bytes, 0);
  EXPECT_EQ(chosen.refused[static_cast<int>(norm_kernel::split)], norm_refusal::row_fits);
}

TEST(norm_plan, counts_the_least_traffic) {
  auto problem = matrix(1000, 512, data_type::bf16);
  EXPECT_EQ(plan(problem, mi300x).min_bytes_read, 1000 * 512 * 2);
  EXPECT_EQ(plan(problem, mi300x).min_bytes_written, 1000 * 512 * 2);
  problem.has_weight = problem.has_bias = true; // of fp32
  problem.has_residual = true;
  problem.output = data_type::fp8_e4m3_fnuz;
  problem.scaling = norm_scaling::per_row;
  EXPECT_EQ(plan(problem, mi300x).min_bytes_read, 1000 * 512 * 4 + 512 * 8);
  EXPECT_EQ(plan(problem, mi300x).min_bytes_written, 1000 * 512 * 3 + 1000 * 4);
  EXPECT_EQ(plan(problem, mi300x).chunk, 8);
  EXPECT_EQ(plan(problem, mi300x).readings, 1);
  problem.columns = 200000;
  EXPECT_EQ(plan(problem, mi300x).readings, 3);
  problem.scaling = norm_scaling::given;
  EXPECT_EQ(plan(problem, mi300x).readings, 2);
}

TEST(norm_plan, refuses_numbers_that_no_enumerator_has) {
  const auto message = [](const norm_problem& problem) {
    return std::string(plan(problem, mi300x).outcome.message());
  };
  auto problem = matrix(3, 4);
  problem.kind = static_cast<norm_kind>(2);
  EXPECT_EQ(message(problem), "invalid_argument: kind = 2, allowed: rms, layer");
  problem = matrix(3, 4);
  problem.scaling = static_cast<norm_scaling>(3);
  EXPECT_EQ(message(problem), "invalid_argument: scaling = 3, allowed: none, given, per_row");
  problem = matrix(3, 4);
  problem.output = static_cast<data_type>(16);
  EXPECT_EQ(message(problem),
            "unsupported_type: output: its elements are unknown, allowed: fp32, fp16, bf16");
}

TEST(norm_plan, refuses_types_that_no_call_takes) {
  const auto message = [](const norm_problem& problem) {
    return std::string(plan(problem, mi300x).outcome.message());
  };
  auto problem = matrix(3, 4);
  problem.input = data_type::fp64;
  EXPECT_EQ(message(problem),
            "unsupported_type: input: its elements are fp64, allowed: fp32, fp16, bf16");
  problem = matrix(3, 4);
  problem.weight = data_type::int8; // there is none
  EXPECT_TRUE(plan(problem, mi300x).outcome.ok());
  problem.has_weight = true;
  EXPECT_EQ(message(problem),
            "unsupported_type: weight: its elements are int8, allowed: fp32, fp16, bf16");
  // 8-bit results have scales, others have none
  problem = matrix(3, 4);
  problem.output = data_type::int8;
  EXPECT_EQ(message(problem),
            "unsupported_type: output: its elements are int8, allowed: fp32, fp16, bf16");
  problem.scaling = norm_scaling::given;
  EXPECT_TRUE(plan(problem, mi300x).outcome.ok());
  problem.output = data_type::fp32;
  EXPECT_EQ(message(problem),
            "unsupported_type: output: its elements are fp32, allowed: fp8_e4m3_fnuz, int8");
}

TEST(norm_plan, refuses_counts_that_no_array_has) {
  const auto message = [](const norm_problem& problem) {
    return std::string(plan(problem, mi300x).outcome.message());
  };
  EXPECT_EQ(message(matrix(-1, 4)), "invalid_argument: rows = -1, allowed: >= 0");
  EXPECT_EQ(message(matrix(1, -4)), "invalid_argument: columns = -4, allowed: >= 0");
  auto problem = matrix(1, 400000);
  problem.workspace_bytes = -8;
  EXPECT_EQ(message(problem), "invalid_argument: workspace_bytes = -8, allowed: >= 0");
  const std::int64_t most = std::int64_t{1} << 58;
  for (const auto& large : {matrix(most, 2), matrix(2, most), matrix(INT64_MAX, INT64_MAX)})
    EXPECT_EQ(message(large), "unsupported_shape: rows, columns: their product is above 2^58, "
                              "allowed: at most 2^58 elements");
  EXPECT_EQ(plan(matrix(most, 1), mi300x).min_bytes_read, most * 4);
  // a device described without its number of CUs
  EXPECT_GT(plan(matrix(100, 4096), describe_device("gfx942", 0)).groups, 0);
}

TEST(norm_plan, says_what_it_does_and_why) {
  auto problem = matrix(100, 40000);
  problem.has_weight = true;
  problem.aligned = false;
  const std::string words = plan(problem, mi300x).describe().c_str();
  for (const char* part :
       {"large_workgroup: 100 workgroups of 1024", "64 registers a lane", "384 bytes of LDS",
        "read once", "weight and bias read again", "at element alignment",
        "not workgroup: a row has 10000 chunks of 4", "not stream: large_workgroup holds the row",
        "not split: it reads the input twice"})
    EXPECT_NE(words.find(part), std::string::npos) << part << " in\n" << words;
  const norm_plan other = plan(matrix(3, 4), describe_device("gfx1100", 96));
  EXPECT_EQ(other.outcome.code(), status_code::wrong_architecture);
  EXPECT_NE(std::string(other.describe().c_str()).find("gfx1100"), std::string::npos);
}

} // namespace
