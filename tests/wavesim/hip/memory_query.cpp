// Questions about pointers and memory.
#include "hip/device_memory.hpp"
#include "hip/entry.hpp"
#include "hip/module.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

#include <algorithm>

namespace wavesim::hip {

namespace {

hipMemoryType type_of(RangeKind kind) {
  switch (kind) {
  case RangeKind::host:
    return hipMemoryTypeHost;
  case RangeKind::managed:
    return hipMemoryTypeManaged;
  default:
    return hipMemoryTypeDevice;
  }
}

void* at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

/// The registered range around a pointer, with what is known of its allocation.
struct Found {
  Range range;
  Allocation allocation;
};
std::optional<Found> look_up(const void* pointer) {
  const auto range = MemoryMap::instance().lookup(reinterpret_cast<std::uintptr_t>(pointer));
  if (!range || range->kind == RangeKind::kernarg || range->kind == RangeKind::code)
    return std::nullopt;
  return Found{*range, DeviceMemory::instance().find(pointer).value_or(Allocation{})};
}

template <class T>
hipError_t give(void* data, T value) {
  *static_cast<T*>(data) = value;
  return hipSuccess;
}

hipError_t pointer_attribute(void* data, hipPointer_attribute attribute, const void* pointer) {
  const auto found = look_up(pointer);
  if (!found)
    return hipErrorInvalidValue;
  const Range& range = found->range;
  switch (attribute) {
  case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
    return give<unsigned>(data, type_of(range.kind));
  case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
    return give(data, pointer);
  case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
    if (type_of(range.kind) == hipMemoryTypeDevice)
      return hipErrorInvalidValue;
    return give(data, pointer);
  case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
    return give<unsigned long long>(data, range.serial);
  case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
    return give<unsigned>(data, range.kind == RangeKind::managed);
  case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    return give<int>(data, range.device);
  case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    return give(data, at(range.begin));
  case HIP_POINTER_ATTRIBUTE_RANGE_SIZE:
    return give<std::size_t>(data, range.end - range.begin);
  case HIP_POINTER_ATTRIBUTE_MAPPED:
    return give<unsigned>(data, 1);
  case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    return give<unsigned>(data, 0);
  default:
    return hipErrorNotSupported;
  }
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes,
                                                      const void* ptr) {
  return call([&] {
    if (!attributes || !ptr)
      return hipErrorInvalidValue;
    *attributes = {};
    const auto found = look_up(ptr);
    if (!found) {
      attributes->type = hipMemoryTypeUnregistered;
      attributes->device = hipInvalidDeviceId;
      return hipSuccess;
    }
    attributes->type = type_of(found->range.kind);
    attributes->device = found->range.device;
    attributes->devicePointer = const_cast<void*>(ptr);
    if (attributes->type != hipMemoryTypeDevice)
      attributes->hostPointer = const_cast<void*>(ptr);
    attributes->isManaged = found->range.kind == RangeKind::managed;
    attributes->allocationFlags = found->allocation.flags;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute,
                                                     hipDeviceptr_t ptr) {
  return call(
      [&] { return data && ptr ? pointer_attribute(data, attribute, ptr) : hipErrorInvalidValue; });
}

WAVESIM_HIP_EXPORT hipError_t hipDrvPointerGetAttributes(unsigned int numAttributes,
                                                         hipPointer_attribute* attributes,
                                                         void** data, hipDeviceptr_t ptr) {
  return call([&] {
    if (numAttributes == 0 || !attributes || !data || !ptr)
      return hipErrorInvalidValue;
    for (unsigned i = 0; i < numAttributes; ++i)
      WAVESIM_HIP_TRY(pointer_attribute(data[i], attributes[i], ptr));
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipPointerSetAttribute(const void* value,
                                                     hipPointer_attribute attribute,
                                                     hipDeviceptr_t ptr) {
  return call([&] {
    if (!value || !ptr || attribute != HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS)
      return hipErrorInvalidValue;
    return look_up(ptr) ? hipSuccess : hipErrorInvalidDevicePointer;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipHostGetDevicePointer(void** devPtr, void* hstPtr,
                                                      unsigned int flags) {
  return call([&] {
    if (!devPtr || !hstPtr || flags != 0)
      return hipErrorInvalidValue;
    const auto found = look_up(hstPtr);
    if (!found)
      return hipErrorInvalidValue;
    *devPtr = hstPtr;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipHostGetFlags(unsigned int* flagsPtr, void* hostPtr) {
  return call([&] {
    if (!flagsPtr || !hostPtr)
      return hipErrorInvalidValue;
    const auto found = DeviceMemory::instance().find(hostPtr);
    if (!found || found->kind != RangeKind::host)
      return hipErrorInvalidValue;
    *flagsPtr = found->flags;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMemGetAddressRange(hipDeviceptr_t* pbase, size_t* psize,
                                                    hipDeviceptr_t dptr) {
  return call([&] {
    if (!dptr)
      return hipErrorInvalidValue;
    const auto found = look_up(dptr);
    if (!found)
      return hipErrorNotFound;
    if (pbase)
      *pbase = at(found->range.begin);
    if (psize)
      *psize = found->range.end - found->range.begin;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPtrGetInfo(void* ptr, size_t* size) {
  return call([&] {
    const auto found = ptr ? DeviceMemory::instance().find(ptr) : std::nullopt;
    if (!size || !found)
      return hipErrorInvalidValue;
    *size = found->bytes;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    if (!free || !total)
      return hipErrorInvalidValue;
    const std::size_t all = device_memory_bytes();
    const std::size_t used = DeviceMemory::instance().used(thread_state().device);
    *total = all;
    *free = all - std::min(all, used);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGetSymbolAddress(void** devPtr, const void* symbol) {
  return call([&] {
    if (!devPtr || !symbol)
      return !devPtr ? hipErrorInvalidValue : hipErrorInvalidSymbol;
    std::size_t bytes = 0;
    return registered_variable(symbol, thread_state().device, *devPtr, bytes);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGetSymbolSize(size_t* size, const void* symbol) {
  return call([&] {
    if (!size || !symbol)
      return !size ? hipErrorInvalidValue : hipErrorInvalidSymbol;
    void* address = nullptr;
    return registered_variable(symbol, thread_state().device, address, *size);
  });
}

} // namespace wavesim::hip
