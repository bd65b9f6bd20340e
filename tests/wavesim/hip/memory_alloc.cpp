// Allocation and release.
#include "hip/device_memory.hpp"
#include "hip/entry.hpp"
#include "hip/header_versions.hpp"
#include "hip/memory_pool.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

#include <algorithm>

namespace wavesim::hip {

namespace {

hipError_t allocate(void** pointer, std::size_t bytes, RangeKind kind, unsigned flags) {
  if (!pointer)
    return hipErrorInvalidValue;
  WAVESIM_HIP_TRY(check_capture_unsafe());
  *pointer = nullptr;
  if (bytes == 0)
    return hipSuccess;
  *pointer = DeviceMemory::instance().allocate(bytes, kind, thread_state().device, flags);
  return *pointer ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t release(const void* pointer) {
  if (!pointer)
    return hipSuccess;
  WAVESIM_HIP_TRY(check_capture_unsafe());
  leave_pool(pointer);
  return DeviceMemory::instance().release(pointer) ? hipSuccess : hipErrorInvalidValue;
}

hipError_t allocate_host(void** pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned known = hipHostMallocPortable | hipHostMallocMapped |
                             hipHostMallocWriteCombined | hipHostMallocUncached |
                             hipHostMallocNumaUser | hipHostMallocCoherent |
                             hipHostMallocNonCoherent;
  constexpr unsigned opposite = hipHostMallocCoherent | hipHostMallocNonCoherent;
  if ((flags & ~known) != 0 || (flags & opposite) == opposite)
    return hipErrorInvalidValue;
  return allocate(pointer, bytes, RangeKind::host, flags);
}

/// Rows of pitched memory start at multiples of this.
constexpr std::size_t pitch_granule = 256;

hipError_t allocate_pitched(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t rows) {
  if (!pointer || !pitch)
    return hipErrorInvalidValue;
  if (width > SIZE_MAX - pitch_granule)
    return hipErrorOutOfMemory;
  const std::size_t row = (width + pitch_granule - 1) / pitch_granule * pitch_granule;
  if (rows != 0 && row > SIZE_MAX / rows)
    return hipErrorOutOfMemory;
  WAVESIM_HIP_TRY(allocate(pointer, row * rows, RangeKind::device, 0));
  *pitch = row;
  return hipSuccess;
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipMalloc(void** ptr, size_t size) {
  return call([&] { return allocate(ptr, size, RangeKind::device, 0); });
}

WAVESIM_HIP_EXPORT hipError_t hipExtMallocWithFlags(void** ptr, size_t sizeBytes,
                                                    unsigned int flags) {
  return call([&] {
    const bool known = flags == hipDeviceMallocDefault || flags == hipDeviceMallocFinegrained ||
                       flags == hipDeviceMallocUncached || flags == hipDeviceMallocContiguous ||
                       flags == hipMallocSignalMemory;
    if (!known || (flags == hipMallocSignalMemory && sizeBytes != 8))
      return hipErrorInvalidValue;
    return allocate(ptr, sizeBytes, RangeKind::device, flags);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipFree(void* ptr) {
  return call([&] { return release(ptr); });
}

WAVESIM_HIP_EXPORT hipError_t hipMallocManaged(void** dev_ptr, size_t size, unsigned int flags) {
  return call([&] {
    if (size == 0 || (flags != hipMemAttachGlobal && flags != hipMemAttachHost))
      return hipErrorInvalidValue;
    return allocate(dev_ptr, size, RangeKind::managed, flags);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipHostMalloc(void** ptr, size_t size, unsigned int flags) {
  return call([&] { return allocate_host(ptr, size, flags); });
}

WAVESIM_HIP_EXPORT hipError_t hipHostAlloc(void** ptr, size_t size, unsigned int flags) {
  return call([&] { return allocate_host(ptr, size, flags); });
}

WAVESIM_HIP_EXPORT hipError_t hipMallocHost(void** ptr, size_t size) {
  return call([&] { return allocate_host(ptr, size, 0); });
}

WAVESIM_HIP_EXPORT hipError_t hipMemAllocHost(void** ptr, size_t size) {
  return call([&] { return allocate_host(ptr, size, 0); });
}

WAVESIM_HIP_EXPORT hipError_t hipHostFree(void* ptr) {
  return call([&] { return release(ptr); });
}

WAVESIM_HIP_EXPORT hipError_t hipFreeHost(void* ptr) {
  return call([&] { return release(ptr); });
}

WAVESIM_HIP_EXPORT hipError_t hipHostRegister(void* hostPtr, size_t sizeBytes, unsigned int flags) {
  return call([&] {
    constexpr unsigned known = hipHostRegisterPortable | hipHostRegisterMapped |
                               hipHostRegisterIoMemory | hipHostRegisterReadOnly |
                               hipExtHostRegisterCoarseGrained | hipExtHostRegisterUncached;
    if (!hostPtr || sizeBytes == 0 || (flags & ~known) != 0)
      return hipErrorInvalidValue;
    WAVESIM_HIP_TRY(check_capture_unsafe());
    return DeviceMemory::instance().register_host(hostPtr, sizeBytes, flags)
               ? hipSuccess
               : hipErrorHostMemoryAlreadyRegistered;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipHostUnregister(void* hostPtr) {
  return call([&] {
    if (!hostPtr)
      return hipErrorInvalidValue;
    WAVESIM_HIP_TRY(check_capture_unsafe());
    return DeviceMemory::instance().unregister_host(hostPtr) ? hipSuccess
                                                             : hipErrorHostMemoryNotRegistered;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMallocPitch(void** ptr, size_t* pitch, size_t width,
                                             size_t height) {
  return call([&] { return allocate_pitched(ptr, pitch, width, height); });
}

WAVESIM_HIP_EXPORT hipError_t hipMemAllocPitch(hipDeviceptr_t* dptr, size_t* pitch,
                                               size_t widthInBytes, size_t height,
                                               unsigned int elementSizeBytes) {
  return call([&] {
    if (widthInBytes == 0 || height == 0 ||
        (elementSizeBytes != 4 && elementSizeBytes != 8 && elementSizeBytes != 16))
      return hipErrorInvalidValue;
    return allocate_pitched(dptr, pitch, widthInBytes, height);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMalloc3D(hipPitchedPtr* pitchedDevPtr, hipExtent extent) {
  return call([&] {
    if (!pitchedDevPtr)
      return hipErrorInvalidValue;
    if (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth)
      return hipErrorOutOfMemory;
    hipPitchedPtr made = {};
    made.xsize = extent.width;
    made.ysize = extent.height;
    WAVESIM_HIP_TRY(
        allocate_pitched(&made.ptr, &made.pitch, extent.width, extent.height * extent.depth));
    *pitchedDevPtr = made;
    return hipSuccess;
  });
}

} // namespace wavesim::hip
