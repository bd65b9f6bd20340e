// Streams, events, callbacks and host threads.
#include "program.hpp"

#include <thread>

namespace {

using program::Array;

__global__ void append(int* log, int* length, int value) {
  log[(*length)++] = value;
}

struct Log {
  Array<int> entries{std::vector<int>(16, -1)};
  Array<int> length{std::vector<int>{0}};
  void add(int value, hipStream_t stream) {
    append<<<1, 1, 0, stream>>>(entries.data(), length.data(), value);
  }
  std::vector<int> get() const {
    auto all = entries.get();
    all.resize(static_cast<std::size_t>(length.get()[0]));
    return all;
  }
};

TEST(Streams, OrderWithinAndBetween) {
  hipStream_t a = nullptr, b = nullptr;
  hipEvent_t done = nullptr;
  HIP_OK(hipStreamCreate(&a));
  HIP_OK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
  HIP_OK(hipEventCreate(&done));
  Log log;
  log.add(1, a);
  HIP_OK(hipEventRecord(done, a));
  HIP_OK(hipStreamWaitEvent(b, done, 0));
  log.add(2, b);
  HIP_OK(hipStreamSynchronize(b));
  HIP_OK(hipStreamQuery(a));
  HIP_OK(hipEventQuery(done));
  HIP_OK(hipEventSynchronize(done));
  EXPECT_EQ(log.get(), (std::vector<int>{1, 2}));
  HIP_OK(hipEventDestroy(done));
  HIP_OK(hipStreamDestroy(a));
  HIP_OK(hipStreamDestroy(b));
}

TEST(Streams, Properties) {
  int least = 0, greatest = 0;
  HIP_OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_GT(least, greatest);
  hipStream_t s = nullptr;
  HIP_OK(hipStreamCreateWithPriority(&s, hipStreamNonBlocking, greatest - 5));
  int priority = 99, device = -1;
  unsigned flags = 99;
  HIP_OK(hipStreamGetPriority(s, &priority));
  HIP_OK(hipStreamGetFlags(s, &flags));
  HIP_OK(hipStreamGetDevice(s, &device));
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(flags, static_cast<unsigned>(hipStreamNonBlocking));
  EXPECT_EQ(device, 0);
  EXPECT_EQ(hipGetStreamDeviceId(s), 0);
  HIP_OK(hipStreamDestroy(s));
}

TEST(Streams, DeadHandlesAreErrors) {
  hipStream_t s = nullptr;
  HIP_OK(hipStreamCreate(&s));
  HIP_OK(hipStreamDestroy(s));
  EXPECT_EQ(hipStreamDestroy(s), hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamSynchronize(s), hipErrorInvalidHandle);
  EXPECT_EQ(hipMemsetAsync(nullptr, 0, 1, s), hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamCreate(nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamCreateWithFlags(&s, 77), hipErrorInvalidValue);
  hipEvent_t e = nullptr;
  HIP_OK(hipEventCreate(&e));
  HIP_OK(hipEventDestroy(e));
  EXPECT_EQ(hipEventDestroy(e), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventRecord(e, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventQuery(nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventCreateWithFlags(&e, 0x1000), hipErrorInvalidValue);
  (void)hipGetLastError();
}

TEST(Streams, CallbacksRunInPlace) {
  hipStream_t s = nullptr;
  HIP_OK(hipStreamCreate(&s));
  int calls = 0;
  HIP_OK(hipStreamAddCallback(
      s,
      [](hipStream_t, hipError_t error, void* data) {
        *static_cast<int*>(data) += error == hipSuccess;
      },
      &calls, 0));
  HIP_OK(hipLaunchHostFunc(
      s, [](void* data) { *static_cast<int*>(data) += 10; }, &calls));
  HIP_OK(hipStreamSynchronize(s));
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(hipLaunchHostFunc(s, nullptr, nullptr), hipErrorInvalidValue);
  HIP_OK(hipStreamDestroy(s));
  (void)hipGetLastError();
}

TEST(Events, ElapsedTimeIsTheHostsClock) {
  hipEvent_t start = nullptr, stop = nullptr, untimed = nullptr;
  HIP_OK(hipEventCreate(&start));
  HIP_OK(hipEventCreate(&stop));
  HIP_OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
  float ms = -1;
  EXPECT_EQ(hipEventElapsedTime(&ms, start, stop), hipErrorInvalidHandle); // not recorded
  HIP_OK(hipEventRecord(start));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  HIP_OK(hipEventRecord(stop));
  HIP_OK(hipEventRecord(untimed));
  HIP_OK(hipEventElapsedTime(&ms, start, stop));
  EXPECT_GE(ms, 19.0f);
  EXPECT_EQ(hipEventElapsedTime(&ms, start, untimed), hipErrorInvalidHandle);
  EXPECT_EQ(hipEventElapsedTime(nullptr, start, stop), hipErrorInvalidValue);
  for (hipEvent_t e : {start, stop, untimed})
    HIP_OK(hipEventDestroy(e));
  (void)hipGetLastError();
}

TEST(Events, AroundAnExtendedLaunch) {
  hipEvent_t start = nullptr, stop = nullptr;
  HIP_OK(hipEventCreate(&start));
  HIP_OK(hipEventCreate(&stop));
  Log log;
  int* entries = log.entries.data();
  int* length = log.length.data();
  int value = 5;
  void* arguments[] = {&entries, &length, &value};
  HIP_OK(hipExtLaunchKernel(reinterpret_cast<void*>(append), dim3(1), dim3(1), arguments, 0,
                            nullptr, start, stop, 0));
  float ms = -1;
  HIP_OK(hipEventElapsedTime(&ms, start, stop));
  EXPECT_GE(ms, 0.0f);
  EXPECT_EQ(log.get(), std::vector<int>{5});
  HIP_OK(hipEventDestroy(start));
  HIP_OK(hipEventDestroy(stop));
}

__global__ void add_one(int* data, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    data[i] += 1;
}

TEST(Threads, ManyHostThreadsLaunchAtOnce) {
  constexpr int threads = 8, n = 1000, rounds = 20;
  std::vector<std::thread> all;
  std::vector<int> bad(threads, 0);
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      hipStream_t s = nullptr;
      int* data = nullptr;
      std::vector<int> back(n);
      bool ok = hipStreamCreate(&s) == hipSuccess &&
                hipMalloc(reinterpret_cast<void**>(&data), n * sizeof(int)) == hipSuccess &&
                hipMemsetAsync(data, 0, n * sizeof(int), s) == hipSuccess;
      hipStream_t const work = t % 2 ? s : hipStreamPerThread;
      ok = ok && (work == s || hipStreamSynchronize(s) == hipSuccess);
      for (int round = 0; ok && round < rounds; ++round)
        add_one<<<8, 128, 0, work>>>(data, n);
      ok = ok && (work == s || hipStreamSynchronize(work) == hipSuccess);
      ok = ok && hipMemcpyAsync(back.data(), data, n * sizeof(int), hipMemcpyDeviceToHost, s) ==
                     hipSuccess;
      // An error of this thread is not seen by the others.
      ok = ok && (t != 3 || hipFree(back.data()) == hipErrorInvalidValue);
      ok = ok && hipPeekAtLastError() == (t == 3 ? hipErrorInvalidValue : hipSuccess);
      ok = ok && hipStreamSynchronize(s) == hipSuccess && hipFree(data) == hipSuccess &&
           hipStreamDestroy(s) == hipSuccess;
      for (int x : back)
        bad[static_cast<std::size_t>(t)] += x != rounds;
      bad[static_cast<std::size_t>(t)] += !ok;
    });
  for (auto& t : all)
    t.join();
  EXPECT_EQ(bad, std::vector<int>(threads, 0));
}

} // namespace
