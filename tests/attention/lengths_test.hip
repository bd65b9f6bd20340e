// Every head, ragged lengths, poisoned tails. Compiled once for each element type.
#include "attention_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;
using element = WAVETILE_TEST_ELEMENT;
using problem = attention_case<element>;

constexpr attention_head both_tuned[] = {{64, 64}, {128, 128}};

TEST(attention_lengths, ragged) {
  constexpr std::int64_t lengths[] = {1, 2, 9, 31, 63, 64, 65, 127, 129};
  std::uint64_t seed = 1;
  for (const attention_head head : both_tuned)
    for (const bool causal : {false, true})
      for (const std::int64_t queries : lengths)
        for (const std::int64_t keys : lengths) {
          // a part of the square is enough: neighbours and extremes
          if ((queries * 7 + keys) % 3 != 0 && queries != keys && queries != 1 && keys != 1)
            continue;
          problem c{.q_heads = 2,
                    .kv_heads = 2,
                    .queries = queries,
                    .keys = keys,
                    .qk = head.qk,
                    .value = head.v};
          c.options.causal = causal;
          c.want_lse = true;
          c.fill(seed += 3);
          c.run_and_check();
          if (HasFatalFailure())
            return;
        }
}

TEST(attention_lengths, several_steps) {
  for (const attention_head head : both_tuned)
    for (const bool causal : {false, true})
      for (const std::int64_t keys : {500, 503, 1001}) {
        problem c{.queries = 33, .keys = keys, .qk = head.qk, .value = head.v};
        c.options.causal = causal;
        c.want_lse = true;
        c.fill(static_cast<std::uint64_t>(keys));
        c.run_and_check();
        if (HasFatalFailure())
          return;
      }
}

// A maximum that moves in every step, and one that never does.
TEST(attention_lengths, rising_and_falling_scores) {
  for (const attention_head head : both_tuned)
    for (const float direction : {1.0f, -1.0f}) {
      problem c{.queries = 40, .keys = 450, .qk = head.qk, .value = head.v};
      c.want_lse = true;
      c.fill(5);
      for (std::int64_t j = 0; j < c.keys; ++j) // element 0: a ramp of about 45 over all keys
        c.k[static_cast<std::size_t>(j * c.qk)] = convert<element>(
            direction * static_cast<float>(j) * 0.1f * std::sqrt(static_cast<float>(c.qk)));
      for (std::int64_t i = 0; i < c.queries; ++i)
        c.q[static_cast<std::size_t>(i * c.qk)] = convert<element>(1.0f);
      c.run_and_check();
    }
}

TEST(attention_lengths, one_key_gives_its_value) {
  for (const attention_head head : attention_heads) {
    problem c{.batch = 2,
              .q_heads = 4,
              .kv_heads = 2,
              .queries = 37,
              .keys = 1,
              .qk = head.qk,
              .value = head.v};
    c.fill(3);
    c.run();
    ASSERT_FALSE(HasFatalFailure());
    c.o_array().each([&](auto b, auto s, auto h, auto d) {
      const element got = c.o[c.o_array().dense(b, s, h, d)];
      const element expected = c.v[c.v_array().dense(b, 0, h / 2, d)];
      ASSERT_EQ(got.bits, expected.bits) << "heads of " << head.qk;
    });
  }
}

TEST(attention_heads, all) {
  for (const attention_head head : attention_heads)
    for (const bool causal : {false, true}) {
      problem c{
          .q_heads = 2, .kv_heads = 1, .queries = 65, .keys = 130, .qk = head.qk, .value = head.v};
      c.options.causal = causal;
      c.want_lse = true;
      c.fill(static_cast<std::uint64_t>(head.qk + head.v));
      c.run_and_check();
      if (HasFatalFailure())
        return;
    }
}

TEST(attention_heads, others_are_refused) {
  device_buffer<element> memory(4096), out(4096);
  for (const std::int64_t d : {0, 1, 7, 48, 72, 112, 257, 320, 512}) {
    const auto in = make_view(static_cast<const element*>(memory.data()), 1, 2, 1, d);
    const status outcome = attention(in, in, in, make_view(out.data(), 1, 2, 1, d));
    EXPECT_EQ(outcome.code(), status_code::unsupported_shape) << d;
    EXPECT_STREQ(outcome.argument(), "q.extent[3]");
    EXPECT_NE(std::string(outcome.message()).find("32, 64, 80, 96, 128, 192 or 256"),
              std::string::npos)
        << outcome.message();
    EXPECT_TRUE(out.untouched());
  }
}

// Rows past the lengths, and elements past the head, hold NaNs (the buffers' poison), infinities or
// zeros: the same bits come out, and rows of o past the length stay.
TEST(attention_tails, do_not_matter) {
  struct {
    attention_head head;
    attention_choice kernel;
  } const cases[] = {
    {{64, 64}, attention_choice::automatic},
    {{128, 128}, attention_choice::automatic},
#if !WAVETILE_CUDA // which the plan takes for many rows only
    {{128, 128}, attention_choice::alternating}
#endif
  };
  for (const auto& [head, kernel] : cases) {
    std::vector<element> first;
    for (const float tail : {NAN, INFINITY, 0.0f}) {
      constexpr std::int64_t queries = 33, keys = 65, q_rows = 64, kv_rows = 128, batch = 2;
      const std::int64_t pitch = head.qk + 24;
      random_source source(11);
      const auto image = [&, &head = head](std::int64_t rows, std::int64_t used) {
        std::vector<element> values(static_cast<std::size_t>(batch * rows * pitch),
                                    convert<element>(tail));
        for (std::int64_t b = 0; b < batch; ++b)
          for (std::int64_t r = 0; r < used; ++r)
            for (std::int64_t d = 0; d < head.qk; ++d)
              values[static_cast<std::size_t>((b * rows + r) * pitch + d)] =
                  convert<element>(static_cast<float>(source.normal()));
        return values;
      };
      device_buffer<element> q(image(q_rows, queries)), k(image(kv_rows, keys)),
          v(image(kv_rows, keys));
      device_buffer<element> o(static_cast<std::size_t>(batch * q_rows * head.v));
      device_buffer<std::int32_t> q_length(std::vector<std::int32_t>(batch, queries));
      device_buffer<std::int32_t> kv_length(std::vector<std::int32_t>(batch, keys));
      const auto in = [&, &head = head](device_buffer<element>& buffer, std::int64_t rows) {
        return make_strided_view<const element, 4>(buffer.data(), {batch, rows, 1, head.qk},
                                                   {rows * pitch, pitch, pitch, 1});
      };
      attention_options options;
      options.kernel = kernel;
      options.sequences.q_length = q_length.data();
      options.sequences.kv_length = kv_length.data();
      const status outcome = attention(in(q, q_rows), in(k, kv_rows), in(v, kv_rows),
                                       make_view(o.data(), batch, q_rows, 1, head.v), options);
      ASSERT_TRUE(outcome.ok()) << outcome.message();
      const auto result = o.download();
      for (std::size_t i = 0; i < result.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i) / head.v % q_rows;
        if (row < queries)
          ASSERT_TRUE(std::isfinite(as_double(result[i]))) << "row " << row;
        else
          ASSERT_EQ(result[i].bits, 0xFFFF) << "row " << row << " was written";
      }
      if (first.empty())
        first = result;
      ASSERT_TRUE(verify_bits(result, first));
    }
  }
}

} // namespace
