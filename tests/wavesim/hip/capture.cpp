// Stream capture: calls on a captured stream become nodes of a graph.
#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/handles.hpp"
#include "hip/stream.hpp"

#include <algorithm>
#include <unordered_set>

namespace wavesim::hip {

namespace {

std::vector<std::weak_ptr<Capture>>& captures() {
  static auto* all = new std::vector<std::weak_ptr<Capture>>;
  return *all;
}

template <class Visit>
void for_active(Visit&& visit) {
  std::erase_if(captures(), [](const auto& weak) {
    const auto capture = weak.lock();
    return !capture || !capture->active;
  });
  for (const auto& weak : captures())
    if (const auto capture = weak.lock())
      visit(*capture);
}

bool valid_mode(hipStreamCaptureMode mode) {
  return mode == hipStreamCaptureModeGlobal || mode == hipStreamCaptureModeThreadLocal ||
         mode == hipStreamCaptureModeRelaxed;
}

hipError_t begin(hipStream_t handle, hipStreamCaptureMode mode, ihipGraph* into,
                 const hipGraphNode_t* dependencies, std::size_t dependency_count) {
  ihipStream_t* stream = stream_of(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (!valid_mode(mode))
    return hipErrorInvalidValue;
  const std::lock_guard lock(graph_mutex());
  if (stream->null_stream)
    return hipErrorStreamCaptureUnsupported;
  if (stream->capture)
    return hipErrorIllegalState;
  static unsigned long long next_id = 1;
  auto capture = std::make_shared<Capture>();
  capture->id = next_id++;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream;
  if (!into)
    capture->owned = std::make_unique<ihipGraph>();
  capture->graph = into ? into : capture->owned.get();
  stream->capture = capture;
  stream->tail.assign(dependencies, dependencies + dependency_count);
  captures().push_back(capture);
  return hipSuccess;
}

template <class Visit>
void for_streams_of(const Capture& capture, Visit&& visit) {
  const auto each = [&](ihipStream_t& s) {
    if (s.capture.get() == &capture)
      visit(s);
  };
  handles<ihipStream_t>().for_each(each);
  if (ihipStream_t* own = stream_of(hipStreamPerThread))
    each(*own);
}

/// Whether every node that other streams added is behind one the origin stream waits for.
bool joined(const Capture& capture) {
  std::unordered_set<const hipGraphNode*> reached;
  std::vector<const hipGraphNode*> work(capture.origin->tail.begin(), capture.origin->tail.end());
  while (!work.empty()) {
    const hipGraphNode* node = work.back();
    work.pop_back();
    if (reached.insert(node).second)
      work.insert(work.end(), node->dependencies.begin(), node->dependencies.end());
  }
  bool all = true;
  for_streams_of(capture, [&](const ihipStream_t& s) {
    for (const hipGraphNode* node : s.tail)
      all &= reached.contains(node);
  });
  return all;
}

hipError_t end(hipStream_t handle, hipGraph_t* graph) {
  ihipStream_t* stream = stream_of(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (!graph)
    return hipErrorInvalidValue;
  const std::lock_guard lock(graph_mutex());
  const auto capture = stream->capture;
  if (!capture)
    return hipErrorIllegalState;
  if (capture->origin != stream)
    return hipErrorStreamCaptureUnmatched;
  if (capture->mode != hipStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
    return hipErrorStreamCaptureWrongThread;
  const bool complete = joined(*capture);
  capture->active = false;
  for_streams_of(*capture, [](ihipStream_t& s) {
    s.capture.reset();
    s.tail.clear();
  });
  *graph = nullptr;
  if (capture->invalidated)
    return hipErrorStreamCaptureInvalidated;
  if (!complete)
    return hipErrorStreamCaptureUnjoined;
  *graph = capture->owned ? handles<ihipGraph>().add(std::move(capture->owned)) : capture->graph;
  return hipSuccess;
}

hipStreamCaptureStatus status(const ihipStream_t& stream) {
  if (!stream.capture)
    return hipStreamCaptureStatusNone;
  return stream.capture->invalidated ? hipStreamCaptureStatusInvalidated
                                     : hipStreamCaptureStatusActive;
}

hipError_t info(hipStream_t handle, hipStreamCaptureStatus* result, unsigned long long* id,
                hipGraph_t* graph, const hipGraphNode_t** dependencies, std::size_t* count) {
  ihipStream_t* stream = stream_of(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  if (!result)
    return hipErrorInvalidValue;
  const std::lock_guard lock(graph_mutex());
  if (stream->null_stream) {
    WAVESIM_HIP_TRY(check_implicit(*stream));
  }
  *result = status(*stream);
  if (*result != hipStreamCaptureStatusActive)
    return hipSuccess;
  if (id)
    *id = stream->capture->id;
  if (graph)
    *graph = stream->capture->graph;
  if (dependencies)
    *dependencies = stream->tail.data();
  if (count)
    *count = stream->tail.size();
  return hipSuccess;
}

hipStream_t per_thread(hipStream_t stream) {
  return stream ? stream : hipStreamPerThread;
}

} // namespace

hipError_t check_capture_unsafe() {
  const hipStreamCaptureMode mine = thread_state().capture_mode;
  if (mine == hipStreamCaptureModeRelaxed)
    return hipSuccess;
  const std::lock_guard lock(graph_mutex());
  bool forbidden = false;
  for_active([&](Capture& capture) {
    const bool own = capture.thread == std::this_thread::get_id();
    const bool counts =
        (own && capture.mode != hipStreamCaptureModeRelaxed) ||
        (mine == hipStreamCaptureModeGlobal && capture.mode == hipStreamCaptureModeGlobal);
    if (counts)
      forbidden = capture.invalidated = true;
  });
  return forbidden ? hipErrorStreamCaptureUnsupported : hipSuccess;
}

hipError_t check_not_captured(ihipStream_t& stream) {
  const std::lock_guard lock(graph_mutex());
  if (stream.capture) {
    stream.capture->invalidated = true;
    return hipErrorStreamCaptureUnsupported;
  }
  return check_implicit(stream);
}

hipError_t check_implicit(ihipStream_t& stream) {
  if (!stream.null_stream)
    return hipSuccess;
  const std::lock_guard lock(graph_mutex());
  bool forbidden = false;
  for_active([&](Capture& capture) {
    // The default stream waits for all streams but those made not to.
    if (!(capture.origin->flags & hipStreamNonBlocking) &&
        capture.mode != hipStreamCaptureModeRelaxed && capture.origin->device == stream.device)
      forbidden = capture.invalidated = true;
  });
  return forbidden ? hipErrorStreamCaptureImplicit : hipSuccess;
}

WAVESIM_HIP_EXPORT hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return call([&] { return begin(stream, mode, nullptr, nullptr, 0); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamBeginCapture_spt(hipStream_t stream,
                                                        hipStreamCaptureMode mode) {
  return hipStreamBeginCapture(per_thread(stream), mode);
}

WAVESIM_HIP_EXPORT hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph,
                                                           const hipGraphNode_t* dependencies,
                                                           const hipGraphEdgeData* dependencyData,
                                                           size_t numDependencies,
                                                           hipStreamCaptureMode mode) {
  return call([&] {
    static_cast<void>(dependencyData); // port numbers: HIP has one kind of edge
    if (!ihipGraph::alive(graph) || (numDependencies != 0 && !dependencies))
      return hipErrorInvalidValue;
    for (std::size_t i = 0; i < numDependencies; ++i)
      if (!graph->contains(dependencies[i]))
        return hipErrorInvalidValue;
    return begin(stream, mode, graph, dependencies, numDependencies);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* pGraph) {
  return call([&] { return end(stream, pGraph); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t* pGraph) {
  return hipStreamEndCapture(per_thread(stream), pGraph);
}

WAVESIM_HIP_EXPORT hipError_t hipStreamIsCapturing(hipStream_t stream,
                                                   hipStreamCaptureStatus* pCaptureStatus) {
  return call([&] { return info(stream, pCaptureStatus, nullptr, nullptr, nullptr, nullptr); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamIsCapturing_spt(hipStream_t stream,
                                                       hipStreamCaptureStatus* pCaptureStatus) {
  return hipStreamIsCapturing(per_thread(stream), pCaptureStatus);
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetCaptureInfo(hipStream_t stream,
                                                      hipStreamCaptureStatus* pCaptureStatus,
                                                      unsigned long long* pId) {
  return call([&] { return info(stream, pCaptureStatus, pId, nullptr, nullptr, nullptr); });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream,
                                                          hipStreamCaptureStatus* pCaptureStatus,
                                                          unsigned long long* pId) {
  return hipStreamGetCaptureInfo(per_thread(stream), pCaptureStatus, pId);
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetCaptureInfo_v2(
    hipStream_t stream, hipStreamCaptureStatus* captureStatus_out, unsigned long long* id_out,
    hipGraph_t* graph_out, const hipGraphNode_t** dependencies_out, size_t* numDependencies_out) {
  return call([&] {
    return info(stream, captureStatus_out, id_out, graph_out, dependencies_out,
                numDependencies_out);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipStreamGetCaptureInfo_v2_spt(
    hipStream_t stream, hipStreamCaptureStatus* captureStatus_out, unsigned long long* id_out,
    hipGraph_t* graph_out, const hipGraphNode_t** dependencies_out, size_t* numDependencies_out) {
  return hipStreamGetCaptureInfo_v2(per_thread(stream), captureStatus_out, id_out, graph_out,
                                    dependencies_out, numDependencies_out);
}

WAVESIM_HIP_EXPORT hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream,
                                                                 hipGraphNode_t* dependencies,
                                                                 size_t numDependencies,
                                                                 unsigned int flags) {
  return call([&] {
    ihipStream_t* found = stream_of(stream);
    if (!found)
      return hipErrorInvalidHandle;
    if ((numDependencies != 0 && !dependencies) ||
        (flags != hipStreamAddCaptureDependencies && flags != hipStreamSetCaptureDependencies))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    if (!found->capture)
      return hipErrorIllegalState;
    for (std::size_t i = 0; i < numDependencies; ++i)
      if (!found->capture->graph->contains(dependencies[i]))
        return hipErrorInvalidValue;
    if (flags == hipStreamSetCaptureDependencies)
      found->tail.clear();
    for (std::size_t i = 0; i < numDependencies; ++i)
      if (std::find(found->tail.begin(), found->tail.end(), dependencies[i]) == found->tail.end())
        found->tail.push_back(dependencies[i]);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  return call([&] {
    if (!mode || !valid_mode(*mode))
      return hipErrorInvalidValue;
    std::swap(*mode, thread_state().capture_mode);
    return hipSuccess;
  });
}

} // namespace wavesim::hip
