// 64 rows a warpgroup, steps of 128 keys, workgroups that take several tiles: the edges of
// the kernel that multiplies by warpgroups. They are edges of the others, too.
#include "attention_case.hpp"

#include "verify.hpp"

#include <wavetile/launch/device.hpp>

namespace {

using namespace wavetile;
using namespace wavetile::test;
using element = bf16;
using problem = attention_case<element>;

constexpr int heads_of[] = {64, 128};

TEST(attention_warpgroups, are_planned_where_there_is_code) {
  device_info device;
  ASSERT_TRUE(stream_device(nullptr, device).ok());
  const bool has_code = kernels::has_cluster_code(device);
  for (const attention_head head : attention_heads) {
    attention_problem p;
    p.head = head;
    p.q_heads = p.kv_heads = 40;
    p.queries = p.keys = 1000;
    const attention_plan found = plan(p, device);
    ASSERT_TRUE(found.outcome.ok());
    const int expected = !has_code ? 0 : head.qk == 64 ? 3 : head.qk == 128 ? 2 : 0;
    EXPECT_EQ(found.config.warpgroups, expected);
    if (expected == 0)
      continue;
    EXPECT_EQ(found.tiles, expected == 2 ? 8 : 6);
    EXPECT_EQ(found.groups, std::min<std::int64_t>(device.cu_count, 40 * found.tiles));
    EXPECT_NE(std::string(found.describe().c_str()).find(" waves, the last four of which copy"),
              std::string::npos);
    p.kernel = attention_choice::independent;
    EXPECT_EQ(plan(p, device).config, found.config);
    p.queries = 1; // bits of a query do not depend on how many there are
    EXPECT_EQ(plan(p, device).config, found.config);
  }
}

TEST(attention_warpgroups, ragged) {
  std::uint64_t seed = 1;
  for (const int d : heads_of)
    for (const bool causal : {false, true})
      for (const std::int64_t queries : {1, 63, 64, 65, 127, 128, 129, 191, 193, 257})
        for (const std::int64_t keys : {1, 64, 127, 128, 129, 255, 257, 385}) {
          problem c{.q_heads = 2, .queries = queries, .keys = keys, .qk = d, .value = d};
          c.options.causal = causal;
          c.want_lse = true;
          c.fill(seed += 3);
          c.run_and_check();
          if (HasFatalFailure())
            return;
        }
}

// Steps that one warpgroup sees and the other one does not, at both ends.
TEST(attention_warpgroups, windows) {
  for (const int d : heads_of)
    for (const std::int64_t left : {0, 5, 64, 200})
      for (const std::int64_t right : {0, 1, 63, 130}) {
        problem c{.queries = 330, .keys = 400, .qk = d, .value = d};
        c.options.window = {left, right};
        c.options.anchor = left == 5 ? causal_anchor::top_left : causal_anchor::bottom_right;
        c.want_lse = true;
        c.fill(static_cast<std::uint64_t>(left * 1000 + right));
        c.run_and_check();
        if (HasFatalFailure())
          return;
      }
}

// Rows at odd addresses, whose elements are copied one by one, each array by itself; scales that
// change the queries.
TEST(attention_warpgroups, any_address_and_scale) {
  for (const int d : heads_of)
    for (int odd = 0; odd < 16; ++odd)
      for (const float scale : {0.125f, -0.125f, 0.0f}) {
        problem c{.q_heads = 2, .queries = 140, .keys = 270, .qk = d, .value = d};
        c.options.causal = true;
        c.options.scale = scale;
        c.want_lse = true;
        for (padding* room : {&c.q_room, &c.k_room, &c.v_room, &c.o_room}) {
          const int bit = static_cast<int>(room - &c.q_room);
          if ((odd >> bit & 1) != 0)
            *room = {.element = 1 + 2 * bit, .shift = 1};
        }
        c.fill(static_cast<std::uint64_t>(odd));
        c.run_and_check();
        if (HasFatalFailure())
          return;
      }
}

// What lies in keys that nobody sees does not get out of LDS, where later tiles have their keys.
TEST(attention_warpgroups, hidden_keys_leave_nothing) {
  for (const int d : heads_of)
    for (const float poison : {NAN, INFINITY}) {
      problem c{.batch = 40, .q_heads = 4, .queries = 64, .keys = 300, .qk = d, .value = d};
      c.options.causal = true;
      c.options.anchor = causal_anchor::top_left; // the first 64 keys
      c.want_lse = true;
      c.fill(7);
      for (std::int64_t b = 0; b < c.batch; ++b)
        for (std::int64_t j = 128; j < c.keys; ++j) // those of the first step count as zeros
          for (std::int64_t e = 0; e < d; ++e) {
            c.k[c.k_array().dense(b, j, 0, e)] = convert<element>(poison);
            c.v[c.v_array().dense(b, j, 0, e)] = convert<element>(poison);
          }
      c.run();
      ASSERT_FALSE(HasFatalFailure());
      for (std::int64_t b = 0; b < c.batch; ++b)
        for (std::int64_t j = 128; j < c.keys; ++j)
          for (std::int64_t e = 0; e < d; ++e)
            c.k[c.k_array().dense(b, j, 0, e)] = c.v[c.v_array().dense(b, j, 0, e)] = element{};
      c.check();
      if (HasFatalFailure())
        return;
    }
}

/// A batch of more tiles than workgroups: each entry has the bits that it has alone, and the third
/// is right.
template <class T, class Output>
void expect_entries_alone(attention_case<T, Output> all) {
  all.want_lse = true;
  all.fill(static_cast<std::uint64_t>(all.qk));
  all.run();
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  for (std::int64_t b = 0; b < all.batch; ++b) {
    auto one = all;
    one.batch = 1;
    const auto part = [&](const auto& of) {
      const auto size = static_cast<std::ptrdiff_t>(of.size()) / all.batch;
      return std::decay_t<decltype(of)>(of.begin() + b * size, of.begin() + (b + 1) * size);
    };
    one.q = part(all.q);
    one.k = part(all.k);
    one.v = part(all.v);
    if (b == 2)
      one.run_and_check();
    else
      one.run();
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    ASSERT_TRUE(verify_bits(one.o, part(all.o))) << "batch " << b;
    ASSERT_TRUE(verify_bits(one.lse, part(all.lse))) << "batch " << b;
  }
}

TEST(attention_warpgroups, many_tiles) {
  for (const int d : heads_of)
    for (const bool causal : {false, true}) {
      problem c{.batch = 7,
                .q_heads = 30,
                .kv_heads = 10,
                .queries = 300,
                .keys = 310,
                .qk = d,
                .value = d};
      c.options.causal = causal;
      expect_entries_alone(c);
      if (HasFatalFailure())
        return;
    }
}

// Steps that some warpgroups skip at both ends, in each of several tiles of a workgroup; K row by
// row where it is odd, V in copies; fp32 results; queries of the other sign.
TEST(attention_warpgroups, many_tiles_with_windows) {
  for (const int d : heads_of)
    for (const bool other : {false, true}) {
      attention_case<fp16, float> c{
          .batch = 40, .q_heads = 4, .queries = 330, .keys = 400, .qk = d, .value = d};
      c.options.window = other ? attention_window{64, 0} : attention_window{5, 1};
      if (other) {
        c.options.scale = -0.1f;
        c.k_room = {.element = 3, .shift = 1};
      }
      expect_entries_alone(c);
      if (HasFatalFailure())
        return;
    }
}

// Sequences without queries, or without keys, between others: workgroups go past them.
TEST(attention_warpgroups, tiles_without_rows) {
  constexpr std::int64_t batch = 150, heads = 3, rows = 200;
  for (const int d : heads_of) {
    problem c{.batch = batch,
              .q_heads = heads,
              .kv_heads = heads,
              .queries = rows,
              .keys = rows,
              .qk = d,
              .value = d};
    c.fill(3);
    std::vector<std::int32_t> q_length, kv_length;
    for (std::int32_t b = 0; b < batch; ++b) {
      q_length.push_back(b % 5 == 0 ? 0 : b * 37 % 201);
      kv_length.push_back(b % 7 == 0 ? 0 : b * 53 % 201);
    }
    device_buffer<element> q(c.q), k(c.k), v(c.v), o(c.q.size());
    device_buffer<std::int32_t> ql(q_length), kl(kv_length);
    attention_options options;
    options.causal = true;
    options.sequences.q_length = ql.data();
    options.sequences.kv_length = kl.data();
    const auto in = [&](device_buffer<element>& buffer) {
      return make_view(static_cast<const element*>(buffer.data()), batch, rows, heads, d);
    };
    ASSERT_TRUE(
        attention(in(q), in(k), in(v), make_view(o.data(), batch, rows, heads, d), options).ok());
    const auto all = o.download();
    for (std::int64_t b = 0; b < batch; b += b < 12 ? 1 : 9) {
      const std::int64_t queries = q_length[static_cast<std::size_t>(b)];
      const std::int64_t keys = kv_length[static_cast<std::size_t>(b)];
      problem one{.q_heads = heads,
                  .kv_heads = heads,
                  .queries = queries,
                  .keys = keys,
                  .qk = d,
                  .value = d};
      one.options.causal = true;
      const auto part = [&](const std::vector<element>& of, std::int64_t count) {
        const auto first = of.begin() + b * rows * heads * d;
        return std::vector<element>(first, first + count * heads * d);
      };
      one.q = part(c.q, queries);
      one.k = part(c.k, keys);
      one.v = part(c.v, keys);
      one.o = part(all, queries);
      one.check();
      if (HasFatalFailure())
        return;
      for (const element& rest :
           std::vector<element>(all.begin() + (b * rows + queries) * heads * d,
                                all.begin() + (b + 1) * rows * heads * d))
        ASSERT_EQ(rest.bits, 0xFFFF) << "batch " << b;
    }
  }
}

} // namespace
