/// \file
/// Dynamic LDS of kernels on NVIDIA GPUs beyond what they have without asking.
#pragma once

#include <wavetile/config.hpp>

#if WAVETILE_CUDA

#include <cstddef>
#include <cuda_runtime_api.h>

namespace wavetile::detail {

/// Has CUDA let `kernel` have `lds_bytes` of dynamic LDS on the current device, `device`. The
/// grant is for all that the device has: host threads that launch a kernel with more and with less
/// set the same. It is set only where it is needed, since that clears an error of others that is
/// pending (seen with CUDA 13.0; no other call of a launch does).
inline cudaError_t grant_lds(const void* kernel, std::size_t lds_bytes, int device) {
  constexpr std::size_t without_asking = 48 * 1024;
  if (lds_bytes <= without_asking)
    return cudaSuccess;
  cudaFuncAttributes now;
  cudaError_t error = cudaFuncGetAttributes(&now, kernel);
  if (error != cudaSuccess || static_cast<std::size_t>(now.maxDynamicSharedSizeBytes) >= lds_bytes)
    return error;
  int most = 0;
  error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (error != cudaSuccess)
    return error;
  most -= static_cast<int>(now.sharedSizeBytes);
  if (most < 0 || lds_bytes > static_cast<std::size_t>(most))
    return cudaErrorInvalidValue;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
}

} // namespace wavetile::detail

#endif
