// What the normalisations refuse, in which words, and which runtime calls they make. Linked with a
// mock runtime.
#include "mock_runtime.hpp"

#include <wavetile/layer_norm.hpp>
#include <wavetile/rms_norm.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

struct norm_arguments_test : testing::Test {
  void SetUp() override {
    mock::current() = {};
    mock::current().devices.assign(2, {});
  }
  alignas(256) float x[4096] = {};
  alignas(256) float y[4096] = {};
  alignas(256) float w[4096] = {};
  alignas(256) float r[4096] = {};
  alignas(256) signed char q[4096] = {};

  static int launches() { return mock::current().count("hipLaunchKernel"); }

  static void expect_refusal(const status& outcome, status_code code, const char* argument,
                             std::initializer_list<const char*> words) {
    EXPECT_EQ(name_of(outcome.code()), std::string(name_of(code))) << outcome.message();
    EXPECT_STREQ(outcome.argument(), argument) << outcome.message();
    for (const char* word : words)
      EXPECT_NE(std::string(outcome.message()).find(word), std::string::npos)
          << word << " in: " << outcome.message();
    EXPECT_EQ(launches(), 0);
  }
};

template <class T>
view<T, 2> matrix(T* data, std::int64_t rows, std::int64_t columns, std::int64_t stride = 0,
                  std::int64_t last = 1) {
  return make_strided_view<T, 2>(data, {rows, columns}, {stride == 0 ? columns : stride, last});
}

TEST_F(norm_arguments_test, shapes) {
  const auto weight = make_view(w, 8);
  expect_refusal(rms_norm(norm_arrays{.x = matrix(x, 4, 8), .y = matrix(y, 4, 7)}),
                 status_code::unsupported_shape, "y.extent[1]", {"= 7", "8, the extent of x"});
  expect_refusal(rms_norm(norm_arrays{.x = matrix(x, -4, 8), .y = matrix(y, -4, 8)}),
                 status_code::invalid_argument, "x.extent[0]", {"-4", ">= 0"});
  expect_refusal(
      rms_norm(norm_arrays{.x = matrix(x, 4, 9), .y = matrix(y, 4, 9), .weight = weight}),
      status_code::unsupported_shape, "weight.extent[0]", {"= 8", "9, the columns of x"});
  expect_refusal(
      layer_norm(norm_arrays{
          .x = matrix(x, 4, 8), .y = matrix(y, 4, 8), .weight = weight, .bias = make_view(r, 7)}),
      status_code::unsupported_shape, "bias.extent[0]", {"= 7", "8, the columns of x"});
  expect_refusal(
      rms_norm(norm_arrays{.x = matrix(x, 4, 8), .y = matrix(q, 4, 8), .scales = make_view(w, 5)}),
      status_code::unsupported_shape, "scales.extent[0]", {"= 5", "4, the rows of x"});
  expect_refusal(rms_norm(norm_arrays{.x = matrix(x, 4, 8), .y = matrix(y, 4, 8, 9, 2)}),
                 status_code::unsupported_shape, "y.stride[1]", {"= 2", "1"});
  expect_refusal(rms_norm(norm_arrays{.x = matrix(x, 4, 8),
                                      .y = matrix(y, 4, 8),
                                      .weight = make_strided_view<float, 1>(w, {8}, {2})}),
                 status_code::unsupported_shape, "weight.stride[0]", {"= 2"});
}

TEST_F(norm_arguments_test, memory) {
  float* none = nullptr;
  expect_refusal(rms_norm(norm_arrays{.x = matrix(none, 4, 8), .y = matrix(y, 4, 8)}),
                 status_code::null_pointer, "x", {});
  expect_refusal(rms_norm(norm_arrays{.x = matrix(x, 4, 8),
                                      .y = matrix(y, 4, 8),
                                      .residual = matrix(r, 4, 8),
                                      .sum = matrix(none, 4, 8)}),
                 status_code::null_pointer, "sum", {});
  auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(w) + 2);
  const std::string address = std::to_string(reinterpret_cast<std::uintptr_t>(odd));
  expect_refusal(rms_norm(norm_arrays{
                     .x = matrix(x, 4, 8), .y = matrix(y, 4, 8), .weight = make_view(odd, 8)}),
                 status_code::misaligned, "weight", {address.c_str(), "4 bytes"});
  expect_refusal(rms_norm(norm_arrays{.x = matrix(x, 4, 8), .y = matrix(x + 1, 4, 8)}),
                 status_code::overlapping, "y", {"4 bytes after x", "in place"});
  expect_refusal(rms_norm(norm_arrays{
                     .x = matrix(x, 4, 8), .y = matrix(y, 4, 8), .weight = make_view(y + 31, 8)}),
                 status_code::overlapping, "y", {"124 bytes before weight", "allowed: apart"});
  // y and sum may both be inputs, but not the same one
  const auto both = [&](float* to, float* sum) {
    return rms_norm(norm_arrays{.x = matrix(x, 4, 8),
                                .y = matrix(to, 4, 8),
                                .residual = matrix(r, 4, 8),
                                .sum = matrix(sum, 4, 8)});
  };
  expect_refusal(both(x, x), status_code::overlapping, "y", {"where sum does"});
  expect_refusal(both(y, y + 16), status_code::overlapping, "y", {"64 bytes before sum"});
  expect_refusal(
      rms_norm(norm_arrays{.x = matrix(x, 4, 8), .y = matrix(q, 4, 8), .scales = make_view(x, 4)}),
      status_code::overlapping, "scales", {"where x does", "allowed: apart"});
  EXPECT_TRUE(both(x, r).ok());
  EXPECT_TRUE(both(r, x).ok());
  EXPECT_TRUE(rms_norm(norm_arrays{.x = matrix(x, 4, 8), .y = matrix(x, 4, 8)}).ok());
  EXPECT_EQ(launches(), 3);
}

TEST_F(norm_arguments_test, types_and_options) {
  double d[64] = {};
  int i[64] = {};
  const auto in = matrix(x, 4, 8), out = matrix(y, 4, 8);
  expect_refusal(rms_norm(norm_arrays{.x = matrix(d, 4, 8), .y = out}),
                 status_code::unsupported_type, "x", {"fp64", "fp32, fp16, bf16"});
  expect_refusal(rms_norm(norm_arrays{.x = in, .y = matrix(i, 4, 8)}),
                 status_code::unsupported_type, "y", {"int32", "fp8_e4m3_fnuz, int8"});
  expect_refusal(rms_norm(norm_arrays{.x = in, .y = out, .weight = make_view(i, 8)}),
                 status_code::unsupported_type, "weight", {"int32"});
  expect_refusal(rms_norm(norm_arrays{.x = in, .y = out, .scales = make_view(w, 4)}),
                 status_code::unsupported_type, "scales", {"y is fp32", "int8"});
  const struct {
    float value;
    const char* words;
  } numbers[] = {{-2.5e-7f, "it is -2.5e-07, allowed"},
                 {__builtin_nanf(""), "it is NaN, allowed"},
                 {__builtin_inff(), "it is +infinity, allowed"},
                 {-__builtin_inff(), "it is -infinity, allowed"}};
  for (const auto& one : numbers) {
    expect_refusal(rms_norm(norm_arrays{.x = in, .y = out}, {.epsilon = one.value}),
                   status_code::invalid_argument, "epsilon", {one.words, "finite numbers >= 0"});
    expect_refusal(rms_norm(norm_arrays{.x = in, .y = matrix(q, 4, 8)}, {.scale = one.value}),
                   status_code::invalid_argument, "scale", {one.words, "finite numbers > 0"});
  }
  expect_refusal(rms_norm(norm_arrays{.x = in, .y = matrix(q, 4, 8)}, {.scale = 0.0f}),
                 status_code::invalid_argument, "scale", {"it is 0, allowed: finite numbers > 0"});
  expect_refusal(rms_norm(norm_arrays{.x = in, .y = out}, {.scale = 2.0f}),
                 status_code::invalid_argument, "scale", {"it is 2", "not 8-bit", "allowed: 1"});
  expect_refusal(rms_norm(norm_arrays{.x = in, .y = matrix(q, 4, 8), .scales = make_view(w, 4)},
                          {.scale = 2.0f}),
                 status_code::invalid_argument, "scale", {"beside scales", "allowed: 1"});
}

TEST_F(norm_arguments_test, workspace) {
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  auto* far = reinterpret_cast<float*>(std::uintptr_t{1} << 41);
  const auto call = [&](void* data, std::int64_t bytes) {
    return rms_norm(norm_arrays{.x = matrix(big, 5, 70000),
                                .y = matrix(big, 5, 70000),
                                .weight = make_view(far, 70000)},
                    {.memory = {data, bytes}});
  };
  expect_refusal(call(x, -8), status_code::invalid_argument, "memory.bytes", {"-8", ">= 0"});
  // 18 parts of 1024 chunks
  expect_refusal(call(x, 5 * 18 * 8 - 1), status_code::workspace_too_small, "memory.bytes",
                 {"719", ">= 720, or 0"});
  expect_refusal(call(nullptr, 720), status_code::null_pointer, "memory.data", {});
  expect_refusal(call(x + 1, 720), status_code::misaligned, "memory.data", {"16 bytes"});
  expect_refusal(call(big + 20, 720), status_code::overlapping, "memory.data", {"overlap x"});
  expect_refusal(call(far + 69996, 720), status_code::overlapping, "memory.data",
                 {"overlap weight"});
  EXPECT_TRUE(call(x, 720).ok());
  EXPECT_EQ(launches(), 2);
  for (const auto& one : mock::current().calls)
    if (one.name == "hipLaunchKernel") {
      EXPECT_EQ(one.grid.x, 5u * 18);
      EXPECT_EQ(one.block.x, 256u);
    }
  auto* bytes = reinterpret_cast<signed char*>(std::uintptr_t{1} << 42);
  EXPECT_TRUE(rms_norm(norm_arrays{.x = matrix(big, 5, 70000),
                                   .y = matrix(bytes, 5, 70000),
                                   .scales = make_view(w, 5)},
                       {.memory = {x, 4096}})
                  .ok());
  EXPECT_EQ(launches(), 5);
}

TEST_F(norm_arguments_test, devices) {
  mock::current().devices.assign(8, {});
  mock::current().devices[7].arch_name = "gfx1100";
  mock::current().devices[7].wave_size = 32;
  expect_refusal(
      layer_norm(norm_arrays{.x = matrix(x, 2, 3), .y = matrix(y, 2, 3)}, {}, mock::stream_of(7)),
      status_code::wrong_architecture, "device", {"gfx1100", "gfx942"});
}

TEST_F(norm_arguments_test, nothing_to_do_is_success_without_a_call) {
  float* none = nullptr;
  EXPECT_TRUE(rms_norm(norm_arrays{.x = matrix(none, 0, 5), .y = matrix(none, 0, 5)}).ok());
  EXPECT_TRUE(layer_norm(norm_arrays{.x = matrix(none, 5, 0, 1), .y = matrix(none, 5, 0, 1)}).ok());
  EXPECT_TRUE(mock::current().calls.empty());
}

TEST_F(norm_arguments_test, plans_are_followed_on_the_callers_stream) {
  const auto stream = mock::stream_of(1, 3);
  const auto device = describe_device("gfx942:sramecc+:xnack-", 304, 8);
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  for (const std::int64_t rows : {std::int64_t{3}, std::int64_t{100000}, std::int64_t{1} << 33})
    for (const std::int64_t columns : {3, 700, 2000, 8000, 30000, 70000}) {
      const norm_arrays arrays{.x = matrix(big, rows, columns), .y = matrix(big, rows, columns)};
      const norm_plan expected = plan(layer_norm_problem_of(arrays), device);
      mock::current().calls.clear();
      ASSERT_TRUE(layer_norm(arrays, {}, stream).ok());
      ASSERT_EQ(launches(), 1);
      for (const auto& call : mock::current().calls)
        if (call.name == "hipLaunchKernel") {
          EXPECT_EQ(call.stream, stream);
          EXPECT_EQ(call.block.x, static_cast<unsigned>(expected.config.threads()));
          EXPECT_EQ(call.grid.x, static_cast<std::uint64_t>(expected.groups));
        }
    }
}

} // namespace
