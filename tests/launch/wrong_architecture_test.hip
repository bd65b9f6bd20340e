// A program with code for gfx90a alone, started on another device: nothing runs, and the status
// names the device and what the program has.
#include "device_buffer.hpp"

#include <wavetile/launch/launch.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace {

WAVETILE_KERNEL void kernel(int* out) {
  *out = 1;
}

TEST(wrong_architecture, is_refused_by_name) {
  wavetile::device_info device;
  ASSERT_TRUE(wavetile::query_device(0, device).ok());
  if (device.arch() == wavetile::architecture::gfx90a)
    GTEST_SKIP() << "this device is the one the program was compiled for";
  wavetile::test::device_buffer<int> out(1);
  const wavetile::status refused =
      wavetile::launch(kernel, {.grid = 1, .block = 1}, nullptr, out.data());
  EXPECT_EQ(refused.code(), wavetile::status_code::wrong_architecture) << refused.message();
  EXPECT_NE(std::strstr(refused.message(), device.arch_name), nullptr) << refused.message();
  EXPECT_NE(std::strstr(refused.message(), "gfx90a"), nullptr) << refused.message();
  EXPECT_TRUE(out.untouched());
}

} // namespace
