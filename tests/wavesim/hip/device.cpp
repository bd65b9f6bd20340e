// Devices: which there are, which one is current, limits and settings.
#include "hip/device_memory.hpp"
#include "hip/device_properties.hpp"
#include "hip/entry.hpp"
#include "hip/handles.hpp"
#include "hip/kernel_launch.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>

namespace wavesim::hip {

namespace {

struct DeviceState {
  unsigned flags = hipDeviceScheduleAuto;
  hipFuncCache_t cache = hipFuncCachePreferNone;
  hipSharedMemConfig banks = hipSharedMemBankSizeFourByte;
  std::size_t heap = std::size_t{4} << 20; ///< of device-side malloc
};

DeviceState& state(int device) {
  static auto* all =
      new std::vector<DeviceState>(static_cast<std::size_t>(std::max(settings().devices, 1)));
  return (*all)[static_cast<std::size_t>(device)];
}

/// "0000:01:00.0"
std::string bus_id(int device) {
  return fmt::format("0000:{:02x}:00.0", device + 1);
}

template <class Body>
hipError_t on_device(int device, const void* result, Body&& body) {
  return call([&] {
    if (!result)
      return hipErrorInvalidValue;
    if (!valid_device(device))
      return hipErrorInvalidDevice;
    return body();
  });
}

hipError_t copy_text(char* to, int room, const std::string& text) {
  if (room <= static_cast<int>(text.size()))
    return hipErrorInvalidValue;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return hipSuccess;
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipInit(unsigned int flags) {
  return call([&] { return flags == 0 ? hipSuccess : hipErrorInvalidValue; });
}

// The version of the headers that programs of this build are compiled with.
WAVESIM_HIP_EXPORT hipError_t hipRuntimeGetVersion(int* runtimeVersion) {
  return call_without_device([&] {
    if (!runtimeVersion)
      return hipErrorInvalidValue;
    *runtimeVersion = HIP_VERSION;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDriverGetVersion(int* driverVersion) {
  return hipRuntimeGetVersion(driverVersion);
}

WAVESIM_HIP_EXPORT hipError_t hipGetDeviceCount(int* count) {
  return call_without_device([&] {
    if (!count)
      return hipErrorInvalidValue;
    *count = settings().devices;
    return *count > 0 ? hipSuccess : hipErrorNoDevice;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipSetDevice(int deviceId) {
  return call_at_once([&] {
    if (!valid_device(deviceId))
      return hipErrorInvalidDevice;
    thread_state().device = deviceId;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGetDevice(int* deviceId) {
  return call_at_once([&] {
    if (!deviceId)
      return hipErrorInvalidValue;
    *deviceId = thread_state().device;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipSetValidDevices(int* device_arr, int len) {
  return call([&] {
    if (len < 0 || (len > 0 && !device_arr) || len > settings().devices)
      return hipErrorInvalidValue;
    return std::all_of(device_arr, device_arr + len, valid_device) ? hipSuccess
                                                                   : hipErrorInvalidDevice;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceSynchronize() {
  return call([] { return check_capture_unsafe(); });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceReset() {
  return call([] {
    WAVESIM_HIP_TRY(check_capture_unsafe());
    DeviceMemory::instance().release_all(thread_state().device);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return on_device(ordinal, device, [&] {
    *device = ordinal;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceComputeCapability(int* major, int* minor,
                                                         hipDevice_t device) {
  return on_device(device, major && minor ? major : nullptr, [&] {
    const auto p = device_properties(device);
    *major = p.major;
    *minor = p.minor;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetName(char* name, int len, hipDevice_t device) {
  return on_device(device, len > 0 ? name : nullptr, [&] {
    const std::string text = device_properties(device).name;
    const auto bytes = std::min<std::size_t>(text.size(), static_cast<std::size_t>(len) - 1);
    std::memcpy(name, text.data(), bytes);
    name[bytes] = '\0';
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t device) {
  return on_device(device, uuid, [&] {
    *uuid = device_properties(device).uuid;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetPCIBusId(char* pciBusId, int len, int device) {
  return on_device(device, pciBusId, [&] { return copy_text(pciBusId, len, bus_id(device)); });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetByPCIBusId(int* device, const char* pciBusId) {
  return call([&] {
    if (!device || !pciBusId)
      return hipErrorInvalidValue;
    for (int i = 0; i < settings().devices; ++i)
      if (bus_id(i) == pciBusId) {
        *device = i;
        return hipSuccess;
      }
    return hipErrorInvalidDevice;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return on_device(device, bytes, [&] {
    *bytes = device_memory_bytes();
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGetDeviceFlags(unsigned int* flags) {
  return on_device(thread_state().device, flags, [&] {
    *flags = state(thread_state().device).flags;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipSetDeviceFlags(unsigned flags) {
  return call([&] {
    constexpr unsigned known = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
    if ((flags & ~known) != 0)
      return hipErrorInvalidValue;
    state(thread_state().device).flags = flags;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetLimit(size_t* pValue, enum hipLimit_t limit) {
  return on_device(thread_state().device, pValue, [&] {
    switch (limit) {
    case hipLimitStackSize:
      *pValue = stack_limit();
      return hipSuccess;
    case hipLimitMallocHeapSize:
      *pValue = state(thread_state().device).heap;
      return hipSuccess;
    default:
      return hipErrorUnsupportedLimit;
    }
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceSetLimit(enum hipLimit_t limit, size_t value) {
  return call([&] {
    constexpr std::size_t largest_stack = 1 << 20;
    switch (limit) {
    case hipLimitStackSize:
      if (value > largest_stack)
        return hipErrorInvalidValue;
      stack_limit() = static_cast<std::uint32_t>((value + 15) / 16 * 16);
      return hipSuccess;
    case hipLimitMallocHeapSize:
      state(thread_state().device).heap = value;
      return hipSuccess;
    default:
      return hipErrorUnsupportedLimit;
    }
  });
}

// Cache and bank settings have no effect on this hardware; they are remembered.
WAVESIM_HIP_EXPORT hipError_t hipDeviceSetCacheConfig(hipFuncCache_t cacheConfig) {
  return call([&] {
    state(thread_state().device).cache = cacheConfig;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* cacheConfig) {
  return on_device(thread_state().device, cacheConfig, [&] {
    *cacheConfig = state(thread_state().device).cache;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
  return call([&] {
    if (config != hipSharedMemBankSizeDefault && config != hipSharedMemBankSizeFourByte &&
        config != hipSharedMemBankSizeEightByte)
      return hipErrorInvalidValue;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* pConfig) {
  return on_device(thread_state().device, pConfig, [&] {
    *pConfig = state(thread_state().device).banks;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipProfilerStart() {
  return call([] { return hipSuccess; });
}
WAVESIM_HIP_EXPORT hipError_t hipProfilerStop() {
  return call([] { return hipSuccess; });
}

} // namespace wavesim::hip
