// Errors: the last one of a thread, limits of launches, kernels that are not there, devices.
#include "program.hpp"

#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>
#include <string>

namespace {

using program::Array;

__global__ void nothing() {}
__global__ void __launch_bounds__(128) small_blocks(int* out) {
  out[threadIdx.x] = 1;
}
__global__ void static_lds(int* out) {
  __shared__ int words[4096];
  words[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = words[threadIdx.x ^ 1];
}
__global__ void two_arguments(int* out, int value) {
  *out = value;
}

class Errors : public testing::Test {
protected:
  void SetUp() override { (void)hipGetLastError(); }
  void TearDown() override { (void)hipGetLastError(); }
};

TEST_F(Errors, TheLastOneStaysUntilItIsTaken) {
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(hipMalloc(nullptr, 4), hipErrorInvalidValue);
  HIP_OK(hipDeviceSynchronize());              // a success in between changes nothing
  EXPECT_EQ(hipExtGetLastError(), hipSuccess); // but this asks for the last call alone
  EXPECT_EQ(hipSetDevice(77), hipErrorInvalidDevice);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST_F(Errors, NamesAndTexts) {
  EXPECT_STREQ(hipGetErrorName(hipErrorOutOfMemory), "hipErrorOutOfMemory");
  EXPECT_STREQ(hipGetErrorString(hipSuccess), "no error");
  EXPECT_STREQ(hipGetErrorString(hipErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(hipGetErrorName(static_cast<hipError_t>(12345)), "hipErrorUnknown");
  const char* text = nullptr;
  HIP_OK(hipDrvGetErrorName(hipErrorNoBinaryForGpu, &text));
  EXPECT_STREQ(text, "hipErrorNoBinaryForGpu");
  EXPECT_EQ(hipDrvGetErrorString(static_cast<hipError_t>(12345), &text), hipErrorInvalidValue);
}

TEST_F(Errors, LaunchLimits) {
  const auto launch = [](dim3 grid, dim3 block, std::size_t lds) {
    nothing<<<grid, block, lds>>>();
    return hipGetLastError();
  };
  EXPECT_EQ(launch(dim3(0), dim3(1), 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(0), 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(1025), 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(32, 32, 2), 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1u << 31), dim3(2), 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(1, 1u << 31, 2), 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch(dim3(1), dim3(1), 65537), hipErrorInvalidValue);
  EXPECT_EQ(launch(dim3(1), dim3(1), std::size_t{1} << 40), hipErrorInvalidValue);
  EXPECT_EQ(launch(dim3(1), dim3(1), 65536), hipSuccess);
  EXPECT_EQ(launch(dim3(1, 70'000, 1), dim3(1), 0), hipSuccess);
  Array<int> out(std::vector<int>(1024, 0));
  small_blocks<<<1, 128>>>(out.data());
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  small_blocks<<<1, 129>>>(out.data());
  EXPECT_EQ(hipGetLastError(), hipErrorLaunchFailure);
  static_lds<<<1, 64, 65536 - 16384>>>(out.data());
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  static_lds<<<1, 64, 65536 - 16383>>>(out.data());
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST_F(Errors, KernelsThatAreNotThere) {
  int not_a_kernel = 0;
  EXPECT_EQ(hipLaunchKernel(&not_a_kernel, dim3(1), dim3(1), nullptr, 0, nullptr),
            hipErrorInvalidDeviceFunction);
  EXPECT_EQ(hipLaunchKernel(nullptr, dim3(1), dim3(1), nullptr, 0, nullptr),
            hipErrorInvalidDeviceFunction);
  void* missing[] = {nullptr, nullptr};
  EXPECT_EQ(hipLaunchKernel(reinterpret_cast<void*>(two_arguments), dim3(1), dim3(1), nullptr, 0,
                            nullptr),
            hipErrorInvalidValue);
  EXPECT_EQ(hipLaunchKernel(reinterpret_cast<void*>(two_arguments), dim3(1), dim3(1), missing, 0,
                            nullptr),
            hipErrorInvalidValue);
  void* address = nullptr;
  EXPECT_EQ(hipGetSymbolAddress(&address, &not_a_kernel), hipErrorInvalidSymbol);
}

// What a refused launch says on stderr beside its error.
TEST_F(Errors, RefusedLaunchesSayWhy) {
  auto* const kernel = reinterpret_cast<void*>(two_arguments);
  int out = 0, value = 0, not_a_kernel = 0;
  void* arguments[] = {&out, &value};
  void* missing[] = {nullptr, nullptr};
  const auto bogus = reinterpret_cast<hipStream_t>(std::uintptr_t{0xABCD0});
  hipEvent_t gone = nullptr;
  HIP_OK(hipEventCreate(&gone));
  HIP_OK(hipEventDestroy(gone));
  const auto expect = [](hipError_t error, auto call, std::initializer_list<const char*> parts) {
    testing::internal::CaptureStderr();
    const hipError_t result = call();
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(result, error) << text;
    EXPECT_TRUE(text.starts_with("wavesim: launch ")) << text;
    for (const char* part : parts)
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  };
  const auto launch = [&](void* function, unsigned block, std::size_t lds, void** given,
                          hipStream_t stream) {
    return [=] { return hipLaunchKernel(function, dim3(1), dim3(block), given, lds, stream); };
  };
  expect(hipErrorInvalidHandle, launch(kernel, 1, 0, arguments, bogus), {"0xabcd0", "no stream"});
  expect(hipErrorInvalidDeviceFunction, launch(&not_a_kernel, 1, 0, nullptr, nullptr),
         {"no kernel"});
  expect(hipErrorInvalidValue, launch(kernel, 1, 0, missing, nullptr),
         {"two_arguments", "argument 0 is missing"});
  expect(hipErrorInvalidConfiguration, launch(kernel, 1025, 0, arguments, nullptr),
         {"(1025, 1, 1)", "1024"});
  expect(hipErrorInvalidValue, launch(kernel, 1, 65537, arguments, nullptr), {"65537", "65536"});
  expect(hipErrorInvalidHandle,
         [&] {
           return hipExtLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr, gone, nullptr,
                                     0);
         },
         {"no event"});
}

// Calls that are not supported return hipErrorNotSupported and say which they are, once each.
TEST_F(Errors, UnsupportedCallsSaySo) {
  const hipChannelFormatDesc format = hipCreateChannelDesc(32, 0, 0, 0, hipChannelFormatKindFloat);
  EXPECT_EQ(format.x, 32);
  const auto expect = [](const char* name, auto call) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(call(), hipErrorNotSupported) << name;
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find(std::string(name) + " is not supported"), std::string::npos) << text;
    EXPECT_EQ(hipGetLastError(), hipErrorNotSupported);
  };
  hipArray_t array = nullptr;
  hipTextureObject_t texture = nullptr;
  hipSurfaceObject_t surface = nullptr;
  hipMipmappedArray_t levels = nullptr;
  const hipResourceDesc resource = {};
  const hipTextureDesc description = {};
  expect("hipMallocArray", [&] { return hipMallocArray(&array, &format, 16, 16, 0); });
  expect("hipMalloc3DArray",
         [&] { return hipMalloc3DArray(&array, &format, make_hipExtent(4, 4, 4), 0); });
  expect("hipMallocMipmappedArray",
         [&] { return hipMallocMipmappedArray(&levels, &format, make_hipExtent(4, 4, 4), 1, 0); });
  expect("hipCreateTextureObject",
         [&] { return hipCreateTextureObject(&texture, &resource, &description, nullptr); });
  expect("hipCreateSurfaceObject", [&] { return hipCreateSurfaceObject(&surface, &resource); });
  int images = 1;
  EXPECT_EQ(hipDeviceGetAttribute(&images, hipDeviceAttributeImageSupport, 0), hipSuccess);
  EXPECT_EQ(images, 0);
}

// hipRTC: programs that use it load, and its calls say that they are not supported.
TEST_F(Errors, NoRunTimeCompiler) {
  void* const library = dlopen("libhiprtc.so.7", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const char* name : {"hiprtcCreateProgram", "hiprtcCompileProgram", "hiprtcLinkCreate"}) {
    using function = int (*)();
    const auto call = reinterpret_cast<function>(dlsym(library, name));
    ASSERT_NE(call, nullptr) << name;
    testing::internal::CaptureStderr();
    EXPECT_NE(call(), 0);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find(std::string(name) + " is not supported"), std::string::npos) << text;
  }
  using text_of = const char* (*)(int);
  const auto error_string = reinterpret_cast<text_of>(dlsym(library, "hiprtcGetErrorString"));
  ASSERT_NE(error_string, nullptr);
  EXPECT_STREQ(error_string(0), "HIPRTC_SUCCESS");
}

TEST(Device, AnMi300x) {
  int count = 0, value = 0;
  HIP_OK(hipGetDeviceCount(&count));
  EXPECT_EQ(count, 1);
  hipDeviceProp_t p = {};
  HIP_OK(hipGetDeviceProperties(&p, 0));
  EXPECT_NE(std::strstr(p.name, "MI300X"), nullptr);
  EXPECT_STREQ(p.gcnArchName, "gfx942:sramecc+:xnack-");
  EXPECT_EQ(p.warpSize, 64);
  EXPECT_EQ(p.multiProcessorCount, 304);
  EXPECT_EQ(p.sharedMemPerBlock, 65536u);
  EXPECT_EQ(p.maxThreadsPerBlock, 1024);
  EXPECT_EQ(p.major, 9);
  EXPECT_EQ(p.minor, 4);
  HIP_OK(hipDeviceGetAttribute(&value, hipDeviceAttributeNumberOfXccs, 0));
  EXPECT_EQ(value, 8);
  HIP_OK(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
  EXPECT_EQ(value, 304);
  HIP_OK(hipDeviceGetAttribute(&value, hipDeviceAttributeImageSupport, 0));
  EXPECT_EQ(value, 0);
  EXPECT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetDeviceProperties(&p, -1), hipErrorInvalidDevice);
  int runtime = 0, driver = 0;
  HIP_OK(hipRuntimeGetVersion(&runtime));
  HIP_OK(hipDriverGetVersion(&driver));
  EXPECT_EQ(runtime, HIP_VERSION);
  EXPECT_EQ(driver, runtime);
  (void)hipGetLastError();
}

TEST(Device, Occupancy) {
  int blocks = 0, grid = 0, block = 0;
  HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 0));
  EXPECT_EQ(blocks, 8); // 32 waves
  HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 20'000));
  EXPECT_EQ(blocks, 3); // 64 KiB of LDS
  HIP_OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, static_lds, 64, 0));
  EXPECT_EQ(blocks, 4);
  HIP_OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, nothing, 0, 0));
  EXPECT_EQ(block, 1024);
  EXPECT_EQ(grid, 2 * 304);
  hipFuncAttributes a = {};
  HIP_OK(hipFuncGetAttributes(&a, reinterpret_cast<const void*>(static_lds)));
  EXPECT_EQ(a.sharedSizeBytes, 16384u);
  EXPECT_EQ(a.maxThreadsPerBlock, 1024);
  EXPECT_GT(a.numRegs, 0);
  HIP_OK(hipFuncGetAttributes(&a, reinterpret_cast<const void*>(small_blocks)));
  EXPECT_EQ(a.maxThreadsPerBlock, 128);
  HIP_OK(hipFuncSetAttribute(reinterpret_cast<const void*>(static_lds),
                             hipFuncAttributeMaxDynamicSharedMemorySize, 49152));
  EXPECT_EQ(hipFuncSetAttribute(reinterpret_cast<const void*>(static_lds),
                                hipFuncAttributeMaxDynamicSharedMemorySize, 49153),
            hipErrorInvalidValue);
  (void)hipGetLastError();
}

// The environment is read once, so each setting needs a process of its own.
TEST(Device, DISABLED_PrintsDevices) {
  int count = -1, device = -1;
  const hipError_t error = hipGetDeviceCount(&count);
  std::printf("count %d %s\n", count, hipGetErrorName(error));
  for (int i = 0; i < count; ++i) {
    HIP_OK(hipSetDevice(i));
    HIP_OK(hipGetDevice(&device));
    Array<int> out(std::vector<int>{0});
    two_arguments<<<1, 1>>>(out.data(), 10 * i);
    hipPointerAttribute_t a = {};
    HIP_OK(hipPointerGetAttributes(&a, out.data()));
    std::printf("device %d wrote %d in memory of %d\n", device, out.get()[0], a.device);
  }
  void* memory = nullptr;
  if (count == 0)
    std::printf("malloc %s, launch %s\n", hipGetErrorName(hipMalloc(&memory, 4)),
                (nothing<<<1, 1>>>(), hipGetErrorName(hipGetLastError())));
  std::fflush(stdout);
}

TEST(Device, Environment) {
  const auto print = [](const char* environment) {
    const auto result = program::again("Device.DISABLED_PrintsDevices", environment);
    EXPECT_EQ(result.exit_code, 0) << result.output;
    return result.output;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  for (const char* hidden : {"HIP_VISIBLE_DEVICES=-1", "HIP_VISIBLE_DEVICES=",
                             "ROCR_VISIBLE_DEVICES=7", "WAVESIM_DEVICES=0"}) {
    const auto text = print(hidden);
    EXPECT_TRUE(has(text, "count 0 hipErrorNoDevice")) << hidden << "\n" << text;
    EXPECT_TRUE(has(text, "malloc hipErrorNoDevice, launch hipErrorNoDevice")) << text;
  }
  const auto two = print("WAVESIM_DEVICES=3 HIP_VISIBLE_DEVICES=0,2");
  EXPECT_TRUE(has(two, "count 2 hipSuccess")) << two;
  EXPECT_TRUE(has(two, "device 1 wrote 10 in memory of 1")) << two;
  EXPECT_TRUE(has(print("HIP_VISIBLE_DEVICES=0,1"), "count 1 hipSuccess"));
}

} // namespace
