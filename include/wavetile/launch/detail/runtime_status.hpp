/// \file
/// Errors of the HIP runtime as status.
#pragma once

#include <wavetile/core/status.hpp>
#include <wavetile/launch/detail/runtime.hpp>

namespace wavetile::detail {

/// Failure of a runtime call, with the runtime's own words.
inline status runtime_failure(const char* call, hipError_t error) {
  const bool no_device = error == hipErrorNoDevice || error == hipErrorInsufficientDriver;
  return status::failure(no_device ? status_code::no_device : status_code::runtime_error, call,
                         no_device ? "no HIP device is present: " : "")
      .append(hipGetErrorName(error))
      .append(" (")
      .append(hipGetErrorString(error))
      .append(')');
}

/// The errors by which runtimes say that a program has no code for the device.
inline bool means_no_code(hipError_t error) {
  return error == hipErrorNoBinaryForGpu || error == hipErrorInvalidDeviceFunction ||
         error == hipErrorInvalidImage || error == hipErrorInvalidKernelFile ||
         error == hipErrorSharedObjectInitFailed;
}

} // namespace wavetile::detail
