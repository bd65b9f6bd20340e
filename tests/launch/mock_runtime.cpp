#include "mock_runtime.hpp"

#include <cstdint>
#include <cstring>

namespace mock {

runtime& current() {
  static runtime instance;
  return instance;
}

hipStream_t stream_of(int ordinal, int number) {
  return reinterpret_cast<hipStream_t>(static_cast<std::uintptr_t>(0x1000 + ordinal * 16 + number));
}

namespace {

void record(const char* name, hipStream_t stream = nullptr) {
  call made;
  made.name = name;
  made.stream = stream;
  current().calls.push_back(made);
}

bool is_device(int ordinal) {
  return ordinal >= 0 && static_cast<size_t>(ordinal) < current().devices.size();
}

} // namespace
} // namespace mock

using mock::current;
using mock::is_device;
using mock::record;

extern "C" {

hipError_t hipGetDeviceCount(int* count) {
  record("hipGetDeviceCount");
  *count = static_cast<int>(current().devices.size());
  return current().count_error;
}

hipError_t hipGetDevice(int* device) {
  record("hipGetDevice");
  if (current().count_error != hipSuccess)
    return current().count_error;
  *device = current().current_device;
  return hipSuccess;
}

hipError_t hipSetDevice(int device) {
  record("hipSetDevice");
  current().current_device = device;
  return hipSuccess;
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* properties, int device) {
  record("hipGetDeviceProperties");
  if (!is_device(device))
    return hipErrorInvalidDevice;
  const mock::device& from = current().devices[static_cast<size_t>(device)];
  std::memset(properties, 0, sizeof *properties);
  std::strncpy(properties->gcnArchName, from.arch_name, sizeof properties->gcnArchName - 1);
  std::strncpy(properties->name, "mock device", sizeof properties->name - 1);
  properties->warpSize = from.wave_size;
  properties->multiProcessorCount = from.cu_count;
  properties->sharedMemPerBlock = from.lds_bytes;
  properties->maxThreadsPerBlock = 1024;
  properties->l2CacheSize = 4194304;
  properties->totalGlobalMem = size_t{192} << 30;
  return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  record("hipDeviceGetAttribute");
  if (!is_device(device) || attribute != hipDeviceAttributeNumberOfXccs ||
      current().devices[static_cast<size_t>(device)].xcd_count < 0)
    return hipErrorInvalidValue;
  *value = current().devices[static_cast<size_t>(device)].xcd_count;
  return hipSuccess;
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  record("hipStreamGetDevice", stream);
  *device = static_cast<int>((reinterpret_cast<std::uintptr_t>(stream) - 0x1000) / 16);
  return is_device(*device) ? hipSuccess : hipErrorInvalidHandle;
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void*) {
  record("hipFuncGetAttributes");
  std::memset(attributes, 0, sizeof *attributes);
  attributes->sharedSizeBytes = current().static_lds_bytes;
  attributes->maxThreadsPerBlock = current().kernel_block_limit;
  return hipSuccess;
}

hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                           size_t lds_bytes, hipStream_t stream) {
  mock::call made{"hipLaunchKernel", stream, kernel, grid, block, lds_bytes};
  current().calls.push_back(made);
  if (current().launch_error == hipSuccess && current().on_launch)
    current().on_launch(made, arguments);
  return current().launch_error;
}

const char* hipGetErrorName(hipError_t error) {
  return error == hipErrorNoBinaryForGpu ? "hipErrorNoBinaryForGpu"
         : error == hipErrorNoDevice     ? "hipErrorNoDevice"
         : error == hipErrorInvalidValue ? "hipErrorInvalidValue"
                                         : "hipErrorOther";
}

const char* hipGetErrorString(hipError_t) {
  return "text of the mock runtime";
}

// What a program with kernels in it calls before main.
void** __hipRegisterFatBinary(const void*) {
  static void* handle;
  return &handle;
}
void __hipRegisterFunction(void**, const void*, char*, const char*, unsigned int, void*, void*,
                           void*, void*, int*) {}
void __hipUnregisterFatBinary(void**) {}
hipError_t __hipPopCallConfiguration(dim3*, dim3*, size_t*, hipStream_t*) {
  return hipErrorUnknown;
}

} // extern "C"
