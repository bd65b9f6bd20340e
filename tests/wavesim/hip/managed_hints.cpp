// Hints about managed memory. All memory is one here: they are checked, and what can be asked back
// is remembered.
#include "hip/device_memory.hpp"
#include "hip/entry.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace wavesim::hip {

namespace {

struct Hints {
  bool read_mostly = false;
  int preferred = hipInvalidDeviceId;
  int prefetched = hipInvalidDeviceId;
  std::vector<int> accessed_by;
};

/// By the beginning of the allocation.
struct AllHints {
  std::mutex mutex;
  std::map<std::uintptr_t, Hints> of;
};
AllHints& hints() {
  static auto* all = new AllHints;
  return *all;
}

bool valid_place(int device) {
  return device == hipCpuDeviceId || valid_device(device);
}

hipError_t managed_range(const void* pointer, std::size_t count, Allocation& found) {
  if (!pointer || count == 0)
    return hipErrorInvalidValue;
  const auto allocation = DeviceMemory::instance().find(pointer);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!allocation || allocation->kind != RangeKind::managed ||
      count > allocation->begin + allocation->bytes - address)
    return hipErrorInvalidValue;
  found = *allocation;
  return hipSuccess;
}

hipError_t advise(const void* pointer, std::size_t count, hipMemoryAdvise advice, int device) {
  Allocation allocation;
  WAVESIM_HIP_TRY(managed_range(pointer, count, allocation));
  const bool needs_place = advice == hipMemAdviseSetPreferredLocation ||
                           advice == hipMemAdviseSetAccessedBy ||
                           advice == hipMemAdviseUnsetAccessedBy;
  if (needs_place && !valid_place(device))
    return hipErrorInvalidDevice;
  const std::lock_guard lock(hints().mutex);
  Hints& h = hints().of[allocation.begin];
  switch (advice) {
  case hipMemAdviseSetReadMostly:
  case hipMemAdviseUnsetReadMostly:
    h.read_mostly = advice == hipMemAdviseSetReadMostly;
    return hipSuccess;
  case hipMemAdviseSetPreferredLocation:
    h.preferred = device;
    return hipSuccess;
  case hipMemAdviseUnsetPreferredLocation:
    h.preferred = hipInvalidDeviceId;
    return hipSuccess;
  case hipMemAdviseSetAccessedBy:
  case hipMemAdviseUnsetAccessedBy:
    std::erase(h.accessed_by, device);
    if (advice == hipMemAdviseSetAccessedBy)
      h.accessed_by.push_back(device);
    return hipSuccess;
  case hipMemAdviseSetCoarseGrain:
  case hipMemAdviseUnsetCoarseGrain:
    return hipSuccess;
  default:
    return hipErrorInvalidValue;
  }
}

hipError_t prefetch(const void* pointer, std::size_t count, int device, hipStream_t stream) {
  Allocation allocation;
  if (!stream_of(stream))
    return hipErrorInvalidHandle;
  WAVESIM_HIP_TRY(managed_range(pointer, count, allocation));
  if (!valid_place(device))
    return hipErrorInvalidDevice;
  const std::lock_guard lock(hints().mutex);
  hints().of[allocation.begin].prefetched = device;
  return hipSuccess;
}

hipError_t query(void* data, std::size_t bytes, hipMemRangeAttribute attribute, const void* pointer,
                 std::size_t count) {
  Allocation allocation;
  if (!data || bytes < sizeof(int) || bytes % sizeof(int) != 0)
    return hipErrorInvalidValue;
  WAVESIM_HIP_TRY(managed_range(pointer, count, allocation));
  const std::lock_guard lock(hints().mutex);
  const Hints& h = hints().of[allocation.begin];
  int* out = static_cast<int*>(data);
  switch (attribute) {
  case hipMemRangeAttributeReadMostly:
    *out = h.read_mostly;
    return hipSuccess;
  case hipMemRangeAttributePreferredLocation:
    *out = h.preferred;
    return hipSuccess;
  case hipMemRangeAttributeLastPrefetchLocation:
    *out = h.prefetched;
    return hipSuccess;
  case hipMemRangeAttributeAccessedBy:
    for (std::size_t i = 0; i < bytes / sizeof(int); ++i)
      out[i] = i < h.accessed_by.size() ? h.accessed_by[i] : hipInvalidDeviceId;
    return hipSuccess;
  case hipMemRangeAttributeCoherencyMode:
    *out = hipMemRangeCoherencyModeFineGrain;
    return hipSuccess;
  default:
    return hipErrorInvalidValue;
  }
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipMemAdvise(const void* dev_ptr, size_t count,
                                           hipMemoryAdvise advice, int device) {
  return call([&] { return advise(dev_ptr, count, advice, device); });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPrefetchAsync(const void* dev_ptr, size_t count, int device,
                                                  hipStream_t stream) {
  return call([&] { return prefetch(dev_ptr, count, device, stream); });
}

#if HIP_VERSION >= 70100000
namespace {

/// hipMemLocation as a device number.
hipError_t place_of(hipMemLocation location, int& device) {
  if (location.type == hipMemLocationTypeDevice)
    device = location.id;
  else if (location.type == hipMemLocationTypeHost || location.type == hipMemLocationTypeHostNuma ||
           location.type == hipMemLocationTypeHostNumaCurrent)
    device = hipCpuDeviceId;
  else
    return hipErrorInvalidValue;
  return hipSuccess;
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipMemAdvise_v2(const void* dev_ptr, size_t count,
                                              hipMemoryAdvise advice, hipMemLocation location) {
  return call([&] {
    int device = 0;
    WAVESIM_HIP_TRY(place_of(location, device));
    return advise(dev_ptr, count, advice, device);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPrefetchAsync_v2(const void* dev_ptr, size_t count,
                                                     hipMemLocation location, unsigned int flags,
                                                     hipStream_t stream) {
  return call([&] {
    int device = 0;
    if (flags != 0)
      return hipErrorInvalidValue;
    WAVESIM_HIP_TRY(place_of(location, device));
    return prefetch(dev_ptr, count, device, stream);
  });
}
#endif

WAVESIM_HIP_EXPORT hipError_t hipMemRangeGetAttribute(void* data, size_t data_size,
                                                      hipMemRangeAttribute attribute,
                                                      const void* dev_ptr, size_t count) {
  return call([&] { return query(data, data_size, attribute, dev_ptr, count); });
}

WAVESIM_HIP_EXPORT hipError_t hipMemRangeGetAttributes(void** data, size_t* data_sizes,
                                                       hipMemRangeAttribute* attributes,
                                                       size_t num_attributes, const void* dev_ptr,
                                                       size_t count) {
  return call([&] {
    if (!data || !data_sizes || !attributes || num_attributes == 0)
      return hipErrorInvalidValue;
    for (std::size_t i = 0; i < num_attributes; ++i)
      WAVESIM_HIP_TRY(query(data[i], data_sizes[i], attributes[i], dev_ptr, count));
    return hipSuccess;
  });
}

} // namespace wavesim::hip
