// What the softmax plan chooses, and why. No device and no HIP.
#include <wavetile/kernels/softmax/plan.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

constexpr device_info mi300x = describe_device("gfx942:sramecc+:xnack-", 304, 8);

softmax_problem matrix(std::int64_t rows, std::int64_t columns, data_type type = data_type::fp32) {
  softmax_problem problem;
  problem.rows = rows;
  problem.columns = columns;
  problem.input = problem.output = problem.gradient = type;
  return problem;
}

softmax_kernel kernel_for(const softmax_problem& problem) {
  return plan(problem, mi300x).kernel;
}

TEST(softmax_plan, grows_with_the_row) {
  using enum softmax_kernel;
  const struct {
    std::int64_t longest;
    softmax_kernel kernel;
  } by_chunks[] = {{64, short_rows},
                   {256, wave_rows},
                   {1024, small_workgroup},
                   {4096, workgroup},
                   {16384, large_workgroup}};
  for (const auto type : {data_type::fp32, data_type::fp16}) {
    const std::int64_t chunk = 16 / size_of(type);
    std::int64_t shortest = 1;
    for (const auto& [longest, kernel] : by_chunks) {
      EXPECT_EQ(kernel_for(matrix(1000, shortest, type)), kernel);
      EXPECT_EQ(kernel_for(matrix(1000, longest * chunk + chunk - 1, type)), kernel);
      shortest = (longest + 1) * chunk;
    }
    EXPECT_EQ(kernel_for(matrix(1000, shortest, type)), stream);
  }
}

TEST(softmax_plan, splits_few_long_rows_when_memory_is_lent) {
  softmax_problem problem = matrix(3, 1000000);
  const softmax_plan without = plan(problem, mi300x);
  EXPECT_EQ(without.kernel, softmax_kernel::stream);
  EXPECT_EQ(without.refused[static_cast<int>(softmax_kernel::split)],
            softmax_refusal::needs_workspace);
  EXPECT_EQ(without.workspace_bytes, 0);
  ASSERT_GT(without.best_workspace_bytes, 0);

  problem.workspace_bytes = without.best_workspace_bytes;
  const softmax_plan with = plan(problem, mi300x);
  EXPECT_EQ(with.kernel, softmax_kernel::split);
  EXPECT_EQ(with.launches, 2);
  EXPECT_EQ(with.groups, 3 * static_cast<std::int64_t>(with.parts));
  EXPECT_EQ(with.workspace_bytes, 3 * 8 * static_cast<std::int64_t>(with.parts));
  EXPECT_GE(with.part_chunks * with.parts * 4, 1000000 - 3);
  EXPECT_LT(with.part_chunks * (with.parts - 1) * 4, 1000000);

  problem.workspace_bytes = without.best_workspace_bytes - 1;
  const softmax_plan short_of = plan(problem, mi300x);
  ASSERT_FALSE(short_of.outcome.ok());
  EXPECT_EQ(short_of.outcome.code(), status_code::workspace_too_small);
  const std::string message = short_of.outcome.message();
  EXPECT_NE(message.find(std::to_string(problem.workspace_bytes)), std::string::npos) << message;
  EXPECT_NE(message.find(std::to_string(without.best_workspace_bytes)), std::string::npos);

  problem.rows = 304; // one for each CU
  EXPECT_EQ(plan(problem, mi300x).kernel, softmax_kernel::stream);
}

TEST(softmax_plan, how_a_row_is_split_depends_on_its_length_alone) {
  for (const int cus : {80, 304})
    for (const std::int64_t rows : {1, 7, 50}) {
      softmax_problem problem = matrix(rows, 5000000);
      problem.workspace_bytes = 1 << 30;
      const softmax_plan p = plan(problem, describe_device("gfx942", cus));
      EXPECT_EQ(p.kernel, softmax_kernel::split);
      EXPECT_EQ(p.parts, 611u); // 1,250,000 chunks in parts of 2048
      EXPECT_EQ(p.part_chunks, 2048);
    }
}

TEST(softmax_plan, refuses_other_architectures_by_name) {
  const softmax_plan p = plan(matrix(4, 4), describe_device("gfx1100", 96));
  ASSERT_EQ(p.outcome.code(), status_code::wrong_architecture);
  const std::string message = p.outcome.message();
  EXPECT_NE(message.find("gfx1100"), std::string::npos) << message;
  EXPECT_NE(message.find("gfx942"), std::string::npos) << message;
  device_info narrow = mi300x;
  narrow.wave_size = 32;
  EXPECT_EQ(plan(matrix(4, 4), narrow).outcome.code(), status_code::wrong_architecture);
}

TEST(softmax_plan, refuses_problems_that_no_call_has) {
  const auto expect = [](const softmax_problem& problem, status_code code, const char* argument,
                         const char* allowed) {
    const softmax_plan p = plan(problem, mi300x);
    EXPECT_EQ(p.outcome.code(), code) << p.outcome.message();
    EXPECT_STREQ(p.outcome.argument(), argument);
    EXPECT_NE(std::string(p.outcome.message()).find(allowed), std::string::npos)
        << p.outcome.message();
    EXPECT_EQ(p.launches, 0);
  };
  expect(matrix(-1, 4), status_code::invalid_argument, "rows", "= -1, allowed: >= 0");
  expect(matrix(1, -4), status_code::invalid_argument, "columns", "= -4, allowed: >= 0");
  expect(matrix(1, 4, data_type::fp64), status_code::unsupported_type, "input",
         "fp64, allowed: fp32");
  auto problem = matrix(2, 4);
  problem.causal = true;
  problem.queries = 0;
  expect(problem, status_code::invalid_argument, "queries", "= 0, allowed: >= 1");
  problem = matrix(6, 4);
  problem.causal = true;
  for (const std::int64_t queries : {std::int64_t{4}, std::int64_t{12}, INT64_MAX}) {
    problem.queries = queries;
    expect(problem, status_code::invalid_argument, "queries", "allowed: a divisor of rows, 6");
  }
  problem = matrix(2, 4);
  problem.output = data_type::int32;
  expect(problem, status_code::unsupported_type, "output", "int32, allowed: fp32, fp16, bf16");
  problem = matrix(2, 4);
  problem.gradient = data_type::int8; // of no meaning in a forward problem
  EXPECT_TRUE(plan(problem, mi300x).outcome.ok());
  problem.form = softmax_form::softmax_backward;
  expect(problem, status_code::unsupported_type, "gradient", "int8, allowed: fp32");
  problem = matrix(2, 4);
  problem.mask = mask_kind::keep;
  problem.mask_type = data_type::fp32;
  expect(problem, status_code::unsupported_type, "mask_type", "fp32, allowed: uint8");
  problem.mask = mask_kind::additive;
  problem.mask_type = data_type::uint8;
  expect(problem, status_code::unsupported_type, "mask_type", "uint8, allowed: fp32, fp16, bf16");
  problem = matrix(2, 4);
  problem.workspace_bytes = -8;
  expect(problem, status_code::invalid_argument, "workspace_bytes", "= -8, allowed: >= 0");
  expect(matrix(INT64_MAX, INT64_MAX), status_code::unsupported_shape, "rows, columns",
         "above 2^58, allowed");
  problem = matrix(2, 4);
  problem.form = static_cast<softmax_form>(4);
  expect(problem, status_code::invalid_argument, "form", "= 4, allowed: softmax, log_softmax");
  problem = matrix(2, 4);
  problem.mask = static_cast<mask_kind>(3);
  expect(problem, status_code::invalid_argument, "mask", "= 3, allowed: none, keep, additive");
  problem = matrix(2, 4);
  problem.anchor = static_cast<causal_anchor>(2);
  expect(problem, status_code::invalid_argument, "anchor", "= 2, allowed: bottom_right, top_left");
  problem = matrix(2, 4);
  problem.input = static_cast<data_type>(77);
  expect(problem, status_code::unsupported_type, "input", "unknown, allowed: fp32, fp16, bf16");
}

TEST(softmax_plan, every_row_has_a_place) {
  for (std::int64_t columns = 1; columns < 40000; columns += columns < 600 ? 1 : 977)
    for (const std::int64_t rows : {1, 5, 100000}) {
      const softmax_plan p = plan(matrix(rows, columns), mi300x);
      ASSERT_TRUE(p.outcome.ok());
      const std::int64_t lanes = p.kernel == softmax_kernel::short_rows ? 1 << p.lanes_log2 : 64;
      const std::int64_t chunks = columns / p.chunk, tail = columns % p.chunk;
      if (p.kernel == softmax_kernel::short_rows) {
        ASSERT_LE(chunks, lanes * p.config.slots);
      }
      ASSERT_LE(tail, lanes);
      ASSERT_GE(p.groups * p.rows_per_group, rows);
      ASSERT_LT((p.groups - 1) * p.rows_per_group, rows);
      ASSERT_EQ(p.readings, 1);
    }
}

TEST(softmax_plan, counts_the_least_traffic) {
  softmax_problem problem = matrix(8192, 1024);
  EXPECT_EQ(plan(problem, mi300x).min_bytes_read, 8192 * 1024 * 4);
  EXPECT_EQ(plan(problem, mi300x).min_bytes_written, 8192 * 1024 * 4);
  problem.mask = mask_kind::keep;
  EXPECT_EQ(plan(problem, mi300x).min_bytes_read, 8192 * 1024 * 5);
  // causal: as many elements as a loop counts
  for (const std::int64_t queries : {1, 4, 7})
    for (const std::int64_t keys : {1, 4, 7, 12})
      for (const auto anchor : {causal_anchor::bottom_right, causal_anchor::top_left}) {
        softmax_problem causal = matrix(3 * queries, keys);
        causal.causal = true;
        causal.queries = queries;
        causal.anchor = anchor;
        const auto limit = kernels::make_causal_limit(queries, keys, anchor);
        std::int64_t elements = 0;
        for (std::int64_t row = 0; row < 3 * queries; ++row)
          elements += limit.visible(row, keys);
        EXPECT_EQ(plan(causal, mi300x).min_bytes_read, elements * 4) << queries << " x " << keys;
      }
}

TEST(softmax_plan, says_what_it_does_and_why) {
  const auto text = plan(matrix(100, 1000), mi300x).describe();
  const std::string words = text.c_str();
  for (const char* part :
       {"wave_rows:", "25 workgroups of 256", "16-byte accesses",
        "not short_rows: a row has 250 chunks", "not workgroup: wave_rows holds the row",
        "not stream: it reads the input twice"})
    EXPECT_NE(words.find(part), std::string::npos) << part << " in\n" << words;
  softmax_problem odd = matrix(100, 1000);
  odd.aligned = false;
  EXPECT_NE(std::string(plan(odd, mi300x).describe().c_str()).find("at element alignment"),
            std::string::npos);
  EXPECT_NE(std::string(plan(matrix(0, 5), mi300x).describe().c_str()).find("empty"),
            std::string::npos);
  EXPECT_EQ(plan(matrix(0, 5), mi300x).launches, 0);
}

} // namespace
