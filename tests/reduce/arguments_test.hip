// What reduce refuses, in which words, and which runtime calls it makes. Linked with a mock
// runtime.
#include "mock_runtime.hpp"

#include <wavetile/reduce_segmented.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

struct reduce_arguments : testing::Test {
  void SetUp() override {
    mock::current() = {};
    mock::current().devices.assign(2, {});
  }
  alignas(256) float x[4096] = {};
  alignas(256) float y[4096] = {};
  alignas(256) int64_t index[4096] = {};

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

TEST_F(reduce_arguments, axis) {
  for (const int axis : {2, -3, 100})
    expect_refusal(reduce(make_view(x, 4, 8), make_view(y, 4), op::plus{}, {.axis = axis}),
                   status_code::invalid_argument, "axis",
                   {std::to_string(axis).c_str(), "-2 to 1", "all_axes"});
}

TEST_F(reduce_arguments, result_extents) {
  expect_refusal(reduce(make_view(x, 4, 8), make_view(y, 8), op::plus{}, {.axis = 1}),
                 status_code::unsupported_shape, "y.extent[0]", {"8", "4"});
  expect_refusal(reduce(make_view(x, 4, 8), make_view(y, 4), op::plus{}, {.axis = 0}),
                 status_code::unsupported_shape, "y.extent[0]", {"4", "8"});
  expect_refusal(reduce(make_view(x, 4, 8), make_view(y, 4), op::plus{}, {.axis = all_axes}),
                 status_code::unsupported_shape, "y.extent[0]", {"4", "1"});
  expect_refusal(reduce(make_view(x, 4, 8), make_view(y, 4, 8), op::plus{}, {.axis = 1}),
                 status_code::unsupported_shape, "y.extent[1]", {"8", "1"});
  expect_refusal(reduce(make_view(x, 4, 8, 2), make_view(y, 4), op::plus{}, {.axis = 1}),
                 status_code::unsupported_shape, "y", {"rank 1"});
  expect_refusal(reduce(make_view(x, -4, 8), make_view(y, 4), op::plus{}, {.axis = 1}),
                 status_code::invalid_argument, "x.extent[0]", {"-4"});
}

TEST_F(reduce_arguments, memory) {
  float* none = nullptr;
  expect_refusal(reduce(make_view(none, 4, 8), make_view(y, 4), op::plus{}),
                 status_code::null_pointer, "x", {});
  expect_refusal(reduce(make_view(x, 4, 8), make_view(none, 4), op::plus{}),
                 status_code::null_pointer, "y", {});
  // also where what is written comes from no element
  expect_refusal(reduce(make_view(none, 4, 0), make_view(none, 4), op::plus{}),
                 status_code::null_pointer, "y", {"not empty"});
  expect_refusal(reduce(make_view(none, 0, 8), make_view(none, 8), op::plus{}, {.axis = 0}),
                 status_code::null_pointer, "y", {"not empty"});
  expect_refusal(reduce(make_view(none, 0), make_view(none, 1), op::plus{}, {.axis = all_axes}),
                 status_code::null_pointer, "y", {"not empty"});
  auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(x) + 1);
  expect_refusal(reduce(make_view(odd, 4, 8), make_view(y, 4), op::plus{}), status_code::misaligned,
                 "x", {"4 bytes"});
  expect_refusal(reduce(make_view(x, 4, 8), make_view(x + 31, 4), op::plus{}),
                 status_code::overlapping, "y",
                 {"starts 124 bytes after x and overlaps it", "allowed: apart from x"});
  // a result between the rows of x is refused as well: the range of addresses decides
  expect_refusal(
      reduce(make_strided_view<float, 2>(x, {4, 8}, {16, 1}), make_view(x + 8, 4), op::plus{}),
      status_code::overlapping, "y", {"starts 32 bytes after x"});
  // unless its rows are as far apart as those of x
  EXPECT_TRUE(reduce(make_strided_view<float, 2>(x, {4, 8}, {16, 1}),
                     make_strided_view<float, 2>(x + 8, {4, 1}, {16, 1}), op::plus{})
                  .ok());
  mock::current().calls.clear();
  expect_refusal(
      reduce(make_view(x, 2, 3, 8), make_strided_view<float, 2>(y, {2, 3}, {2, 1}), op::plus{}),
      status_code::overlapping, "y.stride[0]", {"= 2, allowed: at least 3"});
  expect_refusal(
      reduce(make_strided_view<float, 2>(x, {4, 8}, {20, 2}), make_view(y, 4), op::plus{}),
      status_code::unsupported_shape, "x.stride[1]", {"2", "1"});
  expect_refusal(reduce(make_view(x, 4, 8), make_strided_view<float, 1>(y, {4}, {2}), op::plus{}),
                 status_code::unsupported_shape, "y.stride[0]", {"2"});
}

TEST_F(reduce_arguments, memory_of_segments) {
  auto* segments = reinterpret_cast<float*>(index);
  expect_refusal(
      reduce_segmented(make_view(x, 32), make_view(index, 5), make_view(x + 31, 4), op::plus{}),
      status_code::overlapping, "y", {"starts 124 bytes after x and overlaps it, allowed: apart"});
  expect_refusal(
      reduce_segmented(make_view(x, 32), make_view(index, 5), make_view(segments, 4), op::plus{}),
      status_code::overlapping, "y", {"starts where offsets does and overlaps it"});
}

TEST_F(reduce_arguments, types) {
  signed char bytes[32] = {};
  expect_refusal(reduce(make_view(bytes, 4, 8), make_view(y, 4), op::plus{}),
                 status_code::unsupported_type, "x", {"int8", "int32"});
  expect_refusal(reduce(make_view(x, 4, 8), make_view(y, 4), op::arg_maximum{}),
                 status_code::unsupported_type, "y", {"fp32", "allowed: int32, int64"});
  expect_refusal(reduce(make_view(x, 4, 8), make_view(bytes, 4), op::arg_minimum{}),
                 status_code::unsupported_type, "y", {"int8", "allowed: int32, int64"});
  expect_refusal(reduce(make_view(x, 4, 8), make_view(bytes, 4), op::minimum{}),
                 status_code::unsupported_type, "y", {"int8", "allowed: fp64, fp32"});
  expect_refusal(reduce_segmented(make_view(x, 32), make_view(index, 5), make_view(bytes, 4),
                                  op::arg_minimum{}),
                 status_code::unsupported_type, "y", {"int8", "allowed: int32, int64"});
  int32_t small = 0;
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  expect_refusal(reduce(make_view(big, int64_t{3} << 30), make_view(&small, 1), op::arg_maximum{}),
                 status_code::unsupported_shape, "x", {"3221225472", "2147483647"});
}

TEST_F(reduce_arguments, workspace) {
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  const auto large = [&](workspace memory) {
    return reduce(make_view(big, 1000000), make_view(y, 1), op::plus{},
                  {.axis = all_axes, .memory = memory});
  };
  expect_refusal(large({index, 64}), status_code::workspace_too_small, "memory.bytes",
                 {"64", ">= 248"}); // 62 parts of 16 KiB elements
  expect_refusal(large({nullptr, 4096}), status_code::null_pointer, "memory.data", {});
  const std::string address = std::to_string(reinterpret_cast<std::uintptr_t>(index + 1));
  expect_refusal(large({index + 1, 4096}), status_code::misaligned, "memory.data",
                 {address.c_str(), "a multiple of 16 bytes"});
  expect_refusal(large({big + 999996, 4096}), status_code::overlapping, "memory.data",
                 {"overlap x"});
}

TEST_F(reduce_arguments, device) {
  mock::current().devices.assign(8, {});
  mock::current().devices[7].arch_name = "gfx1100";
  mock::current().devices[7].wave_size = 32;
  expect_refusal(reduce(make_view(x, 4, 8), make_view(y, 4), op::plus{}, {}, mock::stream_of(7)),
                 status_code::wrong_architecture, "device", {"gfx1100", "gfx942"});
}

TEST_F(reduce_arguments, nothing_to_do_is_success_without_a_call) {
  float* none = nullptr;
  EXPECT_TRUE(reduce(make_view(none, 0, 8), make_view(none, 0), op::plus{}, {.axis = 1}).ok());
  EXPECT_TRUE(reduce(make_view(none, 8, 0), make_view(none, 0), op::plus{}, {.axis = 0}).ok());
  EXPECT_TRUE(mock::current().calls.empty());
  // an empty x may be null, its results are written
  EXPECT_TRUE(reduce(make_view(none, 0), make_view(y, 1), op::plus{}).ok());
  EXPECT_TRUE(reduce(make_view(none, 4, 0), make_view(y, 4), op::plus{}).ok());
  EXPECT_EQ(launches(), 2);
}

TEST_F(reduce_arguments, everything_runs_on_the_callers_stream) {
  const auto stream = mock::stream_of(1, 5);
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  ASSERT_TRUE(reduce(make_view(x, 4, 8), make_view(y, 4), op::plus{}, {}, stream).ok());
  mock::current().calls.clear();
  const workspace memory{index, sizeof index};
  ASSERT_TRUE(
      reduce(make_view(big, 1000000), make_view(y, 1), op::plus{}, {.memory = memory}, stream)
          .ok());
  ASSERT_TRUE(
      reduce(make_view(big, 1000, 10), make_view(y, 10), op::arg_minimum{}, {.axis = 0}, stream)
          .code() == status_code::unsupported_type);
  ASSERT_TRUE(reduce(make_view(big, 10000, 10), make_view(y, 10), op::mean{},
                     {.axis = 0, .memory = memory}, stream)
                  .ok());
  ASSERT_TRUE(reduce(make_strided_view<float, 2>(big, {1000, 100}, {200, 1}), make_view(y, 1),
                     op::mean{}, {.axis = all_axes, .memory = memory}, stream)
                  .ok());
  EXPECT_EQ(launches(), 6); // each in two steps
  for (const auto& call : mock::current().calls) {
    EXPECT_TRUE(call.name == "hipLaunchKernel" || call.name == "hipStreamGetDevice") << call.name;
    EXPECT_EQ(call.stream, stream) << call.name;
  }
}

TEST_F(reduce_arguments, dispatches_stay_below_2_to_the_32_work_items) {
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  static std::uint64_t groups;
  for (const std::int64_t rows : {(std::int64_t{1} << 31) + 7, std::int64_t{6402156544}}) {
    groups = 0;
    mock::current().on_launch = [](const mock::call& made, void**) {
      EXPECT_LE(std::uint64_t{made.grid.x} * made.block.x, 4294967295u);
      groups += made.grid.x;
    };
    auto* results = big + (std::int64_t{1} << 42);
    ASSERT_TRUE(reduce(make_view(big, rows, 300), make_view(results, rows), op::plus{}).ok());
    EXPECT_EQ(groups, static_cast<std::uint64_t>((rows + 3) / 4));
  }
}

} // namespace
