// printf and assert inside kernels.
#include "program.hpp"

#include <cassert>

namespace {

__global__ void say(int n) {
  if (threadIdx.x < 3)
    printf("lane %u of %d: %s %5.2f|%-6lld|%c %%\n", threadIdx.x, n,
           threadIdx.x == 1 ? "odd" : "even", threadIdx.x * 1.5, -5'000'000'000LL,
           'a' + static_cast<int>(threadIdx.x));
}

__global__ void say_in_order() {
  if (threadIdx.x == 0)
    printf("workgroup %u\n", blockIdx.x);
}

__global__ void length(int* out) {
  *out = printf("%s", "twelve bytes");
}

__global__ void check(int limit) {
  assert(static_cast<int>(threadIdx.x) < limit && "too many");
}

// The device library's call of a function of the host, on which printf does not rely.
using two_words = long __attribute__((ext_vector_type(2)));
extern "C" __device__ two_words __ockl_call_host_function(unsigned long function, unsigned long,
                                                          unsigned long, unsigned long,
                                                          unsigned long, unsigned long,
                                                          unsigned long, unsigned long);

__global__ void call_host(unsigned long function, long* out) {
  const two_words r = __ockl_call_host_function(function, threadIdx.x, 20, 3, 4, 5, 6, 7);
  out[threadIdx.x] = r.x + r.y;
}

void multiply(unsigned long* result, const unsigned long* arguments) {
  result[0] = arguments[0] * arguments[1];
  result[1] = arguments[6];
}

TEST(DevicePrintf, DISABLED_Print) {
  say<<<1, 64>>>(7);
  HIP_OK(hipDeviceSynchronize());
  say_in_order<<<5, 128>>>();
  HIP_OK(hipDeviceSynchronize());
  printf("end of kernels\n");
}

TEST(DevicePrintf, GoesToStdoutInOrder) {
  const auto result = program::again("DevicePrintf.DISABLED_Print", "WAVESIM_THREADS=2");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.output.find("lane 0 of 7: even  0.00|-5000000000|a %\n"
                               "lane 1 of 7: odd  1.50|-5000000000|b %\n"
                               "lane 2 of 7: even  3.00|-5000000000|c %\n"
                               "workgroup 0\nworkgroup 1\nworkgroup 2\nworkgroup 3\nworkgroup 4\n"
                               "end of kernels\n"),
            std::string::npos)
      << result.output;
}

TEST(DevicePrintf, ReturnsTheLength) {
  program::Array<int> out(1);
  length<<<1, 1>>>(out.data());
  EXPECT_EQ(out.get()[0], 12);
}

TEST(DevicePrintf, CallsOfTheHost) {
  program::Array<long> out(64);
  call_host<<<1, 64>>>(reinterpret_cast<unsigned long>(&multiply), out.data());
  EXPECT_EQ(out.get()[63], 63 * 20 + 7);
  // A kernel gone wrong may name anything: data, or nothing at all.
  const auto call = [&](unsigned long function) {
    call_host<<<1, 64>>>(function, out.data());
    (void)hipDeviceSynchronize(); // under the stream check nothing has run before
  };
  EXPECT_EXIT(call(16), testing::ExitedWithCode(70),
              "wavesim: stop: the kernel calls the host at 0x10, where no function is");
  EXPECT_EXIT(call(reinterpret_cast<unsigned long>(out.data())), testing::ExitedWithCode(70),
              "where no function is");
}

TEST(DevicePrintf, AssertNamesFileAndCondition) {
  check<<<1, 64>>>(64);
  HIP_OK(hipDeviceSynchronize());
  const auto statement = [] {
    check<<<1, 64>>>(63);
    (void)hipDeviceSynchronize(); // under the stream check nothing has run before
  };
  EXPECT_EXIT(statement(), testing::ExitedWithCode(70),
              "printf.hip:[0-9]+: .*Device-side assertion.*too many.*failed(.|\n)*"
              "wavesim: stop: .*trap");
}

} // namespace
