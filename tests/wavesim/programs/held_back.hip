// `--check=stream`: work runs as late as HIP allows, independent streams in reversed order, and the
// order that HIP promises holds.
#include "program.hpp"

#include <vector>

namespace {

__global__ void set(int* p, int value) {
  *p = value;
}
__global__ void copy_to(int* to, const int* from) {
  *to = *from;
}
__global__ void append(int* list, int value) {
  const int n = list[0];
  list[1 + n] = value;
  list[0] = n + 1;
}

class HeldBack : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(hipHostMalloc(reinterpret_cast<void**>(&pinned_), 64 * sizeof(int), 0), hipSuccess);
    ASSERT_EQ(hipMalloc(reinterpret_cast<void**>(&device_), 64 * sizeof(int)), hipSuccess);
    ASSERT_EQ(hipMemset(device_, 0, 64 * sizeof(int)), hipSuccess);
    std::fill_n(pinned_, 64, 0);
    for (hipStream_t& s : free_)
      ASSERT_EQ(hipStreamCreateWithFlags(&s, hipStreamNonBlocking), hipSuccess);
    ASSERT_EQ(hipStreamCreate(&blocking_), hipSuccess);
    ASSERT_EQ(hipEventCreate(&event_), hipSuccess);
  }
  void TearDown() override {
    for (hipStream_t s : free_)
      EXPECT_EQ(hipStreamDestroy(s), hipSuccess);
    EXPECT_EQ(hipStreamDestroy(blocking_), hipSuccess);
    EXPECT_EQ(hipEventDestroy(event_), hipSuccess);
    EXPECT_EQ(hipFree(device_), hipSuccess);
    EXPECT_EQ(hipHostFree(pinned_), hipSuccess);
  }
  int* pinned_ = nullptr;
  int* device_ = nullptr;
  hipStream_t free_[2] = {}, blocking_ = nullptr;
  hipEvent_t event_ = nullptr;
};

// The fault: the host looks before it waits.
TEST_F(HeldBack, TheHostSeesNothingBeforeItWaits) {
  set<<<1, 1, 0, free_[0]>>>(pinned_, 7);
  EXPECT_EQ(pinned_[0], 0);
  EXPECT_EQ(hipStreamSynchronize(free_[0]), hipSuccess);
  EXPECT_EQ(pinned_[0], 7);
}

// The fault: a stream uses what another one makes, without an event between them.
TEST_F(HeldBack, IndependentStreamsRunInReversedOrder) {
  set<<<1, 1, 0, free_[0]>>>(device_, 5);
  copy_to<<<1, 1, 0, free_[1]>>>(pinned_, device_);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(pinned_[0], 0); // an eager run gives 5
}

TEST_F(HeldBack, EventsOrderStreams) {
  set<<<1, 1, 0, free_[0]>>>(device_, 5);
  EXPECT_EQ(hipEventRecord(event_, free_[0]), hipSuccess);
  set<<<1, 1, 0, free_[0]>>>(device_ + 1, 6);
  EXPECT_EQ(hipStreamWaitEvent(free_[1], event_, 0), hipSuccess);
  copy_to<<<1, 1, 0, free_[1]>>>(pinned_, device_);
  EXPECT_EQ(hipStreamSynchronize(free_[1]), hipSuccess);
  EXPECT_EQ(pinned_[0], 5);
  copy_to<<<1, 1, 0, free_[1]>>>(pinned_ + 1, device_ + 1); // behind the event: not waited for
  EXPECT_EQ(hipStreamSynchronize(free_[1]), hipSuccess);
  EXPECT_EQ(pinned_[1], 0);
}

TEST_F(HeldBack, EventsFinishWhatTheyFollow) {
  set<<<1, 1, 0, free_[0]>>>(pinned_, 1);
  EXPECT_EQ(hipEventRecord(event_, free_[0]), hipSuccess);
  set<<<1, 1, 0, free_[0]>>>(pinned_ + 1, 1);
  EXPECT_EQ(hipEventSynchronize(event_), hipSuccess);
  EXPECT_EQ(pinned_[0], 1);
  EXPECT_EQ(pinned_[1], 0);
}

// The fault: a copy on the default stream does not wait for a non-blocking stream.
TEST_F(HeldBack, TheDefaultStreamWaitsForBlockingStreamsOnly) {
  int got = -1;
  set<<<1, 1, 0, free_[0]>>>(device_, 5);
  EXPECT_EQ(hipMemcpy(&got, device_, sizeof got, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(got, 0);
  set<<<1, 1, 0, blocking_>>>(device_ + 1, 6);
  EXPECT_EQ(hipMemcpy(&got, device_ + 1, sizeof got, hipMemcpyDeviceToHost), hipSuccess);
  EXPECT_EQ(got, 6);
  set<<<1, 1>>>(device_ + 2, 7); // default stream
  copy_to<<<1, 1, 0, blocking_>>>(pinned_, device_ + 2);
  EXPECT_EQ(hipStreamSynchronize(blocking_), hipSuccess);
  EXPECT_EQ(pinned_[0], 7);
}

TEST_F(HeldBack, PinnedCopiesAreLateAndPageableOnesAreNot) {
  set<<<1, 1, 0, free_[0]>>>(device_, 3);
  EXPECT_EQ(hipMemcpyAsync(pinned_, device_, sizeof(int), hipMemcpyDeviceToHost, free_[0]),
            hipSuccess);
  EXPECT_EQ(pinned_[0], 0);
  int pageable = 0;
  EXPECT_EQ(hipMemcpyAsync(&pageable, device_, sizeof(int), hipMemcpyDeviceToHost, free_[0]),
            hipSuccess);
  EXPECT_EQ(pageable, 3);
  EXPECT_EQ(pinned_[0], 3); // earlier in the same stream
}

TEST_F(HeldBack, AStreamStaysInOrder) {
  for (int i = 0; i < 20; ++i)
    append<<<1, 1, 0, free_[i % 2]>>>(pinned_ + 32 * (i % 2), i);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  for (int s = 0; s < 2; ++s)
    for (int i = 0; i < 10; ++i)
      EXPECT_EQ(pinned_[32 * s + 1 + i], 2 * i + s);
}

TEST_F(HeldBack, FreeingWaits) {
  int* other = nullptr;
  ASSERT_EQ(hipMalloc(reinterpret_cast<void**>(&other), sizeof(int)), hipSuccess);
  set<<<1, 1, 0, free_[0]>>>(other, 9);
  copy_to<<<1, 1, 0, free_[0]>>>(pinned_, other);
  EXPECT_EQ(hipFree(other), hipSuccess);
  EXPECT_EQ(pinned_[0], 9);
}

} // namespace
