// What attention refuses, in which words. Linked with a mock runtime that starts nothing.
#include "mock_runtime.hpp"

#include <wavetile/attention.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace {

using namespace wavetile;

struct attention_arguments : testing::Test {
  void SetUp() override {
    mock::current() = {};
    mock::current().devices.assign(2, {});
  }
  alignas(256) bf16 q[8192], k[8192], v[8192], o[8192];
  alignas(256) float lse[64];
  alignas(256) std::int32_t lengths[8];
  using in = view<const bf16, 4>;

  static in array(const bf16* data, std::int64_t b, std::int64_t s, std::int64_t h,
                  std::int64_t d = 64) {
    return make_view(data, b, s, h, d);
  }
  status call(in a, in b, in c, const attention_options& options = {}) {
    return attention(a, b, c, view_like(a, c), options);
  }
  view<bf16, 4> view_like(in a, in c) {
    return make_view(o, a.extent[0], a.extent[1], a.extent[2], c.extent[3]);
  }
  static int launches() { return mock::current().count("hipLaunchKernel"); }

  static void expect_refusal(const status& outcome, status_code code, const char* argument,
                             std::initializer_list<const char*> words = {}) {
    EXPECT_EQ(name_of(outcome.code()), std::string(name_of(code))) << outcome.message();
    EXPECT_STREQ(outcome.argument(), argument) << outcome.message();
    for (const char* word : words)
      EXPECT_NE(std::string(outcome.message()).find(word), std::string::npos)
          << word << " in: " << outcome.message();
    EXPECT_EQ(launches(), 0);
  }
};

TEST_F(attention_arguments, extents) {
  using enum status_code;
  const in a = array(q, 2, 5, 4), b = array(k, 2, 7, 2);
  expect_refusal(call(a, array(k, 1, 7, 2), b), unsupported_shape, "k.extent[0]", {"1", "2"});
  expect_refusal(call(a, b, array(v, 2, 6, 2)), unsupported_shape, "v.extent[1]", {"6", "7"});
  expect_refusal(call(a, b, array(v, 2, 7, 1)), unsupported_shape, "v.extent[2]", {"1", "2"});
  expect_refusal(call(a, array(k, 2, 7, 2, 32), b), unsupported_shape, "k.extent[3]", {"32", "64"});
  expect_refusal(attention(a, b, array(v, 2, 7, 2), make_view(o, 2, 4, 4, 64)), unsupported_shape,
                 "o.extent[1]", {"4", "5"});
  in negative = a;
  negative.extent[1] = -5;
  expect_refusal(attention(negative, b, b, make_view(o, 2, 5, 4, 64)), invalid_argument,
                 "q.extent[1]", {"-5", ">= 0"});
  // axes in the other order are named by their place
  attention_options options;
  options.axes = attention_axes::bhsd;
  expect_refusal(call(array(q, 2, 4, 5), array(k, 2, 2, 7), array(v, 2, 2, 6), options),
                 unsupported_shape, "v.extent[2]", {"6", "7"});
}

TEST_F(attention_arguments, enumerators) {
  using enum status_code;
  const in a = array(q, 1, 5, 2), b = array(k, 1, 5, 2), c = array(v, 1, 5, 2);
  attention_options options;
  options.axes = static_cast<attention_axes>(2);
  expect_refusal(call(a, b, c, options), invalid_argument, "axes", {"= 2", "bshd, bhsd"});
  options = {};
  options.anchor = static_cast<causal_anchor>(9);
  expect_refusal(call(a, b, c, options), invalid_argument, "anchor",
                 {"= 9", "bottom_right, top_left"});
  options = {};
  options.kernel = static_cast<attention_choice>(3);
  expect_refusal(call(a, b, c, options), invalid_argument, "kernel",
                 {"= 3", "automatic, independent, alternating"});
}

// None is wanted: a null pointer to no elements, as by default. A null pointer to elements is what
// a failed allocation leaves.
TEST_F(attention_arguments, lse_without_memory) {
  using enum status_code;
  const in a = array(q, 1, 5, 2), b = array(k, 1, 5, 2), c = array(v, 1, 5, 2);
  attention_options options;
  float* const none = nullptr;
  options.lse = make_view(none, 1, 2, 5);
  expect_refusal(call(a, b, c, options), null_pointer, "lse", {"not empty"});
  options.lse = make_view(none, 1, 2, 6);
  expect_refusal(call(a, b, c, options), null_pointer, "lse");
  options.lse = make_view(none, 1, 2, -5);
  expect_refusal(call(a, b, c, options), invalid_argument, "lse.extent[2]", {"-5", ">= 0"});
  options.lse = make_view(lse, 0, 2, 5);
  expect_refusal(call(a, b, c, options), unsupported_shape, "lse.extent[0]", {"0", "1"});
  options.lse = make_view(none, 0, 2, 5);
  EXPECT_TRUE(call(a, b, c, options).ok());
  EXPECT_TRUE(call(a, b, c).ok());
  EXPECT_EQ(launches(), 2);
}

TEST_F(attention_arguments, heads) {
  using enum status_code;
  const std::int64_t bad[][2] = {{6, 4}, {8, 0}, {4, 8}};
  for (const auto& heads : bad)
    expect_refusal(
        call(array(q, 1, 2, heads[0]), array(k, 1, 3, heads[1]), array(v, 1, 3, heads[1])),
        unsupported_shape, "k.extent[2]", {"divisor"});
  expect_refusal(call(array(q, 1, 2, 1, 72), array(k, 1, 2, 1, 72), array(v, 1, 2, 1, 72)),
                 unsupported_shape, "q.extent[3]", {"72", attention_heads_text});
  expect_refusal(call(array(q, 1, 2, 1, 128), array(k, 1, 2, 1, 128), array(v, 1, 2, 1, 64)),
                 unsupported_shape, "q.extent[3]", {"128", "v.extent[3] = 64"});
}

TEST_F(attention_arguments, memory) {
  using enum status_code;
  const in a = array(q, 1, 5, 2), b = array(k, 1, 7, 2), c = array(v, 1, 7, 2);
  expect_refusal(call(array(nullptr, 1, 5, 2), b, c), null_pointer, "q");
  expect_refusal(call(a, b, array(nullptr, 1, 7, 2)), null_pointer, "v");
  bf16* none = nullptr;
  expect_refusal(attention(a, b, c, make_view(none, 1, 5, 2, 64)), null_pointer, "o");
  in odd = b;
  odd.data = reinterpret_cast<const bf16*>(reinterpret_cast<const char*>(k) + 1);
  expect_refusal(call(a, odd, c), misaligned, "k");
  for (int which = 0; which < 4; ++which) {
    in views[] = {a, b, c};
    view<bf16, 4> out = make_view(o, 1, 5, 2, 64);
    if (which < 3)
      views[which].stride[3] = 2;
    else
      out.stride[3] = 2;
    const char* names[] = {"q.stride[3]", "k.stride[3]", "v.stride[3]", "o.stride[3]"};
    expect_refusal(attention(views[0], views[1], views[2], out), unsupported_shape, names[which],
                   {"2", "1"});
  }
  for (const std::int64_t step : {std::int64_t{-128}, std::int64_t{1} << 24}) {
    in far = b;
    far.stride[1] = step;
    expect_refusal(call(a, far, c), unsupported_shape, "k.stride[1]", {"0 to 16776704"});
  }
  expect_refusal(attention(array(o, 1, 5, 2), b, c, make_view(o, 1, 5, 2, 64)), overlapping, "o",
                 {"starts where q does and overlaps it, allowed: apart"});
  expect_refusal(attention(a, b, array(o + 64, 1, 7, 2), make_view(o, 1, 5, 2, 64)), overlapping,
                 "o", {"starts 128 bytes before v and overlaps it, allowed: apart"});
  view<bf16, 4> folded = make_view(o, 1, 5, 2, 64);
  folded.stride[1] = 0;
  expect_refusal(attention(a, b, c, folded), overlapping, "o.stride[1]");
}

TEST_F(attention_arguments, numbers) {
  using enum status_code;
  const in a = array(q, 1, 5, 2), b = array(k, 1, 7, 2), c = array(v, 1, 7, 2);
  expect_refusal(call(a, b, c, {.scale = INFINITY}), invalid_argument, "scale");
  expect_refusal(call(a, b, c, {.scale = NAN}), invalid_argument, "scale");
  expect_refusal(call(a, b, c, {.softcap = -1.25f}), invalid_argument, "softcap",
                 {"it is -1.25, allowed"});
  expect_refusal(call(a, b, c, {.softcap = INFINITY}), invalid_argument, "softcap", {"infinity"});
  expect_refusal(call(a, b, c, {.softcap = NAN}), invalid_argument, "softcap", {"NaN"});
  expect_refusal(call(a, b, c, {.softcap = 3e38f}), invalid_argument, "softcap",
                 {"it is 3e+38", "log2(e)"});
  expect_refusal(call(a, b, c, {.softcap = 1e-40f}), invalid_argument, "softcap",
                 {"it is 9.99995e-41", "scale / softcap"});
  expect_refusal(call(a, b, c, {.scale = -3e38f}), invalid_argument, "scale",
                 {"it is -3e+38", "2.358e38"});
  expect_refusal(call(a, b, c, {.kernel = attention_choice::alternating}), unsupported_shape,
                 "kernel", {"heads of 128"});
  expect_refusal(call(a, b, c, {.kernel = static_cast<attention_choice>(9)}), invalid_argument,
                 "kernel", {"9", "independent"});
  expect_refusal(call(a, b, c, {.window = {-2, 0}}), invalid_argument, "window.left", {"-2"});
  expect_refusal(call(a, b, c, {.causal = true, .window = {3, 4}}), invalid_argument,
                 "window.right", {"4"});
}

TEST_F(attention_arguments, lse_mask_and_sequences) {
  using enum status_code;
  const in a = array(q, 1, 5, 2), b = array(k, 1, 7, 2), c = array(v, 1, 7, 2);
  attention_options options;
  options.lse = make_view(lse, 1, 2, 6);
  expect_refusal(call(a, b, c, options), unsupported_shape, "lse.extent[2]", {"6", "5"});
  options.lse = make_view(reinterpret_cast<float*>(o), 1, 2, 5);
  expect_refusal(call(a, b, c, options), overlapping, "lse",
                 {"starts where o does and overlaps it, allowed: apart"});
  options = {};
  const auto out = make_view(o, 1, 5, 2, 64);
  const std::uint8_t* bytes = reinterpret_cast<const std::uint8_t*>(lse);
  expect_refusal(attention(a, b, c, out, make_view(bytes, 5, 6)), unsupported_shape,
                 "mask.extent[1]", {"6", "7"});
  expect_refusal(attention(a, b, c, out, make_view(bytes, 3, 5, 7)), unsupported_shape,
                 "mask.extent[0]", {"3", "2"});
  // its axes are those of the caller's view, however many that has
  const auto columns = [&]<int Rank>(const std::int64_t(&extent)[Rank]) {
    std::int64_t stride[Rank] = {};
    stride[Rank - 1] = 2;
    return make_strided_view<const std::uint8_t, Rank>(bytes, extent, stride);
  };
  expect_refusal(attention(a, b, c, out, columns({7})), unsupported_shape, "mask.stride[0]",
                 {"= 2, allowed: 1"});
  expect_refusal(attention(a, b, c, out, columns({5, 7})), unsupported_shape, "mask.stride[1]",
                 {"= 2, allowed: 1"});
  expect_refusal(attention(a, b, c, out, columns({2, 5, 7})), unsupported_shape, "mask.stride[2]",
                 {"= 2, allowed: 1"});
  expect_refusal(attention(a, b, c, out, columns({1, 2, 5, 7})), unsupported_shape,
                 "mask.stride[3]", {"= 2, allowed: 1"});
  expect_refusal(attention(a, b, c, out, make_view(bytes, 5, -7)), invalid_argument,
                 "mask.extent[1]", {"-7", ">= 0"});
  expect_refusal(
      attention(a, b, c, out, make_view(reinterpret_cast<const std::uint8_t*>(o) + 3, 5, 7)),
      overlapping, "o", {"starts 3 bytes before mask and overlaps it, allowed: apart"});
  const std::int64_t* wide = nullptr;
  expect_refusal(attention(a, b, c, out, make_view(wide, 5, 7)), unsupported_type, "mask");
  options.sequences.max_q_length = 5;
  expect_refusal(call(a, b, c, options), invalid_argument, "sequences.max_q_length", {"5", "0"});
  options.sequences.max_q_length = 0;
  options.sequences.q_begin = lengths;
  expect_refusal(call(a, b, c, options), null_pointer, "sequences.kv_begin");
  options.sequences.kv_begin = lengths;
  options.sequences.batch = 1;
  expect_refusal(attention(a, b, c, out, make_view(bytes, 5, 7), options), unsupported_shape,
                 "mask");
  for (const std::int64_t batch : {-1, -2}) { // -1: it was not given
    options.sequences.batch = batch;
    expect_refusal(call(a, b, c, options), invalid_argument, "sequences.batch",
                   {batch == -1 ? "-1" : "-2", "0 to"});
  }
  options.sequences.batch = 2;
  expect_refusal(call(array(q, 2, 5, 2), array(k, 2, 7, 2), array(v, 2, 7, 2), options),
                 unsupported_shape, "q.extent[0]", {"2", "1"});
}

TEST_F(attention_arguments, memory_of_lse_and_numbers) {
  using enum status_code;
  const in a = array(q, 1, 5, 2), b = array(k, 1, 7, 2), c = array(v, 1, 7, 2);
  attention_options options;
  options.lse = make_view(reinterpret_cast<float*>(reinterpret_cast<char*>(lse) + 2), 1, 2, 5);
  expect_refusal(call(a, b, c, options), misaligned, "lse", {"4 bytes"});
  options.lse = make_strided_view<float, 3>(lse, {1, 2, 5}, {10, 2, 1});
  expect_refusal(call(a, b, c, options), overlapping, "lse.stride[1]");
  options.lse = make_strided_view<float, 3>(lse, {1, 2, 5}, {10, 1, 2}); // positions, then heads
  EXPECT_TRUE(call(a, b, c, options).ok());
  mock::current().calls.clear();
  options = {};
  options.sequences.kv_length = reinterpret_cast<std::int32_t*>(o);
  expect_refusal(call(a, b, c, options), overlapping, "o",
                 {"starts where sequences.kv_length does and overlaps it, allowed: apart"});
  options.sequences.kv_length =
      reinterpret_cast<std::int32_t*>(reinterpret_cast<char*>(lengths) + 1);
  expect_refusal(call(a, b, c, options), misaligned, "sequences.kv_length", {"4 bytes"});
}

// Queries, keys and values side by side in the rows of one matrix, and the output in one more part.
TEST_F(attention_arguments, parts_of_one_matrix_are_apart) {
  using enum status_code;
  const auto part = [&](std::int64_t first, std::int64_t heads, std::int64_t batches = 2) {
    return make_strided_view<bf16, 4>(o + first * 64, {batches, 5, heads, 64},
                                      {5 * 10 * 64, 10 * 64, 64, 1});
  };
  const auto constant = [](const view<bf16, 4>& from) { return in(from); };
  for (const std::int64_t batches : {1, 2}) {
    EXPECT_TRUE(attention(constant(part(0, 4, batches)), constant(part(4, 1, batches)),
                          constant(part(5, 1, batches)), part(6, 4, batches))
                    .ok());
    mock::current().calls.clear();
    expect_refusal(attention(constant(part(0, 4, batches)), constant(part(4, 1, batches)),
                             constant(part(6, 1, batches)), part(6, 4, batches)),
                   overlapping, "o", {"v"});
    expect_refusal(attention(constant(part(0, 4, batches)), constant(part(4, 1, batches)),
                             constant(part(5, 1, batches)), part(2, 4, batches)),
                   overlapping, "o", {"q"});
    expect_refusal(attention(constant(part(0, 4, batches)), constant(part(9, 1, batches)),
                             constant(part(5, 1, batches)), part(6, 4, batches)),
                   overlapping, "o", {"k"});
  }
}

TEST_F(attention_arguments, types) {
  using enum status_code;
  const auto out = make_view(o, 1, 5, 2, 64);
  const float* floats = lse;
  const auto wide = make_view(floats, 1, 5, 2, 64);
  const in a = array(q, 1, 5, 2);
  expect_refusal(attention(wide, wide, wide, out), unsupported_type, "q", {"fp32", "fp16, bf16"});
  const fp16* halves = reinterpret_cast<const fp16*>(k);
  expect_refusal(attention(a, make_view(halves, 1, 5, 2, 64), a, out), unsupported_type, "k",
                 {"fp16"});
}

TEST_F(attention_arguments, launches_once_on_grid_x) {
  ASSERT_TRUE(call(array(q, 1, 5, 2), array(k, 1, 7, 2), array(v, 1, 7, 2)).ok());
  EXPECT_EQ(launches(), 1);
  mock::current().calls.clear();
  // 65,539 batches of the same keys, 64 heads
  const in a = make_strided_view<const bf16, 4>(q, {65539, 1, 64, 64}, {0, 0, 0, 1});
  const auto out = make_strided_view<bf16, 4>(o, {65539, 1, 64, 64}, {4096, 4096, 64, 1});
  const status outcome = attention(a, array(k, 1, 1, 1), array(v, 1, 1, 1), out);
  expect_refusal(outcome, status_code::unsupported_shape, "k.extent[0]");
  const in one = make_strided_view<const bf16, 4>(k, {65539, 1, 64, 64}, {0, 0, 0, 1});
  // o spans more than the test's array; the mock runtime touches nothing
  const auto far = make_strided_view<bf16, 4>(reinterpret_cast<bf16*>(std::uintptr_t{1} << 44),
                                              {65539, 1, 64, 64}, {4096, 4096, 64, 1});
  ASSERT_TRUE(attention(a, one, one, far).ok());
  const auto& calls = mock::current().calls;
  ASSERT_EQ(mock::current().count("hipLaunchKernel"), 1);
  for (const auto& one_call : calls)
    if (one_call.name == "hipLaunchKernel") {
      EXPECT_EQ(one_call.grid.x, 65539u * 64);
      EXPECT_EQ(one_call.grid.y * one_call.grid.z, 1u);
      EXPECT_EQ(one_call.block.x, 256u);
    }
}

TEST_F(attention_arguments, empty_problems_start_nothing) {
  ASSERT_TRUE(call(array(nullptr, 0, 5, 2), array(nullptr, 0, 7, 2), array(nullptr, 0, 7, 2)).ok());
  ASSERT_TRUE(call(array(nullptr, 1, 0, 2), array(k, 1, 7, 2), array(v, 1, 7, 2)).ok());
  EXPECT_EQ(launches(), 0);
}

} // namespace
