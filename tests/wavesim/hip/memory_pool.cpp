#include "hip/memory_pool.hpp"

#include "hip/device_memory.hpp"
#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/handles.hpp"
#include "hip/node_forms.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

#include <algorithm>
#include <cstring>

struct ihipMemPoolHandle_t {
  int device = 0;
  std::uint64_t threshold = 0, used = 0, used_high = 0, reserved_high = 0;
  std::uint64_t largest = 0; ///< 0: no limit of its own
  int reuse[3] = {1, 1, 1};  ///< hipMemPoolReuse… attributes
};

namespace wavesim::hip {

namespace {

struct Pools {
  std::mutex mutex;
  std::vector<hipMemPool_t> standard, current; ///< by device
  std::unordered_map<const void*, std::pair<hipMemPool_t, std::size_t>> owner;
};

Pools& pools() {
  static auto* all = [] {
    auto* made = new Pools;
    for (int device = 0; device < settings().devices; ++device) {
      auto pool = std::make_unique<ihipMemPoolHandle_t>();
      pool->device = device;
      made->standard.push_back(handles<ihipMemPoolHandle_t>().add(std::move(pool)));
    }
    made->current = made->standard;
    return made;
  }();
  return *all;
}

bool alive(hipMemPool_t pool) {
  pools();
  return handles<ihipMemPoolHandle_t>().alive(pool);
}

std::size_t at(int device) {
  return static_cast<std::size_t>(device);
}

hipError_t allocate(void** pointer, std::size_t bytes, hipMemPool_t pool) {
  if (pool->largest != 0 && pool->used + bytes > pool->largest)
    return hipErrorOutOfMemory;
  *pointer = DeviceMemory::instance().allocate(bytes, RangeKind::device, pool->device, 0, true);
  if (!*pointer)
    return hipErrorOutOfMemory;
  const std::lock_guard lock(pools().mutex);
  pools().owner[*pointer] = {pool, bytes};
  pool->used += bytes;
  pool->used_high = std::max(pool->used_high, pool->used);
  pool->reserved_high = std::max(pool->reserved_high, pool->used);
  return hipSuccess;
}

hipError_t allocate_async(void** pointer, std::size_t bytes, hipMemPool_t pool,
                          hipStream_t handle) {
  ihipStream_t* stream = stream_of(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (!pointer)
    return hipErrorInvalidValue;
  if (!pool)
    pool = pools().current[at(stream->device)];
  if (!alive(pool))
    return hipErrorInvalidValue;
  if (bytes == 0) {
    *pointer = nullptr;
    return hipSuccess;
  }
  const std::lock_guard lock(graph_mutex());
  if (!stream->capture) {
    WAVESIM_HIP_TRY(check_implicit(*stream));
    return allocate(pointer, bytes, pool);
  }
  hipMemAllocNodeParams parameters = {};
  parameters.poolProps.location = {hipMemLocationTypeDevice, pool->device};
  parameters.bytesize = bytes;
  std::shared_ptr<void> memory;
  AllocateOperation operation;
  WAVESIM_HIP_TRY(allocate_operation(&parameters, memory, operation));
  stream->capture->graph->memory.push_back(std::move(memory));
  *pointer = parameters.dptr;
  return enqueue(handle, operation);
}

/// Memory of a graph is the graph's: freeing it, inside or outside, returns it only with the graph.
bool belongs_to_graph(const void* pointer) {
  const auto found = DeviceMemory::instance().find(pointer);
  const std::lock_guard lock(pools().mutex);
  return found && found->pooled && !pools().owner.contains(pointer);
}

hipError_t free_async(void* pointer, hipStream_t handle) {
  ihipStream_t* stream = stream_of(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (!pointer)
    return hipErrorInvalidValue;
  const std::lock_guard lock(graph_mutex());
  if (stream->capture)
    return enqueue(handle, FreeOperation{pointer});
  WAVESIM_HIP_TRY(check_implicit(*stream));
  if (belongs_to_graph(pointer))
    return hipSuccess;
  leave_pool(pointer);
  return DeviceMemory::instance().release(pointer) ? hipSuccess : hipErrorInvalidValue;
}

template <class Body>
hipError_t with_pool(hipMemPool_t pool, const void* argument, Body&& body) {
  return call([&] {
    if (!alive(pool) || !argument)
      return hipErrorInvalidValue;
    const std::lock_guard lock(pools().mutex);
    return body(*pool);
  });
}

template <class T>
hipError_t get(void* to, T x) {
  std::memcpy(to, &x, sizeof x);
  return hipSuccess;
}

hipError_t get_attribute(const ihipMemPoolHandle_t& pool, hipMemPoolAttr attribute, void* value) {
  switch (attribute) {
  case hipMemPoolReuseFollowEventDependencies:
  case hipMemPoolReuseAllowOpportunistic:
  case hipMemPoolReuseAllowInternalDependencies:
    return get(value, pool.reuse[attribute - hipMemPoolReuseFollowEventDependencies]);
  case hipMemPoolAttrReleaseThreshold:
    return get(value, pool.threshold);
  case hipMemPoolAttrReservedMemCurrent:
  case hipMemPoolAttrUsedMemCurrent:
    return get(value, pool.used);
  case hipMemPoolAttrReservedMemHigh:
    return get(value, pool.reserved_high);
  case hipMemPoolAttrUsedMemHigh:
    return get(value, pool.used_high);
  default:
    return hipErrorInvalidValue;
  }
}

hipError_t set_attribute(ihipMemPoolHandle_t& pool, hipMemPoolAttr attribute, const void* value) {
  const auto number = [&] {
    std::uint64_t x = 0;
    std::memcpy(&x, value, sizeof x);
    return x;
  };
  switch (attribute) {
  case hipMemPoolReuseFollowEventDependencies:
  case hipMemPoolReuseAllowOpportunistic:
  case hipMemPoolReuseAllowInternalDependencies:
    pool.reuse[attribute - hipMemPoolReuseFollowEventDependencies] =
        *static_cast<const int*>(value) != 0;
    return hipSuccess;
  case hipMemPoolAttrReleaseThreshold:
    pool.threshold = number();
    return hipSuccess;
  case hipMemPoolAttrReservedMemHigh: // can only be reset
    if (number() != 0)
      return hipErrorInvalidValue;
    pool.reserved_high = pool.used;
    return hipSuccess;
  case hipMemPoolAttrUsedMemHigh:
    if (number() != 0)
      return hipErrorInvalidValue;
    pool.used_high = pool.used;
    return hipSuccess;
  default:
    return hipErrorInvalidValue;
  }
}

} // namespace

void leave_pool(const void* pointer) {
  if (settings().devices == 0)
    return;
  const std::lock_guard lock(pools().mutex);
  const auto it = pools().owner.find(pointer);
  if (it == pools().owner.end())
    return;
  it->second.first->used -= it->second.second;
  pools().owner.erase(it);
}

WAVESIM_HIP_EXPORT hipError_t hipMallocAsync(void** dev_ptr, size_t size, hipStream_t stream) {
  return call([&] { return allocate_async(dev_ptr, size, nullptr, stream); });
}

WAVESIM_HIP_EXPORT hipError_t hipMallocFromPoolAsync(void** dev_ptr, size_t size,
                                                     hipMemPool_t mem_pool, hipStream_t stream) {
  return call([&] {
    return mem_pool ? allocate_async(dev_ptr, size, mem_pool, stream) : hipErrorInvalidValue;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipFreeAsync(void* dev_ptr, hipStream_t stream) {
  return call([&] { return free_async(dev_ptr, stream); });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* mem_pool, int device) {
  return call([&] {
    if (!mem_pool)
      return hipErrorInvalidValue;
    if (!valid_device(device))
      return hipErrorInvalidDevice;
    *mem_pool = pools().standard[at(device)];
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetMemPool(hipMemPool_t* mem_pool, int device) {
  return call([&] {
    if (!mem_pool)
      return hipErrorInvalidValue;
    if (!valid_device(device))
      return hipErrorInvalidDevice;
    const std::lock_guard lock(pools().mutex);
    *mem_pool = pools().current[at(device)];
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceSetMemPool(int device, hipMemPool_t mem_pool) {
  return call([&] {
    if (!valid_device(device))
      return hipErrorInvalidDevice;
    if (!alive(mem_pool) || mem_pool->device != device)
      return hipErrorInvalidValue;
    const std::lock_guard lock(pools().mutex);
    pools().current[at(device)] = mem_pool;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPoolCreate(hipMemPool_t* mem_pool,
                                               const hipMemPoolProps* pool_props) {
  return call([&] {
    if (!mem_pool || !pool_props || pool_props->allocType != hipMemAllocationTypePinned ||
        pool_props->location.type != hipMemLocationTypeDevice)
      return hipErrorInvalidValue;
    if (!valid_device(pool_props->location.id))
      return hipErrorInvalidValue;
    if (pool_props->handleTypes != hipMemHandleTypeNone)
      return hipErrorNotSupported; // sharing with other processes
    auto made = std::make_unique<ihipMemPoolHandle_t>();
    made->device = pool_props->location.id;
    made->largest = pool_props->maxSize;
    *mem_pool = handles<ihipMemPoolHandle_t>().add(std::move(made));
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPoolDestroy(hipMemPool_t mem_pool) {
  return call([&] {
    if (!alive(mem_pool))
      return hipErrorInvalidValue;
    Pools& all = pools();
    const std::lock_guard lock(all.mutex);
    if (std::find(all.standard.begin(), all.standard.end(), mem_pool) != all.standard.end())
      return hipErrorInvalidValue;
    for (std::size_t device = 0; device < all.current.size(); ++device)
      if (all.current[device] == mem_pool)
        all.current[device] = all.standard[device];
    // Its memory lives on until it is freed.
    std::erase_if(all.owner, [&](const auto& entry) { return entry.second.first == mem_pool; });
    handles<ihipMemPoolHandle_t>().take(mem_pool);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPoolTrimTo(hipMemPool_t mem_pool, size_t) {
  return call([&] { return alive(mem_pool) ? hipSuccess : hipErrorInvalidValue; });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPoolSetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr,
                                                     void* value) {
  return with_pool(mem_pool, value,
                   [&](ihipMemPoolHandle_t& pool) { return set_attribute(pool, attr, value); });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPoolGetAttribute(hipMemPool_t mem_pool, hipMemPoolAttr attr,
                                                     void* value) {
  return with_pool(mem_pool, value, [&](const ihipMemPoolHandle_t& pool) {
    return get_attribute(pool, attr, value);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPoolSetAccess(hipMemPool_t mem_pool,
                                                  const hipMemAccessDesc* desc_list, size_t count) {
  return with_pool(mem_pool, desc_list, [&](const ihipMemPoolHandle_t& pool) {
    for (std::size_t i = 0; i < count; ++i) {
      const hipMemAccessDesc& d = desc_list[i];
      if (d.location.type != hipMemLocationTypeDevice || !valid_device(d.location.id))
        return hipErrorInvalidValue;
      if (d.location.id == pool.device && d.flags == hipMemAccessFlagsProtNone)
        return hipErrorInvalidDevice; // its own device always has access
    }
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t mem_pool,
                                                  hipMemLocation* location) {
  return with_pool(mem_pool, flags && location ? flags : nullptr, [&](const ihipMemPoolHandle_t&) {
    if (location->type != hipMemLocationTypeDevice || !valid_device(location->id))
      return hipErrorInvalidValue;
    *flags = hipMemAccessFlagsProtReadWrite;
    return hipSuccess;
  });
}

namespace {

template <class Body>
hipError_t graph_memory(int device, const void* value, Body&& body) {
  return call([&] {
    if (!valid_device(device))
      return hipErrorInvalidDevice;
    return value ? body() : hipErrorInvalidValue;
  });
}

} // namespace

// Memory of graphs is counted with the device's; there is no reserve of its own.
WAVESIM_HIP_EXPORT hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType,
                                                            void* value) {
  return graph_memory(device, value, [&] { return get(value, std::uint64_t{0}); });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceSetGraphMemAttribute(int device,
                                                            hipGraphMemAttributeType attr,
                                                            void* value) {
  return graph_memory(device, value, [&] {
    return attr == hipGraphMemAttrUsedMemHigh || attr == hipGraphMemAttrReservedMemHigh
               ? hipSuccess
               : hipErrorInvalidValue;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGraphMemTrim(int device) {
  return call([&] { return valid_device(device) ? hipSuccess : hipErrorInvalidDevice; });
}

} // namespace wavesim::hip
