// Launches that run: arguments, LDS, grids, streams, capture, errors of others.
#include "device_buffer.hpp"
#include "verify.hpp"

#include <wavetile/group/barrier.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/wave/lane.hpp>

#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <cstring>
#include <string>
#include <thread>

namespace {

using namespace wavetile;
using namespace wavetile::test;

bool says(const status& s, const std::string& text) {
  return std::strstr(s.message(), text.c_str()) != nullptr;
}

/// LDS that a workgroup can have on the current device: 65536 bytes on gfx942.
int most_lds() {
  hipDeviceProp_t properties;
  WAVETILE_TEST_HIP(hipGetDeviceProperties(&properties, 0));
  return static_cast<int>(properties.sharedMemPerBlock);
}

// ---- arguments ---------------------------------------------------------------------------------

struct parcel {
  double d;
  char c;
  std::int16_t s[3];
};

WAVETILE_KERNEL void take_arguments(std::int8_t a, std::uint16_t b, float c, double d,
                                    std::int64_t e, parcel p, bool flag, double* out) {
  out[0] = a;
  out[1] = b;
  out[2] = static_cast<double>(c);
  out[3] = d;
  out[4] = static_cast<double>(e);
  out[5] = p.d + p.c + p.s[0] + p.s[1] + p.s[2];
  out[6] = flag ? 1 : 0;
}

TEST(launch, arguments_arrive_converted_to_the_kernels_types) {
  device_buffer<double> out(7);
  const parcel p{0.5, 'A', {1, -2, 300}};
  // int and float arguments for parameters of other types
  const status outcome = launch(take_arguments, {.grid = 1, .block = 1}, nullptr, -5, 65535, 1,
                                2.5f, std::int64_t{-1} << 40, p, true, out.data());
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_EQ(out.download(),
            (std::vector<double>{-5, 65535, 1, 2.5, -1099511627776.0, 0.5 + 65 + 1 - 2 + 300, 1}));
}

// ---- shapes ------------------------------------------------------------------------------------

WAVETILE_KERNEL void count_groups(grid_slice slice, std::uint32_t* count) {
  if (thread_id() == 0)
    count[group_number(slice)] += 1;
}

TEST(launch, plans_run_every_workgroup_once) {
  for (const std::int64_t groups : {1, 7, 1000, 70000}) { // 70000: more than y or z would take
    device_buffer<std::uint32_t> count(std::vector<std::uint32_t>(static_cast<size_t>(groups)));
    const grid_plan plan = plan_groups(groups, 64, groups / 3 + 1);
    ASSERT_EQ(plan.launches(), groups == 1 ? 1 : 3);
    const status outcome = launch(count_groups, plan, 0, nullptr, count.data());
    ASSERT_TRUE(outcome.ok()) << outcome.message();
    EXPECT_TRUE(
        verify_bits(count.download(), std::vector<std::uint32_t>(static_cast<size_t>(groups), 1)));
  }
}

WAVETILE_KERNEL void note_shape(int* out) {
  const auto x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (flat_thread_id() == 0)
    out[x + 3 * (y + 2 * z)] = workgroup_size();
}

TEST(launch, three_dimensions) {
  device_buffer<int> out(3 * 2 * 4);
  ASSERT_TRUE(
      launch(note_shape, {.grid = {3, 2, 4}, .block = {5, 6, 7}}, nullptr, out.data()).ok());
  EXPECT_EQ(out.download(), std::vector<int>(24, 210));
}

TEST(launch, refusals_leave_the_output_alone) {
  device_buffer<int> out(1);
  for (const launch_shape& shape :
       {launch_shape{.grid = 1, .block = 1025}, launch_shape{.grid = 1, .block = 0},
        launch_shape{.grid = {1, 65536, 1}, .block = 1},
        launch_shape{.grid = std::int64_t{1} << 32, .block = 1},
        launch_shape{.grid = 1, .block = 64, .lds_bytes = most_lds() + 1}})
    EXPECT_FALSE(launch(note_shape, shape, nullptr, out.data()).ok());
  EXPECT_TRUE(launch(note_shape, {.grid = 0, .block = 64}, nullptr, out.data()).ok());
  EXPECT_TRUE(out.untouched());
}

#if WAVETILE_CUDA
__launch_bounds__(128)
#else
__attribute__((amdgpu_flat_work_group_size(1, 128)))
#endif
    WAVETILE_KERNEL void small_block(int* out) {
  out[thread_id()] = 1;
}

TEST(launch, more_work_items_than_the_kernel_was_compiled_for) {
  device_buffer<int> out(256);
  const status refused = launch(small_block, {.grid = 1, .block = 256}, nullptr, out.data());
  EXPECT_EQ(refused.code(), status_code::invalid_argument) << refused.message();
  EXPECT_TRUE(says(refused, "256") && says(refused, "128")) << refused.message();
  EXPECT_TRUE(out.untouched());
}

// ---- LDS ---------------------------------------------------------------------------------------

extern WAVETILE_SHARED unsigned char dynamic_lds[];

WAVETILE_KERNEL void fill_lds(int bytes, unsigned* out) {
  auto* words = reinterpret_cast<unsigned*>(dynamic_lds);
  for (int i = thread_id(); i < bytes / 4; i += 256)
    words[i] = static_cast<unsigned>(i) * 3u;
  group::barrier();
  unsigned wrong = 0;
  for (int i = thread_id(); i < bytes / 4; i += 256)
    wrong += words[bytes / 4 - 1 - i] != static_cast<unsigned>(bytes / 4 - 1 - i) * 3u;
  out[thread_id()] = wrong;
}

TEST(launch, all_of_the_lds_can_be_had) {
  device_buffer<unsigned> out(256);
  const int bytes = most_lds();
  const status outcome =
      launch(fill_lds, {.grid = 1, .block = 256, .lds_bytes = bytes}, nullptr, bytes, out.data());
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_EQ(out.download(), std::vector<unsigned>(256, 0));
}

TEST(launch, one_byte_more_is_refused_with_both_numbers) {
  device_buffer<unsigned> out(256);
  const int bytes = most_lds();
  const status refused = launch(fill_lds, {.grid = 1, .block = 256, .lds_bytes = bytes + 1},
                                nullptr, bytes, out.data());
  EXPECT_EQ(refused.code(), status_code::lds_limit);
  EXPECT_TRUE(says(refused, std::to_string(bytes + 1)) && says(refused, std::to_string(bytes)))
      << refused.message();
  EXPECT_TRUE(out.untouched());
}

WAVETILE_KERNEL void static_and_dynamic(unsigned* out) {
  WAVETILE_SHARED unsigned fixed[8192]; // 32 KiB
  for (int i = thread_id(); i < 8192; i += 64)
    fixed[i] = static_cast<unsigned>(i);
  dynamic_lds[thread_id()] = 1;
  group::barrier();
  // another work-item's element, so that the array is needed
  out[thread_id()] = fixed[8191 - thread_id() * 128] + dynamic_lds[63 - thread_id()];
}

TEST(launch, static_lds_counts_too) {
  device_buffer<unsigned> out(64);
  const int bytes = most_lds(), left = bytes - 32768;
  EXPECT_TRUE(
      launch(static_and_dynamic, {.grid = 1, .block = 64, .lds_bytes = left}, nullptr, out.data())
          .ok());
  const auto sums = out.download();
  for (unsigned t = 0; t < 64; ++t)
    EXPECT_EQ(sums[t], 8192 - t * 128);
  out.poison();
  const status refused = launch(
      static_and_dynamic, {.grid = 1, .block = 64, .lds_bytes = left + 16}, nullptr, out.data());
  EXPECT_EQ(refused.code(), status_code::lds_limit) << refused.message();
  EXPECT_TRUE(says(refused, std::to_string(bytes + 16)) && says(refused, std::to_string(bytes)))
      << refused.message();
  EXPECT_TRUE(out.untouched());
}

// ---- errors of others --------------------------------------------------------------------------

TEST(launch, a_pending_error_is_neither_reported_nor_cleared) {
  (void)hipGetLastError();
  void* nothing = nullptr;
  ASSERT_EQ(hipMalloc(&nothing, std::size_t{1} << 60), hipErrorOutOfMemory);
  device_buffer<int> out(1); // successful calls in between
  const status outcome = launch(small_block, {.grid = 1, .block = 1}, nullptr, out.data());
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_EQ(out.download(), std::vector<int>{1});
  int runtime = 0;
  WAVETILE_TEST_HIP(hipRuntimeGetVersion(&runtime));
  if (runtime >= 70000000) { // earlier runtimes forget an error in the next successful call
    EXPECT_EQ(hipPeekAtLastError(), hipErrorOutOfMemory);
  }
  (void)hipGetLastError();
}

// ---- streams and capture -----------------------------------------------------------------------

WAVETILE_KERNEL void affine_step(const int* in, int* out, int scale, int n) {
  const int i = static_cast<int>(blockIdx.x) * 64 + thread_id();
  if (i < n)
    out[i] = in[i] * scale + 1;
}

TEST(launch, streams_keep_order) {
  hipStream_t stream;
  WAVETILE_TEST_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  constexpr int n = 1000;
  device_buffer<int> a(std::vector<int>(n, 1)), b(n);
  for (int i = 0; i < 10; ++i) {
    const int* from = i % 2 == 0 ? a.data() : b.data();
    int* to = i % 2 == 0 ? b.data() : a.data();
    ASSERT_TRUE(launch(affine_step, {.grid = 16, .block = 64}, stream, from, to, 2, n).ok());
  }
  WAVETILE_TEST_HIP(hipStreamSynchronize(stream));
  EXPECT_EQ(a.download(), std::vector<int>(n, 2047)); // x -> 2x + 1, ten times from 1
  WAVETILE_TEST_HIP(hipStreamDestroy(stream));
}

TEST(launch, the_per_thread_stream) {
  device_buffer<int> a(std::vector<int>(64, 5)), b(64);
  ASSERT_TRUE(
      launch(affine_step, {.grid = 1, .block = 64}, hipStreamPerThread, a.data(), b.data(), 3, 64)
          .ok());
  WAVETILE_TEST_HIP(hipStreamSynchronize(hipStreamPerThread));
  EXPECT_EQ(b.download(), std::vector<int>(64, 16));
}

TEST(launch, can_be_captured_and_replayed) {
  hipStream_t stream;
  WAVETILE_TEST_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  constexpr int n = 200;
  device_buffer<int> a(std::vector<int>(n, 0)), b(n), c(n);

  WAVETILE_TEST_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  const status first =
      launch(affine_step, {.grid = 4, .block = 64}, stream, a.data(), b.data(), 2, n);
  const status second =
      launch(affine_step, {.grid = 4, .block = 64}, stream, b.data(), c.data(), 3, n);
  hipGraph_t graph;
  WAVETILE_TEST_HIP(hipStreamEndCapture(stream, &graph));
  ASSERT_TRUE(first.ok()) << first.message();
  ASSERT_TRUE(second.ok()) << second.message();
  EXPECT_TRUE(c.untouched()) << "capturing must not run";

  hipGraphExec_t executable;
  WAVETILE_TEST_HIP(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int replay = 0; replay < 3; ++replay) {
    std::vector<int> in, expected;
    for (int i = 0; i < n; ++i) {
      in.push_back(i * 10 + replay);
      expected.push_back((in.back() * 2 + 1) * 3 + 1);
    }
    a.upload(in);
    WAVETILE_TEST_HIP(hipGraphLaunch(executable, stream));
    WAVETILE_TEST_HIP(hipStreamSynchronize(stream));
    EXPECT_EQ(c.download(), expected) << "replay " << replay;
    c.poison();
  }
  WAVETILE_TEST_HIP(hipGraphExecDestroy(executable));
  WAVETILE_TEST_HIP(hipGraphDestroy(graph));
  WAVETILE_TEST_HIP(hipStreamDestroy(stream));
}

// ---- devices -----------------------------------------------------------------------------------

TEST(device, tells_what_planning_needs) {
  device_info info;
  const status outcome = query_device(0, info);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  EXPECT_EQ(std::string(info.arch_name).rfind(WAVETILE_CUDA ? "sm_" : "gfx", 0), 0u)
      << info.arch_name;
  EXPECT_EQ(info.wave_size, info.facts().wave_size);
  EXPECT_GT(info.cu_count, 0);
  EXPECT_GT(info.xcd_count, 0);
  EXPECT_EQ(info.cu_count % info.xcd_count, 0);
  EXPECT_GE(info.lds_bytes, 65536);
  EXPECT_EQ(info.max_workgroup_size, 1024);
  EXPECT_GT(info.l2_bytes, 0);
  EXPECT_GT(info.global_bytes, 0);
  EXPECT_TRUE(check_device(info).ok());
}

TEST(device, may_be_asked_from_several_threads_at_once) {
  device_info seen[4];
  std::vector<std::thread> threads;
  for (device_info& info : seen)
    threads.emplace_back([&info] { EXPECT_TRUE(known_device(0, info).ok()); });
  for (std::thread& thread : threads)
    thread.join();
  for (const device_info& info : seen)
    EXPECT_STREQ(info.arch_name, seen[0].arch_name);
}

TEST(device, the_current_one_is_left_alone) {
  int before = -1, after = -1, count = 0;
  WAVETILE_TEST_HIP(hipGetDeviceCount(&count));
  WAVETILE_TEST_HIP(hipSetDevice(count - 1));
  WAVETILE_TEST_HIP(hipGetDevice(&before));
  device_info info;
  EXPECT_TRUE(known_device(0, info).ok());
  hipStream_t stream;
  WAVETILE_TEST_HIP(hipSetDevice(0));
  WAVETILE_TEST_HIP(hipStreamCreate(&stream));
  device_buffer<int> out(1);
  WAVETILE_TEST_HIP(hipSetDevice(count - 1));
  EXPECT_TRUE(launch(small_block, {.grid = 1, .block = 1}, stream, out.data()).ok());
  WAVETILE_TEST_HIP(hipGetDevice(&after));
  EXPECT_EQ(after, before);
  WAVETILE_TEST_HIP(hipSetDevice(0));
  WAVETILE_TEST_HIP(hipStreamSynchronize(stream));
  EXPECT_EQ(out.download(), std::vector<int>{1});
  WAVETILE_TEST_HIP(hipStreamDestroy(stream));
}

} // namespace
