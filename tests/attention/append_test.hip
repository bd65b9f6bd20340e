// New rows into a cache with rotary embeddings, and a decode step made of that and attention.
// Compiled once for each element type.
#include "attention_case.hpp"

#include <wavetile/attention_append.hpp>

namespace {

using namespace wavetile;
using namespace wavetile::test;
using element = WAVETILE_TEST_ELEMENT;

constexpr std::int64_t table_rows = 300;

/// Cosines and sines of position x pair, for angles position / 10000^(pair / pairs).
struct tables {
  std::vector<float> cosine, sine;
  explicit tables(int pairs) {
    for (std::int64_t p = 0; p < table_rows; ++p)
      for (int j = 0; j < pairs; ++j) {
        const double angle =
            static_cast<double>(p) * std::pow(10000.0, -static_cast<double>(j) / pairs);
        cosine.push_back(static_cast<float>(std::cos(angle)));
        sine.push_back(static_cast<float>(std::sin(angle)));
      }
  }
};

/// A row turned in fp64, from the definition.
std::vector<double> turned(const std::vector<double>& x, std::int64_t position, rotary_pairs pairs,
                           int elements, const tables& table) {
  std::vector<double> y = x;
  const int half = elements / 2;
  for (int j = 0; j < half && pairs != rotary_pairs::none; ++j) {
    const auto a = static_cast<std::size_t>(pairs == rotary_pairs::halves ? j : 2 * j);
    const auto b = static_cast<std::size_t>(pairs == rotary_pairs::halves ? j + half : 2 * j + 1);
    const auto at = static_cast<std::size_t>(position * half + j);
    const double c = static_cast<double>(table.cosine[at]), s = static_cast<double>(table.sine[at]);
    y[a] = x[a] * c - x[b] * s;
    y[b] = x[a] * s + x[b] * c;
  }
  return y;
}

struct append_case {
  std::int64_t n = 3, kv_heads = 2, q_heads = 4;
  int d = 64, value = 64, elements = 0;
  std::vector<std::int32_t> lengths{5, 3, 120};
  std::int64_t page_rows = 0, room = 128;
  rotary_pairs pairs = rotary_pairs::halves;
  attention_axes axes = attention_axes::bshd;

  void run_and_check() const {
    const auto batch = static_cast<std::int64_t>(lengths.size());
    const int count = elements == 0 ? d : elements;
    const tables table(count / 2);
    const bool paged = page_rows != 0;
    const std::int64_t per_sequence = paged ? (room + page_rows - 1) / page_rows : 1;
    const std::int64_t rows = paged ? page_rows : room;
    const std::int64_t units = paged ? batch * per_sequence : batch;
    std::vector<std::int32_t> order;
    for (std::int64_t i = 0; i < units; ++i) // 7 and the number of pages have no common divisor
      order.push_back(static_cast<std::int32_t>(i * 7 % units));
    const placed_array<element> k_place{batch, n, kv_heads, d, axes, {3, 0, 1}},
        v_place{batch, n, kv_heads, value, axes, {}}, q_place{batch, n, q_heads, d, axes, {}},
        kc_place{units, rows, kv_heads, d, axes, {}},
        vc_place{units, rows, kv_heads, value, axes, {5, 0, 0}};
    const auto random = [&](const placed_array<element>& place, std::uint64_t seed) {
      return random_normals<element>(
          static_cast<std::size_t>(place.batch * place.rows * place.heads * place.elements), seed);
    };
    const auto k = random(k_place, 1), v = random(v_place, 2), q = random(q_place, 3);
    device_buffer<element> dk(k_place.image(k), 1), dv(v_place.image(v)), dq(q_place.image(q)),
        kc(kc_place.span()), vc(vc_place.span()), qt(q_place.span());
    device_buffer<float> cosine(table.cosine), sine(table.sine);
    device_buffer<std::int32_t> counts(lengths), list(order);
    attention_append_options options;
    options.axes = axes;
    options.kv_length = counts.data();
    if (paged)
      options.pages = make_view(static_cast<const std::int32_t*>(list.data()), batch, per_sequence);
    options.rotary = {pairs, elements,
                      make_view(static_cast<const float*>(cosine.data()), table_rows, count / 2),
                      make_view(static_cast<const float*>(sine.data()), table_rows, count / 2)};
    const status outcome = append_to_cache(q_place.view_of(static_cast<const element*>(dq.data())),
                                           k_place.view_of(static_cast<const element*>(dk.data())),
                                           v_place.view_of(static_cast<const element*>(dv.data())),
                                           q_place.view_of(qt.data()), kc_place.view_of(kc.data()),
                                           vc_place.view_of(vc.data()), options);
    ASSERT_TRUE(outcome.ok()) << outcome.message();

    auto k_image = kc.download(), v_image = vc.download();
    const auto q_image = qt.download();
    const auto check_turned = [&](const element* from, const std::vector<element>& got,
                                  std::int64_t position) {
      std::vector<double> x;
      for (int e = 0; e < d; ++e)
        x.push_back(as_double(from[e]));
      const auto expected = turned(x, position, pairs, count, table);
      // fp32: two products and a sum of numbers below 6, then rounding to the type
      ASSERT_TRUE(verify(got, expected, {0x1p-20, unit_of<element>().relative}));
      for (int e = pairs == rotary_pairs::none ? 0 : count; e < d; ++e)
        ASSERT_EQ(got[static_cast<std::size_t>(e)].bits, from[e].bits);
    };
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t position = lengths[static_cast<std::size_t>(b)] - n + i;
        for (std::int64_t h = 0; h < q_heads; ++h) {
          std::vector<element> got;
          for (int e = 0; e < d; ++e)
            got.push_back(q_image[q_place.at(b, i, h, e)]);
          check_turned(&q[q_place.dense(b, i, h, 0)], got, std::max<std::int64_t>(position, 0));
        }
        if (position < 0)
          continue;
        const std::int64_t unit =
            paged ? order[static_cast<std::size_t>(b * per_sequence + position / page_rows)] : b;
        const std::int64_t row = paged ? position % page_rows : position;
        for (std::int64_t h = 0; h < kv_heads; ++h) {
          std::vector<element> got;
          for (int e = 0; e < d; ++e) {
            got.push_back(k_image[kc_place.at(unit, row, h, e)]);
            k_image[kc_place.at(unit, row, h, e)] = element::from_bits(0xFFFF);
          }
          check_turned(&k[k_place.dense(b, i, h, 0)], got, position);
          for (int e = 0; e < value; ++e) {
            element& moved = v_image[vc_place.at(unit, row, h, e)];
            ASSERT_EQ(moved.bits, v[v_place.dense(b, i, h, e)].bits);
            moved = element::from_bits(0xFFFF);
          }
        }
      }
    for (const auto* image : {&k_image, &v_image}) // nothing else was written
      for (const element x : *image)
        ASSERT_EQ(x.bits, 0xFFFF);
  }
};

TEST(attention_append, turns_and_places) {
  for (const rotary_pairs pairs :
       {rotary_pairs::none, rotary_pairs::halves, rotary_pairs::neighbours})
    for (const std::int64_t page_rows : {0, 16, 64})
      for (const attention_axes axes : {attention_axes::bshd, attention_axes::bhsd})
        for (const int elements : {0, 32}) {
          append_case{.elements = elements, .page_rows = page_rows, .pairs = pairs, .axes = axes}
              .run_and_check();
          if (HasFatalFailure())
            return;
        }
}

TEST(attention_append, any_head_and_length) {
  append_case{.n = 1, .d = 192, .value = 128, .lengths = {1, 128}}.run_and_check();
  append_case{.n = 16, .kv_heads = 1, .q_heads = 1, .d = 6, .value = 5, .lengths = {16, 4}}
      .run_and_check();
}

// A step of a decoder: new rows turned and appended, then attention over the pages, against
// attention over all keys at once.
TEST(attention_append, makes_a_decode_step) {
  constexpr std::int64_t length = 150, n = 2, heads = 4, kv_heads = 2, d = 64, page_rows = 32;
  attention_case<element> whole{
      .q_heads = heads, .kv_heads = kv_heads, .queries = length, .keys = length};
  whole.options.causal = true;
  whole.fill(12);
  // the cache is filled by appending all but the last rows, then the step appends those
  device_buffer<element> q(whole.q), k(whole.k), v(whole.v), qt(whole.q.size()), o(n * heads * d);
  constexpr std::int64_t pages = (length + page_rows - 1) / page_rows;
  device_buffer<element> kc(pages * page_rows * kv_heads * d), vc(pages * page_rows * kv_heads * d);
  device_buffer<std::int32_t> list(std::vector<std::int32_t>{3, 0, 4, 1, 2});
  device_buffer<std::int32_t> before(std::vector<std::int32_t>{length - n}),
      after(std::vector<std::int32_t>{length});
  const tables table(d / 2);
  device_buffer<float> cosine(table.cosine), sine(table.sine);
  const auto rows = [](auto* data, std::int64_t first, std::int64_t count, std::int64_t h) {
    return make_view(data + first * h * d, 1, count, h, d);
  };
  const auto page_view = [](auto* data) { return make_view(data, pages, page_rows, kv_heads, d); };
  attention_append_options options;
  options.pages = make_view(static_cast<const std::int32_t*>(list.data()), 1, pages);
  options.rotary = {rotary_pairs::halves, 0,
                    make_view(static_cast<const float*>(cosine.data()), table_rows, d / 2),
                    make_view(static_cast<const float*>(sine.data()), table_rows, d / 2)};
  const auto append = [&](std::int64_t first, std::int64_t count, const std::int32_t* kv_length) {
    options.kv_length = kv_length;
    const element *from_q = q.data(), *from_k = k.data(), *from_v = v.data();
    const status outcome =
        append_to_cache(rows(from_q, first, count, heads), rows(from_k, first, count, kv_heads),
                        rows(from_v, first, count, kv_heads), rows(qt.data(), first, count, heads),
                        page_view(kc.data()), page_view(vc.data()), options);
    ASSERT_TRUE(outcome.ok()) << outcome.message();
  };
  append(0, length - n, before.data());
  append(length - n, n, after.data());
  attention_decode_options decode;
  decode.kv_length = after.data();
  decode.pages = options.pages;
  const element *turned_q = qt.data(), *cached_k = kc.data(), *cached_v = vc.data();
  const status outcome = attention_decode(rows(turned_q, length - n, n, heads), page_view(cached_k),
                                          page_view(cached_v), rows(o.data(), 0, n, heads), decode);
  ASSERT_TRUE(outcome.ok()) << outcome.message();

  // all at once, with q and k turned by an append to a cache without pages
  device_buffer<element> all_q(whole.q.size()), all_k(whole.k.size()), all_v(whole.v.size());
  options.pages = {};
  options.kv_length = nullptr;
  const element *from_q = q.data(), *from_k = k.data(), *from_v = v.data();
  ASSERT_TRUE(append_to_cache(rows(from_q, 0, length, heads), rows(from_k, 0, length, kv_heads),
                              rows(from_v, 0, length, kv_heads),
                              rows(all_q.data(), 0, length, heads),
                              rows(all_k.data(), 0, length, kv_heads),
                              rows(all_v.data(), 0, length, kv_heads), options)
                  .ok());
  whole.q = all_q.download();
  whole.k = all_k.download();
  ASSERT_TRUE(verify_bits(all_v.download(), whole.v));
  whole.run_and_check();
  ASSERT_FALSE(HasFatalFailure());
  auto step = whole;
  step.queries = n;
  step.q.assign(whole.q.end() - n * heads * d, whole.q.end());
  step.o = o.download();
  step.check();
}

TEST(attention_append, refuses) {
  device_buffer<element> rows(2 * 3 * 64), cache(2 * 48 * 64), other(2 * 48 * 64);
  device_buffer<float> table(10 * 32);
  device_buffer<std::int32_t> list(std::vector<std::int32_t>{0, 1, 2, 3});
  const element* from = rows.data();
  const auto in = make_view(from, 2, 3, 1, 64);
  const auto call = [&](std::int64_t units, std::int64_t unit_rows,
                        const attention_append_options& options) {
    return append_to_cache(in, in, make_view(cache.data(), units, unit_rows, 1, 64),
                           make_view(other.data(), units, unit_rows, 1, 64), options);
  };
  attention_append_options paged, odd, short_table;
  paged.pages = make_view(static_cast<const std::int32_t*>(list.data()), 2, 2);
  odd.rotary.pairs = rotary_pairs::halves;
  odd.rotary.elements = 7;
  short_table.rotary = {rotary_pairs::halves, 0,
                        make_view(static_cast<const float*>(table.data()), 10, 16),
                        make_view(static_cast<const float*>(table.data()), 10, 16)};
  const struct {
    status outcome;
    const char* argument;
    const char* words;
  } refused[] = {
      {call(2, 48, paged), "k_cache.extent[1]", "16, 32, 64, 128 or 256"},
      {call(1, 48, {}), "k_cache.extent[0]", "2"},
      {call(2, 48, odd), "rotary.elements", "7"},
      {call(2, 48, short_table), "rotary.cosine.extent[1]", "32"},
      {append_to_cache(in, in, make_view(rows.data(), 2, 3, 1, 64),
                       make_view(other.data(), 2, 3, 1, 64)),
       "k_cache", "starts where k does and overlaps it"},
  };
  for (const auto& one : refused) {
    EXPECT_STREQ(one.outcome.argument(), one.argument) << one.outcome.message();
    EXPECT_NE(std::string(one.outcome.message()).find(one.words), std::string::npos)
        << one.outcome.message();
  }
  EXPECT_TRUE(cache.untouched());
  EXPECT_TRUE(other.untouched());
}

} // namespace
