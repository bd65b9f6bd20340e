#include "hip/stream.hpp"

#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/handles.hpp"
#include "hip/held_back.hpp"
#include "hip/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <deque>

/// A capture that began here can no longer end; one that was joined here is incomplete.
ihipStream_t::~ihipStream_t() {
  if (wavesim::hip::holding_back())
    wavesim::hip::forget_held(*this);
  if (!capture)
    return;
  const std::lock_guard lock(wavesim::hip::graph_mutex());
  capture->invalidated = true;
  if (capture->origin == this) {
    capture->active = false;
    capture->origin = nullptr;
  }
}

namespace wavesim::hip {

std::recursive_mutex& graph_mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

namespace {

constexpr int greatest_priority = -1, least_priority = 1;

std::uint64_t next_stream_id() {
  static std::atomic<std::uint64_t> next{1};
  return next++;
}

/// Default streams exist for the whole process (of a thread: as long as it runs).
ihipStream_t* legacy_stream(int device) {
  static auto* streams = [] {
    auto* made =
        new std::deque<ihipStream_t>(static_cast<std::size_t>(std::max(settings().devices, 1)));
    int ordinal = 0;
    for (ihipStream_t& s : *made) {
      s.device = ordinal++;
      s.null_stream = true;
    }
    return made;
  }();
  return &(*streams)[static_cast<std::size_t>(device)];
}

ihipStream_t* thread_stream(int device) {
  thread_local std::deque<ihipStream_t> streams;
  while (streams.size() <= static_cast<std::size_t>(device)) {
    ihipStream_t& s = streams.emplace_back();
    s.device = static_cast<int>(streams.size() - 1);
    s.id = next_stream_id();
  }
  return &streams[static_cast<std::size_t>(device)];
}

hipError_t create(hipStream_t* stream, unsigned flags, int priority) {
  if (!stream || (flags != hipStreamDefault && flags != hipStreamNonBlocking))
    return hipErrorInvalidValue;
  auto made = std::make_unique<ihipStream_t>();
  made->device = thread_state().device;
  made->flags = flags;
  made->priority = std::clamp(priority, greatest_priority, least_priority);
  made->id = next_stream_id();
  *stream = handles<ihipStream_t>().add(std::move(made));
  return hipSuccess;
}

/// Reads something of a live stream.
template <class Read>
hipError_t inspect(hipStream_t handle, const void* result, Read&& read) {
  ihipStream_t* stream = stream_of(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (!result)
    return hipErrorInvalidValue;
  read(*stream);
  return hipSuccess;
}

hipStream_t per_thread(hipStream_t stream) {
  return stream ? stream : hipStreamPerThread;
}

hipError_t synchronize(hipStream_t handle) {
  ihipStream_t* stream = stream_of(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  WAVESIM_HIP_TRY(check_not_captured(*stream));
  if (holding_back()) {
    // The legacy default stream comes behind the blocking ones even when nothing is in it.
    if (stream->null_stream)
      hold_back(*stream, EmptyOperation{});
    finish_held(*stream);
  }
  return hipSuccess;
}

} // namespace

ihipStream_t* stream_of(hipStream_t handle) {
  if (!handle || handle == hipStreamLegacy)
    return legacy_stream(thread_state().device);
  if (handle == hipStreamPerThread)
    return thread_stream(thread_state().device);
  return handles<ihipStream_t>().alive(handle) ? handle : nullptr;
}

WAVESIM_HIP_EXPORT hipError_t hipStreamCreate(hipStream_t* stream) {
  return call_at_once([&] { return create(stream, hipStreamDefault, 0); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned int flags) {
  return call_at_once([&] { return create(stream, flags, 0); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned int flags,
                                                          int priority) {
  return call_at_once([&] { return create(stream, flags, priority); });
}

WAVESIM_HIP_EXPORT hipError_t hipExtStreamCreateWithCUMask(hipStream_t* stream, uint32_t cuMaskSize,
                                                           const uint32_t* cuMask) {
  return call([&] {
    return cuMaskSize == 0 || !cuMask ? hipErrorInvalidValue : create(stream, hipStreamDefault, 0);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipExtStreamGetCUMask(hipStream_t stream, uint32_t cuMaskSize,
                                                    uint32_t* cuMask) {
  return call([&] {
    constexpr uint32_t words = 10; // 304 compute units
    if (!cuMask || cuMaskSize < words)
      return hipErrorInvalidValue;
    return inspect(stream, cuMask, [&](const ihipStream_t&) {
      std::fill_n(cuMask, cuMaskSize, 0u);
      std::fill_n(cuMask, words - 1, ~0u);
      cuMask[words - 1] = 0xffff;
    });
  });
}

WAVESIM_HIP_EXPORT hipError_t hipDeviceGetStreamPriorityRange(int* leastPriority,
                                                              int* greatestPriority) {
  return call([&] {
    if (leastPriority)
      *leastPriority = least_priority;
    if (greatestPriority)
      *greatestPriority = greatest_priority;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamDestroy(hipStream_t stream) {
  return call([&] {
    if (!stream || stream == hipStreamPerThread || stream == hipStreamLegacy)
      return hipErrorInvalidHandle;
    const std::lock_guard lock(graph_mutex());
    return handles<ihipStream_t>().take(stream) ? hipSuccess : hipErrorInvalidHandle;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamQuery(hipStream_t stream) {
  return call_at_once([&] { return synchronize(stream); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamQuery_spt(hipStream_t stream) {
  return hipStreamQuery(per_thread(stream));
}

WAVESIM_HIP_EXPORT hipError_t hipStreamSynchronize(hipStream_t stream) {
  return call_at_once([&] { return synchronize(stream); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamSynchronize_spt(hipStream_t stream) {
  return hipStreamSynchronize(per_thread(stream));
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetFlags(hipStream_t stream, unsigned int* flags) {
  return call(
      [&] { return inspect(stream, flags, [&](const ihipStream_t& s) { *flags = s.flags; }); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned int* flags) {
  return hipStreamGetFlags(per_thread(stream), flags);
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return call([&] {
    return inspect(stream, priority, [&](const ihipStream_t& s) { *priority = s.priority; });
  });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority) {
  return hipStreamGetPriority(per_thread(stream), priority);
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return call(
      [&] { return inspect(stream, device, [&](const ihipStream_t& s) { *device = s.device; }); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetId(hipStream_t stream, unsigned long long* streamId) {
  return call(
      [&] { return inspect(stream, streamId, [&](const ihipStream_t& s) { *streamId = s.id; }); });
}

WAVESIM_HIP_EXPORT int hipGetStreamDeviceId(hipStream_t stream) {
  const ihipStream_t* found = need_device() == hipSuccess ? stream_of(stream) : nullptr;
  return found ? found->device : -1;
}

WAVESIM_HIP_EXPORT hipError_t hipStreamAddCallback(hipStream_t stream, hipStreamCallback_t callback,
                                                   void* userData, unsigned int flags) {
  return call([&] {
    ihipStream_t* found = stream_of(stream);
    if (!found)
      return hipErrorInvalidHandle;
    if (!callback || flags != 0)
      return hipErrorInvalidValue;
    WAVESIM_HIP_TRY(check_not_captured(*found));
    callback(stream, hipSuccess, userData);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamAddCallback_spt(hipStream_t stream,
                                                       hipStreamCallback_t callback, void* userData,
                                                       unsigned int flags) {
  return hipStreamAddCallback(per_thread(stream), callback, userData, flags);
}

WAVESIM_HIP_EXPORT hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t fn,
                                                void* userData) {
  return call_at_once([&] {
    if (!fn)
      return hipErrorInvalidValue;
    return enqueue(stream, HostOperation{fn, userData});
  });
}

WAVESIM_HIP_EXPORT hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t fn,
                                                    void* userData) {
  return hipLaunchHostFunc(per_thread(stream), fn, userData);
}

WAVESIM_HIP_EXPORT hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* dev_ptr, size_t,
                                                      unsigned int flags) {
  return call([&] {
    const bool known =
        flags == hipMemAttachGlobal || flags == hipMemAttachHost || flags == hipMemAttachSingle;
    if (!dev_ptr || !known)
      return hipErrorInvalidValue;
    return stream_of(stream) ? hipSuccess : hipErrorInvalidHandle;
  });
}

} // namespace wavesim::hip
