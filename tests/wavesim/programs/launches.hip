// Every way to launch a kernel, functions looked up by name, contexts and peers.
#include "program.hpp"

#include <hip/hip_ext.h>

namespace {

using program::Array;

// Writes its grid and block sizes and the argument.
__global__ void note(unsigned* out, unsigned value) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    out[0] = gridDim.x;
    out[1] = blockDim.x;
    out[2] = value;
  }
}

class Launches : public testing::Test {
protected:
  void TearDown() override { (void)hipGetLastError(); }
  void expect(unsigned grid, unsigned block) {
    HIP_OK(hipDeviceSynchronize());
    EXPECT_EQ(out.get(), (std::vector<unsigned>{grid, block, value}));
    out.set({0, 0, 0});
    ++value;
  }
  hipFunction_t function() {
    hipFunction_t f = nullptr;
    EXPECT_EQ(hipGetFuncBySymbol(&f, reinterpret_cast<const void*>(note)), hipSuccess);
    return f;
  }

  Array<unsigned> out{std::vector<unsigned>(3, 0)};
  unsigned* pointer = out.data();
  unsigned value = 7;
  void* arguments[2] = {&pointer, &value};
};

TEST_F(Launches, OfTheRuntime) {
  hipLaunchKernelGGL(note, dim3(2), dim3(64), 0, nullptr, pointer, value);
  expect(2, 64);
  HIP_OK(hipLaunchKernel(reinterpret_cast<const void*>(note), dim3(3), dim3(65), arguments, 0,
                         nullptr));
  expect(3, 65);
  HIP_OK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(note), dim3(4), dim3(66),
                                    arguments, 0, nullptr));
  expect(4, 66);
  HIP_OK(hipExtLaunchKernel(reinterpret_cast<const void*>(note), dim3(5), dim3(67), arguments, 0,
                            nullptr, nullptr, nullptr, 0));
  expect(5, 67);
}

TEST_F(Launches, OfModules) {
  HIP_OK(hipModuleLaunchKernel(function(), 2, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  expect(2, 64);
  HIP_OK(hipModuleLaunchCooperativeKernel(function(), 3, 1, 1, 64, 1, 1, 0, nullptr, arguments));
  expect(3, 64);
  // This one counts work-items.
  HIP_OK(hipExtModuleLaunchKernel(function(), 128, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  expect(4, 32);
  EXPECT_EQ(
      hipExtModuleLaunchKernel(function(), 100, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr),
      hipErrorInvalidValue);
  EXPECT_EQ(
      hipExtModuleLaunchKernel(function(), 128, 1, 1, 0, 1, 1, 0, nullptr, arguments, nullptr),
      hipErrorInvalidValue);
}

#if HIP_VERSION >= 70000000
TEST_F(Launches, WithAttributes) {
  hipLaunchAttribute attribute = {};
  attribute.id = hipLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  hipLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(64);
  config.attrs = &attribute;
  config.numAttrs = 1;
  HIP_OK(hipLaunchKernelExC(&config, reinterpret_cast<const void*>(note), arguments));
  expect(2, 64);
  config.gridDim = dim3(1'000'000);
  EXPECT_EQ(hipLaunchKernelExC(&config, reinterpret_cast<const void*>(note), arguments),
            hipErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(hipLaunchKernelExC(nullptr, reinterpret_cast<const void*>(note), arguments),
            hipErrorInvalidValue);
  HIP_LAUNCH_CONFIG driver = {};
  driver.gridDimX = 3;
  driver.gridDimY = driver.gridDimZ = driver.blockDimY = driver.blockDimZ = 1;
  driver.blockDimX = 96;
  HIP_OK(hipDrvLaunchKernelEx(&driver, function(), arguments, nullptr));
  expect(3, 96);
}
#endif

TEST_F(Launches, FunctionsByName) {
  void* found = nullptr;
  hipDriverProcAddressQueryResult status = HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
  HIP_OK(hipGetProcAddress("hipGetDeviceProperties", &found, HIP_VERSION, 0, &status));
  EXPECT_EQ(status, HIP_GET_PROC_ADDRESS_SUCCESS);
  hipDeviceProp_t p = {};
  HIP_OK(reinterpret_cast<hipError_t (*)(hipDeviceProp_t*, int)>(found)(&p, 0));
  EXPECT_EQ(p.warpSize, 64); // the structure of the headers in use
  EXPECT_EQ(hipGetProcAddress("hipNoSuchFunction", &found, HIP_VERSION, 0, &status),
            hipErrorInvalidValue);
  EXPECT_EQ(status, HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

TEST_F(Launches, NamesOfKernels) {
  EXPECT_NE(std::string(hipKernelNameRef(function())).find("note"), std::string::npos);
  EXPECT_NE(
      std::string(hipKernelNameRefByPtr(reinterpret_cast<const void*>(note), nullptr)).find("note"),
      std::string::npos);
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
TEST_F(Launches, InContexts) {
  hipCtx_t primary = nullptr, own = nullptr, current = nullptr;
  HIP_OK(hipDevicePrimaryCtxRetain(&primary, 0));
  HIP_OK(hipCtxGetCurrent(&current));
  EXPECT_EQ(current, primary);
  HIP_OK(hipCtxCreate(&own, 0, 0));
  HIP_OK(hipCtxGetCurrent(&current));
  EXPECT_EQ(current, own);
  note<<<1, 1>>>(pointer, value);
  expect(1, 1);
  HIP_OK(hipCtxPopCurrent(&current));
  EXPECT_EQ(current, own);
  EXPECT_EQ(hipCtxPopCurrent(&current), hipErrorInvalidContext);
  HIP_OK(hipCtxDestroy(own));
  EXPECT_EQ(hipCtxSetCurrent(own), hipErrorInvalidContext);
  HIP_OK(hipDevicePrimaryCtxRelease(0));
}
#pragma clang diagnostic pop

TEST(Peers, DISABLED_TwoDevices) {
  int can = 0;
  HIP_OK(hipDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  HIP_OK(hipDeviceCanAccessPeer(&can, 0, 0));
  EXPECT_EQ(can, 0);
  HIP_OK(hipDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
  Array<unsigned> here(std::vector<unsigned>{1, 2, 3});
  HIP_OK(hipSetDevice(1));
  std::size_t free = 0, total = 0;
  HIP_OK(hipMemGetInfo(&free, &total));
  EXPECT_EQ(free, total); // the other device's allocation does not count here
  Array<unsigned> there(std::vector<unsigned>(3, 0));
  HIP_OK(hipMemcpyPeer(there.data(), 1, here.data(), 0, 12));
  EXPECT_EQ(there.get(), (std::vector<unsigned>{1, 2, 3}));
  // A stream belongs to the device it was made on, and its kernels run there.
  hipStream_t stream = nullptr;
  HIP_OK(hipStreamCreate(&stream));
  HIP_OK(hipSetDevice(0));
  note<<<1, 2, 0, stream>>>(there.data(), 9);
  HIP_OK(hipStreamSynchronize(stream));
  EXPECT_EQ(there.get(), (std::vector<unsigned>{1, 2, 9}));
  EXPECT_EQ(hipGetStreamDeviceId(stream), 1);
  HIP_OK(hipDeviceDisablePeerAccess(1));
  EXPECT_EQ(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
  HIP_OK(hipStreamDestroy(stream));
}

TEST(Peers, OnTwoDevices) {
  const auto result = program::again("Peers.DISABLED_TwoDevices", "WAVESIM_DEVICES=2");
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

} // namespace
