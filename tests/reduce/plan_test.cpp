// What the reduction plan chooses, and why. No device and no HIP.
#include <wavetile/kernels/reduce/plan.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

constexpr device_info mi300x = describe_device("gfx942:sramecc+:xnack-", 304, 8);

reduce_problem problem_of(reduce_form form, std::int64_t leading, std::int64_t reduced,
                          std::int64_t columns = 1, std::int64_t workspace = 0) {
  reduce_problem problem;
  problem.form = form;
  problem.leading = leading;
  problem.reduced = reduced;
  problem.columns = columns;
  problem.workspace_bytes = workspace;
  return problem;
}

reduce_kernel kernel_for(const reduce_problem& problem) {
  return plan(problem, mi300x).kernel;
}

TEST(reduce_plan, chooses_by_form_and_length) {
  using kernel = reduce_kernel;
  using form = reduce_form;
  constexpr std::int64_t lent = 1 << 20;
  EXPECT_EQ(kernel_for(problem_of(form::rows, 1000, 7)), kernel::row_lanes);
  EXPECT_EQ(kernel_for(problem_of(form::rows, 1000, 2051)), kernel::row_lanes);
  EXPECT_EQ(kernel_for(problem_of(form::rows, 1000, 2052)), kernel::row_workgroup);
  EXPECT_EQ(kernel_for(problem_of(form::rows, 3, 1000000)), kernel::row_workgroup);
  EXPECT_EQ(kernel_for(problem_of(form::rows, 3, 1000000, 1, lent)), kernel::row_split);
  EXPECT_EQ(kernel_for(problem_of(form::rows, 304, 1000000, 1, lent)), kernel::row_workgroup);
  EXPECT_EQ(kernel_for(problem_of(form::columns, 1, 1000, 1000)), kernel::columns);
  EXPECT_EQ(kernel_for(problem_of(form::columns, 1, 1000, 1000, lent)), kernel::columns_split);
  EXPECT_EQ(kernel_for(problem_of(form::columns, 1, 1000, 1 << 20, lent << 10)), kernel::columns);
  EXPECT_EQ(kernel_for(problem_of(form::all, 5000, 1000)), kernel::all_workgroup);
  EXPECT_EQ(kernel_for(problem_of(form::all, 5000, 1000, 1, lent)), kernel::all_split);
  EXPECT_EQ(kernel_for(problem_of(form::all, 5, 10, 1, lent)), kernel::all_workgroup);
}

TEST(reduce_plan, asks_for_the_workspace_it_uses) {
  for (const auto form : {reduce_form::rows, reduce_form::columns, reduce_form::all}) {
    auto problem = problem_of(form, 2, 500000, form == reduce_form::columns ? 9 : 1);
    problem.value_bytes = 16;
    const reduce_plan without = plan(problem, mi300x);
    EXPECT_EQ(without.workspace_bytes, 0);
    EXPECT_EQ(without.launches, 1);
    ASSERT_GT(without.best_workspace_bytes, 0);
    problem.workspace_bytes = without.best_workspace_bytes;
    const reduce_plan with = plan(problem, mi300x);
    EXPECT_TRUE(with.outcome.ok());
    EXPECT_EQ(with.launches, 2);
    EXPECT_EQ(with.workspace_bytes, without.best_workspace_bytes);
    EXPECT_GT(with.groups, without.groups);
    problem.workspace_bytes -= 1;
    const reduce_plan less = plan(problem, mi300x);
    EXPECT_EQ(less.outcome.code(), status_code::workspace_too_small);
    const std::string message = less.outcome.message();
    EXPECT_NE(message.find(std::to_string(problem.workspace_bytes)), std::string::npos);
    EXPECT_NE(message.find(std::to_string(without.best_workspace_bytes)), std::string::npos);
  }
}

TEST(reduce_plan, parts_cover_everything_once) {
  for (std::int64_t n = 1; n < 30000000; n = n * 3 + 1) {
    const auto rows = plan(problem_of(reduce_form::rows, 2, n, 1, 1 << 30), mi300x);
    if (rows.kernel == reduce_kernel::row_split) {
      EXPECT_GE(rows.parts * rows.part_length, n / 4);
      EXPECT_LT((rows.parts - 1) * rows.part_length, n / 4);
      EXPECT_LE(rows.parts, 1024);
    }
    const auto columns = plan(problem_of(reduce_form::columns, 2, n, 10, 1 << 30), mi300x);
    if (columns.kernel == reduce_kernel::columns_split) {
      EXPECT_GE(columns.parts * columns.part_length, n);
      EXPECT_LT((columns.parts - 1) * columns.part_length, n);
      EXPECT_LE(columns.parts, 1024);
    }
  }
}

TEST(reduce_plan, does_nothing_without_results) {
  for (const auto form : {reduce_form::rows, reduce_form::columns}) {
    const reduce_plan p = plan(problem_of(form, 0, 10), mi300x);
    EXPECT_EQ(p.launches, 0);
    EXPECT_NE(std::string(p.describe().c_str()).find("nothing to do"), std::string::npos);
  }
  // an axis without elements still has results
  EXPECT_EQ(plan(problem_of(reduce_form::rows, 3, 0), mi300x).launches, 1);
  EXPECT_EQ(plan(problem_of(reduce_form::columns, 1, 0, 5), mi300x).launches, 1);
}

TEST(reduce_plan, refuses_numbers_that_no_enumerator_has) {
  auto problem = problem_of(static_cast<reduce_form>(3), 3, 10);
  EXPECT_STREQ(plan(problem, mi300x).outcome.message(),
               "invalid_argument: form = 3, allowed: rows, columns, all");
  problem = problem_of(reduce_form::rows, 3, 10);
  problem.input = static_cast<data_type>(16);
  EXPECT_STREQ(
      plan(problem, mi300x).outcome.message(),
      "unsupported_type: input: its elements are unknown, allowed: fp64, fp32, fp16, bf16, "
      "int32, int64");
}

TEST(reduce_plan, refuses_types_that_no_call_takes) {
  auto problem = problem_of(reduce_form::rows, 3, 10);
  problem.input = data_type::int8;
  EXPECT_STREQ(plan(problem, mi300x).outcome.message(),
               "unsupported_type: input: its elements are int8, allowed: fp64, fp32, fp16, bf16, "
               "int32, int64");
  problem = problem_of(reduce_form::rows, 3, 10);
  problem.output = data_type::fp8_e4m3_fnuz;
  EXPECT_EQ(plan(problem, mi300x).outcome.code(), status_code::unsupported_type);
  EXPECT_STREQ(plan(problem, mi300x).outcome.argument(), "output");
}

TEST(reduce_plan, refuses_counts_that_no_array_has) {
  const auto message = [](const reduce_problem& problem) {
    return std::string(plan(problem, mi300x).outcome.message());
  };
  EXPECT_EQ(message(problem_of(reduce_form::rows, -1, 10)),
            "invalid_argument: leading = -1, allowed: >= 0");
  EXPECT_EQ(message(problem_of(reduce_form::all, 1, -10)),
            "invalid_argument: reduced = -10, allowed: >= 0");
  EXPECT_EQ(message(problem_of(reduce_form::columns, 1, 10, -3)),
            "invalid_argument: columns = -3, allowed: >= 0");
  auto problem = problem_of(reduce_form::rows, 1, 10);
  for (const int bytes : {0, 17, INT32_MAX}) {
    problem.value_bytes = bytes;
    EXPECT_EQ(message(problem),
              "invalid_argument: value_bytes = " + std::to_string(bytes) + ", allowed: 1 to 16");
  }
  for (const auto form : {reduce_form::rows, reduce_form::all})
    EXPECT_EQ(message(problem_of(form, 1, 10, 0)),
              "invalid_argument: columns = 0, allowed: 1 to 1");
  // nothing to reduce, but results
  const std::int64_t many = std::int64_t{1} << 30;
  EXPECT_EQ(message(problem_of(reduce_form::columns, many, 0, many)),
            "unsupported_shape: leading, columns: their product is above 2^58, allowed: at most "
            "2^58 elements");
  // no results of more elements than there can be: an empty array
  const reduce_plan nothing = plan(problem_of(reduce_form::columns, many, many * 2, 0), mi300x);
  EXPECT_TRUE(nothing.outcome.ok()) << nothing.outcome.message();
  EXPECT_EQ(nothing.min_bytes_read, 0);
  EXPECT_EQ(nothing.launches, 0);
  EXPECT_EQ(
      message(problem_of(reduce_form::rows, INT64_MAX, INT64_MAX)),
      "unsupported_shape: leading, reduced, columns: their product is above 2^58, allowed: at "
      "most 2^58 elements");
}

TEST(reduce_plan, says_what_it_does_and_why) {
  const std::string words =
      plan(problem_of(reduce_form::rows, 3, 1000000), mi300x).describe().c_str();
  for (const char* part :
       {"row_workgroup: 3 workgroups of 256", "16-byte accesses", "not row_split: it needs",
        "not columns: it reduces another axis", "not row_lanes: 1000000 elements"})
    EXPECT_NE(words.find(part), std::string::npos) << part << " in\n" << words;
  const reduce_plan other =
      plan(problem_of(reduce_form::rows, 3, 10), describe_device("gfx1100", 96));
  EXPECT_EQ(other.outcome.code(), status_code::wrong_architecture);
}

} // namespace
