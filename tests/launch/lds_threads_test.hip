// Host threads that launch one kernel with different LDS at the same time.
#include "device_buffer.hpp"

#include <wavetile/group/barrier.hpp>
#include <wavetile/launch/launch.hpp>
#include <wavetile/wave/lane.hpp>

#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <barrier>
#include <thread>

namespace {

using namespace wavetile;
using namespace wavetile::test;

constexpr int threads = 128;
extern WAVETILE_SHARED unsigned char dynamic_lds[];

/// Adds 1 to every element where the last words of its LDS hold what was written; kernels of
/// different `Number` are granted their LDS one by one.
template <int Number>
WAVETILE_KERNEL void add_one(int bytes, unsigned* out) {
  auto* words = reinterpret_cast<unsigned*>(dynamic_lds);
  const int last = bytes / 4 - 1;
  words[last - thread_id()] = static_cast<unsigned>(Number + bytes + thread_id());
  group::barrier();
  const int other = threads - 1 - thread_id();
  out[thread_id()] += words[last - other] == static_cast<unsigned>(Number + bytes + other);
}

/// Launches of this kernel by two threads, which begin together, each on a stream of its own.
template <int Number>
void launch_from_two_threads(int most) {
  constexpr unsigned launches = 40;
  struct caller {
    int bytes;
    hipStream_t stream = nullptr;
    device_buffer<unsigned> out{std::vector<unsigned>(threads, 0)};
  };
  caller callers[2] = {{.bytes = most}, {.bytes = most - 8192}};
  for (caller& c : callers)
    WAVETILE_TEST_HIP(hipStreamCreateWithFlags(&c.stream, hipStreamNonBlocking));
  std::barrier together(2);
  const auto run = [&together](caller& c) {
    together.arrive_and_wait();
    for (unsigned i = 0; i < launches; ++i) {
      const status outcome =
          launch(add_one<Number>, {.grid = 1, .block = threads, .lds_bytes = c.bytes}, c.stream,
                 c.bytes, c.out.data());
      EXPECT_TRUE(outcome.ok()) << c.bytes << " bytes, launch " << i << ": " << outcome.message();
    }
  };
  std::thread other(run, std::ref(callers[1]));
  run(callers[0]);
  other.join();
  for (caller& c : callers) {
    WAVETILE_TEST_HIP(hipStreamSynchronize(c.stream));
    EXPECT_EQ(c.out.download(), std::vector<unsigned>(threads, launches)) << c.bytes << " bytes";
    WAVETILE_TEST_HIP(hipStreamDestroy(c.stream));
  }
}

template <int Number>
void launch_each(int most) {
  if constexpr (Number > 0) {
    launch_from_two_threads<Number>(most);
    launch_each<Number - 1>(most);
  }
}

TEST(launch, from_host_threads_with_different_lds) {
  hipDeviceProp_t properties;
  WAVETILE_TEST_HIP(hipGetDeviceProperties(&properties, 0));
  launch_each<12>(static_cast<int>(properties.sharedMemPerBlock));
}

} // namespace
