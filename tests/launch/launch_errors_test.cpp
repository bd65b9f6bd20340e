// What launch refuses, in which words, and which runtime calls it makes. No device is needed: a
// mock runtime records.
#include "mock_runtime.hpp"

#include <wavetile/launch/launch.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace {

using wavetile::launch;
using wavetile::launch_shape;
using wavetile::status;
using wavetile::status_code;

// Never run: the mock only takes its address.
void kernel(float*, int) {}
void kernel_without_parameters() {}
void sliced_kernel(wavetile::grid_slice, int) {}

struct launching : testing::Test {
  // Devices are remembered for the life of the process, so every test uses device numbers of its
  // own: earlier ones stay as they were.
  static constexpr int devices = 64;
  void SetUp() override {
    mock::current() = {};
    mock::current().devices.assign(devices, {});
  }
  static status try_shape(const launch_shape& shape) {
    return launch(kernel, shape, nullptr, nullptr, 1);
  }
  static bool says(const status& s, const std::string& text) {
    return std::strstr(s.message(), text.c_str()) != nullptr;
  }
};

TEST_F(launching, passes_everything_on_unchanged) {
  static float* seen_pointer;
  static int seen_number;
  mock::current().on_launch = [](const mock::call&, void** arguments) {
    seen_pointer = *static_cast<float**>(arguments[0]);
    seen_number = *static_cast<int*>(arguments[1]);
  };
  float value;
  const auto stream = mock::stream_of(0, 3);
  const launch_shape shape{.grid = {7, 65535, 2}, .block = {64, 2, 1}, .lds_bytes = 4096};
  // a short becomes the kernel's int
  ASSERT_TRUE(launch(kernel, shape, stream, &value, short{-5}).ok());
  EXPECT_EQ(seen_pointer, &value);
  EXPECT_EQ(seen_number, -5);
  const mock::call& made = mock::current().calls.back();
  EXPECT_EQ(made.name, "hipLaunchKernel");
  EXPECT_EQ(made.stream, stream);
  EXPECT_EQ(made.kernel, reinterpret_cast<const void*>(kernel));
  EXPECT_EQ(made.grid.x, 7u);
  EXPECT_EQ(made.grid.y, 65535u);
  EXPECT_EQ(made.grid.z, 2u);
  EXPECT_EQ(made.block.x, 64u);
  EXPECT_EQ(made.block.y, 2u);
  EXPECT_EQ(made.lds_bytes, 4096u);
  mock::current().on_launch = nullptr;
  EXPECT_TRUE(launch(kernel_without_parameters, {.grid = 1, .block = 1}, stream).ok());
}

TEST_F(launching, lds_limit_names_both_numbers) {
  EXPECT_TRUE(try_shape({.grid = 1, .block = 64, .lds_bytes = 65536}).ok());
  const status refused = try_shape({.grid = 1, .block = 64, .lds_bytes = 65537});
  EXPECT_EQ(refused.code(), status_code::lds_limit);
  EXPECT_STREQ(refused.argument(), "lds_bytes");
  EXPECT_TRUE(says(refused, "65537")) << refused.message();
  EXPECT_TRUE(says(refused, "65536")) << refused.message();
  EXPECT_EQ(mock::current().count("hipLaunchKernel"), 1);
  EXPECT_EQ(try_shape({.grid = 1, .block = 64, .lds_bytes = -1}).code(),
            status_code::invalid_argument);
}

TEST_F(launching, static_and_dynamic_lds_count_together) {
  mock::current().launch_error = hipErrorInvalidValue;
  mock::current().static_lds_bytes = 60000;
  const status refused = try_shape({.grid = 1, .block = 64, .lds_bytes = 6000});
  EXPECT_EQ(refused.code(), status_code::lds_limit);
  EXPECT_TRUE(says(refused, "66000") && says(refused, "65536")) << refused.message();
}

TEST_F(launching, blocks_the_kernel_was_not_compiled_for) {
  mock::current().launch_error = hipErrorInvalidValue;
  mock::current().kernel_block_limit = 256;
  const status refused = try_shape({.grid = 1, .block = 512});
  EXPECT_EQ(refused.code(), status_code::invalid_argument);
  EXPECT_TRUE(says(refused, "512") && says(refused, "256")) << refused.message();
}

TEST_F(launching, grid_limits) {
  const std::int64_t two_to_32 = std::int64_t{1} << 32;
  // 2^32 - 256 work-items pass, 2^32 do not
  EXPECT_TRUE(try_shape({.grid = two_to_32 / 256 - 1, .block = 256}).ok());
  const status refused = try_shape({.grid = two_to_32 / 256, .block = 256});
  EXPECT_EQ(refused.code(), status_code::grid_limit);
  EXPECT_TRUE(says(refused, "16777216") && says(refused, "4294967295")) << refused.message();
  // a count that would be 5 in 32 bits
  EXPECT_EQ(try_shape({.grid = two_to_32 + 5, .block = 1}).code(), status_code::grid_limit);
  // products over y and z, also ones that overflow 64 bits
  EXPECT_EQ(try_shape({.grid = {65536, 65535, 1}, .block = 1024}).code(), status_code::grid_limit);
  EXPECT_EQ(try_shape({.grid = {2147483647, 65535, 65535}, .block = 1024}).code(),
            status_code::grid_limit);
  const status y = try_shape({.grid = {1, 65536, 1}, .block = 64});
  EXPECT_EQ(y.code(), status_code::grid_limit);
  EXPECT_STREQ(y.argument(), "grid.y");
  EXPECT_TRUE(says(y, "65536") && says(y, "65535")) << y.message();
  EXPECT_EQ(try_shape({.grid = {1, 1, 65536}, .block = 64}).code(), status_code::grid_limit);
  EXPECT_TRUE(try_shape({.grid = {1, 65535, 65535}, .block = 1}).ok());
  EXPECT_EQ(try_shape({.grid = -1, .block = 64}).code(), status_code::invalid_argument);
}

TEST_F(launching, block_limits) {
  EXPECT_TRUE(try_shape({.grid = 1, .block = 1024}).ok());
  EXPECT_TRUE(try_shape({.grid = 1, .block = {32, 32, 1}}).ok());
  for (const wavetile::extent3 block :
       {wavetile::extent3{0}, wavetile::extent3{1025}, wavetile::extent3{-1},
        wavetile::extent3{1024, 2}, wavetile::extent3{64, 0}}) {
    const status refused = try_shape({.grid = 1, .block = block});
    EXPECT_EQ(refused.code(), status_code::invalid_argument) << refused.message();
    EXPECT_EQ(std::string(refused.argument()).rfind("block", 0), 0u) << refused.message();
  }
}

TEST_F(launching, nothing_to_do_is_success_without_a_dispatch) {
  EXPECT_TRUE(try_shape({.grid = 0, .block = 64}).ok());
  EXPECT_TRUE(try_shape({.grid = {5, 0, 1}, .block = 64}).ok());
  EXPECT_TRUE(launch(sliced_kernel, wavetile::plan_groups(0, 64), 0, nullptr, 1).ok());
  EXPECT_EQ(mock::current().count("hipLaunchKernel"), 0);
}

TEST_F(launching, null_kernel) {
  void (*none)(int) = nullptr;
  const status refused = launch(none, {.grid = 1, .block = 64}, nullptr, 1);
  EXPECT_EQ(refused.code(), status_code::null_pointer);
  EXPECT_STREQ(refused.argument(), "kernel");
}

TEST_F(launching, a_plan_becomes_dispatches_in_order) {
  static std::vector<wavetile::grid_slice> seen;
  seen.clear();
  mock::current().on_launch = [](const mock::call& made, void** arguments) {
    const auto slice = *static_cast<wavetile::grid_slice*>(arguments[0]);
    EXPECT_EQ(made.grid.x, static_cast<unsigned>(slice.count));
    EXPECT_EQ(*static_cast<int*>(arguments[1]), 42);
    seen.push_back(slice);
  };
  const auto stream = mock::stream_of(0);
  const auto plan = wavetile::plan_items((std::int64_t{1} << 34) + 1, 512, 512);
  ASSERT_TRUE(launch(sliced_kernel, plan, 128, stream, 42).ok());
  ASSERT_EQ(static_cast<std::int64_t>(seen.size()), plan.launches());
  std::int64_t next = 0;
  for (const auto& slice : seen) {
    EXPECT_EQ(slice.first, next);
    next += slice.count;
  }
  EXPECT_EQ(next, plan.groups);
  for (const mock::call& made : mock::current().calls)
    if (made.name == "hipLaunchKernel") {
      EXPECT_EQ(made.stream, stream);
      EXPECT_EQ(made.lds_bytes, 128u);
    }
}

TEST_F(launching, a_failing_runtime_is_quoted) {
  mock::current().launch_error = hipErrorLaunchFailure;
  const status refused = try_shape({.grid = 1, .block = 64});
  EXPECT_EQ(refused.code(), status_code::runtime_error);
  EXPECT_TRUE(says(refused, "hipLaunchKernel") && says(refused, "text of the mock runtime"))
      << refused.message();
}

TEST_F(launching, no_device) {
  mock::current().devices.clear();
  mock::current().count_error = hipErrorNoDevice;
  for (const status& refused : {try_shape({.grid = 1, .block = 64}), [] {
                                  wavetile::device_info info;
                                  info.wave_size = -7;
                                  const status outcome = wavetile::query_device(0, info);
                                  EXPECT_EQ(info.wave_size, -7); // no invented values
                                  return outcome;
                                }()}) {
    EXPECT_EQ(refused.code(), status_code::no_device);
    EXPECT_TRUE(says(refused, "no HIP device is present")) << refused.message();
  }
  EXPECT_EQ(mock::current().count("hipLaunchKernel"), 0);
}

TEST_F(launching, unknown_architecture_names_both_sides) {
  mock::current().devices[10].arch_name = "gfx1100";
  mock::current().devices[10].wave_size = 32;
  const status refused = launch(kernel, {.grid = 1, .block = 64}, mock::stream_of(10), nullptr, 1);
  EXPECT_EQ(refused.code(), status_code::wrong_architecture);
  EXPECT_TRUE(says(refused, "gfx1100") && says(refused, "gfx942")) << refused.message();
  EXPECT_EQ(mock::current().count("hipLaunchKernel"), 0);
}

TEST_F(launching, known_architecture_with_another_wave_size) {
  mock::current().devices[11].wave_size = 32;
  const status refused = launch(kernel, {.grid = 1, .block = 64}, mock::stream_of(11), nullptr, 1);
  EXPECT_EQ(refused.code(), status_code::wrong_architecture);
  EXPECT_TRUE(says(refused, "32") && says(refused, "64")) << refused.message();
}

TEST_F(launching, limits_are_those_of_the_streams_device) {
  mock::current().devices[12].arch_name = "gfx950:sramecc+";
  mock::current().devices[12].lds_bytes = 163840;
  const launch_shape large{.grid = 1, .block = 64, .lds_bytes = 163840};
  EXPECT_TRUE(launch(kernel, large, mock::stream_of(12), nullptr, 1).ok());
  EXPECT_EQ(launch(kernel, large, mock::stream_of(13), nullptr, 1).code(), status_code::lds_limit);
}

TEST_F(launching, each_device_is_asked_once_and_the_current_one_stays) {
  auto& runtime = mock::current();
  runtime.devices[20].cu_count = 304;
  runtime.devices[21].cu_count = 80;
  runtime.devices[21].xcd_count = -1;
  runtime.current_device = 5;
  const auto use = [&](int ordinal) {
    wavetile::device_info info;
    EXPECT_TRUE(wavetile::stream_device(mock::stream_of(ordinal), info).ok());
    EXPECT_EQ(info.ordinal, ordinal);
    EXPECT_TRUE(
        launch(kernel, {.grid = 1, .block = 64}, mock::stream_of(ordinal), nullptr, 1).ok());
    EXPECT_EQ(runtime.calls.back().stream, mock::stream_of(ordinal));
    return info;
  };
  EXPECT_EQ(use(20).cu_count, 304);
  EXPECT_EQ(use(21).cu_count, 80);
  EXPECT_EQ(use(21).xcd_count, 0) << "not known is 0, never a guess";
  EXPECT_EQ(use(20).xcd_count, 8);
  EXPECT_EQ(runtime.count("hipGetDeviceProperties"), 2);
  EXPECT_EQ(runtime.count("hipSetDevice"), 0);
  EXPECT_EQ(runtime.current_device, 5);

  // From now on only what may be captured: which device the stream has, and the launch.
  runtime.calls.clear();
  use(20);
  use(21);
  for (const mock::call& made : runtime.calls)
    EXPECT_TRUE(made.name == "hipStreamGetDevice" || made.name == "hipLaunchKernel") << made.name;
}

TEST_F(launching, a_stream_that_is_none_is_named) {
  // of the mock's runtime none has this address
  const status refused =
      launch(kernel, {.grid = 1, .block = 64}, reinterpret_cast<hipStream_t>(16), nullptr, 1);
  EXPECT_EQ(refused.code(), status_code::invalid_argument);
  EXPECT_STREQ(refused.argument(), "stream");
  EXPECT_NE(std::string(refused.message()).find("it is none, or was destroyed"), std::string::npos)
      << refused.message();
  EXPECT_EQ(mock::current().count("hipLaunchKernel"), 0);
}

TEST_F(launching, the_null_stream_means_the_current_device) {
  mock::current().devices[30].cu_count = 11;
  mock::current().current_device = 30;
  wavetile::device_info info;
  ASSERT_TRUE(wavetile::stream_device(nullptr, info).ok());
  EXPECT_EQ(info.cu_count, 11);
  for (const hipStream_t stream : {hipStreamPerThread, hipStreamLegacy}) {
    info.ordinal = -1;
    ASSERT_TRUE(wavetile::stream_device(stream, info).ok());
    EXPECT_EQ(info.ordinal, 30);
  }
}

TEST_F(launching, a_failed_query_is_not_remembered) {
  mock::current().count_error = hipErrorNoDevice;
  wavetile::device_info info;
  EXPECT_EQ(wavetile::known_device(31, info).code(), status_code::no_device);
  mock::current().count_error = hipSuccess;
  EXPECT_TRUE(wavetile::known_device(31, info).ok());
}

TEST_F(launching, a_device_number_out_of_range_is_refused) {
  wavetile::device_info info;
  const status refused = wavetile::query_device(64, info);
  EXPECT_EQ(refused.code(), status_code::invalid_argument);
  EXPECT_TRUE(says(refused, "64") && says(refused, "63")) << refused.message();
  EXPECT_EQ(wavetile::known_device(-1, info).code(), status_code::invalid_argument);
}

} // namespace
