// What the softmax operators refuse, in which words, and which runtime calls they make. Linked with
// a mock runtime: a call it does not have (an allocation, a synchronisation, a query of an event)
// would not link.
#include "mock_runtime.hpp"

#include <wavetile/softmax.hpp>

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace wavetile;

struct softmax_arguments : testing::Test {
  void SetUp() override {
    mock::current() = {};
    mock::current().devices.assign(2, {});
  }
  alignas(256) float x[4096] = {};
  alignas(256) float y[4096] = {};
  alignas(256) unsigned char mask[4096] = {};

  static int launches() { return mock::current().count("hipLaunchKernel"); }

  /// Refused with this code, naming this argument and these words; nothing was started.
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

TEST_F(softmax_arguments, null_pointers) {
  float* none = nullptr;
  expect_refusal(softmax(matrix(none, 2, 3), matrix(y, 2, 3)), status_code::null_pointer, "x", {});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(none, 2, 3)), status_code::null_pointer, "y", {});
  unsigned char* no_mask = nullptr;
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), matrix(no_mask, 2, 3)),
                 status_code::null_pointer, "mask", {});
  expect_refusal(softmax_backward(matrix(x, 2, 3), matrix(none, 2, 3), matrix(y, 2, 3)),
                 status_code::null_pointer, "dy", {});
}

TEST_F(softmax_arguments, extents) {
  expect_refusal(softmax(matrix(x, -2, 3, 3), matrix(y, -2, 3, 3)), status_code::invalid_argument,
                 "x.extent[0]", {"-2", ">= 0"});
  expect_refusal(softmax(matrix(x, 2, -3, 3), matrix(y, 2, -3, 3)), status_code::invalid_argument,
                 "x.extent[1]", {"-3"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 4)), status_code::unsupported_shape,
                 "y.extent[1]", {"4", "3"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), matrix(mask, 3, 3)),
                 status_code::unsupported_shape, "mask.extent[0]", {"3", "2", "or 1"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), matrix(mask, 2, 1)),
                 status_code::unsupported_shape, "mask.extent[1]", {"1", "3"});
  expect_refusal(softmax(make_view(x, 3), make_view(y, 3), matrix(mask, 1, 3)),
                 status_code::unsupported_shape, "mask", {"rank 2", "<= 1, the rank of x"});
  const std::int64_t large = std::int64_t{1} << 40;
  expect_refusal(
      softmax(matrix(x, large, large), matrix(y, large, large)), status_code::unsupported_shape,
      "x",
      {"extents 1099511627776 x 1099511627776", "strides 1099511627776 x 1", "2^62", "2^60 bytes"});
}

TEST_F(softmax_arguments, strides) {
  expect_refusal(softmax(matrix(x, 2, 3, 8, 2), matrix(y, 2, 3)), status_code::unsupported_shape,
                 "x.stride[1]", {"2", "1"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3, 8, 2)), status_code::unsupported_shape,
                 "y.stride[1]", {"2"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), matrix(mask, 2, 3, 8, -1)),
                 status_code::unsupported_shape, "mask.stride[1]", {"-1"});
  // of a mask with fewer axes than x by its own
  const auto* shared = mask;
  expect_refusal(softmax(make_view(x, 2, 2, 3), make_view(y, 2, 2, 3), matrix(shared, 2, 3, 8, 2)),
                 status_code::unsupported_shape, "mask.stride[1]", {"= 2"});
  expect_refusal(softmax_backward(make_view(x, 2, 2, 3), make_view(x, 2, 2, 3),
                                  make_view(y, 2, 2, 3),
                                  make_strided_view<const unsigned char, 1>(shared, {3}, {2})),
                 status_code::unsupported_shape, "mask.stride[0]", {"= 2"});
  // of one column any stride will do
  EXPECT_TRUE(softmax(matrix(x, 2, 1, 8, 5), matrix(y, 2, 1, 8, 7)).ok());
}

TEST_F(softmax_arguments, alignment) {
  auto* odd = reinterpret_cast<float*>(reinterpret_cast<char*>(x) + 2);
  const std::string address = std::to_string(reinterpret_cast<std::uintptr_t>(odd));
  expect_refusal(softmax(matrix(odd, 2, 3), matrix(y, 2, 3)), status_code::misaligned, "x",
                 {address.c_str(), "4 bytes"});
}

TEST_F(softmax_arguments, overlap) {
  expect_refusal(softmax(matrix(x, 4, 8), matrix(x + 1, 4, 8)), status_code::overlapping, "y",
                 {"starts 4 bytes after x and overlaps it", "allowed: apart", "in place"});
  expect_refusal(softmax(matrix(x + 2, 4, 8), matrix(x, 4, 8)), status_code::overlapping, "y",
                 {"starts 8 bytes before x"});
  expect_refusal(softmax(matrix(x, 4, 8), matrix(x, 4, 8, 9)), status_code::overlapping, "y",
                 {"starts where x does"});
  // in place with elements of another size
  expect_refusal(softmax(matrix(x, 4, 8), matrix(reinterpret_cast<fp16*>(x), 4, 8)),
                 status_code::overlapping, "y", {});
  expect_refusal(softmax(matrix(x, 4, 8), matrix(y, 4, 8, 4)), status_code::overlapping,
                 "y.stride[0]", {"= 4, allowed: at least 8", "must not overlap"});
  // the outer axis is inside the rows of the inner one, and the other way round
  const auto cube = [&](std::int64_t outer, std::int64_t inner) {
    return softmax(make_view(x, 2, 3, 8),
                   make_strided_view<float, 3>(y + 64, {2, 3, 8}, {outer, inner, 1}));
  };
  expect_refusal(cube(20, 8), status_code::overlapping, "y.stride[0]", {"= 20", "at least 24"});
  expect_refusal(cube(8, -15), status_code::overlapping, "y.stride[1]", {"= -15", "at least 16"});
  expect_refusal(
      softmax(matrix(x, 4, 8), matrix(y, 4, 8), matrix(reinterpret_cast<unsigned char*>(y), 4, 8)),
      status_code::overlapping, "y", {"starts where mask does"});
  expect_refusal(log_softmax_backward(matrix(x, 4, 8), matrix(x + 64, 4, 8), matrix(x + 60, 4, 8)),
                 status_code::overlapping, "dx", {"starts 16 bytes before dy"});
  EXPECT_TRUE(softmax(matrix(x, 4, 8), matrix(x, 4, 8)).ok());             // in place
  EXPECT_TRUE(softmax(matrix(x, 4, 8, 16), matrix(x + 8, 4, 8, 16)).ok()); // side by side
  EXPECT_TRUE(softmax(matrix(x, 4, 8, 0), matrix(y, 4, 8)).ok());
}

TEST_F(softmax_arguments, types) {
  double d[8] = {};
  int i[8] = {};
  expect_refusal(softmax(matrix(d, 2, 3), matrix(y, 2, 3)), status_code::unsupported_type, "x",
                 {"fp64", "fp32, fp16, bf16"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(i, 2, 3)), status_code::unsupported_type, "y",
                 {"int32"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), matrix(i, 2, 3)),
                 status_code::unsupported_type, "mask", {"int32", "bool"});
  expect_refusal(softmax_backward(matrix(x, 2, 3), matrix(d, 2, 3), matrix(y, 2, 3)),
                 status_code::unsupported_type, "dy", {"fp64"});
}

TEST_F(softmax_arguments, scale) {
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), {.scale = __builtin_nanf("")}),
                 status_code::invalid_argument, "scale", {"NaN", "allowed: finite numbers"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), {.scale = -__builtin_inff()}),
                 status_code::invalid_argument, "scale", {"-infinity", "finite numbers"});
  expect_refusal(softmax_backward(matrix(x, 2, 3), matrix(x, 2, 3), matrix(y, 2, 3),
                                  {.scale = __builtin_inff()}),
                 status_code::invalid_argument, "scale", {"+infinity", "finite numbers"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), {.scale = -2.4e38f}),
                 status_code::invalid_argument, "scale", {"-2.4e+38", "log2(e)", "2.358e38"});
  EXPECT_TRUE(softmax(matrix(x, 2, 3), matrix(y, 2, 3), {.scale = 2.358e38f}).ok());
}

TEST_F(softmax_arguments, anchor) {
  // refused whether or not the mask that it anchors is there
  for (const bool causal : {false, true}) {
    const softmax_options options{.causal = causal, .anchor = static_cast<causal_anchor>(7)};
    expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), options),
                   status_code::invalid_argument, "anchor", {"= 7", "bottom_right, top_left"});
    expect_refusal(log_softmax(matrix(x, 2, 3), matrix(y, 2, 3), options),
                   status_code::invalid_argument, "anchor", {"= 7"});
    expect_refusal(softmax_backward(matrix(x, 2, 3), matrix(x, 2, 3), matrix(y, 2, 3), options),
                   status_code::invalid_argument, "anchor", {"= 7"});
  }
}

TEST_F(softmax_arguments, workspace) {
  // also where rows of this size use none
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), {.memory = {nullptr, -1}}),
                 status_code::invalid_argument, "memory.bytes", {"-1", ">= 0"});
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), {.memory = {nullptr, 16}}),
                 status_code::null_pointer, "memory.data", {});
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40); // never touched
  const auto large = [&](workspace memory) {
    return softmax(matrix(big, 2, 1000000), matrix(big + 4000000, 2, 1000000), {.memory = memory});
  };
  expect_refusal(large({y, 64}), status_code::workspace_too_small, "memory.bytes",
                 {"64", ">= 3920"}); // 2 rows of 245 parts
  expect_refusal(large({nullptr, 1 << 20}), status_code::null_pointer, "memory.data", {});
  char* const odd = reinterpret_cast<char*>(y) + 4;
  const std::string address = std::to_string(reinterpret_cast<std::uintptr_t>(odd));
  expect_refusal(large({odd, 1 << 20}), status_code::misaligned, "memory.data",
                 {address.c_str(), "a multiple of 16 bytes"});
  expect_refusal(large({y, -1}), status_code::invalid_argument, "memory.bytes", {"= -1", ">= 0"});
  // of 1 MiB the call uses 3920 bytes, and those must be apart from its arrays
  expect_refusal(large({big + 1999996, 1 << 20}), status_code::overlapping, "memory.data",
                 {"first 3920 bytes overlap x", "allowed: apart"});
  expect_refusal(large({big + 4000000 - 4, 1 << 20}), status_code::overlapping, "memory.data",
                 {"overlap y"});
  const auto gradient = [&](workspace memory) {
    return softmax_backward(matrix(big, 2, 1000000), matrix(big + 4000000, 2, 1000000),
                            matrix(big + 8000000, 2, 1000000), {.memory = memory});
  };
  for (const int64_t start : {int64_t{0}, int64_t{4000000}, int64_t{8000000}})
    expect_refusal(gradient({big + start, 1 << 20}), status_code::overlapping, "memory.data",
                   {"overlap "});
  EXPECT_TRUE(large({big + 2000000, 1 << 20}).ok());
}

TEST_F(softmax_arguments, other_devices) {
  mock::current().devices.assign(8, {});
  mock::current().devices[7].arch_name = "gfx1100";
  mock::current().devices[7].wave_size = 32;
  const auto stream = mock::stream_of(7);
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3), {}, stream),
                 status_code::wrong_architecture, "device", {"gfx1100", "gfx942"});
}

TEST_F(softmax_arguments, no_device) {
  mock::current().devices.clear();
  mock::current().count_error = hipErrorNoDevice;
  expect_refusal(softmax(matrix(x, 2, 3), matrix(y, 2, 3)), status_code::no_device, "hipGetDevice",
                 {"no HIP device"});
}

TEST_F(softmax_arguments, nothing_to_do_is_success_without_a_call) {
  float* none = nullptr;
  EXPECT_TRUE(softmax(matrix(none, 0, 5), matrix(none, 0, 5)).ok());
  EXPECT_TRUE(softmax(matrix(none, 5, 0, 1), matrix(none, 5, 0, 1)).ok());
  EXPECT_TRUE(log_softmax(matrix(none, 0, 0), matrix(none, 0, 0), matrix(mask, 1, 0)).ok());
  EXPECT_TRUE(softmax_backward(matrix(none, 0, 5), matrix(none, 0, 5), matrix(none, 0, 5)).ok());
  EXPECT_TRUE(mock::current().calls.empty());
}

TEST_F(softmax_arguments, everything_runs_on_the_callers_stream) {
  const auto stream = mock::stream_of(1, 3);
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  ASSERT_TRUE(softmax(matrix(x, 2, 3), matrix(y, 2, 3), {}, stream).ok()); // learns the device
  mock::current().calls.clear();
  ASSERT_TRUE(softmax(matrix(x, 2, 3), matrix(y, 2, 3), {}, stream).ok());
  ASSERT_TRUE(softmax(matrix(big, 2, 1000000), matrix(big + 4000000, 2, 1000000),
                      {.memory = {y, 1 << 20}}, stream)
                  .ok());
  ASSERT_TRUE(softmax_backward(matrix(big, 2, 1000000), matrix(big + 4000000, 2, 1000000),
                               matrix(big + 8000000, 2, 1000000), {.memory = {y, 1 << 20}}, stream)
                  .ok());
  EXPECT_EQ(launches(), 5);
  for (const auto& call : mock::current().calls) {
    EXPECT_TRUE(call.name == "hipLaunchKernel" || call.name == "hipStreamGetDevice") << call.name;
    EXPECT_EQ(call.stream, stream) << call.name;
  }
  EXPECT_EQ(mock::current().current_device, 0);
}

TEST_F(softmax_arguments, row_counts_are_64_bit_and_dispatches_below_2_to_the_32) {
  static std::int64_t next_row;
  static std::int64_t last_rows;
  auto* big = reinterpret_cast<float*>(std::uintptr_t{1} << 40);
  for (const std::int64_t rows : {(std::int64_t{1} << 31) + 7, (std::int64_t{1} << 33) + 5}) {
    for (const std::int64_t columns : {3, 1000, 3000}) {
      mock::current().calls.clear();
      next_row = 0;
      mock::current().on_launch = [](const mock::call& made, void** arguments) {
        const auto work_items = std::uint64_t{made.grid.x} * made.block.x;
        EXPECT_LE(work_items, 4294967295u);
        EXPECT_EQ(made.grid.y, 1u);
        EXPECT_EQ(made.grid.z, 1u);
        using types =
            kernels::softmax_problem_types<float, float, kernels::no_mask, softmax_form::softmax>;
        const auto& a = *static_cast<kernels::softmax_arguments<types>*>(arguments[0]);
        EXPECT_EQ(a.first_row, next_row);
        last_rows = a.rows;
        const std::int64_t per_group = a.columns == 3      ? 256 >> a.lanes_log2
                                       : a.columns == 1000 ? 4
                                                           : 1;
        next_row += std::int64_t{made.grid.x} * per_group;
      };
      ASSERT_TRUE(softmax(matrix(big, rows, columns), matrix(big, rows, columns)).ok());
      EXPECT_EQ(last_rows, rows);
      EXPECT_GE(next_row, rows);
      EXPECT_LT(next_row, rows + 256);
    }
  }
}

} // namespace
