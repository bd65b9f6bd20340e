/// \file
/// HIP's names for the runtime calls that the library makes, on CUDA: for builds with nvcc where
/// HIP's own mapping is not installed.
#pragma once

#include <wavetile/config.hpp>
#include <wavetile/launch/cuda/lds_grant.hpp>

#if WAVETILE_CUDA

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipDevice_t = int;
using hipFuncAttributes = cudaFuncAttributes;

inline constexpr hipError_t hipSuccess = cudaSuccess;
inline constexpr hipError_t hipErrorNoDevice = cudaErrorNoDevice;
inline constexpr hipError_t hipErrorInvalidHandle = cudaErrorInvalidResourceHandle;
inline constexpr hipError_t hipErrorContextIsDestroyed = cudaErrorContextIsDestroyed;
inline constexpr hipError_t hipErrorInsufficientDriver = cudaErrorInsufficientDriver;
inline constexpr hipError_t hipErrorNoBinaryForGpu = cudaErrorNoKernelImageForDevice;
inline constexpr hipError_t hipErrorInvalidDeviceFunction = cudaErrorInvalidDeviceFunction;
inline constexpr hipError_t hipErrorInvalidImage = cudaErrorInvalidKernelImage;
inline constexpr hipError_t hipErrorInvalidKernelFile = cudaErrorInvalidSource;
inline constexpr hipError_t hipErrorSharedObjectInitFailed = cudaErrorSharedObjectInitFailed;

#define hipStreamPerThread cudaStreamPerThread
#define hipStreamLegacy cudaStreamLegacy

/// CUDA's properties, with the architecture as HIP names it: "sm_90".
struct hipDeviceProp_t : cudaDeviceProp {
  char gcnArchName[256];
};

inline const char* hipGetErrorName(hipError_t error) {
  return cudaGetErrorName(error);
}
inline const char* hipGetErrorString(hipError_t error) {
  return cudaGetErrorString(error);
}
inline hipError_t hipGetDeviceCount(int* count) {
  return cudaGetDeviceCount(count);
}
inline hipError_t hipGetDevice(int* device) {
  return cudaGetDevice(device);
}
/// While `stream` is being captured CUDA does not tell; it then must belong to the current device.
inline hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (const hipError_t error = cudaStreamIsCapturing(stream, &capture); error != hipSuccess)
    return error;
  return capture == cudaStreamCaptureStatusNone ? cudaStreamGetDevice(stream, device)
                                                : cudaGetDevice(device);
}
inline hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* kernel) {
  return cudaFuncGetAttributes(attributes, kernel);
}

inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  const hipError_t error = cudaGetDeviceProperties(properties, device);
  if (error == hipSuccess) {
    std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "sm_%d%d",
                  properties->major, properties->minor);
    properties->sharedMemPerBlock = properties->sharedMemPerBlockOptin;
  }
  return error;
}

/// As HIP's: on the device of the stream, whatever the current one is, with as much dynamic LDS as
/// a workgroup can have.
inline hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                  std::size_t lds_bytes, hipStream_t stream) {
  int current = 0;
  hipError_t error = cudaGetDevice(&current);
  int wanted = current;
  if (error == hipSuccess && stream != nullptr && stream != cudaStreamPerThread &&
      stream != cudaStreamLegacy)
    error = hipStreamGetDevice(stream, &wanted);
  if (error == hipSuccess && wanted != current)
    error = cudaSetDevice(wanted);
  if (error == hipSuccess)
    error = wavetile::detail::grant_lds(kernel, lds_bytes, wanted);
  if (error == hipSuccess)
    error = cudaLaunchKernel(kernel, grid, block, arguments, lds_bytes, stream);
  if (wanted != current) {
    const hipError_t restored = cudaSetDevice(current);
    error = error == hipSuccess ? restored : error;
  }
  return error;
}

#endif
