// Nodes: adding them, and reading and changing their parameters in a graph or in its executable
// form.
#include "hip/copy_forms.hpp"
#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/module.hpp"
#include "hip/node_forms.hpp"
#include "hip/stream.hpp"

#include <algorithm>

namespace wavesim::hip {

namespace {

/// What a new node shares by every kind.
struct Place {
  hipGraphNode_t* node;
  hipGraph_t graph;
  const hipGraphNode_t* dependencies;
  std::size_t count;
};

hipError_t check(const Place& place, std::vector<hipGraphNode*>& dependencies) {
  if (!place.node || !ihipGraph::alive(place.graph) || (place.count != 0 && !place.dependencies))
    return hipErrorInvalidValue;
  for (std::size_t i = 0; i < place.count; ++i) {
    hipGraphNode* d = place.dependencies[i];
    if (!place.graph->contains(d) ||
        std::find(dependencies.begin(), dependencies.end(), d) != dependencies.end())
      return hipErrorInvalidValue;
    dependencies.push_back(d);
  }
  return hipSuccess;
}

/// `make(Operation&)` fills in the work.
template <class Make>
hipError_t add(const Place& place, Make&& make) {
  return call([&] {
    const std::lock_guard lock(graph_mutex());
    std::vector<hipGraphNode*> dependencies;
    WAVESIM_HIP_TRY(check(place, dependencies));
    Operation operation;
    WAVESIM_HIP_TRY(make(operation));
    *place.node = place.graph->add(std::move(operation), dependencies);
    return hipSuccess;
  });
}

template <class Work, class Make>
hipError_t add_as(const Place& place, Make&& make) {
  return add(place, [&](Operation& operation) {
    Work work;
    WAVESIM_HIP_TRY(make(work));
    operation = std::move(work);
    return hipSuccess;
  });
}

/// The node's work when it is of that kind.
template <class Work>
Work* work_of(hipGraphNode* node) {
  return node ? std::get_if<Work>(&node->operation) : nullptr;
}

template <class Work, class Read>
hipError_t get(hipGraphNode_t node, const void* result, Read&& read) {
  return call([&] {
    if (!hipGraphNode::alive(node) || !result || !work_of<Work>(node))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    read(*work_of<Work>(node));
    return hipSuccess;
  });
}

template <class Work, class Make>
hipError_t replace(hipGraphNode* node, Make&& make) {
  if (!work_of<Work>(node))
    return hipErrorInvalidValue;
  Work work;
  WAVESIM_HIP_TRY(make(work));
  node->operation = std::move(work);
  return hipSuccess;
}

template <class Work, class Make>
hipError_t set(hipGraphNode_t node, Make&& make) {
  return call([&] {
    if (!hipGraphNode::alive(node))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    return replace<Work>(node, make);
  });
}

template <class Work, class Make>
hipError_t set_exec(hipGraphExec_t exec, hipGraphNode_t node, Make&& make) {
  return call([&] {
    if (!handles<hipGraphExec>().alive(exec) || !hipGraphNode::alive(node))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    return replace<Work>(exec->of(node), make);
  });
}

// One maker per kind of parameters.
auto kernel(const hipKernelNodeParams* p) {
  return [p](KernelOperation& work) { return kernel_operation(p, work); };
}
auto copy(const hipMemcpy3DParms* p) {
  return [p](CopyOperation& work) { return copy_operation(p, work); };
}
auto fill(const hipMemsetParams* p) {
  return [p](FillOperation& work) { return fill_operation(p, work); };
}
auto host(const hipHostNodeParams* p) {
  return [p](HostOperation& work) {
    if (!p || !p->fn)
      return hipErrorInvalidValue;
    work = {p->fn, p->userData};
    return hipSuccess;
  };
}
auto copy_plain(void* dst, const void* src, size_t count, hipMemcpyKind kind) {
  return [=](CopyOperation& work) {
    work = plain_copy(dst, src, count, kind);
    return count == 0 ? hipErrorInvalidValue : check_copy(work);
  };
}
auto copy_from_symbol(void* dst, const void* symbol, size_t count, size_t offset,
                      hipMemcpyKind kind) {
  return [=](CopyOperation& work) {
    if (!dst || count == 0)
      return hipErrorInvalidValue;
    WAVESIM_HIP_TRY(
        copy_symbol(symbol, offset, dst, nullptr, count, kind, thread_state().device, work));
    return check_copy(work);
  };
}
auto copy_to_symbol(const void* symbol, const void* src, size_t count, size_t offset,
                    hipMemcpyKind kind) {
  return [=](CopyOperation& work) {
    if (!src || count == 0)
      return hipErrorInvalidValue;
    WAVESIM_HIP_TRY(
        copy_symbol(symbol, offset, nullptr, src, count, kind, thread_state().device, work));
    return check_copy(work);
  };
}
template <class Work>
auto event(hipEvent_t event) {
  return [event](Work& work) {
    if (!handles<ihipEvent_t>().alive(event))
      return hipErrorInvalidValue;
    work.event = event;
    return hipSuccess;
  };
}
auto child(hipGraph_t graph) {
  return [graph](GraphOperation& work) {
    if (!ihipGraph::alive(graph))
      return hipErrorInvalidValue;
    work.graph = graph->clone();
    return hipSuccess;
  };
}

} // namespace

// The parameter lists that every hipGraphAdd… function begins with.
#define WAVESIM_PLACE                                                                              \
  hipGraphNode_t *pGraphNode, hipGraph_t graph, const hipGraphNode_t *pDependencies,               \
      size_t numDependencies
#define WAVESIM_HERE                                                                               \
  Place {                                                                                          \
    pGraphNode, graph, pDependencies, numDependencies                                              \
  }

WAVESIM_HIP_EXPORT hipError_t hipGraphAddEmptyNode(WAVESIM_PLACE) {
  return add(WAVESIM_HERE, [](Operation&) { return hipSuccess; });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddKernelNode(WAVESIM_PLACE,
                                                    const hipKernelNodeParams* pNodeParams) {
  return add_as<KernelOperation>(WAVESIM_HERE, kernel(pNodeParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node,
                                                          hipKernelNodeParams* pNodeParams) {
  return get<KernelOperation>(node, pNodeParams, [&](KernelOperation& work) {
    kernel_parameters(work, node->argument_pointers, *pNodeParams);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node,
                                                          const hipKernelNodeParams* pNodeParams) {
  return set<KernelOperation>(node, kernel(pNodeParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecKernelNodeSetParams(
    hipGraphExec_t hGraphExec, hipGraphNode_t node, const hipKernelNodeParams* pNodeParams) {
  return set_exec<KernelOperation>(hGraphExec, node, kernel(pNodeParams));
}

// Attributes of kernel nodes steer caches and priorities, of which there are none here; cooperative
// launches are the exception.
WAVESIM_HIP_EXPORT hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t hNode,
                                                             hipKernelNodeAttrID attr,
                                                             const hipKernelNodeAttrValue* value) {
  return get<KernelOperation>(hNode, value, [&](KernelOperation& work) {
    if (attr == hipKernelNodeAttributeCooperative)
      work.cooperative = value->cooperative != 0;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t hNode,
                                                             hipKernelNodeAttrID attr,
                                                             hipKernelNodeAttrValue* value) {
  return get<KernelOperation>(hNode, value, [&](const KernelOperation& work) {
    *value = {};
    if (attr == hipKernelNodeAttributeCooperative)
      value->cooperative = work.cooperative;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t hSrc,
                                                               hipGraphNode_t hDst) {
  return get<KernelOperation>(hSrc,
                              hipGraphNode::alive(hDst) ? work_of<KernelOperation>(hDst) : nullptr,
                              [&](const KernelOperation& work) {
                                work_of<KernelOperation>(hDst)->cooperative = work.cooperative;
                              });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddMemcpyNode(WAVESIM_PLACE,
                                                    const hipMemcpy3DParms* pCopyParams) {
  return add_as<CopyOperation>(WAVESIM_HERE, copy(pCopyParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node,
                                                          hipMemcpy3DParms* pNodeParams) {
  return get<CopyOperation>(
      node, pNodeParams, [&](const CopyOperation& work) { *pNodeParams = copy_parameters(work); });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node,
                                                          const hipMemcpy3DParms* pNodeParams) {
  return set<CopyOperation>(node, copy(pNodeParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t hGraphExec,
                                                              hipGraphNode_t node,
                                                              hipMemcpy3DParms* pNodeParams) {
  return set_exec<CopyOperation>(hGraphExec, node, copy(pNodeParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddMemcpyNode1D(WAVESIM_PLACE, void* dst, const void* src,
                                                      size_t count, hipMemcpyKind kind) {
  return add_as<CopyOperation>(WAVESIM_HERE, copy_plain(dst, src, count, kind));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* dst,
                                                            const void* src, size_t count,
                                                            hipMemcpyKind kind) {
  return set<CopyOperation>(node, copy_plain(dst, src, count, kind));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t hGraphExec,
                                                                hipGraphNode_t node, void* dst,
                                                                const void* src, size_t count,
                                                                hipMemcpyKind kind) {
  return set_exec<CopyOperation>(hGraphExec, node, copy_plain(dst, src, count, kind));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddMemcpyNodeFromSymbol(WAVESIM_PLACE, void* dst,
                                                              const void* symbol, size_t count,
                                                              size_t offset, hipMemcpyKind kind) {
  return add_as<CopyOperation>(WAVESIM_HERE, copy_from_symbol(dst, symbol, count, offset, kind));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* dst,
                                                                    const void* symbol,
                                                                    size_t count, size_t offset,
                                                                    hipMemcpyKind kind) {
  return set<CopyOperation>(node, copy_from_symbol(dst, symbol, count, offset, kind));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(
    hipGraphExec_t hGraphExec, hipGraphNode_t node, void* dst, const void* symbol, size_t count,
    size_t offset, hipMemcpyKind kind) {
  return set_exec<CopyOperation>(hGraphExec, node,
                                 copy_from_symbol(dst, symbol, count, offset, kind));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddMemcpyNodeToSymbol(WAVESIM_PLACE, const void* symbol,
                                                            const void* src, size_t count,
                                                            size_t offset, hipMemcpyKind kind) {
  return add_as<CopyOperation>(WAVESIM_HERE, copy_to_symbol(symbol, src, count, offset, kind));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node,
                                                                  const void* symbol,
                                                                  const void* src, size_t count,
                                                                  size_t offset,
                                                                  hipMemcpyKind kind) {
  return set<CopyOperation>(node, copy_to_symbol(symbol, src, count, offset, kind));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(
    hipGraphExec_t hGraphExec, hipGraphNode_t node, const void* symbol, const void* src,
    size_t count, size_t offset, hipMemcpyKind kind) {
  return set_exec<CopyOperation>(hGraphExec, node,
                                 copy_to_symbol(symbol, src, count, offset, kind));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddMemsetNode(WAVESIM_PLACE,
                                                    const hipMemsetParams* pMemsetParams) {
  return add_as<FillOperation>(WAVESIM_HERE, fill(pMemsetParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node,
                                                          hipMemsetParams* pNodeParams) {
  return get<FillOperation>(
      node, pNodeParams, [&](const FillOperation& work) { *pNodeParams = fill_parameters(work); });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node,
                                                          const hipMemsetParams* pNodeParams) {
  return set<FillOperation>(node, fill(pNodeParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t hGraphExec,
                                                              hipGraphNode_t node,
                                                              const hipMemsetParams* pNodeParams) {
  return set_exec<FillOperation>(hGraphExec, node, fill(pNodeParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddHostNode(WAVESIM_PLACE,
                                                  const hipHostNodeParams* pNodeParams) {
  return add_as<HostOperation>(WAVESIM_HERE, host(pNodeParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node,
                                                        hipHostNodeParams* pNodeParams) {
  return get<HostOperation>(node, pNodeParams, [&](const HostOperation& work) {
    *pNodeParams = {work.function, work.data};
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node,
                                                        const hipHostNodeParams* pNodeParams) {
  return set<HostOperation>(node, host(pNodeParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t hGraphExec,
                                                            hipGraphNode_t node,
                                                            const hipHostNodeParams* pNodeParams) {
  return set_exec<HostOperation>(hGraphExec, node, host(pNodeParams));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddChildGraphNode(WAVESIM_PLACE, hipGraph_t childGraph) {
  return add_as<GraphOperation>(WAVESIM_HERE, child(childGraph));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node,
                                                             hipGraph_t* pGraph) {
  return get<GraphOperation>(node, pGraph,
                             [&](const GraphOperation& work) { *pGraph = work.graph.get(); });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t hGraphExec,
                                                                  hipGraphNode_t node,
                                                                  hipGraph_t childGraph) {
  return set_exec<GraphOperation>(hGraphExec, node, child(childGraph));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddEventRecordNode(WAVESIM_PLACE, hipEvent_t handle) {
  return add_as<EventRecordOperation>(WAVESIM_HERE, event<EventRecordOperation>(handle));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node,
                                                              hipEvent_t* event_out) {
  return get<EventRecordOperation>(
      node, event_out, [&](const EventRecordOperation& work) { *event_out = work.event; });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node,
                                                              hipEvent_t handle) {
  return set<EventRecordOperation>(node, event<EventRecordOperation>(handle));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t hGraphExec,
                                                                  hipGraphNode_t hNode,
                                                                  hipEvent_t handle) {
  return set_exec<EventRecordOperation>(hGraphExec, hNode, event<EventRecordOperation>(handle));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddEventWaitNode(WAVESIM_PLACE, hipEvent_t handle) {
  return add_as<EventWaitOperation>(WAVESIM_HERE, event<EventWaitOperation>(handle));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node,
                                                            hipEvent_t* event_out) {
  return get<EventWaitOperation>(node, event_out,
                                 [&](const EventWaitOperation& work) { *event_out = work.event; });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node,
                                                            hipEvent_t handle) {
  return set<EventWaitOperation>(node, event<EventWaitOperation>(handle));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t hGraphExec,
                                                                hipGraphNode_t hNode,
                                                                hipEvent_t handle) {
  return set_exec<EventWaitOperation>(hGraphExec, hNode, event<EventWaitOperation>(handle));
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddMemAllocNode(WAVESIM_PLACE,
                                                      hipMemAllocNodeParams* pNodeParams) {
  return add(WAVESIM_HERE, [&](Operation& operation) {
    AllocateOperation work;
    std::shared_ptr<void> memory;
    WAVESIM_HIP_TRY(allocate_operation(pNodeParams, memory, work));
    graph->memory.push_back(std::move(memory));
    operation = work;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node,
                                                            hipMemAllocNodeParams* pNodeParams) {
  return get<AllocateOperation>(
      node, pNodeParams, [&](const AllocateOperation& work) { *pNodeParams = work.parameters; });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddMemFreeNode(WAVESIM_PLACE, void* dev_ptr) {
  return add_as<FreeOperation>(WAVESIM_HERE, [&](FreeOperation& work) {
    work.pointer = dev_ptr;
    return dev_ptr ? hipSuccess : hipErrorInvalidValue;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* dev_ptr) {
  return get<FreeOperation>(node, dev_ptr, [&](const FreeOperation& work) {
    *static_cast<void**>(dev_ptr) = work.pointer;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddNode(WAVESIM_PLACE, hipGraphNodeParams* nodeParams) {
  return add(WAVESIM_HERE, [&](Operation& operation) {
    std::shared_ptr<void> memory;
    WAVESIM_HIP_TRY(any_operation(nodeParams, memory, operation));
    if (memory)
      graph->memory.push_back(std::move(memory));
    return hipSuccess;
  });
}

namespace {

hipError_t set_any(hipGraphNode* node, hipGraphNodeParams* parameters) {
  if (!node || !parameters || parameters->type != node_type(node->operation) ||
      parameters->type == hipGraphNodeTypeMemAlloc)
    return hipErrorInvalidValue;
  std::shared_ptr<void> memory;
  return any_operation(parameters, memory, node->operation);
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipGraphNodeSetParams(hipGraphNode_t node,
                                                    hipGraphNodeParams* nodeParams) {
  return call([&] {
    if (!hipGraphNode::alive(node))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    return set_any(node, nodeParams);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecNodeSetParams(hipGraphExec_t graphExec,
                                                        hipGraphNode_t node,
                                                        hipGraphNodeParams* nodeParams) {
  return call([&] {
    if (!handles<hipGraphExec>().alive(graphExec) || !hipGraphNode::alive(node))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    return set_any(graphExec->of(node), nodeParams);
  });
}

} // namespace wavesim::hip
