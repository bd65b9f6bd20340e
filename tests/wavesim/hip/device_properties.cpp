#include "hip/device_properties.hpp"

#include "hip/entry.hpp"
#include "hip/runtime.hpp"
#include "loader/architecture.hpp"
#include "machine/occupancy.hpp"

#include <climits>
#include <cstring>
#include <hip/hip_deprecated.h>

namespace wavesim::hip {

namespace {

template <std::size_t N>
void put_text(char (&to)[N], std::string_view text) {
  std::memset(to, 0, N);
  std::memcpy(to, text.data(), text.size() < N ? text.size() : N - 1);
}

void put(int (&to)[3], int x, int y, int z) {
  to[0] = x;
  to[1] = y;
  to[2] = z;
}

hipDeviceArch_t arch_flags() {
  hipDeviceArch_t arch = {};
  arch.hasGlobalInt32Atomics = 1;
  arch.hasGlobalFloatAtomicExch = 1;
  arch.hasSharedInt32Atomics = 1;
  arch.hasSharedFloatAtomicExch = 1;
  arch.hasFloatAtomicAdd = 1;
  arch.hasGlobalInt64Atomics = 1;
  arch.hasSharedInt64Atomics = 1;
  arch.hasDoubles = 1;
  arch.hasWarpVote = 1;
  arch.hasWarpBallot = 1;
  arch.hasWarpShuffle = 1;
  arch.hasFunnelShift = 0;
  arch.hasThreadFenceSystem = 1;
  arch.hasSyncThreadsExt = 0;
  arch.hasSurfaceFuncs = 0;
  arch.has3dGrid = 1;
  arch.hasDynamicParallelism = 0;
  return arch;
}

/// What both layouts of the structure have in common.
template <class Properties>
void common(Properties& p, int device) {
  constexpr auto lds = device_limits::lds_bytes;
  put_text(p.name, "AMD Instinct MI300X (wavesim)");
  p.totalGlobalMem = device_memory_bytes();
  p.sharedMemPerBlock = lds;
  p.regsPerBlock = 65536;
  p.warpSize = 64;
  p.maxThreadsPerBlock = device_limits::workgroup_threads;
  put(p.maxThreadsDim, 1024, 1024, 1024);
  put(p.maxGridSize, INT_MAX, 65536, 65536);
  p.clockRate = 2'100'000;
  p.memoryClockRate = 1'300'000;
  p.memoryBusWidth = 8192;
  p.totalConstMem = INT_MAX;
  p.major = 9;
  p.minor = 4;
  p.multiProcessorCount = device_limits::compute_units;
  p.l2CacheSize = 4 << 20;
  p.maxThreadsPerMultiProcessor =
      static_cast<int>(device_limits::simds * device_limits::simd_waves * 64);
  p.computeMode = hipComputeModeDefault;
  p.clockInstructionRate = mi300x::wall_clock_khz;
  p.arch = arch_flags();
  p.concurrentKernels = 1;
  p.pciDomainID = 0;
  p.pciBusID = device + 1;
  p.pciDeviceID = 0;
  p.maxSharedMemoryPerMultiProcessor = lds;
  p.canMapHostMemory = 1;
  put_text(p.gcnArchName, device_architecture);
  p.cooperativeLaunch = 1;
  p.memPitch = INT_MAX;
  p.textureAlignment = 256;
  p.texturePitchAlignment = 256;
  p.ECCEnabled = 1;
  p.isLargeBar = 1;
  p.asicRevision = 1;
  p.managedMemory = 1;
  p.directManagedMemAccessFromHost = 1;
  p.concurrentManagedAccess = 1;
}

} // namespace

hipDeviceProp_t device_properties(int device) {
  hipDeviceProp_t p = {};
  common(p, device);
  // Sixteen bytes that differ between devices and tell what they are.
  put_text(p.uuid.bytes, "wavesim-");
  p.uuid.bytes[15] = static_cast<char>('0' + device);
  p.asyncEngineCount = 8;
  p.unifiedAddressing = 1;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = device_limits::lds_bytes;
  p.regsPerMultiprocessor = 131072;
  p.hostNativeAtomicSupported = 1;
  p.singleToDoublePrecisionPerfRatio = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.sharedMemPerBlockOptin = device_limits::lds_bytes;
  p.maxBlocksPerMultiProcessor = static_cast<int>(device_limits::simds * device_limits::simd_waves);
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  return p;
}

namespace {

hipDeviceProp_tR0000 old_properties(int device) {
  hipDeviceProp_tR0000 p = {};
  common(p, device);
  p.gcnArch = 942;
  return p;
}

template <class Properties, class Make>
hipError_t get_properties(Properties* prop, int device, Make&& make) {
  if (!prop)
    return hipErrorInvalidValue;
  if (!valid_device(device))
    return hipErrorInvalidDevice;
  *prop = make(device);
  return hipSuccess;
}

/// All devices are alike: the first one suits best.
hipError_t choose(int* device, const void* wanted) {
  if (!device || !wanted)
    return hipErrorInvalidValue;
  *device = 0;
  return hipSuccess;
}

} // namespace

#undef hipGetDeviceProperties
#undef hipChooseDevice

WAVESIM_HIP_EXPORT hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600* prop,
                                                          int deviceId) {
  return call([&] { return get_properties(prop, deviceId, device_properties); });
}

WAVESIM_HIP_EXPORT hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_tR0000* prop, int device) {
  return call([&] { return get_properties(prop, device, old_properties); });
}

/// Programs built before HIP 6 call it by this name, with the old structure.
WAVESIM_HIP_EXPORT hipError_t hipGetDeviceProperties(hipDeviceProp_tR0000* prop, int device) {
  return hipGetDevicePropertiesR0000(prop, device);
}

WAVESIM_HIP_EXPORT hipError_t hipChooseDeviceR0600(int* device, const hipDeviceProp_tR0600* prop) {
  return call([&] { return choose(device, prop); });
}

WAVESIM_HIP_EXPORT hipError_t hipChooseDeviceR0000(int* device, const hipDeviceProp_tR0000* prop) {
  return call([&] { return choose(device, prop); });
}

WAVESIM_HIP_EXPORT hipError_t hipChooseDevice(int* device, const hipDeviceProp_tR0000* prop) {
  return hipChooseDeviceR0000(device, prop);
}

} // namespace wavesim::hip
