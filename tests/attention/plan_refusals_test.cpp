// What plans of attention refuse, in which words: all that a call refuses, too. No device.
#include <wavetile/kernels/attention/decode_plan.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

constexpr device_info mi300x = describe_device("gfx942", 304, 8);

attention_problem some_problem() {
  attention_problem problem;
  problem.batch = 2;
  problem.q_heads = problem.kv_heads = 16;
  problem.keys = 1000;
  problem.queries = 300;
  return problem;
}
std::string message(const attention_problem& problem) {
  return plan(problem, mi300x).outcome.message();
}
std::string decode_message(const attention_problem& problem, std::int64_t workspace_bytes = 0) {
  return plan_decode(problem, mi300x, workspace_bytes).outcome.message();
}

TEST(attention_plan, refuses_numbers_that_no_enumerator_has) {
  attention_problem problem = some_problem();
  problem.kernel = static_cast<attention_choice>(9);
  EXPECT_EQ(message(problem),
            "invalid_argument: kernel = 9, allowed: automatic, independent, alternating");
  problem = some_problem();
  problem.mask = static_cast<mask_kind>(3);
  EXPECT_EQ(message(problem), "invalid_argument: mask = 3, allowed: none, keep, additive");
  problem = some_problem();
  problem.anchor = static_cast<causal_anchor>(2);
  EXPECT_EQ(message(problem), "invalid_argument: anchor = 2, allowed: bottom_right, top_left");
}

TEST(attention_plan, refuses_types_and_heads) {
  attention_problem problem = some_problem();
  problem.input = static_cast<data_type>(99);
  EXPECT_EQ(message(problem),
            "unsupported_type: input: its elements are unknown, allowed: fp16, bf16");
  problem.input = data_type::fp32;
  EXPECT_EQ(message(problem),
            "unsupported_type: input: its elements are fp32, allowed: fp16, bf16");
  problem = some_problem();
  problem.output = data_type::int8;
  EXPECT_EQ(message(problem),
            "unsupported_type: output: its elements are int8, allowed: fp32, fp16, bf16");
  problem = some_problem();
  problem.kv_heads = 0;
  EXPECT_EQ(message(problem), "unsupported_shape: kv_heads = 0, allowed: a divisor of q_heads, 16");
}

TEST(attention_plan, refuses_windows) {
  const struct {
    attention_window window;
    bool causal;
    const char* message;
  } cases[] = {
      {{-7, -1}, false, "invalid_argument: window.left = -7, allowed: >= 0, or -1 for no limit"},
      {{-1, -2}, true, "invalid_argument: window.right = -2, allowed: >= 0, or -1 for no limit"},
      {{3, 4},
       true,
       "invalid_argument: window.right = 4, allowed: -1 or 0 with causal, which hides all keys to "
       "the right"},
      {{3, 4}, false, "success"},
      {{3, 0}, true, "success"},
      {{-1, -1}, true, "success"}};
  for (const auto& one : cases) {
    attention_problem problem = some_problem();
    problem.window = one.window;
    problem.causal = one.causal;
    EXPECT_EQ(message(problem), one.message);
    EXPECT_EQ(decode_message(problem), one.message);
  }
}

TEST(attention_plan, refuses_kernels_that_there_are_not) {
  attention_problem problem = some_problem();
  problem.kernel = attention_choice::alternating;
  EXPECT_EQ(message(problem), "success");
  problem.mask = mask_kind::keep;
  EXPECT_NE(message(problem).find("kernel: alternating"), std::string::npos);
  problem.mask = mask_kind::none;
  for (const attention_head head : attention_heads)
    if (head != attention_head{128, 128}) {
      problem.head = head;
      EXPECT_EQ(plan(problem, mi300x).outcome.code(), status_code::unsupported_shape);
    }
}

TEST(attention_decode_plan, refuses_what_queries_over_a_cache_have_not) {
  attention_problem problem = some_problem();
  EXPECT_EQ(decode_message(problem), "success");
  EXPECT_EQ(decode_message(problem, -1), "invalid_argument: workspace_bytes = -1, allowed: >= 0");
  problem.kernel = attention_choice::alternating;
  EXPECT_EQ(decode_message(problem),
            "invalid_argument: kernel = 2, allowed: automatic, for queries over a cache");
  problem = some_problem();
  problem.mask = mask_kind::keep;
  EXPECT_EQ(decode_message(problem),
            "invalid_argument: mask = 1, allowed: none, for queries over a cache");
  problem = some_problem();
  problem.anchor = causal_anchor::top_left;
  EXPECT_EQ(decode_message(problem),
            "invalid_argument: anchor = 1, allowed: bottom_right, for queries over a cache");
}

} // namespace
