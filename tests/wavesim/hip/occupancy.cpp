// Occupancy from registers and LDS, and attributes of kernels.
#include "machine/occupancy.hpp"

#include "hip/entry.hpp"
#include "hip/kernel_launch.hpp"
#include "hip/module.hpp"
#include "hip/runtime.hpp"

#include <algorithm>

namespace wavesim::hip {

namespace {

constexpr int cu_threads = static_cast<int>(device_limits::simds * device_limits::simd_waves * 64);

hipError_t find(const void* function, ihipModuleSymbol_t*& found) {
  return function ? resolve_function(function, thread_state().device, found)
                  : hipErrorInvalidDeviceFunction;
}

hipError_t find_handle(hipFunction_t function, ihipModuleSymbol_t*& found) {
  return function && resolve_function(function, thread_state().device, found) == hipSuccess
             ? hipSuccess
             : hipErrorInvalidHandle;
}

hipError_t blocks_per_unit(const ihipModuleSymbol_t& f, int* blocks, int block_size,
                           std::size_t dynamic_lds) {
  if (!blocks || block_size <= 0)
    return hipErrorInvalidValue;
  const auto lds = static_cast<std::uint32_t>(std::min<std::size_t>(dynamic_lds, 1u << 30));
  *blocks =
      static_cast<int>(groups_per_compute_unit(*f.kernel, static_cast<unsigned>(block_size), lds));
  return hipSuccess;
}

/// The largest workgroup size that keeps as many work-items resident as any size can.
hipError_t best_block(const ihipModuleSymbol_t& f, int* grid, int* block, std::size_t dynamic_lds,
                      int limit) {
  if (!grid || !block || limit < 0)
    return hipErrorInvalidValue;
  int most = static_cast<int>(f.kernel->max_workgroup);
  if (limit > 0)
    most = std::min(most, limit);
  const auto lds = static_cast<std::uint32_t>(std::min<std::size_t>(dynamic_lds, 1u << 30));
  int best = 0, best_threads = 0, best_groups = 0;
  for (int size = most; size > 0; size = (size - 1) / 64 * 64) {
    const auto groups =
        static_cast<int>(groups_per_compute_unit(*f.kernel, static_cast<unsigned>(size), lds));
    if (groups * size > best_threads) {
      best = size;
      best_threads = groups * size;
      best_groups = groups;
    }
  }
  *block = best;
  *grid = best_groups * static_cast<int>(device_limits::compute_units);
  return hipSuccess;
}

hipError_t attribute(int* value, hipFunction_attribute attrib, const ihipModuleSymbol_t& f) {
  const Kernel& kernel = *f.kernel;
  switch (attrib) {
  case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = static_cast<int>(kernel.max_workgroup);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = static_cast<int>(kernel.lds_bytes);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    *value = 0;
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = static_cast<int>(kernel.scratch_bytes);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_NUM_REGS:
    *value = static_cast<int>(kernel.vgprs + kernel.agprs);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
  case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = 94; // major and minor of the architecture
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    *value = 0;
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = static_cast<int>(device_limits::lds_bytes - kernel.lds_bytes);
    return hipSuccess;
  case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *value = 0;
    return hipSuccess;
  default:
    return hipErrorInvalidValue;
  }
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(
    int* numBlocks, const void* f, int blockSize, size_t dynSharedMemPerBlk) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    WAVESIM_HIP_TRY(find(f, found));
    return blocks_per_unit(*found, numBlocks, blockSize, dynSharedMemPerBlk);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* numBlocks, const void* f, int blockSize, size_t dynSharedMemPerBlk, unsigned int) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, f, blockSize, dynSharedMemPerBlk);
}

WAVESIM_HIP_EXPORT hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    int* numBlocks, hipFunction_t f, int blockSize, size_t dynSharedMemPerBlk) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    WAVESIM_HIP_TRY(find_handle(f, found));
    return blocks_per_unit(*found, numBlocks, blockSize, dynSharedMemPerBlk);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* numBlocks, hipFunction_t f, int blockSize, size_t dynSharedMemPerBlk, unsigned int) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, f, blockSize,
                                                            dynSharedMemPerBlk);
}

WAVESIM_HIP_EXPORT hipError_t hipOccupancyMaxPotentialBlockSize(int* gridSize, int* blockSize,
                                                                const void* f,
                                                                size_t dynSharedMemPerBlk,
                                                                int blockSizeLimit) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    WAVESIM_HIP_TRY(find(f, found));
    return best_block(*found, gridSize, blockSize, dynSharedMemPerBlk, blockSizeLimit);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* gridSize, int* blockSize,
                                                                      hipFunction_t f,
                                                                      size_t dynSharedMemPerBlk,
                                                                      int blockSizeLimit) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    WAVESIM_HIP_TRY(find_handle(f, found));
    return best_block(*found, gridSize, blockSize, dynSharedMemPerBlk, blockSizeLimit);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    int* gridSize, int* blockSize, hipFunction_t f, size_t dynSharedMemPerBlk, int blockSizeLimit,
    unsigned int) {
  return hipModuleOccupancyMaxPotentialBlockSize(gridSize, blockSize, f, dynSharedMemPerBlk,
                                                 blockSizeLimit);
}

WAVESIM_HIP_EXPORT hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize,
                                                                       const void* f, int numBlocks,
                                                                       int blockSize) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    WAVESIM_HIP_TRY(find(f, found));
    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0 || blockSize > cu_threads)
      return hipErrorInvalidValue;
    const std::uint32_t share = device_limits::lds_bytes / static_cast<unsigned>(numBlocks) /
                                device_limits::lds_granule * device_limits::lds_granule;
    *dynamicSmemSize = share > found->kernel->lds_bytes ? share - found->kernel->lds_bytes : 0;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attrib,
                                                  hipFunction_t hfunc) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    if (!value)
      return hipErrorInvalidValue;
    WAVESIM_HIP_TRY(find_handle(hfunc, found));
    return attribute(value, attrib, *found);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipFuncGetAttributes(struct hipFuncAttributes* attr,
                                                   const void* func) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    if (!attr)
      return hipErrorInvalidValue;
    WAVESIM_HIP_TRY(find(func, found));
    const Kernel& kernel = *found->kernel;
    *attr = {};
    attr->binaryVersion = attr->ptxVersion = 94;
    attr->localSizeBytes = kernel.scratch_bytes;
    attr->maxDynamicSharedSizeBytes = static_cast<int>(device_limits::lds_bytes - kernel.lds_bytes);
    attr->maxThreadsPerBlock = static_cast<int>(kernel.max_workgroup);
    attr->numRegs = static_cast<int>(kernel.vgprs + kernel.agprs);
    attr->sharedSizeBytes = kernel.lds_bytes;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipFuncSetAttribute(const void* func, hipFuncAttribute attr,
                                                  int value) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    WAVESIM_HIP_TRY(find(func, found));
    switch (attr) {
    case hipFuncAttributeMaxDynamicSharedMemorySize:
      // All LDS is open to every kernel: nothing to opt in to.
      return value < 0 || static_cast<unsigned>(value) >
                              device_limits::lds_bytes - found->kernel->lds_bytes
                 ? hipErrorInvalidValue
                 : hipSuccess;
    case hipFuncAttributePreferredSharedMemoryCarveout:
      return value < -1 || value > 100 ? hipErrorInvalidValue : hipSuccess;
    default:
      return hipErrorInvalidValue;
    }
  });
}

WAVESIM_HIP_EXPORT hipError_t hipFuncSetCacheConfig(const void* func, hipFuncCache_t) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    return find(func, found);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipFuncSetSharedMemConfig(const void* func, hipSharedMemConfig) {
  return call([&] {
    ihipModuleSymbol_t* found = nullptr;
    return find(func, found);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGetFuncBySymbol(hipFunction_t* functionPtr,
                                                 const void* symbolPtr) {
  return call([&] {
    if (!functionPtr)
      return hipErrorInvalidValue;
    return registered_function(symbolPtr, thread_state().device, *functionPtr);
  });
}

WAVESIM_HIP_EXPORT const char* hipKernelNameRef(const hipFunction_t f) {
  ihipModuleSymbol_t* found = nullptr;
  return find_handle(f, found) == hipSuccess ? found->name.c_str() : nullptr;
}

WAVESIM_HIP_EXPORT const char* hipKernelNameRefByPtr(const void* hostFunction, hipStream_t) {
  ihipModuleSymbol_t* found = nullptr;
  return hostFunction && find(hostFunction, found) == hipSuccess ? found->name.c_str() : nullptr;
}

} // namespace wavesim::hip
