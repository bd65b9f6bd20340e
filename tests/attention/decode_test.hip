// Few queries over a cache of keys and values, with and without pages. Compiled once for each
// element type.
#include "attention_case.hpp"

#include <wavetile/attention_decode.hpp>

#include <algorithm>
#include <numeric>

namespace {

using namespace wavetile;
using namespace wavetile::test;
using element = WAVETILE_TEST_ELEMENT;
using problem = attention_case<element>;

/// Sequences of different lengths, checked one by one against the reference.
struct decode_case {
  std::int64_t q_heads = 8, kv_heads = 2, queries = 1;
  int qk = 64, value = 64;
  std::vector<std::int64_t> keys; ///< of each sequence
  std::int64_t page_rows = 0;     ///< 0: no pages
  std::int64_t room = 0;          ///< rows of a sequence in a cache without pages
  bool share = true;              ///< lend a workspace
  attention_axes axes = attention_axes::bshd;
  attention_decode_options options = {};
  std::vector<attention_case<element>> own = {};
  std::vector<element> o = {};
  std::vector<float> lse = {};

  std::int64_t batch() const { return static_cast<std::int64_t>(keys.size()); }

  void fill(std::uint64_t seed) {
    own.clear();
    for (std::size_t b = 0; b < keys.size(); ++b) {
      attention_case<element> c{.q_heads = q_heads,
                                .kv_heads = kv_heads,
                                .queries = queries,
                                .keys = keys[b],
                                .qk = qk,
                                .value = value};
      c.options.causal = options.causal;
      c.options.window = options.window;
      c.options.softcap = options.softcap;
      c.want_lse = true;
      c.fill(seed + 7 * b);
      own.push_back(c);
    }
  }

  void run() {
    const std::int64_t longest = *std::max_element(keys.begin(), keys.end());
    const bool paged = page_rows != 0;
    const std::int64_t per_sequence = paged ? (longest + page_rows - 1) / page_rows + 1 : 1;
    const std::int64_t rows = paged ? page_rows : room;
    const std::int64_t units = paged ? batch() * per_sequence + 3 : batch();
    // pages in an order of their own; what belongs to no row is poison
    std::vector<std::int32_t> order(static_cast<std::size_t>(units));
    std::iota(order.begin(), order.end(), 0);
    random_source source(5);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(
          order[i - 1],
          order[static_cast<std::size_t>(source.between(0, static_cast<std::int64_t>(i) - 1))]);
    const placed_array<element> k_place{units, rows, kv_heads, qk, axes, {8, 0, 0}},
        v_place{units, rows, kv_heads, value, axes, {}},
        q_place{batch(), queries, q_heads, qk, axes, {}},
        o_place{batch(), queries, q_heads, value, axes, {}};
    const auto poisoned = [](std::size_t count) {
      return std::vector<element>(count, element::from_bits(0xFFFF));
    };
    auto k = poisoned(k_place.span()), v = poisoned(v_place.span()), q = poisoned(q_place.span());
    std::vector<std::int32_t> lengths;
    for (std::int64_t b = 0; b < batch(); ++b) {
      const auto& c = own[static_cast<std::size_t>(b)];
      lengths.push_back(static_cast<std::int32_t>(c.keys));
      c.k_array().each([&](auto, auto s, auto h, auto d) {
        const std::int64_t unit =
            paged ? order[static_cast<std::size_t>(b * per_sequence + s / page_rows)] : b;
        k[k_place.at(unit, paged ? s % page_rows : s, h, d)] = c.k[c.k_array().dense(0, s, h, d)];
      });
      c.v_array().each([&](auto, auto s, auto h, auto d) {
        const std::int64_t unit =
            paged ? order[static_cast<std::size_t>(b * per_sequence + s / page_rows)] : b;
        v[v_place.at(unit, paged ? s % page_rows : s, h, d)] = c.v[c.v_array().dense(0, s, h, d)];
      });
      c.q_array().each([&](auto, auto s, auto h, auto d) {
        q[q_place.at(b, s, h, d)] = c.q[c.q_array().dense(0, s, h, d)];
      });
    }
    device_buffer<element> dq(q), dk(k), dv(v), result(o_place.span());
    device_buffer<float> logs(static_cast<std::size_t>(batch() * q_heads * queries));
    device_buffer<std::int32_t> list(order), counts(lengths);
    attention_decode_options all = options;
    all.axes = axes;
    all.kv_length = counts.data();
    all.lse = make_view(logs.data(), batch(), q_heads, queries);
    if (paged)
      all.pages = make_view(static_cast<const std::int32_t*>(list.data()), batch(), per_sequence);
    const auto q_view = q_place.view_of(static_cast<const element*>(dq.data()));
    const auto k_view = k_place.view_of(static_cast<const element*>(dk.data()));
    const auto v_view = v_place.view_of(static_cast<const element*>(dv.data()));
    const auto o_view = o_place.view_of(result.data());
    const attention_decode_plan plan =
        plan_decode(attention_decode_problem_of(q_view, k_view, v_view, o_view, all),
                    describe_device("gfx942", 304, 8), 0);
    EXPECT_EQ(plan.best_workspace_bytes > 0, (paged ? per_sequence * page_rows : room) > 512);
    device_buffer<float> memory(share ? static_cast<std::size_t>(plan.best_workspace_bytes / 4)
                                      : 0);
    if (share && plan.best_workspace_bytes != 0)
      all.memory = {memory.data(), plan.best_workspace_bytes};
    const status outcome = attention_decode(q_view, k_view, v_view, o_view, all);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    const auto image = result.download();
    lse = logs.download();
    o.clear();
    for (std::int64_t b = 0; b < batch(); ++b) {
      auto& c = own[static_cast<std::size_t>(b)];
      c.o.assign(static_cast<std::size_t>(queries * q_heads * value), element{});
      c.o_array().each([&](auto, auto s, auto h, auto d) {
        c.o[c.o_array().dense(0, s, h, d)] = image[o_place.at(b, s, h, d)];
      });
      const auto first = lse.begin() + b * q_heads * queries;
      c.lse.assign(first, first + q_heads * queries);
      o.insert(o.end(), c.o.begin(), c.o.end());
    }
  }

  void check() const {
    for (const auto& c : own)
      c.check();
  }
  void run_and_check() {
    run();
    if (!testing::Test::HasFatalFailure())
      check();
  }
};

TEST(attention_decode, pages_of_every_size) {
  for (const std::int64_t page_rows : {16, 32, 64, 128, 256})
    for (const bool share : {false, true}) {
      decode_case c{.keys = {1, 700, 64, 515}, .page_rows = page_rows, .share = share};
      c.fill(static_cast<std::uint64_t>(page_rows));
      c.run_and_check();
      if (HasFatalFailure())
        return;
    }
}

TEST(attention_decode, numbers_of_queries) {
  for (const std::int64_t queries : {1, 2, 5, 16, 17})
    for (const std::int64_t page_rows : {0, 32}) {
      decode_case c{.q_heads = 6,
                    .kv_heads = 2,
                    .queries = queries,
                    .keys = {queries, 200, 90},
                    .page_rows = page_rows,
                    .room = 600};
      c.fill(static_cast<std::uint64_t>(queries));
      c.run_and_check();
      if (HasFatalFailure())
        return;
    }
}

TEST(attention_decode, every_head) {
  for (const attention_head head : attention_heads)
    for (const std::int64_t page_rows : {0, 16}) {
      decode_case c{.q_heads = 4,
                    .kv_heads = 1,
                    .queries = 2,
                    .qk = head.qk,
                    .value = head.v,
                    .keys = {530, 33},
                    .page_rows = page_rows,
                    .room = 540};
      c.fill(static_cast<std::uint64_t>(head.qk));
      c.run_and_check();
      if (HasFatalFailure())
        return;
    }
}

TEST(attention_decode, groups_windows_caps_and_orders) {
  const std::int64_t heads[][2] = {{8, 8}, {40, 8}, {71, 1}};
  for (const auto& count : heads)
    for (const attention_axes axes : {attention_axes::bshd, attention_axes::bhsd}) {
      decode_case c{.q_heads = count[0],
                    .kv_heads = count[1],
                    .queries = 3,
                    .keys = {610, 70},
                    .page_rows = 64,
                    .axes = axes};
      c.options.window = {count[1] == 8 ? 50 : -1, -1};
      c.options.softcap = count[0] == 71 ? 2.0f : 0.0f;
      c.fill(static_cast<std::uint64_t>(count[0]));
      c.run_and_check();
      if (HasFatalFailure())
        return;
    }
}

TEST(attention_decode, empty_and_short_sequences) {
  // no keys, and fewer keys than queries
  decode_case c{.queries = 4, .keys = {0, 2, 600}, .page_rows = 16};
  c.fill(3);
  c.run_and_check();
}

// A sequence's result is the same wherever it stands, however many others there are, each time,
// with pages and without.
TEST(attention_decode, is_the_same_bit_for_bit) {
  decode_case one{.queries = 2, .keys = {700}, .page_rows = 16};
  one.fill(11);
  one.run_and_check();
  decode_case many{.queries = 2, .keys = {650, 3, 700, 100}, .page_rows = 16};
  many.fill(2);
  many.own[2] = one.own[0];
  for (int i = 0; i < 2; ++i) {
    many.run_and_check();
    ASSERT_TRUE(verify_bits(many.own[2].o, one.o));
  }
  decode_case rows{.queries = 2, .keys = {700}, .room = 720}; // the pages have room for 720 too
  rows.fill(11);
  rows.run_and_check();
  ASSERT_TRUE(verify_bits(rows.o, one.o));
}

#if WAVETILE_CUDA

// Parts that one workgroup takes in turn, without a workspace, have the bits of workgroups that
// take one each and of the second kernel: of every head, with windows, more queries and short
// sequences.
TEST(attention_decode, parts_in_turn_have_the_same_bits) {
  for (const attention_head head : attention_heads)
    for (const std::int64_t left : {-1, 600}) {
      decode_case c{.queries = 3,
                    .qk = head.qk,
                    .value = head.v,
                    .keys = {1400, 2, 700, 1025},
                    .page_rows = left < 0 ? 64 : 0,
                    .room = 1500};
      c.options.window = {left, -1};
      c.fill(static_cast<std::uint64_t>(head.qk + left));
      c.run_and_check();
      const auto o = c.o;
      const auto lse = c.lse;
      c.share = false;
      c.run_and_check();
      if (HasFatalFailure())
        return;
      ASSERT_TRUE(verify_bits(c.o, o)) << head.qk;
      ASSERT_TRUE(verify_bits(c.lse, lse)) << head.qk;
    }
}

// So have tiles that fill the device by themselves, for which a workspace is of no use.
TEST(attention_decode, tiles_that_fill_the_device_take_parts_in_turn) {
  constexpr std::int64_t keys = 1100, heads = 4, d = 64;
  device_info device;
  ASSERT_TRUE(stream_device(nullptr, device).ok());
  problem c{.q_heads = heads, .kv_heads = heads, .keys = keys};
  c.fill(21);
  device_buffer<element> q(c.q), k(c.k), v(c.v);
  const auto run = [&](std::int64_t batch, std::int64_t parts, std::vector<element>& result) {
    const auto in = [&](const element* data, std::int64_t rows) { // all sequences are one
      return make_strided_view<const element, 4>(data, {batch, rows, heads, d},
                                                 {0, heads * d, d, 1});
    };
    device_buffer<element> o(static_cast<std::size_t>(batch * heads * d));
    const auto out = make_view(o.data(), batch, 1, heads, d);
    const attention_problem wanted =
        attention_decode_problem_of(in(q.data(), 1), in(k.data(), keys), in(v.data(), keys), out);
    attention_decode_plan plan = plan_decode(wanted, device, 0);
    device_buffer<unsigned char> memory(static_cast<std::size_t>(plan.best_workspace_bytes));
    attention_decode_options options;
    if (plan.best_workspace_bytes > 0)
      options.memory = {memory.data(), plan.best_workspace_bytes};
    plan = plan_decode(wanted, device, plan.best_workspace_bytes);
    EXPECT_EQ(plan.parts, parts);
    EXPECT_EQ(plan.parts_in_turn, 3 / parts);
    EXPECT_EQ(plan.part_keys, 384); // of 1100 / 3, in whole steps
    EXPECT_EQ(plan.groups, batch * heads * parts);
    EXPECT_EQ(plan.launches, parts == 1 ? 1 : 2);
    const status outcome =
        attention_decode(in(q.data(), 1), in(k.data(), keys), in(v.data(), keys), out, options);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    result = o.download();
  };
  std::vector<element> one, many;
  run(1, 3, one);
  run(device.cu_count, 1, many); // four workgroups a multiprocessor
  ASSERT_FALSE(HasFatalFailure());
  c.o = one;
  c.check();
  for (std::int64_t b = 0; b < device.cu_count; ++b)
    ASSERT_TRUE(verify_bits(
        std::vector<element>(many.begin() + b * heads * d, many.begin() + (b + 1) * heads * d),
        one));
}

#endif

// A NaN in a key reaches all queries of its head, in whichever part of the keys it is.
TEST(attention_decode, nans_of_all_parts_count) {
  for (const std::int64_t row : {3, 699})
    for (const bool share : {false, true}) {
      decode_case c{.q_heads = 4, .keys = {700}, .room = 700, .share = share};
      c.fill(8);
      auto& own = c.own[0];
      own.k[own.k_array().dense(0, row, 1, 5)] = convert<element>(NAN);
      c.run();
      ASSERT_FALSE(HasFatalFailure());
      for (std::int64_t h = 0; h < 4; ++h) {
        ASSERT_EQ(std::isnan(c.lse[static_cast<std::size_t>(h)]), h >= 2) << row << ", " << share;
        for (std::int64_t d = 0; d < 64; ++d)
          ASSERT_EQ(std::isnan(as_double(own.o[own.o_array().dense(0, 0, h, d)])), h >= 2)
              << row << ", " << share;
      }
    }
}

// One key outweighs all others so far that their weights are 0 in fp32: its value is the result,
// but what is not finite among the others makes a NaN of its column, whether its part of the keys
// is the one of the large score, or comes before it or later.
TEST(attention_decode, values_of_weight_0_count_if_they_are_not_finite) {
  constexpr std::int64_t keys = 1500;
  const struct {
    std::int64_t large, spoilt;
  } rows[] = {{0, 1}, {0, 300}, {300, 0}, {0, keys - 1}, {keys - 1, 0}, {keys / 2, 3}};
  for (const float value : {INFINITY, -INFINITY, NAN})
    for (const bool share : {false, true})
      for (const auto& row : rows) {
        decode_case c{.q_heads = 2, .kv_heads = 1, .keys = {keys}, .room = keys, .share = share};
        c.fill(4);
        auto& own = c.own[0];
        for (std::int64_t h = 0; h < 2; ++h)
          own.q[own.q_array().dense(0, 0, h, 0)] = convert<element>(16.0f);
        own.k_array().each([&](auto, auto s, auto, auto d) {
          own.k[own.k_array().dense(0, s, 0, d)] =
              convert<element>(d == 0 && s == row.large ? 128.0f : 0.0f);
        });
        own.v[own.v_array().dense(0, row.spoilt, 0, 9)] = convert<element>(value);
        c.run();
        ASSERT_FALSE(HasFatalFailure());
        for (std::int64_t h = 0; h < 2; ++h) {
          // 16 * 128 / sqrt(64), rounded when taken to base 2 and back
          ASSERT_NEAR(own.lse[static_cast<std::size_t>(h)], 256, 256 * 0x1p-22);
          for (std::int64_t d = 0; d < 64; ++d) {
            const double got = as_double(own.o[own.o_array().dense(0, 0, h, d)]);
            if (d == 9)
              ASSERT_TRUE(std::isnan(got)) << row.large << ", " << row.spoilt << ", " << share;
            else
              ASSERT_EQ(got, as_double(own.v[own.v_array().dense(0, row.large, 0, d)]))
                  << row.large << ", " << row.spoilt << ", " << share;
          }
        }
      }
}

// Rows beyond the end are read as others that exist: an infinity in the last row stays one.
TEST(attention_decode, infinities_stay_infinite) {
  for (const std::int64_t page_rows : {0, 16, 64})
    for (const std::int64_t keys : {1, 33, 70}) {
      decode_case c{.q_heads = 2,
                    .kv_heads = 1,
                    .queries = 1,
                    .keys = {keys},
                    .page_rows = page_rows,
                    .room = 80};
      c.fill(6);
      auto& v = c.own[0].v;
      v[v.size() - 64 + 9] = convert<element>(INFINITY);
      c.run();
      ASSERT_FALSE(HasFatalFailure());
      for (std::size_t i = 0; i < c.o.size(); ++i)
        if (i % 64 == 9)
          ASSERT_EQ(as_double(c.o[i]), INFINITY) << keys << " keys";
        else
          ASSERT_TRUE(std::isfinite(as_double(c.o[i]))) << keys << " keys";
    }
}

// Rows of a cache without pages may lie further apart than 32 bits of bytes reach: the same as side
// by side.
TEST(attention_decode, rows_far_apart) {
  constexpr std::int64_t keys = 70, step = (std::int64_t{1} << 24) - 512, d = 64;
  problem c{.keys = keys};
  c.fill(9);
  void* memory = nullptr;
  const std::size_t bytes = sizeof(element) * static_cast<std::size_t>((keys - 1) * step + 2 * d);
  if (hipMalloc(&memory, bytes) != hipSuccess) {
    (void)hipGetLastError();
    GTEST_SKIP() << "no room for " << bytes << " bytes";
  }
  auto* const cache = static_cast<element*>(memory); // a row of k, then one of v
  for (std::int64_t j = 0; j < keys; ++j) {
    const auto from = static_cast<std::size_t>(j * d);
    ASSERT_EQ(hipMemcpy(cache + j * step, &c.k[from], sizeof(element) * d, hipMemcpyHostToDevice),
              hipSuccess);
    ASSERT_EQ(
        hipMemcpy(cache + j * step + d, &c.v[from], sizeof(element) * d, hipMemcpyHostToDevice),
        hipSuccess);
  }
  device_buffer<element> q(c.q), o(c.o_array().span());
  const auto in = [&](const element* first) {
    return make_strided_view<const element, 4>(first, {1, keys, 1, d}, {0, step, d, 1});
  };
  const status outcome =
      attention_decode(c.q_array().view_of(static_cast<const element*>(q.data())), in(cache),
                       in(cache + d), c.o_array().view_of(o.data()));
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  c.o = o.download();
  EXPECT_EQ(hipFree(memory), hipSuccess);
  c.check();
}

// With more rows than one wave has it is the kernel that arrays have; NVIDIA: of heads for which
// these have no kernel of warpgroups.
TEST(attention_decode, agrees_with_attention) {
  constexpr int d = WAVETILE_CUDA ? 96 : 64;
  decode_case c{.queries = 9, .qk = d, .value = d, .keys = {333}, .page_rows = 128, .share = false};
  c.fill(4);
  c.run_and_check();
  auto whole = c.own[0];
  whole.run();
  ASSERT_TRUE(verify_bits(c.own[0].o, whole.o));
}

TEST(attention_decode, refuses) {
  device_buffer<element> q(8 * 64), cache(4 * 48 * 64), o(8 * 64);
  device_buffer<std::int32_t> list(std::vector<std::int32_t>{0, 1, 2, 3});
  const auto call = [&](std::int64_t page_rows, attention_decode_options options,
                        std::int64_t batch = 2) {
    const auto in = make_view(static_cast<const element*>(cache.data()), 4, page_rows, 1, 64);
    return attention_decode(make_view(static_cast<const element*>(q.data()), batch, 1, 2, 64), in,
                            in, make_view(o.data(), batch, 1, 2, 64), options);
  };
  attention_decode_options paged;
  paged.pages = make_view(static_cast<const std::int32_t*>(list.data()), 2, 2);
  const struct {
    status outcome;
    const char* argument;
    const char* words;
  } refused[] = {
      {call(48, paged), "k.extent[1]", "48"},
      {call(8, paged), "k.extent[1]", "16, 32, 64, 128 or 256"},
      {call(16, paged, 1), "pages.extent[0]", "2"},
      {call(16, {}, 2), "k.extent[0]", "4"},
      {call(16, {.max_kv_length = -1}, 4), "max_kv_length", "-1"},
      {call(16, {.scale = INFINITY}, 4), "scale", "infinity"},
  };
  for (const auto& one : refused) {
    EXPECT_STREQ(one.outcome.argument(), one.argument) << one.outcome.message();
    EXPECT_NE(std::string(one.outcome.message()).find(one.words), std::string::npos)
        << one.outcome.message();
  }
  EXPECT_TRUE(o.untouched());
}

TEST(attention_decode, wants_all_of_its_workspace) {
  constexpr std::int64_t rows = 1024;
  device_buffer<element> q(64), cache(rows * 64), o(64);
  device_buffer<float> memory(100);
  attention_decode_options options;
  options.memory = {memory.data(), 400};
  const auto in = make_view(static_cast<const element*>(cache.data()), 1, rows, 1, 64);
  const status outcome =
      attention_decode(make_view(static_cast<const element*>(q.data()), 1, 1, 1, 64), in, in,
                       make_view(o.data(), 1, 1, 1, 64), options);
  EXPECT_EQ(outcome.code(), status_code::workspace_too_small);
  EXPECT_NE(std::string(outcome.message()).find(std::to_string(2 * 65 * 4)), std::string::npos)
      << outcome.message();
  EXPECT_TRUE(o.untouched());
}

} // namespace
