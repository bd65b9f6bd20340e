// One header, several passes: the same sizes and constants in all of them, and the facts of the
// device the code runs on.
#include "../support/device_buffer.hpp"

#include <wavetile/arch/device_info.hpp>
#include <wavetile/arch/device_target.hpp>
#include <wavetile/core/status.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/core/view.hpp>
#include <wavetile/lds/bank_conflicts.hpp>

#include <hip/hip_runtime.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace wavetile {
namespace {

using view3 = view<float, 3>;

// What a pass says about everything that can cross from host to device. One list, compiled in each.
__host__ __device__ constexpr int layout_fact(int i) {
  const int facts[] = {
      static_cast<int>(sizeof(view<float, 1>)),
      static_cast<int>(sizeof(view<const fp16, 4>)),
      static_cast<int>(offsetof(view3, extent)),
      static_cast<int>(offsetof(view3, stride)),
      static_cast<int>(sizeof(vec<bf16, 8>)),
      static_cast<int>(alignof(vec<bf16, 8>)),
      static_cast<int>(sizeof(vec<float, 3>)),
      static_cast<int>(sizeof(fp16)),
      static_cast<int>(sizeof(fp8_e4m3_fnuz)),
      static_cast<int>(sizeof(layout)),
      static_cast<int>(offsetof(layout, second_shift)),
      static_cast<int>(sizeof(lds_access)),
      static_cast<int>(sizeof(target)),
      static_cast<int>(sizeof(device_info)),
      static_cast<int>(offsetof(device_info, global_bytes)),
      static_cast<int>(sizeof(status)),
      static_cast<int>(sizeof(scaled<fp8_e5m2_ocp>)),
      wave_size,
      targets::gfx942.lds_bytes,
  };
  constexpr int count = static_cast<int>(sizeof facts / sizeof facts[0]);
  return i < count ? facts[i] : -1;
}
constexpr int fact_count = 20; // one more than there are: the last is -1

__global__ void facts_kernel(int* out) {
  for (int i = 0; i < fact_count; ++i)
    out[i] = layout_fact(i);
}

TEST(passes, agree_on_sizes_and_constants) {
  test::device_buffer<int> out(fact_count);
  facts_kernel<<<1, 1>>>(out.data());
  WAVETILE_TEST_HIP(hipGetLastError());
  const std::vector<int> device = out.download();
  for (int i = 0; i < fact_count; ++i)
    EXPECT_EQ(device[static_cast<size_t>(i)], layout_fact(i)) << i;
  EXPECT_EQ(layout_fact(fact_count - 1), -1);
  EXPECT_NE(layout_fact(fact_count - 2), -1);
}

// A wave of our constant's size: the mask of active lanes has that many bits. Template argument and
// array bound, where a variable of the runtime could not stand.
template <int Lanes>
struct lane_table {
  int entry[Lanes];
};

__global__ void wave_kernel(int* out) {
  if constexpr (!device_pass_supported) {
    refuse_to_run();
    return;
  }
  lane_table<wave_size> table;
  for (int i = 0; i < wave_size; ++i)
    table.entry[i] = i;
  const int lane = static_cast<int>(threadIdx.x) % wave_size;
  const int active = __builtin_popcountll(__ballot(1));
  if (threadIdx.x == 0) {
    out[0] = active;
    out[1] = device_target.known();
    out[2] = static_cast<int>(device_target.arch);
  }
  out[3 + static_cast<int>(threadIdx.x)] = table.entry[lane];
}

TEST(passes, device_code_knows_its_architecture) {
  hipDeviceProp_t properties;
  WAVETILE_TEST_HIP(hipGetDeviceProperties(&properties, 0));
  const target& facts = find_target(properties.gcnArchName);
  ASSERT_TRUE(facts.known()) << properties.gcnArchName;
  test::device_buffer<int> out(3 + 128);
  wave_kernel<<<1, 128>>>(out.data());
  WAVETILE_TEST_HIP(hipGetLastError());
  const std::vector<int> results = out.download();
  EXPECT_EQ(results[0], facts.wave_size);
  EXPECT_EQ(results[1], 1);
  EXPECT_EQ(results[2], static_cast<int>(facts.arch));
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(results[static_cast<size_t>(3 + i)], i % 64);
}

// What each pass must say; this file is compiled for a described and for an unknown architecture.
#if !WAVETILE_DEVICE_PASS
static_assert(!device_target.known() && !device_pass_supported, "the host pass claims nothing");
#elif defined(__gfx942__)
static_assert(device_target.arch == architecture::gfx942 && device_pass_supported);
#elif defined(__gfx1100__)
static_assert(!device_target.known() && !device_pass_supported);
#endif

} // namespace
} // namespace wavetile
