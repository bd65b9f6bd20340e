// Lane and wave numbers, and the wave size as a constant of the library.
#include "lane_values.hpp"
#include "verify.hpp"

#include <gtest/gtest.h>

namespace {

using namespace wavetile;
using namespace wavetile::test;

#if WAVETILE_CUDA
static_assert(wave_size == 32);
#else
static_assert(wave_size == 64);
#endif
static_assert(targets::gfx942.wave_size == 64 && targets::sm90.wave_size == 32);
static_assert(sizeof(lane_mask) == 8);

template <int N>
struct sized {
  int value[N];
};

struct numbers {
  WAVETILE_DEVICE void operator()(const int*, int* out, int thread) const {
    // the library's constant as template argument and as array bound in device code
    [[maybe_unused]] sized<wave_size> a{};
    [[maybe_unused]] int b[wave_size] = {};
    static_assert(sizeof(a) == 4 * wave_size && sizeof(b) == 4 * wave_size);
    out[4 * thread] = lane_id();
    out[4 * thread + 1] = wave_id();
    out[4 * thread + 2] = workgroup_size();
    out[4 * thread + 3] = flat_thread_id();
  }
};

TEST(lane, numbers_in_a_block_of_256) {
  const auto out = run_workgroup<numbers, int>(std::vector<int>(1), 256, 4 * 256);
  for (int t = 0; t < 256; ++t) {
    const auto* o = &out[static_cast<size_t>(4 * t)];
    ASSERT_EQ(o[0], t % wave_size) << t;
    ASSERT_EQ(o[1], t / wave_size) << t;
    ASSERT_EQ(o[2], 256);
    ASSERT_EQ(o[3], t);
  }
  EXPECT_EQ(out[(wave_size - 1) * 4], wave_size - 1);
  EXPECT_EQ(out[(wave_size - 1) * 4 + 1], 0);
  EXPECT_EQ(out[wave_size * 4], 0);
  EXPECT_EQ(out[wave_size * 4 + 1], 1);
}

WAVETILE_KERNEL void numbers_3d(int* out) {
  const int flat = flat_thread_id();
  out[3 * flat] = lane_id();
  out[3 * flat + 1] = wave_id(flat);
  out[3 * flat + 2] = workgroup_size();
}

TEST(lane, numbers_in_three_dimensions) {
  for (const extent3 block : {extent3{8, 8, 4}, extent3{3, 5, 7}, extent3{1, 4, 50}}) {
    const auto size = static_cast<size_t>(block.x * block.y * block.z);
    device_buffer<int> out(3 * size);
    ASSERT_TRUE(launch(numbers_3d, {.grid = 1, .block = block}, nullptr, out.data()).ok());
    const auto got = out.download();
    for (size_t t = 0; t < size; ++t) {
      ASSERT_EQ(got[3 * t], static_cast<int>(t) % wave_size);
      ASSERT_EQ(got[3 * t + 1], static_cast<int>(t) / wave_size);
      ASSERT_EQ(got[3 * t + 2], static_cast<int>(size));
    }
  }
}

TEST(lane, wave_count) {
  EXPECT_EQ(wave_count(1), 1);
  EXPECT_EQ(wave_count(wave_size), 1);
  EXPECT_EQ(wave_count(wave_size + 1), 2);
  EXPECT_EQ(wave_count(1024), 1024 / wave_size);
}

// Guard zones and poison notice what they should.
WAVETILE_KERNEL void write_at(int* out, int index) {
  out[index] = 7;
}

TEST(device_buffer, notices_writes) {
  for (const int index : {-1, 10, 1000}) {
    device_buffer<int> buffer(10);
    EXPECT_TRUE(buffer.untouched());
    ASSERT_TRUE(launch(write_at, {.grid = 1, .block = 1}, nullptr, buffer.data(), index).ok());
    EXPECT_TRUE(buffer.untouched());
    EXPECT_FALSE(buffer.guards_intact()) << index;
    buffer.restore_guards();
  }
  device_buffer<int> buffer(10, 3);
  ASSERT_TRUE(launch(write_at, {.grid = 1, .block = 1}, nullptr, buffer.data(), 9).ok());
  EXPECT_FALSE(buffer.untouched());
  EXPECT_TRUE(buffer.guards_intact());
  EXPECT_EQ(buffer.download()[9], 7);
  EXPECT_EQ(buffer.download()[8], -1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 12u);
}

} // namespace
