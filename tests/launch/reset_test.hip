// After a device is reset, kernels get the LDS again that CUDA grants on request only.
#include "device_buffer.hpp"

#include <wavetile/group/barrier.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/wave/lane.hpp>

#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr int bytes = 96 * 1024, threads = 128;
extern WAVETILE_SHARED unsigned char dynamic_lds[];

WAVETILE_KERNEL void mirror(unsigned* out) {
  auto* words = reinterpret_cast<unsigned*>(dynamic_lds);
  const int last = bytes / 4 - 1;
  words[thread_id()] = 1;
  words[last - thread_id()] = static_cast<unsigned>(thread_id()) * 3u;
  group::barrier();
  out[thread_id()] = words[last - (threads - 1 - thread_id())];
}

std::vector<unsigned> mirrored(int calls) {
  device_buffer<unsigned> out(threads);
  for (int i = 0; i < calls; ++i) {
    const status outcome =
        launch(mirror, {.grid = 1, .block = threads, .lds_bytes = bytes}, nullptr, out.data());
    EXPECT_TRUE(outcome.ok()) << outcome.message();
  }
  return out.download();
}

TEST(launch, has_its_lds_after_a_reset_of_the_device) {
  std::vector<unsigned> expected;
  for (unsigned i = 0; i < threads; ++i)
    expected.push_back(3 * (threads - 1 - i));
  EXPECT_EQ(mirrored(2), expected);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(mirrored(2), expected);
}

} // namespace
