// Graphs: nodes of work with dependencies, and their executable form.
#pragma once

#include "hip/handles.hpp"
#include "hip/operation.hpp"

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

struct hipGraphNode : wavesim::hip::Tracked<hipGraphNode> {
  wavesim::hip::Operation operation;
  ihipGraph* graph = nullptr;
  hipGraphNode* original = nullptr; ///< of a clone: the node it was made from
  std::vector<hipGraphNode*> dependencies, dependents;
  bool enabled = true;
  std::uint64_t id = 0;
  std::vector<void*> argument_pointers; ///< what hipGraphKernelNodeGetParams gave out
};

struct ihipGraph : wavesim::hip::Tracked<ihipGraph> {
  std::vector<std::unique_ptr<hipGraphNode>> nodes; ///< in order of their creation
  const ihipGraph* original = nullptr;
  std::vector<std::pair<hipUserObject_t, unsigned>> user_objects;
  std::vector<std::shared_ptr<void>> memory; ///< of allocation nodes, shared with clones

  hipGraphNode* add(wavesim::hip::Operation operation,
                    const std::vector<hipGraphNode*>& dependencies);
  bool contains(const hipGraphNode* node) const;
  void remove(hipGraphNode* node);
  /// Every node after those it depends on, earlier made ones first; empty when there is a cycle.
  std::vector<hipGraphNode*> order() const;
  std::unique_ptr<ihipGraph> clone() const;
  ~ihipGraph();
};

struct hipGraphExec {
  std::unique_ptr<ihipGraph> graph; ///< a clone: later changes of the original do not reach it
  std::vector<hipGraphNode*> order;
  unsigned long long flags = 0;
  /// The clone of a node of the graph this was instantiated from.
  hipGraphNode* of(const hipGraphNode* node) const;
};

namespace wavesim::hip {

hipGraphNodeType node_type(const Operation& operation);
hipError_t run_graph(const std::vector<hipGraphNode*>& order, int device);

} // namespace wavesim::hip
