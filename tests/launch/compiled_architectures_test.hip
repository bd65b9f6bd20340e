// A program names the architectures it was compiled for when a device has none of them. Compiled
// for gfx90a and gfx950, linked with the mock runtime, whose device is a gfx942.
#include "mock_runtime.hpp"

#include <wavetile/launch/launch.hpp>

#include <gtest/gtest.h>

#include <cstring>

namespace {

WAVETILE_KERNEL void kernel(int* out) {
  *out = 1;
}

TEST(compiled_architectures, are_read_from_the_program) {
  const auto list = wavetile::detail::compiled_architectures(reinterpret_cast<const void*>(kernel));
  EXPECT_STREQ(list.c_str(), "gfx90a, gfx950");
}

TEST(compiled_architectures, of_an_address_outside_any_file) {
  const auto list = wavetile::detail::compiled_architectures(nullptr);
  EXPECT_STREQ(list.c_str(), "no architecture that could be found");
}

TEST(compiled_architectures, stand_in_the_message_with_the_device) {
  for (const hipError_t error :
       {hipErrorNoBinaryForGpu, hipErrorInvalidDeviceFunction, hipErrorInvalidImage,
        hipErrorInvalidKernelFile, hipErrorSharedObjectInitFailed}) {
    mock::current().launch_error = error;
    const wavetile::status refused =
        wavetile::launch(kernel, {.grid = 1, .block = 64}, nullptr, nullptr);
    EXPECT_EQ(refused.code(), wavetile::status_code::wrong_architecture);
    EXPECT_NE(std::strstr(refused.message(), "gfx942"), nullptr) << refused.message();
    EXPECT_NE(std::strstr(refused.message(), "gfx90a, gfx950"), nullptr) << refused.message();
  }
}

} // namespace
