#include "hip/device_properties.hpp"
#include "hip/entry.hpp"
#include "hip/runtime.hpp"

#include <algorithm>
#include <climits>

namespace wavesim::hip {

hipError_t device_attribute(int* value, hipDeviceAttribute_t attribute, int device) {
  const hipDeviceProp_t p = device_properties(device);
  const auto clipped = [](std::size_t x) {
    return static_cast<int>(std::min<std::size_t>(x, INT_MAX));
  };
  switch (attribute) {
#define WAVESIM_ATTRIBUTE(name, expression)                                                        \
  case hipDeviceAttribute##name:                                                                   \
    *value = expression;                                                                           \
    return hipSuccess;
    WAVESIM_ATTRIBUTE(EccEnabled, p.ECCEnabled)
    WAVESIM_ATTRIBUTE(AccessPolicyMaxWindowSize, p.accessPolicyMaxWindowSize)
    WAVESIM_ATTRIBUTE(AsyncEngineCount, p.asyncEngineCount)
    WAVESIM_ATTRIBUTE(CanMapHostMemory, p.canMapHostMemory)
    WAVESIM_ATTRIBUTE(CanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem)
    WAVESIM_ATTRIBUTE(ClockRate, p.clockRate)
    WAVESIM_ATTRIBUTE(ComputeMode, p.computeMode)
    WAVESIM_ATTRIBUTE(ComputePreemptionSupported, p.computePreemptionSupported)
    WAVESIM_ATTRIBUTE(ConcurrentKernels, p.concurrentKernels)
    WAVESIM_ATTRIBUTE(ConcurrentManagedAccess, p.concurrentManagedAccess)
    WAVESIM_ATTRIBUTE(CooperativeLaunch, p.cooperativeLaunch)
    WAVESIM_ATTRIBUTE(CooperativeMultiDeviceLaunch, p.cooperativeMultiDeviceLaunch)
    WAVESIM_ATTRIBUTE(DeviceOverlap, p.deviceOverlap)
    WAVESIM_ATTRIBUTE(DirectManagedMemAccessFromHost, p.directManagedMemAccessFromHost)
    WAVESIM_ATTRIBUTE(GlobalL1CacheSupported, p.globalL1CacheSupported)
    WAVESIM_ATTRIBUTE(HostNativeAtomicSupported, p.hostNativeAtomicSupported)
    WAVESIM_ATTRIBUTE(Integrated, p.integrated)
    WAVESIM_ATTRIBUTE(IsMultiGpuBoard, p.isMultiGpuBoard)
    WAVESIM_ATTRIBUTE(KernelExecTimeout, p.kernelExecTimeoutEnabled)
    WAVESIM_ATTRIBUTE(L2CacheSize, p.l2CacheSize)
    WAVESIM_ATTRIBUTE(LocalL1CacheSupported, p.localL1CacheSupported)
    WAVESIM_ATTRIBUTE(ComputeCapabilityMajor, p.major)
    WAVESIM_ATTRIBUTE(ComputeCapabilityMinor, p.minor)
    WAVESIM_ATTRIBUTE(ManagedMemory, p.managedMemory)
    WAVESIM_ATTRIBUTE(MaxBlocksPerMultiProcessor, p.maxBlocksPerMultiProcessor)
    WAVESIM_ATTRIBUTE(MaxBlockDimX, p.maxThreadsDim[0])
    WAVESIM_ATTRIBUTE(MaxBlockDimY, p.maxThreadsDim[1])
    WAVESIM_ATTRIBUTE(MaxBlockDimZ, p.maxThreadsDim[2])
    WAVESIM_ATTRIBUTE(MaxGridDimX, p.maxGridSize[0])
    WAVESIM_ATTRIBUTE(MaxGridDimY, p.maxGridSize[1])
    WAVESIM_ATTRIBUTE(MaxGridDimZ, p.maxGridSize[2])
    WAVESIM_ATTRIBUTE(MaxSurface1D, 0)
    WAVESIM_ATTRIBUTE(MaxSurface1DLayered, 0)
    WAVESIM_ATTRIBUTE(MaxSurface2D, 0)
    WAVESIM_ATTRIBUTE(MaxSurface2DLayered, 0)
    WAVESIM_ATTRIBUTE(MaxSurface3D, 0)
    WAVESIM_ATTRIBUTE(MaxSurfaceCubemap, 0)
    WAVESIM_ATTRIBUTE(MaxSurfaceCubemapLayered, 0)
    WAVESIM_ATTRIBUTE(MaxTexture1DWidth, 0)
    WAVESIM_ATTRIBUTE(MaxTexture1DLayered, 0)
    WAVESIM_ATTRIBUTE(MaxTexture1DLinear, 0)
    WAVESIM_ATTRIBUTE(MaxTexture1DMipmap, 0)
    WAVESIM_ATTRIBUTE(MaxTexture2DWidth, 0)
    WAVESIM_ATTRIBUTE(MaxTexture2DHeight, 0)
    WAVESIM_ATTRIBUTE(MaxTexture2DGather, 0)
    WAVESIM_ATTRIBUTE(MaxTexture2DLayered, 0)
    WAVESIM_ATTRIBUTE(MaxTexture2DLinear, 0)
    WAVESIM_ATTRIBUTE(MaxTexture2DMipmap, 0)
    WAVESIM_ATTRIBUTE(MaxTexture3DWidth, 0)
    WAVESIM_ATTRIBUTE(MaxTexture3DHeight, 0)
    WAVESIM_ATTRIBUTE(MaxTexture3DDepth, 0)
    WAVESIM_ATTRIBUTE(MaxTexture3DAlt, 0)
    WAVESIM_ATTRIBUTE(MaxTextureCubemap, 0)
    WAVESIM_ATTRIBUTE(MaxTextureCubemapLayered, 0)
    WAVESIM_ATTRIBUTE(MaxThreadsDim, p.maxThreadsDim[0])
    WAVESIM_ATTRIBUTE(MaxThreadsPerBlock, p.maxThreadsPerBlock)
    WAVESIM_ATTRIBUTE(MaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor)
    WAVESIM_ATTRIBUTE(MaxPitch, clipped(p.memPitch))
    WAVESIM_ATTRIBUTE(MemoryBusWidth, p.memoryBusWidth)
    WAVESIM_ATTRIBUTE(MemoryClockRate, p.memoryClockRate)
    WAVESIM_ATTRIBUTE(MultiGpuBoardGroupID, p.multiGpuBoardGroupID)
    WAVESIM_ATTRIBUTE(MultiprocessorCount, p.multiProcessorCount)
    WAVESIM_ATTRIBUTE(PageableMemoryAccess, p.pageableMemoryAccess)
    WAVESIM_ATTRIBUTE(PageableMemoryAccessUsesHostPageTables,
                      p.pageableMemoryAccessUsesHostPageTables)
    WAVESIM_ATTRIBUTE(PciBusId, p.pciBusID)
    WAVESIM_ATTRIBUTE(PciDeviceId, p.pciDeviceID)
    WAVESIM_ATTRIBUTE(PciDomainID, p.pciDomainID)
    WAVESIM_ATTRIBUTE(PersistingL2CacheMaxSize, p.persistingL2CacheMaxSize)
    WAVESIM_ATTRIBUTE(MaxRegistersPerBlock, p.regsPerBlock)
    WAVESIM_ATTRIBUTE(MaxRegistersPerMultiprocessor, p.regsPerMultiprocessor)
    WAVESIM_ATTRIBUTE(ReservedSharedMemPerBlock, clipped(p.reservedSharedMemPerBlock))
    WAVESIM_ATTRIBUTE(MaxSharedMemoryPerBlock, clipped(p.sharedMemPerBlock))
    WAVESIM_ATTRIBUTE(SharedMemPerBlockOptin, clipped(p.sharedMemPerBlockOptin))
    WAVESIM_ATTRIBUTE(SharedMemPerMultiprocessor, clipped(p.sharedMemPerMultiprocessor))
    WAVESIM_ATTRIBUTE(SingleToDoublePrecisionPerfRatio, p.singleToDoublePrecisionPerfRatio)
    WAVESIM_ATTRIBUTE(StreamPrioritiesSupported, p.streamPrioritiesSupported)
    WAVESIM_ATTRIBUTE(SurfaceAlignment, 0)
    WAVESIM_ATTRIBUTE(TccDriver, p.tccDriver)
    WAVESIM_ATTRIBUTE(TextureAlignment, clipped(p.textureAlignment))
    WAVESIM_ATTRIBUTE(TexturePitchAlignment, clipped(p.texturePitchAlignment))
    WAVESIM_ATTRIBUTE(TotalConstantMemory, clipped(p.totalConstMem))
    WAVESIM_ATTRIBUTE(TotalGlobalMem, clipped(p.totalGlobalMem))
    WAVESIM_ATTRIBUTE(UnifiedAddressing, p.unifiedAddressing)
    WAVESIM_ATTRIBUTE(WarpSize, p.warpSize)
    WAVESIM_ATTRIBUTE(MemoryPoolsSupported, p.memoryPoolsSupported)
    WAVESIM_ATTRIBUTE(VirtualMemoryManagementSupported, 0)
    WAVESIM_ATTRIBUTE(HostRegisterSupported, p.hostRegisterSupported)
    WAVESIM_ATTRIBUTE(MemoryPoolSupportedHandleTypes, 0)
    WAVESIM_ATTRIBUTE(ClockInstructionRate, p.clockInstructionRate)
    WAVESIM_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, clipped(p.maxSharedMemoryPerMultiProcessor))
    WAVESIM_ATTRIBUTE(CooperativeMultiDeviceUnmatchedFunc, 0)
    WAVESIM_ATTRIBUTE(CooperativeMultiDeviceUnmatchedGridDim, 0)
    WAVESIM_ATTRIBUTE(CooperativeMultiDeviceUnmatchedBlockDim, 0)
    WAVESIM_ATTRIBUTE(CooperativeMultiDeviceUnmatchedSharedMem, 0)
    WAVESIM_ATTRIBUTE(IsLargeBar, p.isLargeBar)
    WAVESIM_ATTRIBUTE(AsicRevision, p.asicRevision)
    WAVESIM_ATTRIBUTE(CanUseStreamWaitValue, 1)
    WAVESIM_ATTRIBUTE(ImageSupport, 0)
    WAVESIM_ATTRIBUTE(PhysicalMultiProcessorCount, p.multiProcessorCount)
    WAVESIM_ATTRIBUTE(FineGrainSupport, 1)
    WAVESIM_ATTRIBUTE(WallClockRate, mi300x::wall_clock_khz)
#if HIP_VERSION >= 70000000
    WAVESIM_ATTRIBUTE(NumberOfXccs, mi300x::xccs)
    WAVESIM_ATTRIBUTE(MaxAvailableVgprsPerThread, 512)
    WAVESIM_ATTRIBUTE(PciChipId, mi300x::chip_id)
#endif
#if HIP_VERSION >= 70200000
    WAVESIM_ATTRIBUTE(HostNumaId, 0)
#endif
#undef WAVESIM_ATTRIBUTE
  default:
    return hipErrorInvalidValue;
  }
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetAttribute(int* pi, hipDeviceAttribute_t attr,
                                                    int deviceId) {
  return call([&] {
    if (!pi)
      return hipErrorInvalidValue;
    if (!valid_device(deviceId))
      return hipErrorInvalidDevice;
    return device_attribute(pi, attr, deviceId);
  });
}

} // namespace wavesim::hip
