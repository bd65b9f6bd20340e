// What the kernels issue and move, counted by wavesim; skipped on a GPU.
#include "attention_case.hpp"

#include "sim_counters.hpp"

#include <map>
#include <string>

namespace {

using namespace wavetile;
using namespace wavetile::test;

template <class T>
std::optional<wavesim_counts> count(const attention_case<T>& c) {
  device_buffer<T> q(c.q), k(c.k), v(c.v);
  device_buffer<T> o(c.o_array().span());
  device_buffer<float> lse(static_cast<std::size_t>(c.batch * c.q_heads * c.queries));
  attention_options options = c.options;
  if (c.want_lse)
    options.lse = make_view(lse.data(), c.batch, c.q_heads, c.queries);
  return count_kernels([&] {
    const status outcome = attention(c.q_array().view_of(static_cast<const T*>(q.data())),
                                     c.k_array().view_of(static_cast<const T*>(k.data())),
                                     c.v_array().view_of(static_cast<const T*>(v.data())),
                                     c.o_array().view_of(o.data()), options);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
  });
}

/// One tile of queries against two numbers of keys: the difference is the steady loop.
struct loop_cost {
  double slots;     ///< vector slots of a score; a transcendental instruction takes four
  double vector;    ///< vector issue, as a share of the matrix unit's clocks
  double lds;       ///< clocks of the LDS of a CU while its four SIMDs do the matrix work
  double conflicts; ///< clocks lost in LDS
  double others;    ///< scalar, memory and other instructions, of a wave and step
};

template <class T>
std::optional<loop_cost> steady_loop(int head,
                                     attention_choice kernel = attention_choice::independent) {
  const std::int64_t queries = kernel == attention_choice::alternating ? 256 : 128;
  std::optional<wavesim_counts> counts[2];
  for (int i = 0; i < 2; ++i) {
    // scores that never rise by much: as in a long run, the reference stays where the first step
    // put it
    attention_case<T> c{.queries = queries, .keys = 512 + 512 * i, .qk = head, .value = head};
    c.options.scale = 0.01f;
    c.options.kernel = kernel;
    c.fill(3);
    counts[i] = count(c);
    if (!counts[i])
      return std::nullopt;
  }
  const auto difference = [&](auto member) {
    return static_cast<double>(counts[1].value().*member - counts[0].value().*member);
  };
  const auto instructions = [&](wavesim_unit unit) {
    return static_cast<double>(counts[1]->instructions[unit] - counts[0]->instructions[unit]);
  };
  const double waves = static_cast<double>(queries) / 32;
  const double lane_scores = waves * 32 * 512 / 64; // of a wave instruction
  const double slots = instructions(wavesim_unit_valu) + 4 * instructions(wavesim_unit_trans);
  const double matrix = difference(&wavesim_counts::mfma_clocks);
  loop_cost cost{};
  cost.slots = slots / lane_scores;
  cost.vector = 4 * slots / matrix; // a vector instruction takes 4 clocks of its SIMD
  cost.lds = difference(&wavesim_counts::lds_clocks) / (matrix / 4);
  cost.conflicts = difference(&wavesim_counts::lds_conflicts);
  cost.others = (instructions(wavesim_unit_salu) + instructions(wavesim_unit_branch) +
                 instructions(wavesim_unit_wait)) /
                (waves * 8);
  std::printf("head %d: %.2f vector slots a score, vector issue %.1f %%, LDS %.1f %% of matrix "
              "clocks, %.0f scalar instructions a step\n",
              head, cost.slots, 100 * cost.vector, 100 * cost.lds, cost.others);
  return cost;
}

// Least: product with the scale 0.5, maximum 0.5, difference 0.5, exp2 4, sum 0.5, rounding to
// bf16 1.5; and V's transposition.
TEST(attention_cost, of_the_steady_loop) {
  const auto large = steady_loop<bf16>(128);
  if (!large)
    GTEST_SKIP() << "only wavesim counts";
  EXPECT_LE(large->slots, 9.0);
  EXPECT_LE(large->vector, 0.65);
  EXPECT_LE(large->lds, 0.65);
  EXPECT_EQ(large->conflicts, 0);
  const auto by_turns = steady_loop<bf16>(128, attention_choice::alternating);
  EXPECT_LE(by_turns->slots, 9.0);
  EXPECT_LE(by_turns->vector, 0.65);
  EXPECT_LE(by_turns->lds, 0.65);
  EXPECT_EQ(by_turns->conflicts, 0);
  const auto small = steady_loop<bf16>(64);
  EXPECT_LE(small->slots, 9.0);
  EXPECT_LE(small->lds, 0.65);
  EXPECT_EQ(small->conflicts, 0);
}

TEST(attention_cost, of_the_steady_loop_in_fp16) {
  const auto large = steady_loop<fp16>(128);
  if (!large)
    GTEST_SKIP() << "only wavesim counts";
  EXPECT_LE(large->slots, 9.0); // rounding to fp16 takes 1.5
  EXPECT_LE(steady_loop<fp16>(128, attention_choice::alternating)->slots, 9.0);
  EXPECT_LE(steady_loop<fp16>(64)->slots, 9.0);
}

/// Multiplications and additions of the matrix instructions that a plan announces: rows of V are
/// padded to 32 elements.
std::uint64_t planned_flops(const attention_case<bf16>& c) {
  attention_problem problem;
  problem.head = {static_cast<int>(c.qk), static_cast<int>(c.value)};
  problem.batch = c.batch;
  problem.q_heads = c.q_heads;
  problem.kv_heads = c.kv_heads;
  problem.queries = c.queries;
  problem.keys = c.keys;
  problem.causal = c.options.causal;
  problem.window = c.options.window;
  const std::int64_t scores = plan(problem, describe_device("gfx942", 304, 8)).computed_scores;
  return static_cast<std::uint64_t>(2 * scores * (c.qk + (c.value + 31) / 32 * 32));
}

TEST(attention_cost, is_what_the_plan_says_for_every_head) {
  for (const attention_head head : attention_heads)
    for (const int kind : {0, 1, 2}) {
      attention_case<bf16> c{
          .q_heads = 2, .kv_heads = 1, .queries = 300, .keys = 330, .qk = head.qk, .value = head.v};
      c.options.causal = kind == 1;
      if (kind == 2)
        c.options.window = {40, 10};
      c.fill(2);
      const auto counts = count(c);
      if (!counts)
        GTEST_SKIP() << "only wavesim counts";
      EXPECT_EQ(counts->mfma_flops, planned_flops(c)) << "heads of " << head.qk << ", " << kind;
      EXPECT_EQ(counts->lds_conflicts, 0u) << "heads of " << head.qk << ", " << kind;
      EXPECT_EQ(counts->scratch_bytes_read + counts->scratch_bytes_written, 0u);
      EXPECT_EQ(counts->dispatches, 1u);
      if (!kernels::attention_alternates(head))
        continue;
      c.options.kernel = attention_choice::alternating;
      const auto by_turns = count(c);
      EXPECT_EQ(by_turns->mfma_flops, counts->mfma_flops) << kind;
      EXPECT_EQ(by_turns->lds_conflicts, 0u);
      EXPECT_EQ(by_turns->scratch_bytes_read + by_turns->scratch_bytes_written, 0u);
    }
}

// A kernel touches the lines of its arrays, each counted once, and nothing else: no matrix of
// scores. A workgroup touches those of its queries and of the keys that they see.
TEST(attention_cost, in_lines_is_that_of_the_arrays) {
  for (const int d : {64, 128})
    for (const bool causal : {false, true}) {
      attention_case<bf16> c{.batch = 2,
                             .q_heads = 4,
                             .kv_heads = 2,
                             .queries = 256,
                             .keys = 256,
                             .qk = d,
                             .value = d};
      c.options.causal = causal;
      c.options.axes = attention_axes::bhsd; // rows of a head in lines of their own
      c.want_lse = true;
      c.fill(2);
      const auto counts = count(c);
      if (!counts)
        GTEST_SKIP() << "only wavesim counts";
      const auto lines = [&](std::int64_t rows) {
        return static_cast<std::uint64_t>(rows * d * 2 / 128);
      };
      EXPECT_EQ(counts->lines_read, lines(2 * 256 * (4 + 2 * 2)));
      EXPECT_EQ(counts->lines_written, lines(2 * 256 * 4) + 2 * 4 * 256 * 4 / 128);
      // two tiles a head, of which under the causal mask the first sees half the keys
      const std::int64_t keys = causal ? 128 + 256 : 2 * 256;
      EXPECT_EQ(counts->group_lines_read, 2 * 4 * (lines(256) + lines(2 * keys)));
      EXPECT_EQ(counts->group_lines_written, counts->lines_written);
      if (!kernels::attention_alternates({d, d}))
        continue;
      // one tile a head: each line once
      c.options.kernel = attention_choice::alternating;
      const auto by_turns = count(c);
      EXPECT_EQ(by_turns->lines_read, counts->lines_read);
      EXPECT_EQ(by_turns->lines_written, counts->lines_written);
      EXPECT_EQ(by_turns->group_lines_read, 2 * 4 * lines(256 + 2 * 256));
      EXPECT_EQ(by_turns->group_lines_written, counts->lines_written);
    }
}

} // namespace
