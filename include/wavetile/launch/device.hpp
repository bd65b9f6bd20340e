/// \file
/// What the HIP runtime knows about its devices.
#pragma once

#include <wavetile/core/device_check.hpp>
#include <wavetile/launch/detail/runtime_status.hpp>

#include <atomic>

namespace wavetile {

/// Asks the runtime about device `ordinal` and fills `info`. Fails with `no_device` when there is
/// none, and leaves `info` as it was then: nothing is ever assumed about a device. Always asks; see
/// `known_device`.
inline status query_device(int ordinal, device_info& info) {
  int count = 0;
  if (const hipError_t error = hipGetDeviceCount(&count); error != hipSuccess)
    return detail::runtime_failure("hipGetDeviceCount", error);
  if (count == 0)
    return status::failure(status_code::no_device, "device", "no HIP device is present");
  if (ordinal < 0 || ordinal >= count)
    return status::failure(status_code::invalid_argument, "device", ordinal, "0 to ")
        .append(count - 1);

  hipDeviceProp_t properties;
  if (const hipError_t error = hipGetDeviceProperties(&properties, ordinal); error != hipSuccess)
    return detail::runtime_failure("hipGetDeviceProperties", error);
  int xcd_count = 0; // stays unknown on runtimes before ROCm 7, which have no such attribute
#if WAVETILE_CUDA
  xcd_count = 1;
#elif HIP_VERSION_MAJOR >= 7
  if (hipDeviceGetAttribute(&xcd_count, hipDeviceAttributeNumberOfXccs, ordinal) != hipSuccess)
    xcd_count = 0;
#endif

  device_info result;
  const auto copy = [](char(&to)[64], const char* from) {
    for (int i = 0; i < 63 && from[i] != '\0'; ++i)
      to[i] = from[i];
  };
  result.ordinal = ordinal;
  copy(result.arch_name, properties.gcnArchName);
  copy(result.product_name, properties.name);
  result.wave_size = properties.warpSize;
  result.cu_count = properties.multiProcessorCount;
  result.xcd_count = xcd_count;
  result.max_workgroup_size = properties.maxThreadsPerBlock;
  result.lds_bytes = static_cast<int64_t>(properties.sharedMemPerBlock);
  result.l2_bytes = properties.l2CacheSize;
  result.global_bytes = static_cast<int64_t>(properties.totalGlobalMem);
  info = result;
  return {};
}

namespace detail {

/// What has been learnt about each device. The only state that the headers keep: facts that do not
/// change while a process lives, each written once, so that launches need no query (a property
/// query costs microseconds, and none may be made between launches that are captured). Constant-
/// initialised; one per program or shared library.
struct device_table {
  static constexpr int size = 64; ///< devices beyond are asked each time
  enum : int { unknown, being_filled, known };
  struct entry {
    std::atomic<int> state{unknown};
    device_info info;
  };
  entry entries[size];
};

inline device_table& devices() {
  static constinit device_table table;
  return table;
}

} // namespace detail

/// As `query_device`, but asks the runtime only once for each device of the process; later calls
/// make no runtime call. A failure is not remembered. Thread-safe.
inline status known_device(int ordinal, device_info& info) {
  if (ordinal < 0 || ordinal >= detail::device_table::size)
    return query_device(ordinal, info);
  auto& entry = detail::devices().entries[ordinal];
  for (;;) {
    int state = entry.state.load(std::memory_order_acquire);
    if (state == detail::device_table::known) {
      info = entry.info;
      return {};
    }
    if (state == detail::device_table::being_filled) {
      entry.state.wait(state, std::memory_order_acquire);
      continue;
    }
    if (!entry.state.compare_exchange_strong(state, detail::device_table::being_filled))
      continue;
    const status outcome = query_device(ordinal, entry.info);
    entry.state.store(outcome.ok() ? detail::device_table::known : detail::device_table::unknown,
                      std::memory_order_release);
    entry.state.notify_all();
    if (outcome.ok())
      info = entry.info;
    return outcome;
  }
}

/// Number of the device a stream belongs to; the current device for the null, legacy and per-thread
/// streams. Does not change the current device, does not synchronise, may be captured. A stream
/// that the runtime does not know is an invalid argument.
inline status device_of(hipStream_t stream, int& ordinal) {
  bool of_current_device = stream == nullptr || stream == hipStreamPerThread;
#ifdef hipStreamLegacy
  of_current_device = of_current_device || stream == hipStreamLegacy;
#endif
  if (of_current_device) {
    if (const hipError_t error = hipGetDevice(&ordinal); error != hipSuccess)
      return detail::runtime_failure("hipGetDevice", error);
    return {};
  }
  hipDevice_t device{};
  const hipError_t error = hipStreamGetDevice(stream, &device);
  if (error == hipErrorInvalidHandle || error == hipErrorContextIsDestroyed)
    return status::failure(status_code::invalid_argument, "stream",
                           "it is none, or was destroyed: hipStreamGetDevice says ")
        .append(hipGetErrorName(error));
  if (error != hipSuccess)
    return detail::runtime_failure("hipStreamGetDevice", error);
  ordinal = device;
  return {};
}

/// Facts of the device a stream belongs to, from memory after the first time.
inline status stream_device(hipStream_t stream, device_info& info) {
  int ordinal = 0;
  if (const status outcome = device_of(stream, ordinal); !outcome)
    return outcome;
  return known_device(ordinal, info);
}

} // namespace wavetile
