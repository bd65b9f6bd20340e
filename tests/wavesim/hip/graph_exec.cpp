// Executable graphs: instantiation, launch, update.
#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/module.hpp"
#include "hip/stream.hpp"

#include <algorithm>
#include <cstring>

namespace wavesim::hip {

namespace {

hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  constexpr unsigned long long known =
      hipGraphInstantiateFlagAutoFreeOnLaunch | hipGraphInstantiateFlagUpload |
      hipGraphInstantiateFlagDeviceLaunch | hipGraphInstantiateFlagUseNodePriority;
  if (!exec || !ihipGraph::alive(graph) || (flags & ~known) != 0)
    return hipErrorInvalidValue;
  if (flags & hipGraphInstantiateFlagDeviceLaunch)
    return hipErrorNotSupported;
  const std::lock_guard lock(graph_mutex());
  auto made = std::make_unique<hipGraphExec>();
  made->graph = graph->clone();
  made->flags = flags;
  made->order = made->graph->order();
  if (made->order.size() != made->graph->nodes.size())
    return hipErrorInvalidValue; // a cycle
  *exec = handles<hipGraphExec>().add(std::move(made));
  return hipSuccess;
}

bool alive(hipGraphExec_t exec) {
  return handles<hipGraphExec>().alive(exec);
}

hipError_t launch(hipGraphExec_t exec, hipStream_t handle) {
  if (!alive(exec))
    return hipErrorInvalidValue;
  ihipStream_t* stream = stream_of(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  bool captured = false;
  {
    const std::lock_guard lock(graph_mutex());
    captured = stream->capture != nullptr;
    if (!captured)
      WAVESIM_HIP_TRY(check_implicit(*stream));
  }
  if (captured)
    return enqueue(handle, GraphOperation{exec->graph->clone()});
  return run_graph(exec->order, stream->device);
}

/// Position of every dependency in the graph's order, so that two graphs can be compared.
std::vector<std::size_t> dependency_positions(const std::vector<hipGraphNode*>& order,
                                              const hipGraphNode* node) {
  std::vector<std::size_t> positions;
  for (const hipGraphNode* d : node->dependencies)
    positions.push_back(
        static_cast<std::size_t>(std::find(order.begin(), order.end(), d) - order.begin()));
  std::sort(positions.begin(), positions.end());
  return positions;
}

hipError_t update(hipGraphExec& exec, const ihipGraph& graph, hipGraphNode_t* error_node,
                  hipGraphExecUpdateResult* result) {
  const auto fail = [&](hipGraphNode* node, hipGraphExecUpdateResult why) {
    *error_node = node;
    *result = why;
    return hipErrorGraphExecUpdateFailure;
  };
  const auto order = graph.order();
  if (order.size() != exec.order.size())
    return fail(nullptr, hipGraphExecUpdateErrorTopologyChanged);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const hipGraphNode& now = *order[i];
    const hipGraphNode& before = *exec.order[i];
    if (node_type(now.operation) != node_type(before.operation))
      return fail(order[i], hipGraphExecUpdateErrorNodeTypeChanged);
    if (dependency_positions(order, &now) != dependency_positions(exec.order, &before))
      return fail(order[i], hipGraphExecUpdateErrorTopologyChanged);
    const auto* kernel = std::get_if<KernelOperation>(&now.operation);
    if (kernel &&
        kernel->function->device != std::get<KernelOperation>(before.operation).function->device)
      return fail(order[i], hipGraphExecUpdateErrorFunctionChanged);
    if (std::holds_alternative<AllocateOperation>(now.operation) ||
        std::holds_alternative<FreeOperation>(now.operation))
      return fail(order[i], hipGraphExecUpdateErrorNotSupported);
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    exec.order[i]->operation = order[i]->operation;
  *error_node = nullptr;
  *result = hipGraphExecUpdateSuccess;
  return hipSuccess;
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipGraphInstantiate(hipGraphExec_t* pGraphExec, hipGraph_t graph,
                                                  hipGraphNode_t* pErrorNode, char* pLogBuffer,
                                                  size_t bufferSize) {
  return call([&] {
    if (pErrorNode)
      *pErrorNode = nullptr;
    if (pLogBuffer && bufferSize != 0)
      *pLogBuffer = '\0';
    return instantiate(pGraphExec, graph, 0);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* pGraphExec,
                                                           hipGraph_t graph,
                                                           unsigned long long flags) {
  return call([&] { return instantiate(pGraphExec, graph, flags); });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphInstantiateWithParams(
    hipGraphExec_t* pGraphExec, hipGraph_t graph, hipGraphInstantiateParams* instantiateParams) {
  return call([&] {
    if (!instantiateParams)
      return hipErrorInvalidValue;
    const hipError_t result = instantiate(pGraphExec, graph, instantiateParams->flags);
    instantiateParams->errNode_out = nullptr;
    instantiateParams->result_out =
        result == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateError;
    return result;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecDestroy(hipGraphExec_t graphExec) {
  return call([&] {
    const std::lock_guard lock(graph_mutex());
    return handles<hipGraphExec>().take(graphExec) ? hipSuccess : hipErrorInvalidValue;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphLaunch(hipGraphExec_t graphExec, hipStream_t stream) {
  return call([&] { return launch(graphExec, stream); });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphLaunch_spt(hipGraphExec_t graphExec, hipStream_t stream) {
  return hipGraphLaunch(graphExec, stream ? stream : hipStreamPerThread);
}

WAVESIM_HIP_EXPORT hipError_t hipGraphUpload(hipGraphExec_t graphExec, hipStream_t stream) {
  return call([&] {
    if (!alive(graphExec))
      return hipErrorInvalidValue;
    return stream_of(stream) ? hipSuccess : hipErrorInvalidHandle;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecGetFlags(hipGraphExec_t graphExec,
                                                   unsigned long long* flags) {
  return call([&] {
    if (!alive(graphExec) || !flags)
      return hipErrorInvalidValue;
    *flags = graphExec->flags;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphExecUpdate(hipGraphExec_t hGraphExec, hipGraph_t hGraph,
                                                 hipGraphNode_t* hErrorNode_out,
                                                 hipGraphExecUpdateResult* updateResult_out) {
  return call([&] {
    if (!alive(hGraphExec) || !ihipGraph::alive(hGraph) || !hErrorNode_out || !updateResult_out)
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    return update(*hGraphExec, *hGraph, hErrorNode_out, updateResult_out);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphNodeSetEnabled(hipGraphExec_t hGraphExec,
                                                     hipGraphNode_t hNode, unsigned int isEnabled) {
  return call([&] {
    if (!alive(hGraphExec) || !hipGraphNode::alive(hNode))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    hipGraphNode* own = hGraphExec->of(hNode);
    const auto type = own ? node_type(own->operation) : hipGraphNodeTypeEmpty;
    if (type != hipGraphNodeTypeKernel && type != hipGraphNodeTypeMemcpy &&
        type != hipGraphNodeTypeMemset)
      return hipErrorInvalidValue;
    own->enabled = isEnabled != 0;
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphNodeGetEnabled(hipGraphExec_t hGraphExec,
                                                     hipGraphNode_t hNode,
                                                     unsigned int* isEnabled) {
  return call([&] {
    if (!alive(hGraphExec) || !hipGraphNode::alive(hNode) || !isEnabled)
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    const hipGraphNode* own = hGraphExec->of(hNode);
    if (!own)
      return hipErrorInvalidValue;
    *isEnabled = own->enabled;
    return hipSuccess;
  });
}

} // namespace wavesim::hip
