/// \file
/// A HIP runtime that starts nothing: it answers as configured and records what it was asked.
/// Programs linked with mock_runtime.cpp instead of the HIP library test what host code does.
#pragma once

#include <hip/hip_runtime_api.h>

#include <string>
#include <vector>

namespace mock {

struct device {
  const char* arch_name = "gfx942:sramecc+:xnack-";
  int cu_count = 304;
  int xcd_count = 8; ///< -1: the runtime does not know the attribute
  int wave_size = 64;
  size_t lds_bytes = 65536;
};

/// One recorded call.
struct call {
  std::string name;
  hipStream_t stream = nullptr;
  const void* kernel = nullptr;
  dim3 grid{0, 0, 0}, block{0, 0, 0};
  size_t lds_bytes = 0;
};

struct runtime {
  std::vector<device> devices{device{}};
  int current_device = 0;
  hipError_t count_error = hipSuccess;  ///< of hipGetDeviceCount, and hipGetDevice
  hipError_t launch_error = hipSuccess; ///< of hipLaunchKernel
  size_t static_lds_bytes = 0;          ///< of every kernel
  int kernel_block_limit = 1024;        ///< of every kernel
  std::vector<call> calls;
  void (*on_launch)(const call&, void** arguments) = nullptr;

  int count(const std::string& name) const {
    int number = 0;
    for (const call& c : calls)
      number += c.name == name;
    return number;
  }
};

/// The one runtime of the process.
runtime& current();

/// A stream of device `ordinal`.
hipStream_t stream_of(int ordinal, int number = 0);

} // namespace mock
