// What plans of products refuse, in which words. No device.
#include "plan_problem.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr device_info h200 = describe_device("sm_90", 132, 1);
constexpr device_info a100 = describe_device("sm_80", 108, 1);

TEST(matmul_plan, refuses_counts_that_no_array_has) {
  const auto expect = [](const matmul_problem& problem, const char* message) {
    EXPECT_EQ(std::string(plan(problem, mi300x).outcome.message()), message);
  };
  expect(problem_of(-4, 4, 4), "invalid_argument: m = -4, allowed: >= 0");
  expect(problem_of(4, -4, 4), "invalid_argument: n = -4, allowed: >= 0");
  expect(problem_of(4, 4, -4), "invalid_argument: k = -4, allowed: >= 0");
  auto problem = problem_of(4, 4, 4);
  problem.batches = -1;
  expect(problem, "invalid_argument: batches = -1, allowed: >= 0");
  problem = problem_of(4, 4, 4);
  problem.splits = -7;
  expect(problem, "invalid_argument: splits = -7, allowed: >= 0");
  problem = problem_of(4, 4, 4);
  problem.columns_per_output = 0;
  expect(problem, "invalid_argument: columns_per_output = 0, allowed: >= 1");
  problem = problem_of(4, 4, 4);
  for (const int wrong : {0, -2, 3, 96, INT32_MIN}) {
    problem.k_multiple = wrong;
    expect(problem,
           ("invalid_argument: k_multiple = " + std::to_string(wrong) + ", allowed: a power of two")
               .c_str());
  }
  for (const int right : {1, 2, 128}) {
    problem.k_multiple = right;
    EXPECT_TRUE(plan(problem, mi300x).outcome.ok()) << right;
  }
  expect(problem_of(INT64_MAX, INT64_MAX, INT64_MAX),
         "unsupported_shape: m, k, batches: their product is above 2^58, allowed: at most 2^58 "
         "elements");
  expect(problem_of(0, 4, std::int64_t{1} << 59),
         "unsupported_shape: m, k, batches: one of them, or a product of some, is above 2^58, "
         "allowed: at most 2^58 elements");
}

TEST(matmul_plan, refuses_numbers_that_no_enumerator_has) {
  const auto message = [](const matmul_problem& problem) {
    return std::string(plan(problem, mi300x).outcome.message());
  };
  auto problem = problem_of(64, 64, 64);
  problem.choice = static_cast<matmul_choice>(matmul_choice_count);
  EXPECT_EQ(message(problem).find("invalid_argument: choice = 8, allowed: automatic, large"), 0u)
      << message(problem);
  EXPECT_EQ(message(problem), plan(problem, mi300x).describe().c_str());
  problem = problem_of(64, 64, 64);
  problem.order_b = static_cast<operand_order>(2);
  EXPECT_EQ(message(problem), "invalid_argument: order_b = 2, allowed: k_contiguous, k_strided");
  problem = problem_of(64, 64, 64);
  problem.a = static_cast<data_type>(50);
  EXPECT_EQ(message(problem),
            "unsupported_type: a: its elements are unknown, allowed: those of data_type");
}

TEST(matmul_plan, refuses_types_that_no_call_multiplies) {
  using enum data_type;
  const struct {
    data_type a, b, c, d;
    const char* message; // null: there are such calls
  } cases[] = {
      {int32, int32, fp32, fp32,
       "a: its elements are int32, allowed: fp64, fp32, fp16, bf16, int8, fp8_e4m3_fnuz, "
       "fp8_e5m2_fnuz"},
      {fp8_e4m3_ocp, fp8_e4m3_ocp, fp32, fp32,
       "a: its elements are fp8_e4m3_ocp, allowed: fp64, fp32, fp16, bf16, int8, fp8_e4m3_fnuz, "
       "fp8_e5m2_fnuz"},
      {fp32, bf16, fp32, fp32, "b: its elements are bf16, allowed: fp32"},
      {fp8_e4m3_fnuz, int8, fp32, fp32,
       "b: its elements are int8, allowed: fp8_e4m3_fnuz, fp8_e5m2_fnuz"},
      {fp32, fp32, fp32, bf16, "d: its elements are bf16, allowed: fp32"},
      {fp64, fp64, fp64, fp32, "d: its elements are fp32, allowed: fp64"},
      {bf16, bf16, bf16, int32,
       "d: its elements are int32, allowed: fp32, fp16, bf16, int8, fp8_e4m3_fnuz, "
       "fp8_e5m2_fnuz"},
      {int8, int8, bf16, fp8_e4m3_fnuz,
       "d: its elements are fp8_e4m3_fnuz, allowed: int32, fp32, fp16, bf16, int8"},
      {int8, int8, fp32, int32, "c: its elements are fp32, allowed: int32"},
      {bf16, bf16, fp64, bf16,
       "c: its elements are fp64, allowed: fp32, fp16, bf16, or the type of d"},
      {fp8_e4m3_fnuz, fp8_e5m2_fnuz, fp32, int8, nullptr},
      {fp8_e5m2_fnuz, fp8_e5m2_fnuz, fp8_e5m2_fnuz, fp8_e5m2_fnuz, nullptr},
      {fp16, fp16, bf16, fp8_e4m3_fnuz, nullptr},
      {int8, int8, int32, int32, nullptr},
      {fp64, fp64, fp64, fp64, nullptr}};
  for (const auto& one : cases) {
    auto problem = problem_of(64, 64, 64);
    problem.a = one.a;
    problem.b = one.b;
    problem.c = one.c;
    problem.d = one.d;
    problem.reads_c = true;
    EXPECT_EQ(plan(problem, mi300x).outcome.message(),
              one.message == nullptr ? "success" : std::string("unsupported_type: ") + one.message);
  }
  // c that is not read may be anything
  auto problem = problem_of(64, 64, 64);
  problem.c = fp64;
  EXPECT_TRUE(plan(problem, mi300x).outcome.ok());
  // the 8-bit floats of a device are its own
  problem.a = problem.b = fp8_e4m3_fnuz;
  EXPECT_STREQ(plan(problem, h200).outcome.message(),
               "unsupported_type: a: its elements are fp8_e4m3_fnuz, allowed: fp64, fp32, fp16, "
               "bf16, int8, fp8_e4m3_ocp, fp8_e5m2_ocp");
}

TEST(matmul_plan, nvidia_refuses_what_it_has_no_code_for) {
  auto problem = problem_of(4096, 4096, 4096);
  problem.choice = matmul_choice::wide;
  auto refused = plan(problem, h200).outcome;
  EXPECT_EQ(refused.code(), status_code::unsupported_shape);
  EXPECT_EQ(std::string(refused.message()), "unsupported_shape: kernel: it is wide, of which there "
                                            "is no code for bf16 on sm_90; allowed: large, "
                                            "middle, compact, skinny");
  EXPECT_TRUE(plan(problem, mi300x).outcome.ok());
  problem = problem_of(33, 4096, 4096);
  problem.choice = matmul_choice::skinny;
  EXPECT_EQ(std::string(plan(problem, h200).outcome.message()),
            "unsupported_shape: kernel: skinny takes at most 32 rows of op(A), here are 33");
  problem = problem_of(4096, 4096, 4096);
  problem.a = problem.b = data_type::fp8_e4m3_ocp;
  EXPECT_TRUE(plan(problem, h200).outcome.ok());
  refused = plan(problem, a100).outcome;
  EXPECT_EQ(refused.code(), status_code::unsupported_type);
  EXPECT_NE(std::string(refused.message()).find("fp8_e4m3_ocp, which sm_80"), std::string::npos)
      << refused.message();
}

} // namespace
