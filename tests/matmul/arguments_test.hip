// What matmul refuses, in which words, and which runtime calls it makes. Linked with a mock
// runtime.
#include "mock_runtime.hpp"

#include <wavetile/matmul.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

// one kernel: what is tested here does not depend on which
constexpr auto only = matmul_choice::compact;

struct matmul_arguments_test : testing::Test {
  void SetUp() override {
    mock::current() = {};
    mock::current().devices.assign(2, {});
  }
  alignas(256) float a[4096] = {};
  alignas(256) float b[4096] = {};
  alignas(256) float c[4096] = {};
  alignas(256) float d[4096] = {};
  alignas(256) char memory[1 << 16] = {};

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
  status run(view<float, 2> x, view<float, 2> y, view<float, 2> z,
             const matmul_options& options = {}) {
    return matmul<only>(x, y, z, options);
  }
};

TEST_F(matmul_arguments_test, extents) {
  expect_refusal(run(make_view(a, 4, 5), make_view(b, 6, 7), make_view(d, 4, 7)),
                 status_code::unsupported_shape, "b.extent[0]", {"6", "5"});
  expect_refusal(
      run(make_view(a, 4, 5), make_view(b, 7, 6), make_view(d, 4, 7), {.transpose_b = true}),
      status_code::unsupported_shape, "b.extent[1]", {"6", "5"});
  expect_refusal(run(make_view(a, 4, 5), make_view(b, 5, 7), make_view(d, 3, 7)),
                 status_code::unsupported_shape, "d.extent[0]", {"3", "4"});
  expect_refusal(run(make_view(a, 4, 5), make_view(b, 5, 7), make_view(d, 4, 8)),
                 status_code::unsupported_shape, "d.extent[1]", {"8", "7"});
  expect_refusal(run(make_view(a, -4, 5), make_view(b, 5, 7), make_view(d, 4, 7)),
                 status_code::invalid_argument, "a.extent[0]", {"-4", ">= 0"});
  expect_refusal(matmul<only>(make_view(a, 4, 5), make_view(b, 5, 7), make_view(c, 4, 6),
                              make_view(d, 4, 7), {.beta = 1}),
                 status_code::unsupported_shape, "c.extent[1]", {"6", "7"});
  expect_refusal(matmul<only>(make_view(a, 2, 4, 5), make_view(b, 3, 5, 7), make_view(d, 2, 4, 7)),
                 status_code::unsupported_shape, "b.extent[0]", {"3", "2", "batches"});
}

TEST_F(matmul_arguments_test, strides) {
  expect_refusal(
      run(make_strided_view<float, 2>(a, {4, 5}, {3, 1}), make_view(b, 5, 7), make_view(d, 4, 7)),
      status_code::unsupported_shape, "a.stride[0]", {"3", ">= 5"});
  expect_refusal(
      run(make_view(a, 4, 5), make_strided_view<float, 2>(b, {5, 7}, {20, 2}), make_view(d, 4, 7)),
      status_code::unsupported_shape, "b.stride[1]", {"2", "1"});
  expect_refusal(
      run(make_view(a, 4, 5), make_view(b, 5, 7), make_strided_view<float, 2>(d, {4, 7}, {6, 1})),
      status_code::unsupported_shape, "d.stride[0]", {"6", ">= 7"});
  // one row has no leading dimension
  EXPECT_TRUE(run(make_strided_view<float, 2>(a, {1, 5}, {0, 1}), make_view(b, 5, 7),
                  make_strided_view<float, 2>(d, {1, 7}, {0, 1}))
                  .ok());
}

TEST_F(matmul_arguments_test, memory) {
  float* none = nullptr;
  expect_refusal(run(make_view(none, 4, 5), make_view(b, 5, 7), make_view(d, 4, 7)),
                 status_code::null_pointer, "a", {});
  expect_refusal(run(make_view(a, 4, 5), make_view(none, 5, 7), make_view(d, 4, 7)),
                 status_code::null_pointer, "b", {});
  expect_refusal(run(make_view(a, 4, 5), make_view(b, 5, 7), make_view(none, 4, 7)),
                 status_code::null_pointer, "d", {});
  expect_refusal(matmul<only>(make_view(a, 4, 5), make_view(b, 5, 7), make_view(none, 4, 7),
                              make_view(d, 4, 7), {.beta = 1}),
                 status_code::null_pointer, "c", {});
  auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(a) + 2);
  expect_refusal(run(make_view(odd, 4, 5), make_view(b, 5, 7), make_view(d, 4, 7)),
                 status_code::misaligned, "a", {"4 bytes"});
  expect_refusal(run(make_view(a, 4, 5), make_view(b, 5, 7), make_view(a + 19, 4, 7)),
                 status_code::overlapping, "d",
                 {"starts 76 bytes after a and overlaps it, allowed: apart"});
  expect_refusal(run(make_view(a, 4, 5), make_view(b, 5, 7), make_view(b, 4, 7)),
                 status_code::overlapping, "d",
                 {"starts where b does and overlaps it, allowed: apart"});
  expect_refusal(matmul<only>(make_view(a, 4, 5), make_view(b, 5, 7), make_view(d + 1, 4, 7),
                              make_view(d, 4, 7), {.beta = 1}),
                 status_code::overlapping, "d", {"c"});
  expect_refusal(matmul<only>(make_view(a, 2, 4, 5), make_view(b, 2, 5, 7),
                              make_strided_view<float, 3>(d, {2, 4, 7}, {7, 7, 1})),
                 status_code::overlapping, "d.stride[0]", {"7", "28", "overlap"});
  // in place, and inputs that repeat
  EXPECT_TRUE(matmul<only>(make_view(a, 4, 5), make_view(b, 5, 7), make_view(d, 4, 7),
                           make_view(d, 4, 7), {.beta = 1})
                  .ok());
  EXPECT_TRUE(matmul<only>(make_strided_view<float, 3>(a, {2, 4, 5}, {0, 5, 1}),
                           make_view(b, 2, 5, 7), make_view(d, 2, 4, 7))
                  .ok());
}

TEST_F(matmul_arguments_test, options) {
  const auto x = make_view(a, 4, 5);
  const auto y = make_view(b, 5, 7);
  const auto z = make_view(d, 4, 7);
  expect_refusal(run(x, y, z, {.beta = 0.5}), status_code::invalid_argument, "beta",
                 {"0.5", "no C"});
  expect_refusal(run(x, y, z, {.alpha = -1e300}), status_code::invalid_argument, "alpha",
                 {"-1e+300", "3.4e38"});
  expect_refusal(run(x, y, z, {.beta = 1e300}), status_code::invalid_argument, "beta",
                 {"1e+300", "3.4e38"});
  expect_refusal(run(x, y, z, {.memory = {nullptr, -1}}), status_code::invalid_argument,
                 "memory.bytes", {"-1", ">= 0"});
  expect_refusal(run(x, y, z, {.memory = {nullptr, 1024}}), status_code::null_pointer,
                 "memory.data", {});
  expect_refusal(run(x, y, z, {.splits = -1}), status_code::invalid_argument, "splits", {"-1"});
  expect_refusal(run(x, y, z, {.kernel = "huge"}), status_code::invalid_argument, "kernel",
                 {"huge", "middle", "skinny"});
  const std::string endless(1000, 'x');
  expect_refusal(run(x, y, z, {.kernel = endless.c_str()}), status_code::invalid_argument, "kernel",
                 {"it is xxx", "allowed: large", "skinny"});
  expect_refusal(run(x, y, z, {.kernel = "middle"}), status_code::invalid_argument, "kernel",
                 {"middle", "compact"});
  expect_refusal(run(x, y, z, {.scale_a = {a, scale_kind::tensor}}), status_code::unsupported_type,
                 "scale_a", {"8-bit"});
  expect_refusal(run(x, y, z, {.scale_a = {a, static_cast<scale_kind>(3)}}),
                 status_code::invalid_argument, "scale_a.kind", {"= 3", "none, tensor, outer"});
  expect_refusal(run(x, y, z, {.scale_b = {nullptr, static_cast<scale_kind>(200)}}),
                 status_code::invalid_argument, "scale_b.kind", {"= 200"});
  expect_refusal(run(make_view(a, 4, 512), make_view(b, 512, 7), z, {.splits = 4}),
                 status_code::workspace_too_small, "memory.bytes", {"0", ">= 448"});
  expect_refusal(
      run(make_view(a, 4, 512), make_view(b, 512, 7), z, {.splits = 4, .memory = {nullptr, 448}}),
      status_code::null_pointer, "memory.data", {});
  expect_refusal(run(make_view(a, 4, 512), make_view(b, 512, 7), z,
                     {.splits = 4, .memory = {memory + 8, 448}}),
                 status_code::misaligned, "memory.data", {"16"});
  expect_refusal(
      run(make_view(a, 4, 512), make_view(b, 512, 7), z, {.splits = 4, .memory = {d, 448}}),
      status_code::overlapping, "memory.data", {"d"});
  const auto bias = epilogue::chain(epilogue::bias_columns{static_cast<const float*>(nullptr)});
  expect_refusal(matmul<only>(x, y, z, {}, nullptr, bias), status_code::null_pointer,
                 "bias_columns", {});
}

TEST_F(matmul_arguments_test, types) {
  auto* bytes = reinterpret_cast<int8_t*>(a);
  auto* words = reinterpret_cast<int32_t*>(d);
  auto* halves = reinterpret_cast<fp16*>(b);
  auto* ocp = reinterpret_cast<fp8_e4m3_ocp*>(a);
  expect_refusal(matmul<only>(make_view(words, 4, 5), make_view(words, 5, 7), make_view(d, 4, 7)),
                 status_code::unsupported_type, "a", {"int32", "bf16"});
  expect_refusal(matmul<only>(make_view(ocp, 4, 5), make_view(ocp, 5, 7), make_view(d, 4, 7)),
                 status_code::unsupported_type, "a", {"fp8_e4m3_ocp", "fp8_e4m3_fnuz"});
  expect_refusal(matmul<only>(make_view(a, 4, 5), make_view(halves, 5, 7), make_view(d, 4, 7)),
                 status_code::unsupported_type, "b", {"fp16", "fp32"});
  expect_refusal(matmul<only>(make_view(a, 4, 5), make_view(b, 5, 7), make_view(words, 4, 7)),
                 status_code::unsupported_type, "d", {"int32", "fp32"});
  auto* other = reinterpret_cast<int8_t*>(b);
  expect_refusal(matmul<only>(make_view(bytes, 4, 5), make_view(other, 5, 7),
                              make_view(words, 4, 7), {.alpha = 0.5}),
                 status_code::invalid_argument, "alpha", {"0.5", "integer"});
}

// Factors too small for the type that products are computed in are 0: nothing is read for them.
TEST_F(matmul_arguments_test, factors_that_vanish) {
  float* none = nullptr;
  const auto z = make_view(d, 4, 7);
  EXPECT_TRUE(run(make_view(none, 4, 5), make_view(none, 5, 7), z, {.alpha = 1e-60}).ok());
  EXPECT_TRUE(matmul<only>(make_view(a, 4, 5), make_view(b, 5, 7), make_view(none, 4, 7), z,
                           {.beta = -1e-60})
                  .ok());
  EXPECT_EQ(matmul_problem_of(make_view(a, 4, 5), make_view(b, 5, 7), z, {.alpha = 1e-60}).k, 0);
  auto* doubles = reinterpret_cast<double*>(a);
  auto* results = reinterpret_cast<double*>(d);
  EXPECT_EQ(matmul_problem_of(make_view(doubles, 4, 5), make_view(doubles, 5, 7),
                              make_view(results, 4, 7), {.alpha = 1e-60})
                .k,
            5);
  EXPECT_EQ(launches(), 2);
}

TEST_F(matmul_arguments_test, arrays_of_epilogues) {
  const auto x = make_view(a, 4, 5);
  const auto y = make_view(b, 5, 7);
  const auto z = make_view(d, 4, 7);
  const auto with = [&](const auto& step) {
    return matmul<only>(x, y, z, {}, nullptr, epilogue::chain(step));
  };
  auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(c) + 2);
  using namespace epilogue;
  expect_refusal(with(bias_columns{odd}), status_code::misaligned, "bias_columns", {"4 bytes"});
  expect_refusal(with(bias_rows{odd}), status_code::misaligned, "bias_rows", {"4 bytes"});
  expect_refusal(with(residual{make_view(odd, 4, 7)}), status_code::misaligned, "residual", {});
  expect_refusal(with(scale_by{1, odd}), status_code::misaligned, "scale.pointer", {});
  expect_refusal(with(quantize{odd, nullptr}), status_code::misaligned, "quantize.scale", {});
  expect_refusal(with(quantize{nullptr, odd}), status_code::misaligned, "quantize.amax", {});
  expect_refusal(with(quantize{c, c}), status_code::overlapping, "quantize.amax", {"scale"});
  expect_refusal(with(bias_columns{d + 20}), status_code::overlapping, "d", {"bias_columns"});
  expect_refusal(with(bias_rows{d + 27}), status_code::overlapping, "d", {"bias_rows"});
  expect_refusal(with(residual{make_view(d + 1, 4, 7)}), status_code::overlapping, "d",
                 {"residual"});
  expect_refusal(with(scale_by{1, d}), status_code::overlapping, "d", {"scale.pointer"});
  expect_refusal(with(quantize{nullptr, d}), status_code::overlapping, "d", {"quantize.amax"});
  EXPECT_TRUE(with(residual{z}).ok()); // the result itself
  EXPECT_TRUE(with(bias_columns{d + 28}).ok());
}

TEST_F(matmul_arguments_test, scales) {
  const auto x = make_view(reinterpret_cast<int8_t*>(a), 4, 5);
  const auto y = make_view(reinterpret_cast<int8_t*>(b), 5, 7);
  const auto z = make_view(d, 4, 7);
  const auto with = [&](const matmul_scale& of_a, const matmul_scale& of_b) {
    return matmul<only>(x, y, z, {.scale_a = of_a, .scale_b = of_b});
  };
  auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(c) + 2);
  expect_refusal(with({c}, {}), status_code::invalid_argument, "scale_a", {"none", "tensor"});
  expect_refusal(with({}, {c}), status_code::invalid_argument, "scale_b", {"none", "outer"});
  expect_refusal(with({nullptr, scale_kind::tensor}, {}), status_code::null_pointer, "scale_a", {});
  expect_refusal(with({odd, scale_kind::outer}, {}), status_code::misaligned, "scale_a", {"4"});
  expect_refusal(with({}, {d + 27, scale_kind::tensor}), status_code::overlapping, "d",
                 {"scale_b"});
  EXPECT_TRUE(with({c, scale_kind::outer}, {c, scale_kind::tensor}).ok());
}

TEST_F(matmul_arguments_test, device) {
  mock::current().devices.assign(8, {});
  mock::current().devices[7].arch_name = "gfx1100";
  mock::current().devices[7].wave_size = 32;
  expect_refusal(matmul<only>(make_view(a, 4, 5), make_view(b, 5, 7), make_view(d, 4, 7), {},
                              mock::stream_of(7)),
                 status_code::wrong_architecture, "device", {"gfx1100", "gfx942"});
}

TEST_F(matmul_arguments_test, empty_problems_make_no_call) {
  float* none = nullptr;
  EXPECT_TRUE(run(make_view(none, 0, 5), make_view(none, 5, 7), make_view(none, 0, 7)).ok());
  EXPECT_TRUE(run(make_view(none, 4, 5), make_view(none, 5, 0), make_view(none, 4, 0)).ok());
  EXPECT_TRUE(
      matmul<only>(make_view(none, 0, 4, 5), make_view(none, 0, 5, 7), make_view(none, 0, 4, 7))
          .ok());
  EXPECT_TRUE(mock::current().calls.empty());
  // without a product, a and b need not be there
  EXPECT_TRUE(run(make_view(none, 4, 0), make_view(none, 0, 7), make_view(d, 4, 7)).ok());
  EXPECT_TRUE(
      run(make_view(none, 4, 5), make_view(none, 5, 7), make_view(d, 4, 7), {.alpha = 0}).ok());
  EXPECT_EQ(launches(), 2);
}

TEST_F(matmul_arguments_test, everything_runs_on_the_callers_stream) {
  const auto stream = mock::stream_of(1, 5);
  ASSERT_TRUE(
      matmul<only>(make_view(a, 4, 5), make_view(b, 5, 7), make_view(d, 4, 7), {}, stream).ok());
  mock::current().calls.clear();
  ASSERT_TRUE(matmul<only>(make_view(a, 4, 512), make_view(b, 512, 7), make_view(d, 4, 7),
                           {.splits = 4, .memory = {memory, sizeof memory}}, stream)
                  .ok());
  EXPECT_EQ(launches(), 2);
  for (const auto& call : mock::current().calls) {
    EXPECT_TRUE(call.name == "hipLaunchKernel" || call.name == "hipStreamGetDevice") << call.name;
    EXPECT_EQ(call.stream, stream) << call.name;
  }
}

TEST_F(matmul_arguments_test, facts_are_kept_for_each_device) {
  // other numbers than the devices of tests before
  mock::current().devices.assign(6, {});
  mock::current().devices[4].cu_count = 304;
  mock::current().devices[5].cu_count = 80;
  mock::current().current_device = 0;
  const auto on = [&](int device) {
    return matmul<only>(make_view(a, 4, 5), make_view(b, 5, 7), make_view(d, 4, 7), {},
                        mock::stream_of(device));
  };
  for (const int device : {4, 5, 4, 5, 4})
    ASSERT_TRUE(on(device).ok());
  EXPECT_LE(mock::current().count("hipGetDeviceProperties"), 2);
  EXPECT_EQ(mock::current().current_device, 0);
  EXPECT_EQ(mock::current().count("hipSetDevice"), 0);
}

TEST_F(matmul_arguments_test, dispatches_stay_below_2_to_the_32_work_items) {
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  static std::uint64_t groups;
  groups = 0;
  mock::current().on_launch = [](const mock::call& made, void**) {
    EXPECT_LE(std::uint64_t{made.grid.x} * made.block.x, 4294967295u);
    EXPECT_EQ(made.grid.y, 1u);
    EXPECT_EQ(made.grid.z, 1u);
    groups += made.grid.x;
  };
  const std::int64_t batches = (std::int64_t{1} << 24) + 5;
  auto* results = big + (std::int64_t{1} << 40);
  ASSERT_TRUE(matmul<only>(make_view(big, batches, 2, 2),
                           make_view(big + (std::int64_t{1} << 38), batches, 2, 2),
                           make_view(results, batches, 2, 2))
                  .ok());
  EXPECT_EQ(groups, static_cast<std::uint64_t>(batches));
}

} // namespace
