// What happens when kernels go wrong: the process ends with a message that names the place.
#include "program.hpp"

namespace {

using program::Array;

constexpr int stop_exit_code = 70;
using Stop = testing::ExitedWithCode;

__global__ void store_at(int* p, long long index) {
  p[index + threadIdx.x] = 1;
}
__global__ void load_at(const int* p, long long index, int* out) {
  *out = p[index];
}

TEST(Faults, OutOfBounds) {
  Array<int> a(100);
  EXPECT_EXIT((store_at<<<1, 64>>>(a.data(), 50)), Stop(stop_exit_code),
              "wavesim: stop: memory fault: lane 50 writes 4 bytes at address 0x[0-9a-f]+; "
              "0 bytes past the end of device allocation #[0-9]+ \\(400 bytes at "
              "0x[0-9a-f]+\\)(.|\n)*kernel +.*store_at(.|\n)*workgroup +\\(0, 0, 0\\)(.|\n)*"
              "instruction +global_store_dword(.|\n)*source +.*faults.hip:[0-9]+");
  EXPECT_EXIT((store_at<<<1, 64>>>(a.data(), -1)), Stop(stop_exit_code),
              "lane 0 writes 4 bytes(.|\n)*4 bytes before device allocation");
  Array<int> out(1);
  EXPECT_EXIT((load_at<<<1, 1>>>(nullptr, 2, out.data())), Stop(stop_exit_code),
              "reads? 4 bytes at address 0x8; a null pointer");
}

TEST(Faults, FreedAndHostMemory) {
  int* p = nullptr;
  HIP_OK(hipMalloc(reinterpret_cast<void**>(&p), 1 << 20));
  HIP_OK(hipFree(p));
  EXPECT_EXIT((store_at<<<1, 1>>>(p, 0)), Stop(stop_exit_code), "memory fault: lane 0 writes");
  std::vector<int> own(1000);
  EXPECT_EXIT((store_at<<<1, 1>>>(own.data(), 0)), Stop(stop_exit_code), "memory fault: lane 0");
}

__global__ void wait_forever(int* flag) {
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {
  }
}
__global__ void trap() {
  __builtin_trap();
}
__global__ void deep(int* out, int depth);
__device__ __attribute__((noinline)) int deeper(int depth, int* out) {
  volatile int local[64];
  local[depth % 64] = depth;
  return depth == 0 ? local[0] : deeper(depth - 1, out) + local[depth % 64];
}
__global__ void deep(int* out, int depth) {
  *out = deeper(depth, out);
}

TEST(Faults, DISABLED_Hang) {
  Array<int> flag(std::vector<int>{0});
  wait_forever<<<2, 64>>>(flag.data());
}

TEST(Faults, HangsAreReported) {
  const auto result = program::again("Faults.DISABLED_Hang", "WAVESIM_HANG_INSTRUCTIONS=100000");
  EXPECT_EQ(result.exit_code, stop_exit_code);
  EXPECT_NE(result.output.find("hang: 100000 instructions"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("wait_forever"), std::string::npos) << result.output;
}

TEST(Faults, Traps) {
  const auto statement = [] {
    trap<<<1, 64>>>();
    (void)hipDeviceSynchronize(); // under the stream check nothing has run before
  };
  EXPECT_EXIT(statement(), Stop(stop_exit_code), "trap");
}

TEST(Faults, StackOverflow) {
  Array<int> out(1);
  deep<<<1, 1>>>(out.data(), 10);
  EXPECT_EQ(out.get()[0], 55);
  EXPECT_EXIT((deep<<<1, 1>>>(out.data(), 1000)), Stop(stop_exit_code),
              "private memory|scratch|stack");
  // A larger stack makes room for it.
  HIP_OK(hipDeviceSetLimit(hipLimitStackSize, 1 << 19));
  deep<<<1, 1>>>(out.data(), 1000);
  EXPECT_EQ(out.get()[0], 1000 * 1001 / 2);
}

} // namespace
