// Heads that share K and V, the causal mask, windows, caps, scales, layouts, packed sequences.
// Compiled once for each element type.
#include "attention_case.hpp"

namespace {

using namespace wavetile;
using namespace wavetile::test;
using element = WAVETILE_TEST_ELEMENT;
using problem = attention_case<element>;

TEST(attention_groups, every_query_head_meets_its_own) {
  const struct {
    std::int64_t q, kv;
  } heads[] = {{8, 8}, {8, 4}, {32, 8}, {40, 8}, {12, 4}, {71, 1}, {64, 1}};
  for (const auto& count : heads)
    for (const int qk : {64, 128})
      for (const std::int64_t queries : {3, 17}) { // rows of several heads in a tile, and of one
        problem c{.q_heads = count.q,
                  .kv_heads = count.kv,
                  .queries = queries,
                  .keys = 70,
                  .qk = qk,
                  .value = qk};
        c.fill();
        for (auto& x : c.k) // uniform scores
          x = convert<element>(0.0f);
        const auto place = c.v_array();
        place.each([&](auto b, auto s, auto h, auto d) {
          c.v[place.dense(b, s, h, d)] = convert<element>(static_cast<float>(h + 1));
        });
        c.run();
        ASSERT_FALSE(HasFatalFailure());
        // one unit in the last place of the result
        const double relative = 2 * unit_of<element>().relative;
        c.o_array().each([&](auto b, auto s, auto h, auto d) {
          const double expected = static_cast<double>(h / (count.q / count.kv) + 1);
          ASSERT_NEAR(as_double(c.o[c.o_array().dense(b, s, h, d)]), expected, expected * relative)
              << count.q << " and " << count.kv << " heads, head " << h;
        });
      }
}

TEST(attention_groups, packed_rows_are_the_same_bit_for_bit) {
  // 16 queries: rows of four heads interleaved; the first 16 of 17: a tile for each head
  problem small{.batch = 2, .q_heads = 8, .kv_heads = 2, .queries = 16, .keys = 100};
  small.want_lse = true;
  small.options.causal = true;
  small.options.anchor = causal_anchor::top_left; // the same keys for both
  small.fill(9);
  small.run_and_check();
  problem large = small;
  large.queries = 17;
  large.q.assign(static_cast<std::size_t>(2 * 17 * 8 * 64), convert<element>(1.0f));
  small.q_array().each([&](auto b, auto s, auto h, auto d) {
    large.q[large.q_array().dense(b, s, h, d)] = small.q[small.q_array().dense(b, s, h, d)];
  });
  large.run_and_check();
  ASSERT_FALSE(HasFatalFailure());
  small.o_array().each([&](auto b, auto s, auto h, auto d) {
    ASSERT_EQ(small.o[small.o_array().dense(b, s, h, d)].bits,
              large.o[large.o_array().dense(b, s, h, d)].bits);
  });
}

TEST(attention_causal, anchors) {
  const auto run = [](std::int64_t queries, std::int64_t keys, causal_anchor anchor) {
    problem c{.queries = queries, .keys = keys};
    c.options.causal = true;
    c.options.anchor = anchor;
    c.fill();
    for (auto* array : {&c.q, &c.k, &c.v})
      for (auto& x : *array)
        x = convert<element>(0.0f);
    for (std::int64_t j = 0; j < keys && j < 64; ++j) // row j of v is unit vector j
      c.v[static_cast<std::size_t>(j * 64 + j)] = convert<element>(1.0f);
    if (keys == 1000)
      for (std::int64_t j = 0; j < keys; ++j)
        c.v[static_cast<std::size_t>(j * 64)] = convert<element>(static_cast<float>(j));
    c.run();
    return c;
  };
  const auto at = [](const problem& c, std::int64_t i, std::int64_t d) {
    return as_double(c.o[static_cast<std::size_t>(i * 64 + d)]);
  };
  const double u = 2 * unit_of<element>().relative;
  const problem wide = run(2, 5, causal_anchor::bottom_right);
  for (std::int64_t d = 0; d < 64; ++d) {
    EXPECT_EQ(at(wide, 0, d), d < 4 ? 0.25 : 0.0);
    EXPECT_NEAR(at(wide, 1, d), d < 5 ? 0.2 : 0.0, 0.2 * u);
  }
  const problem tall = run(5, 2, causal_anchor::bottom_right);
  for (std::int64_t i = 0; i < 5; ++i)
    for (std::int64_t d = 0; d < 64; ++d)
      EXPECT_EQ(at(tall, i, d), i < 3              ? 0.0
                                : d == 0           ? (i == 3 ? 1.0 : 0.5)
                                : d == 1 && i == 4 ? 0.5
                                                   : 0.0)
          << i << ' ' << d;
  const problem long_row = run(1, 1000, causal_anchor::bottom_right);
  EXPECT_NEAR(at(long_row, 0, 0), 499.5, 499.5 * 2 * u);
  const problem first = run(1, 1000, causal_anchor::top_left);
  EXPECT_EQ(at(first, 0, 0), 0.0);
}

TEST(attention_window, and_anchor_and_cap_and_scale) {
  std::uint64_t seed = 1;
  for (const bool causal : {false, true})
    for (const causal_anchor anchor : {causal_anchor::bottom_right, causal_anchor::top_left})
      for (const std::int64_t left : {-1, 0, 5, 100})
        for (const std::int64_t right : {-1, 0, 40}) {
          if (causal && right > 0)
            continue;
          problem c{.queries = 150, .keys = 210};
          if (left == 5) // more queries than keys, of which some see nothing
            c.queries = 230;
          c.options.causal = causal;
          c.options.anchor = anchor;
          c.options.window = {left, right};
          c.options.scale = left == 100 ? -0.3f : 0.1f;
          c.options.softcap = right == 0 ? 3.0f : 0.0f;
          c.want_lse = true;
          c.fill(seed += 3);
          c.run_and_check();
          if (HasFatalFailure())
            return;
        }
}

// Caps near the logits, far above them and beyond fp32's digits of them: the bound does not grow.
TEST(attention_softcap, keeps_the_digits_of_small_logits) {
  for (const float cap : {0.5f, 20.0f, 1e4f, 1e6f, 1e30f}) {
    problem c{.queries = 33, .keys = 130};
    c.options.softcap = cap;
    c.want_lse = true;
    c.fill();
    c.run_and_check();
  }
}

TEST(attention_scale, of_zero_averages) {
  problem c{.queries = 3, .keys = 80};
  c.options.scale = 0.0f;
  c.fill();
  c.run_and_check();
}

TEST(attention_values, scores_do_not_overflow) {
  for (const float size : {300.0f, 8000.0f, 20000.0f})
    for (const bool mixed : {false, true}) {
      SCOPED_TRACE(size);
      problem c{.queries = 2, .keys = 3};
      c.options.scale = 0.1f; // products of scores with it are not exact
      c.want_lse = true;
      c.fill();
      for (auto& x : c.q)
        x = convert<element>(size);
      for (std::int64_t j = 0; j < 3; ++j)
        for (std::int64_t d = 0; d < 64; ++d) {
          const auto at = static_cast<std::size_t>(j * 64 + d);
          c.k[at] = convert<element>(mixed && j > 0 ? -size : size);
          c.v[at] = convert<element>(j == 0 ? 1.0f : j == 1 ? 2.0f : 6.0f);
        }
      c.run_and_check();
      for (const element x : c.o)
        ASSERT_EQ(as_double(x), mixed ? 1.0 : 3.0);
    }
}

TEST(attention_values, nans_stay_in_their_rows) {
  problem c{.queries = 40, .keys = 100};
  c.fill();
  c.q[7 * 64 + 3] = convert<element>(NAN);
  c.run();
  for (std::int64_t i = 0; i < c.queries; ++i)
    for (std::int64_t d = 0; d < 64; ++d)
      ASSERT_EQ(std::isnan(as_double(c.o[static_cast<std::size_t>(i * 64 + d)])), i == 7);
  c.fill();
  c.v[50 * 64 + 9] = convert<element>(INFINITY); // reaches every query, in one element
  c.run();
  for (std::int64_t i = 0; i < c.queries; ++i)
    for (std::int64_t d = 0; d < 64; ++d)
      ASSERT_EQ(std::isfinite(as_double(c.o[static_cast<std::size_t>(i * 64 + d)])), d != 9);
}

TEST(attention_values, nans_of_masks_count) {
  problem c{.queries = 2, .keys = 8};
  c.fill();
  std::vector<float> values(16, 0.0f);
  values[3] = NAN;
  device_buffer<float> mask(values);
  c.run(make_view(static_cast<const float*>(mask.data()), 2, 8));
  for (std::size_t i = 0; i < c.o.size(); ++i)
    ASSERT_EQ(std::isnan(as_double(c.o[i])), i < 64);
}

// The step between rows does not count where there is one, and what lies behind it is not read.
TEST(attention_values, of_an_only_key) {
  for (const float special : {INFINITY, -0.0f}) {
    problem c{.queries = 3, .keys = 1};
    c.fill();
    c.v[9] = convert<element>(special);
    device_buffer<element> q(c.q), k(c.k), v(c.v);
    device_buffer<element> o(std::size_t{3 * 64});
    const auto input = [](const device_buffer<element>& from, std::int64_t rows,
                          std::int64_t step) {
      return make_strided_view<const element, 4>(from.data(), {1, rows, 1, 64}, {0, step, 64, 1});
    };
    const std::int64_t far = std::int64_t{1} << 31; // 2^32 bytes
    ASSERT_TRUE(attention(input(q, 3, 64), input(k, 1, far), input(v, 1, far),
                          make_view(o.data(), 1, 3, 1, 64))
                    .ok());
    const auto got = o.download();
    for (std::size_t i = 0; i < got.size(); ++i)
      if (i % 64 == 9)
        ASSERT_EQ(as_double(got[i]), static_cast<double>(special)); // a -0 is 0 then
      else
        ASSERT_EQ(got[i].bits, c.v[i % 64].bits);
  }
}

// Keys beyond the end count nothing, though without a step between rows they are where the others
// are: an infinity stays one.
TEST(attention_values, of_rows_that_overlap) {
  for (const std::int64_t step : {0, 1, 8}) {
    problem c{.queries = 3, .keys = 70};
    c.fill();
    std::vector<element> line(static_cast<std::size_t>(64 + 69 * step));
    for (std::size_t i = 0; i < line.size(); ++i)
      line[i] = convert<element>(static_cast<float>(i % 7));
    line.back() = convert<element>(INFINITY); // element 63 of the last row
    c.v_array().each([&](auto, auto s, auto, auto d) {
      c.v[c.v_array().dense(0, s, 0, d)] = line[static_cast<std::size_t>(s * step + d)];
    });
    device_buffer<element> q(c.q), k(c.k), v(line), o(c.o_array().span());
    ASSERT_TRUE(attention(c.q_array().view_of(static_cast<const element*>(q.data())),
                          c.k_array().view_of(static_cast<const element*>(k.data())),
                          make_strided_view<const element, 4>(v.data(), {1, 70, 1, 64},
                                                              {64 + 69 * step, step, 64, 1}),
                          c.o_array().view_of(o.data()))
                    .ok());
    c.o = o.download();
    for (std::size_t i = 0; i < c.o.size(); ++i)
      if (i % 64 == 63)
        ASSERT_EQ(as_double(c.o[i]), INFINITY) << "step " << step;
      else
        ASSERT_TRUE(std::isfinite(as_double(c.o[i]))) << "step " << step << ", element " << i % 64;
  }
}

TEST(attention_values, small_values_of_v_survive) {
  problem c{.queries = 1, .keys = 5};
  c.fill();
  for (auto& x : c.v)
    x = element::from_bits(1); // the smallest denormal
  c.run();
  for (const element x : c.o)
    ASSERT_EQ(x.bits, 1);
}

TEST(attention_layout, any_order_and_padding) {
  for (const int d : {64, 128}) {
    problem dense{
        .batch = 2, .q_heads = 4, .kv_heads = 2, .queries = 62, .keys = 70, .qk = d, .value = d};
    dense.fill(4);
    dense.run_and_check();
    for (int which = 0; which < 6; ++which) {
      problem c = dense;
      if (which == 4)
        c.options.axes = attention_axes::bhsd;
      padding* rooms[] = {&c.q_room, &c.k_room, &c.v_room, &c.o_room};
      for (int i = 0; i < 4; ++i)
        if (which == i || which == 4)
          *rooms[i] = {8, 3, 0};
        else if (which == 5) // shifted and odd: rows at element alignment only
          *rooms[i] = {1 + i, 1, static_cast<std::size_t>(1 + i)};
      c.run();
      ASSERT_TRUE(verify_bits(c.o, dense.o)) << "case " << which << ", heads of " << d;
    }
  }
}

TEST(attention_layout, broadcast_keys) {
  problem c{.batch = 2, .q_heads = 2, .kv_heads = 2, .queries = 5, .keys = 66};
  c.fill(8);
  // both batches and heads read the same
  const auto place = c.k_array();
  place.each([&](auto b, auto s, auto h, auto d) {
    c.k[place.dense(b, s, h, d)] = c.k[place.dense(0, s, 0, d)];
    c.v[place.dense(b, s, h, d)] = c.v[place.dense(0, s, 0, d)];
  });
  c.run_and_check();
  std::vector<element> k1, v1;
  for (std::int64_t s = 0; s < c.keys; ++s)
    for (std::int64_t d = 0; d < 64; ++d) {
      k1.push_back(c.k[place.dense(0, s, 0, d)]);
      v1.push_back(c.v[place.dense(0, s, 0, d)]);
    }
  device_buffer<element> q(c.q), k(k1), v(v1), o(c.o.size());
  const auto in = [&](device_buffer<element>& buffer) {
    return make_strided_view<const element, 4>(buffer.data(), {2, c.keys, 2, 64}, {0, 64, 0, 1});
  };
  ASSERT_TRUE(attention(make_view(static_cast<const element*>(q.data()), 2, c.queries, 2, 64),
                        in(k), in(v), make_view(o.data(), 2, c.queries, 2, 64))
                  .ok());
  ASSERT_TRUE(verify_bits(o.download(), c.o));
}

TEST(attention_sequences, equal_runs_of_their_own) {
  const std::vector<std::int64_t> queries{1, 17, 0, 64, 130, 2}, keys{3, 17, 5, 65, 200, 0};
  for (const int d : {64, 80, 128})
    for (const bool causal : {false, true})
      for (const std::int64_t gap : {0, 5}) {
        constexpr std::int64_t q_heads = 4, kv_heads = 2;
        std::vector<problem> own;
        std::vector<std::int32_t> q_begin{0}, kv_begin{0}, q_length, kv_length;
        std::vector<element> q, k, v;
        const auto append = [&](std::vector<element>& to, const std::vector<element>& values,
                                std::int64_t row) {
          to.insert(to.end(), values.begin(), values.end());
          to.insert(to.end(), static_cast<std::size_t>(gap * row), element::from_bits(0xFFFF));
        };
        for (std::size_t i = 0; i < queries.size(); ++i) {
          problem c{.q_heads = q_heads,
                    .kv_heads = kv_heads,
                    .queries = queries[i],
                    .keys = keys[i],
                    .qk = d,
                    .value = d};
          c.options.causal = causal;
          c.want_lse = true;
          c.fill(20 + i);
          append(q, c.q, q_heads * d);
          append(k, c.k, kv_heads * d);
          append(v, c.v, kv_heads * d);
          q_begin.push_back(q_begin.back() + static_cast<std::int32_t>(queries[i] + gap));
          kv_begin.push_back(kv_begin.back() + static_cast<std::int32_t>(keys[i] + gap));
          q_length.push_back(static_cast<std::int32_t>(queries[i]));
          kv_length.push_back(static_cast<std::int32_t>(keys[i]));
          if (queries[i] != 0)
            c.run_and_check();
          own.push_back(c);
        }
        const std::int64_t q_rows = q_begin.back(), kv_rows = kv_begin.back();
        std::vector<attention_choice> kernels{attention_choice::automatic};
        if (d == 128 && !WAVETILE_CUDA) // the plan takes it for many rows only
          kernels.push_back(attention_choice::alternating);
        for (const attention_choice kernel : kernels) {
          device_buffer<element> dq(q), dk(k), dv(v), o(q.size());
          device_buffer<float> lse(static_cast<std::size_t>(q_heads * q_rows));
          device_buffer<std::int32_t> qb(q_begin), kb(kv_begin), ql(q_length), kl(kv_length);
          attention_options options;
          options.kernel = kernel;
          options.causal = causal;
          options.lse = make_view(lse.data(), 1, q_heads, q_rows);
          options.sequences = {.q_begin = qb.data(), .kv_begin = kb.data()};
          options.sequences.batch = static_cast<std::int64_t>(queries.size());
          if (gap != 0) {
            options.sequences.q_length = ql.data();
            options.sequences.kv_length = kl.data();
            options.sequences.max_q_length = 130;
          }
          const auto in = [&](device_buffer<element>& buffer, std::int64_t rows,
                              std::int64_t heads) {
            return make_view(static_cast<const element*>(buffer.data()), 1, rows, heads, d);
          };
          const status outcome = attention(in(dq, q_rows, q_heads), in(dk, kv_rows, kv_heads),
                                           in(dv, kv_rows, kv_heads),
                                           make_view(o.data(), 1, q_rows, q_heads, d), options);
          ASSERT_TRUE(outcome.ok()) << outcome.message();
          const auto all = o.download();
          const auto logs = lse.download();
          for (std::size_t i = 0; i < own.size(); ++i) {
            const std::int64_t row = q_heads * d, first = q_begin[i];
            for (std::int64_t s = 0; s < queries[i] + gap; ++s)
              for (std::int64_t e = 0; e < row; ++e)
                ASSERT_EQ(all[static_cast<std::size_t>((first + s) * row + e)].bits,
                          s < queries[i] ? own[i].o[static_cast<std::size_t>(s * row + e)].bits
                                         : 0xFFFF)
                    << "sequence " << i << ", row " << s;
            for (std::int64_t h = 0; h < q_heads; ++h)
              for (std::int64_t s = 0; s < queries[i]; ++s)
                ASSERT_EQ(logs[static_cast<std::size_t>(h * q_rows + first + s)],
                          own[i].lse[static_cast<std::size_t>(h * queries[i] + s)]);
          }
        }
      }
}

TEST(attention_batches, many) {
  problem c{.batch = 4099, .q_heads = 1, .queries = 1, .keys = 1, .qk = 32, .value = 32};
  c.fill();
  c.run();
  ASSERT_FALSE(HasFatalFailure());
  ASSERT_TRUE(verify_bits(c.o, c.v));
}

TEST(attention_batches, empty) {
  problem none{.batch = 0, .queries = 3, .keys = 4};
  none.run();
  problem no_queries{.queries = 0, .keys = 4};
  no_queries.fill();
  no_queries.run();
  problem no_keys{.batch = 2, .queries = 3, .keys = 0};
  no_keys.want_lse = true;
  no_keys.fill();
  no_keys.run_and_check();
}

} // namespace
