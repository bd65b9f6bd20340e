// Graphs as programs build and inspect them; the nodes themselves are in graph_nodes.cpp.
#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/stream.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>

namespace wavesim::hip {

namespace {

/// The two-call style of HIP's lists: with a null array only the number is told.
hipError_t give_list(const std::vector<hipGraphNode*>& all, hipGraphNode_t* out,
                     std::size_t* count) {
  if (!count)
    return hipErrorInvalidValue;
  if (!out) {
    *count = all.size();
    return hipSuccess;
  }
  for (std::size_t i = 0; i < *count; ++i)
    out[i] = i < all.size() ? all[i] : nullptr;
  *count = std::min(*count, all.size());
  return hipSuccess;
}

/// Whether `to` can be reached from `from`.
bool reaches(const hipGraphNode* from, const hipGraphNode* to) {
  std::unordered_set<const hipGraphNode*> seen;
  std::vector<const hipGraphNode*> work{from};
  while (!work.empty()) {
    const hipGraphNode* node = work.back();
    work.pop_back();
    if (node == to)
      return true;
    if (seen.insert(node).second)
      work.insert(work.end(), node->dependents.begin(), node->dependents.end());
  }
  return false;
}

bool depends(const hipGraphNode* node, const hipGraphNode* on) {
  return std::find(node->dependencies.begin(), node->dependencies.end(), on) !=
         node->dependencies.end();
}

template <class Body>
hipError_t for_edges(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                     std::size_t count, Body&& body) {
  return call([&] {
    if (!ihipGraph::alive(graph))
      return hipErrorInvalidValue;
    if (count == 0)
      return hipSuccess;
    if (!from || !to)
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    for (std::size_t i = 0; i < count; ++i) {
      if (!from[i] || !to[i] || from[i] == to[i] || !graph->contains(from[i]) ||
          !graph->contains(to[i]))
        return hipErrorInvalidValue;
      WAVESIM_HIP_TRY(body(from[i], to[i]));
    }
    return hipSuccess;
  });
}

const char* type_name(hipGraphNodeType type) {
  switch (type) {
  case hipGraphNodeTypeKernel:
    return "kernel";
  case hipGraphNodeTypeMemcpy:
    return "memcpy";
  case hipGraphNodeTypeMemset:
    return "memset";
  case hipGraphNodeTypeHost:
    return "host";
  case hipGraphNodeTypeGraph:
    return "graph";
  case hipGraphNodeTypeWaitEvent:
    return "wait event";
  case hipGraphNodeTypeEventRecord:
    return "record event";
  case hipGraphNodeTypeMemAlloc:
    return "allocate";
  case hipGraphNodeTypeMemFree:
    return "free";
  default:
    return "empty";
  }
}

} // namespace

WAVESIM_HIP_EXPORT hipError_t hipGraphCreate(hipGraph_t* pGraph, unsigned int flags) {
  return call([&] {
    if (!pGraph || flags != 0)
      return hipErrorInvalidValue;
    *pGraph = handles<ihipGraph>().add(std::make_unique<ihipGraph>());
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphDestroy(hipGraph_t graph) {
  return call([&] {
    const std::lock_guard lock(graph_mutex());
    return handles<ihipGraph>().take(graph) ? hipSuccess : hipErrorInvalidValue;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphClone(hipGraph_t* pGraphClone, hipGraph_t originalGraph) {
  return call([&] {
    if (!pGraphClone || !ihipGraph::alive(originalGraph))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    *pGraphClone = handles<ihipGraph>().add(originalGraph->clone());
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphNodeFindInClone(hipGraphNode_t* pNode,
                                                      hipGraphNode_t originalNode,
                                                      hipGraph_t clonedGraph) {
  return call([&] {
    if (!pNode || !hipGraphNode::alive(originalNode) || !ihipGraph::alive(clonedGraph))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    for (const auto& node : clonedGraph->nodes)
      if (node->original == originalNode) {
        *pNode = node.get();
        return hipSuccess;
      }
    return hipErrorInvalidValue;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from,
                                                      const hipGraphNode_t* to,
                                                      size_t numDependencies) {
  return for_edges(graph, from, to, numDependencies, [](hipGraphNode* a, hipGraphNode* b) {
    if (depends(b, a) || reaches(b, a))
      return hipErrorInvalidValue;
    b->dependencies.push_back(a);
    a->dependents.push_back(b);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphRemoveDependencies(hipGraph_t graph,
                                                         const hipGraphNode_t* from,
                                                         const hipGraphNode_t* to,
                                                         size_t numDependencies) {
  return for_edges(graph, from, to, numDependencies, [](hipGraphNode* a, hipGraphNode* b) {
    if (!depends(b, a))
      return hipErrorInvalidValue;
    std::erase(b->dependencies, a);
    std::erase(a->dependents, b);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from,
                                               hipGraphNode_t* to, size_t* numEdges) {
  return call([&] {
    if (!ihipGraph::alive(graph) || !numEdges || (!from) != (!to))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    std::vector<hipGraphNode*> sources, targets;
    for (const auto& node : graph->nodes)
      for (hipGraphNode* dependent : node->dependents) {
        sources.push_back(node.get());
        targets.push_back(dependent);
      }
    std::size_t room = *numEdges;
    WAVESIM_HIP_TRY(give_list(sources, from, &room));
    return give_list(targets, to, numEdges);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes,
                                               size_t* numNodes) {
  return call([&] {
    if (!ihipGraph::alive(graph))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    std::vector<hipGraphNode*> all;
    for (const auto& node : graph->nodes)
      all.push_back(node.get());
    return give_list(all, nodes, numNodes);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* pRootNodes,
                                                   size_t* pNumRootNodes) {
  return call([&] {
    if (!ihipGraph::alive(graph))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    std::vector<hipGraphNode*> roots;
    for (const auto& node : graph->nodes)
      if (node->dependencies.empty())
        roots.push_back(node.get());
    return give_list(roots, pRootNodes, pNumRootNodes);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node,
                                                          hipGraphNode_t* pDependencies,
                                                          size_t* pNumDependencies) {
  return call([&] {
    if (!hipGraphNode::alive(node))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    return give_list(node->dependencies, pDependencies, pNumDependencies);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node,
                                                            hipGraphNode_t* pDependentNodes,
                                                            size_t* pNumDependentNodes) {
  return call([&] {
    if (!hipGraphNode::alive(node))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    return give_list(node->dependents, pDependentNodes, pNumDependentNodes);
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* pType) {
  return call([&] {
    if (!hipGraphNode::alive(node) || !pType)
      return hipErrorInvalidValue;
    *pType = node_type(node->operation);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  return call([&] {
    if (!hipGraphNode::alive(node))
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    node->graph->remove(node);
    return hipSuccess;
  });
}

WAVESIM_HIP_EXPORT hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path,
                                                    unsigned int /*flags*/) {
  return call([&] {
    if (!ihipGraph::alive(graph) || !path)
      return hipErrorInvalidValue;
    const std::lock_guard lock(graph_mutex());
    std::string text = "digraph {\n";
    for (const auto& node : graph->nodes) {
      text +=
          fmt::format("  n{} [label=\"{}\"];\n", node->id, type_name(node_type(node->operation)));
      for (const hipGraphNode* dependent : node->dependents)
        text += fmt::format("  n{} -> n{};\n", node->id, dependent->id);
    }
    text += "}\n";
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), &std::fclose);
    return file && std::fputs(text.c_str(), file.get()) >= 0 ? hipSuccess : hipErrorOperatingSystem;
  });
}

} // namespace wavesim::hip
