// What attention over a cache and appending to one refuse, in which words: lists of pages, tables
// of rotary embeddings, lengths, workspace. Linked with a mock runtime that starts nothing.
#include "mock_runtime.hpp"

#include <wavetile/attention_append.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

struct cache_arguments : testing::Test {
  static constexpr std::int64_t batch = 2, page_rows = 16, pages = 4, heads = 2, d = 64;
  static constexpr std::int64_t cache_size = pages * page_rows * heads * d;

  void SetUp() override {
    mock::current() = {};
    mock::current().devices.assign(2, {});
    decode.pages = append.pages = make_view(list, batch, 2);
    append.rotary = {rotary_pairs::halves, 0, make_view(cosine, 32, d / 2),
                     make_view(sine, 32, d / 2)};
  }
  alignas(256) bf16 q[4096], k[4096], v[4096], o[4096], turned[4096];
  alignas(256) bf16 k_cache[cache_size], v_cache[cache_size];
  alignas(256) float lse[64], cosine[2048], sine[2048], memory[65536];
  alignas(256) std::int32_t list[64], lengths[8];
  attention_decode_options decode;
  attention_append_options append;

  static view<bf16, 4> rows(bf16* data) { return make_view(data, batch, 1, heads, d); }
  static view<const bf16, 4> rows(const bf16* data) { return make_view(data, batch, 1, heads, d); }
  template <class T>
  static view<T, 4> cache(T* data) {
    return make_view(data, pages, page_rows, heads, d);
  }
  status run_decode() {
    const bf16 *from = q, *keys = k_cache, *values = v_cache;
    return attention_decode(rows(from), cache(keys), cache(values), rows(o), decode);
  }
  status run_append() {
    const bf16 *from_q = q, *from_k = k, *from_v = v;
    return append_to_cache(rows(from_q), rows(from_k), rows(from_v), rows(turned), cache(k_cache),
                           cache(v_cache), append);
  }
  static std::int32_t* numbers(void* from) { return static_cast<std::int32_t*>(from); }

  static void expect_refusal(const status& outcome, status_code code, const char* argument,
                             std::initializer_list<const char*> words = {}) {
    EXPECT_EQ(name_of(outcome.code()), std::string(name_of(code))) << outcome.message();
    EXPECT_STREQ(outcome.argument(), argument) << outcome.message();
    for (const char* word : words)
      EXPECT_NE(std::string(outcome.message()).find(word), std::string::npos)
          << word << " in: " << outcome.message();
    EXPECT_EQ(mock::current().count("hipLaunchKernel"), 0);
  }
  /// Both operators refuse a list of pages in the same words, but for the cache's name.
  void expect_pages_refused(view<const std::int32_t, 2> pages_view, status_code code,
                            const char* argument, std::initializer_list<const char*> words = {}) {
    decode.pages = append.pages = pages_view;
    expect_refusal(run_decode(), code, argument, words);
    expect_refusal(run_append(), code, argument, words);
  }
};

TEST_F(cache_arguments, runs_as_it_is) {
  EXPECT_TRUE(run_decode().ok()) << run_decode().message();
  EXPECT_TRUE(run_append().ok()) << run_append().message();
  EXPECT_EQ(mock::current().count("hipLaunchKernel"), 2);
}

TEST_F(cache_arguments, pages) {
  using enum status_code;
  const std::int32_t* none = nullptr;
  expect_pages_refused(make_view(none, batch, 2), null_pointer, "pages", {"not empty"});
  expect_pages_refused(make_view(list, 3, 2), unsupported_shape, "pages.extent[0]",
                       {"3", "2, the batches of q"});
  expect_pages_refused(make_view(list, 1, 2), unsupported_shape, "pages.extent[0]", {"1", "2"});
  expect_pages_refused(make_view(list, batch, -1), invalid_argument, "pages.extent[1]",
                       {"-1", ">= 0"});
  // 2^26 pages of 16 rows are more than sequences may have
  expect_pages_refused(
      make_strided_view<const std::int32_t, 2>(list, {batch, std::int64_t{1} << 26}, {0, 1}),
      unsupported_shape, "pages.extent[1]", {"67108864", "67108863"});
  expect_pages_refused(make_strided_view<const std::int32_t, 2>(list, {batch, 2}, {4, 2}),
                       unsupported_shape, "pages.stride[1]", {"2", "1"});
  const std::int32_t* const odd =
      reinterpret_cast<const std::int32_t*>(reinterpret_cast<const char*>(list) + 2);
  expect_pages_refused(make_view(odd, batch, 2), misaligned, "pages", {"multiple of 4 bytes"});
}

TEST_F(cache_arguments, pages_lie_apart_from_what_is_written) {
  using enum status_code;
  decode.pages = make_view(static_cast<const std::int32_t*>(numbers(o + 10)), batch, 2);
  expect_refusal(run_decode(), overlapping, "o",
                 {"starts 20 bytes before pages and overlaps it, allowed: apart"});
  decode.lse = make_view(lse, batch, heads, 1);
  decode.pages = make_view(static_cast<const std::int32_t*>(numbers(lse + 3)), batch, 2);
  expect_refusal(run_decode(), overlapping, "lse",
                 {"starts 12 bytes before pages and overlaps it"});
  // lists in the other order, of which the last lies in o
  decode.pages = make_strided_view<const std::int32_t, 2>(numbers(o) + 64, {batch, 2}, {-60, 1});
  expect_refusal(run_decode(), overlapping, "o", {"starts 256 bytes before pages and overlaps it"});
  append.pages = make_view(static_cast<const std::int32_t*>(numbers(k_cache + 4)), batch, 2);
  expect_refusal(run_append(), overlapping, "k_cache",
                 {"starts 8 bytes before pages and overlaps it"});
  append.pages = make_view(static_cast<const std::int32_t*>(numbers(v_cache)), batch, 2);
  expect_refusal(run_append(), overlapping, "v_cache", {"starts where pages does and overlaps it"});
  append.pages = make_view(static_cast<const std::int32_t*>(numbers(turned)), batch, 2);
  expect_refusal(run_append(), overlapping, "q_turned",
                 {"starts where pages does and overlaps it"});
}

TEST_F(cache_arguments, enumerators_and_lse) {
  using enum status_code;
  decode.axes = append.axes = static_cast<attention_axes>(2);
  expect_refusal(run_decode(), invalid_argument, "axes", {"= 2", "bshd, bhsd"});
  expect_refusal(run_append(), invalid_argument, "axes", {"= 2", "bshd, bhsd"});
  decode.axes = append.axes = attention_axes::bshd;
  append.rotary.pairs = static_cast<rotary_pairs>(3);
  expect_refusal(run_append(), invalid_argument, "rotary.pairs",
                 {"= 3", "none, halves, neighbours"});
  decode.lse = make_view(static_cast<float*>(nullptr), batch, heads, 1);
  expect_refusal(run_decode(), null_pointer, "lse", {"not empty"});
}

TEST_F(cache_arguments, lengths) {
  using enum status_code;
  decode.kv_length = append.kv_length =
      reinterpret_cast<std::int32_t*>(reinterpret_cast<char*>(lengths) + 1);
  expect_refusal(run_decode(), misaligned, "kv_length", {"4 bytes"});
  expect_refusal(run_append(), misaligned, "kv_length", {"4 bytes"});
  decode.kv_length = numbers(o);
  expect_refusal(run_decode(), overlapping, "o", {"starts where kv_length does and overlaps it"});
  append.kv_length = numbers(v_cache);
  expect_refusal(run_append(), overlapping, "v_cache",
                 {"starts where kv_length does and overlaps it"});
}

TEST_F(cache_arguments, rotary_elements) {
  using enum status_code;
  for (const int count : {-2, 7, 66}) {
    append.rotary.elements = count;
    expect_refusal(run_append(), invalid_argument, "rotary.elements",
                   {std::to_string(count).c_str(), "an even number from 0 to 64"});
  }
}

// Each table in turn: of cosines, of sines.
TEST_F(cache_arguments, rotary_tables) {
  using enum status_code;
  const char* names[] = {"rotary.cosine", "rotary.sine"};
  for (int which = 0; which < 2; ++which) {
    const std::string name = names[which];
    const rotary_embedding good = append.rotary;
    view<const float, 2>& table = which == 0 ? append.rotary.cosine : append.rotary.sine;
    table.data = nullptr;
    expect_refusal(run_append(), null_pointer, name.c_str(), {"null"});
    append.rotary = good;
    table.extent[1] = 16;
    expect_refusal(run_append(), unsupported_shape, (name + ".extent[1]").c_str(),
                   {"16", "32, the pairs that are turned"});
    append.rotary = good;
    table.extent[0] = 0;
    expect_refusal(run_append(), unsupported_shape, (name + ".extent[0]").c_str(), {"0", "1 to "});
    append.rotary = good;
    table.extent[0] = -3;
    expect_refusal(run_append(), invalid_argument, (name + ".extent[0]").c_str(), {"-3", ">= 0"});
    append.rotary = good;
    table.stride[1] = 2;
    expect_refusal(run_append(), unsupported_shape, (name + ".stride[1]").c_str(), {"2", "1"});
    append.rotary = good;
    table.data = reinterpret_cast<const float*>(reinterpret_cast<const char*>(cosine) + 2);
    expect_refusal(run_append(), misaligned, name.c_str(), {"multiple of 4 bytes"});
    append.rotary = good;
    const struct {
      const char* output;
      bf16* data;
    } outputs[] = {{"k_cache", k_cache}, {"v_cache", v_cache}, {"q_turned", turned}};
    for (const auto& output : outputs) {
      table.data = reinterpret_cast<const float*>(output.data);
      expect_refusal(run_append(), overlapping, output.output,
                     {("starts where " + name + " does and overlaps it").c_str()});
    }
    // rows in descending order: the last of them in the cache
    table.data = reinterpret_cast<const float*>(v_cache) + 31 * 32;
    table.stride[0] = -32;
    view<const float, 2>& other = which == 0 ? append.rotary.sine : append.rotary.cosine;
    other.data += 31 * 32;
    other.stride[0] = -32;
    expect_refusal(run_append(), overlapping, "v_cache",
                   {("starts 3968 bytes before " + name + " and overlaps it").c_str()});
    append.rotary = good;
  }
  append.rotary.sine.extent[0] = 31;
  expect_refusal(run_append(), unsupported_shape, "rotary.sine", {"rotary.cosine"});
}

TEST_F(cache_arguments, workspace_lies_apart) {
  using enum status_code;
  decode.pages = make_strided_view<const std::int32_t, 2>(list, {batch, 40}, {0, 1});
  const auto lend = [&](float* data) { decode.memory = {data, sizeof memory / 2}; };
  lend(memory);
  EXPECT_TRUE(run_decode().ok()) << run_decode().message();
  mock::current().calls.clear();
  lend(nullptr);
  expect_refusal(run_decode(), null_pointer, "memory.data");
  lend(memory + 1);
  expect_refusal(run_decode(), misaligned, "memory.data", {"16 bytes"});
  lend(memory);
  decode.pages.data = numbers(memory + 8);
  expect_refusal(run_decode(), overlapping, "memory.data", {"pages"});
  decode.pages.data = list;
  decode.kv_length = numbers(memory);
  expect_refusal(run_decode(), overlapping, "memory.data", {"kv_length"});
}

} // namespace
