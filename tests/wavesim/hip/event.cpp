#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/handles.hpp"
#include "hip/held_back.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

#include <algorithm>

namespace wavesim::hip {

namespace {

ihipEvent_t* event_of(hipEvent_t handle) {
  return handle && handles<ihipEvent_t>().alive(handle) ? handle : nullptr;
}

hipError_t create(hipEvent_t* event, unsigned flags) {
  constexpr unsigned known = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess |
                             hipEventDisableSystemFence | hipEventReleaseToDevice |
                             hipEventReleaseToSystem;
  constexpr unsigned releases = hipEventReleaseToDevice | hipEventReleaseToSystem;
  if (!event || (flags & ~known) != 0 || (flags & releases) == releases)
    return hipErrorInvalidValue;
  if ((flags & hipEventInterprocess) && !(flags & hipEventDisableTiming))
    return hipErrorInvalidValue;
  auto made = std::make_unique<ihipEvent_t>();
  made->flags = flags;
  made->device = thread_state().device;
  *event = handles<ihipEvent_t>().add(std::move(made));
  return hipSuccess;
}

/// Whether the capture that recorded the event is still under way.
bool captured(const ihipEvent_t& event) {
  return event.capture && event.capture->active;
}

hipError_t record(hipEvent_t handle, hipStream_t stream_handle, bool external) {
  ihipEvent_t* event = event_of(handle);
  ihipStream_t* stream = stream_of(stream_handle);
  if (!event || !stream)
    return hipErrorInvalidHandle;
  {
    const std::lock_guard lock(graph_mutex());
    if (stream->capture && !external) {
      if (stream->capture->invalidated)
        return hipErrorStreamCaptureInvalidated;
      event->capture = stream->capture;
      event->tail = stream->tail;
      return hipSuccess;
    }
  }
  if (event->device != stream->device)
    return hipErrorInvalidHandle;
  WAVESIM_HIP_TRY(enqueue(stream_handle, EventRecordOperation{event}));
  if (holding_back())
    event->held = last_held(*stream);
  return hipSuccess;
}

hipError_t wait(hipStream_t stream_handle, hipEvent_t handle, unsigned flags) {
  ihipEvent_t* event = event_of(handle);
  ihipStream_t* stream = stream_of(stream_handle);
  if (!event || !stream)
    return hipErrorInvalidHandle;
  if (flags != hipEventWaitDefault && flags != hipEventWaitExternal)
    return hipErrorInvalidValue;
  const std::lock_guard lock(graph_mutex());
  if (stream->capture && flags == hipEventWaitExternal)
    return enqueue(stream_handle, EventWaitOperation{event});
  if (!captured(*event)) {
    if (!stream->capture) {
      if (holding_back())
        hold_behind(*stream, event->held);
      return hipSuccess; // otherwise whatever was recorded has run
    }
    stream->capture->invalidated = true;
    return hipErrorStreamCaptureIsolation;
  }
  if (stream->capture && stream->capture != event->capture) {
    stream->capture->invalidated = true;
    event->capture->invalidated = true;
    return hipErrorStreamCaptureMerge;
  }
  if (stream->null_stream)
    return hipErrorStreamCaptureImplicit;
  stream->capture = event->capture;
  for (hipGraphNode* node : event->tail)
    if (std::find(stream->tail.begin(), stream->tail.end(), node) == stream->tail.end())
      stream->tail.push_back(node);
  return hipSuccess;
}

hipError_t query(hipEvent_t handle) {
  const ihipEvent_t* event = event_of(handle);
  if (!event)
    return hipErrorInvalidHandle;
  const std::lock_guard lock(graph_mutex());
  if (captured(*event)) {
    event->capture->invalidated = true;
    return hipErrorCapturedEvent;
  }
  if (holding_back())
    finish_held(event->held);
  return hipSuccess;
}

} // namespace

hipError_t record_event(ihipEvent_t& event) {
  const std::lock_guard lock(graph_mutex());
  event.recorded = true;
  event.capture.reset();
  event.tail.clear();
  event.time = std::chrono::steady_clock::now();
  return hipSuccess;
}

WAVESIM_HIP_EXPORT hipError_t hipEventCreate(hipEvent_t* event) {
  return call_at_once([&] { return create(event, hipEventDefault); });
}

WAVESIM_HIP_EXPORT hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return call_at_once([&] { return create(event, flags); });
}

WAVESIM_HIP_EXPORT hipError_t hipEventDestroy(hipEvent_t event) {
  return call([&] {
    return event && handles<ihipEvent_t>().take(event) ? hipSuccess : hipErrorInvalidHandle;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return call_at_once([&] { return record(event, stream, false); });
}

WAVESIM_HIP_EXPORT hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) {
  return hipEventRecord(event, stream ? stream : hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream,
                                                      unsigned int flags) {
  return call([&] {
    if (flags != hipEventRecordDefault && flags != hipEventRecordExternal)
      return hipErrorInvalidValue;
    return record(event, stream, flags == hipEventRecordExternal);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipEventSynchronize(hipEvent_t event) {
  return call_at_once([&] { return query(event); });
}

WAVESIM_HIP_EXPORT hipError_t hipEventQuery(hipEvent_t event) {
  return call_at_once([&] { return query(event); });
}

// The host's clock when the event was recorded. Kernels run between the records, so it says how
// long wavesim took, not how long a device would.
WAVESIM_HIP_EXPORT hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop) {
  return call([&] {
    if (!ms)
      return hipErrorInvalidValue;
    const ihipEvent_t* from = event_of(start);
    const ihipEvent_t* to = event_of(stop);
    if (!from || !to || !from->recorded || !to->recorded || from->device != to->device ||
        ((from->flags | to->flags) & hipEventDisableTiming))
      return hipErrorInvalidHandle;
    *ms = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event,
                                                 unsigned int flags) {
  return call_at_once([&] { return wait(stream, event, flags); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event,
                                                     unsigned int flags) {
  return hipStreamWaitEvent(stream ? stream : hipStreamPerThread, event, flags);
}

} // namespace wavesim::hip
