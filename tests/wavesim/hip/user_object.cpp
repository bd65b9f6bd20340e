#include "hip/user_object.hpp"

#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/handles.hpp"
#include "hip/stream.hpp"

#include <algorithm>

struct hipUserObject {
  void* object = nullptr;
  hipHostFn_t destroy = nullptr;
  unsigned references = 0;
};

namespace wavesim::hip {

namespace {

bool alive(hipUserObject_t object) {
  return handles<hipUserObject>().alive(object);
}

} // namespace

void retain_user_object(ihipGraph& graph, hipUserObject_t object, unsigned count) {
  const std::lock_guard lock(graph_mutex());
  object->references += count;
  for (auto& [held, times] : graph.user_objects)
    if (held == object) {
      times += count;
      return;
    }
  graph.user_objects.emplace_back(object, count);
}

void release_user_object(hipUserObject_t object, unsigned count) {
  const std::lock_guard lock(graph_mutex());
  if (!alive(object))
    return;
  object->references -= std::min(count, object->references);
  if (object->references == 0) {
    const auto gone = handles<hipUserObject>().take(object);
    gone->destroy(gone->object);
  }
}

WAVESIM_HIP_EXPORT hipError_t hipUserObjectCreate(hipUserObject_t* object_out, void* ptr,
                                                  hipHostFn_t destroy, unsigned int initialRefcount,
                                                  unsigned int flags) {
  return call([&] {
    if (!object_out || !destroy || initialRefcount == 0 || flags != hipUserObjectNoDestructorSync)
      return hipErrorInvalidValue;
    auto made = std::make_unique<hipUserObject>();
    made->object = ptr;
    made->destroy = destroy;
    made->references = initialRefcount;
    *object_out = handles<hipUserObject>().add(std::move(made));
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipUserObjectRetain(hipUserObject_t object, unsigned int count) {
  return call([&] {
    if (!alive(object) || count == 0)
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    object->references += count;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipUserObjectRelease(hipUserObject_t object, unsigned int count) {
  return call([&] {
    if (!alive(object) || count == 0)
      return hipErrorInvalidValue;
    release_user_object(object, count);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object,
                                                       unsigned int count, unsigned int flags) {
  return call([&] {
    if (!ihipGraph::alive(graph) || !alive(object) || count == 0 ||
        (flags != 0 && flags != hipGraphUserObjectMove))
      return hipErrorInvalidValue;
    retain_user_object(*graph, object, count);
    if (flags == hipGraphUserObjectMove) // the caller's references become the graph's
      release_user_object(object, count);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphReleaseUserObject(hipGraph_t graph, hipUserObject_t object,
                                                        unsigned int count) {
  return call([&] {
    if (!ihipGraph::alive(graph) || !alive(object) || count == 0)
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    for (auto& [held, times] : graph->user_objects)
      if (held == object && times >= count) {
        times -= count;
        std::erase_if(graph->user_objects, [](const auto& entry) { return entry.second == 0; });
        release_user_object(object, count);
        return hipSuccess;
      }
    return hipErrorInvalidValue;
  });
}

} // namespace wavesim::hip
