#include "hip/graph.hpp"

#include "hip/device_memory.hpp"
#include "hip/entry.hpp"
#include "hip/user_object.hpp"

#include <algorithm>

namespace {

std::uint64_t next_node_id() {
  static std::uint64_t next = 1; // under the graph lock
  return next++;
}

} // namespace

hipGraphNode* ihipGraph::add(wavesim::hip::Operation operation,
                             const std::vector<hipGraphNode*>& dependencies) {
  auto node = std::make_unique<hipGraphNode>();
  node->operation = std::move(operation);
  node->graph = this;
  node->id = next_node_id();
  node->dependencies = dependencies;
  for (hipGraphNode* dependency : dependencies)
    dependency->dependents.push_back(node.get());
  return nodes.emplace_back(std::move(node)).get();
}

bool ihipGraph::contains(const hipGraphNode* node) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const auto& n) { return n.get() == node; });
}

void ihipGraph::remove(hipGraphNode* node) {
  for (hipGraphNode* d : node->dependencies)
    std::erase(d->dependents, node);
  for (hipGraphNode* d : node->dependents)
    std::erase(d->dependencies, node);
  std::erase_if(nodes, [&](const auto& n) { return n.get() == node; });
}

std::vector<hipGraphNode*> ihipGraph::order() const {
  std::unordered_map<const hipGraphNode*, std::size_t> missing;
  for (const auto& node : nodes)
    missing[node.get()] = node->dependencies.size();
  std::vector<hipGraphNode*> result;
  // Nodes are few and mostly made in order, so that one pass usually does.
  for (bool found = true; found && result.size() < nodes.size();) {
    found = false;
    for (const auto& node : nodes) {
      auto& left = missing[node.get()];
      if (left != 0)
        continue;
      left = SIZE_MAX; // done
      found = true;
      result.push_back(node.get());
      for (hipGraphNode* dependent : node->dependents)
        --missing[dependent];
    }
  }
  if (result.size() != nodes.size())
    result.clear();
  return result;
}

std::unique_ptr<ihipGraph> ihipGraph::clone() const {
  auto copy = std::make_unique<ihipGraph>();
  copy->original = this;
  copy->memory = memory;
  std::unordered_map<const hipGraphNode*, hipGraphNode*> copies;
  for (const auto& node : nodes) {
    hipGraphNode* twin = copy->add(node->operation, {});
    twin->original = node.get();
    twin->enabled = node->enabled;
    if (auto* child = std::get_if<wavesim::hip::GraphOperation>(&twin->operation))
      child->graph = child->graph->clone();
    copies[node.get()] = twin;
  }
  for (const auto& node : nodes) {
    for (const hipGraphNode* d : node->dependencies)
      copies[node.get()]->dependencies.push_back(copies[d]);
    for (const hipGraphNode* d : node->dependents)
      copies[node.get()]->dependents.push_back(copies[d]);
  }
  for (const auto& [object, count] : user_objects)
    wavesim::hip::retain_user_object(*copy, object, count);
  return copy;
}

ihipGraph::~ihipGraph() {
  for (const auto& [object, count] : user_objects)
    wavesim::hip::release_user_object(object, count);
}

hipGraphNode* hipGraphExec::of(const hipGraphNode* node) const {
  for (const auto& own : graph->nodes)
    if (own->original == node)
      return own.get();
  return nullptr;
}

namespace wavesim::hip {

namespace {

struct TypeOf {
  hipGraphNodeType operator()(const EmptyOperation&) const { return hipGraphNodeTypeEmpty; }
  hipGraphNodeType operator()(const KernelOperation&) const { return hipGraphNodeTypeKernel; }
  hipGraphNodeType operator()(const CopyOperation&) const { return hipGraphNodeTypeMemcpy; }
  hipGraphNodeType operator()(const FillOperation&) const { return hipGraphNodeTypeMemset; }
  hipGraphNodeType operator()(const HostOperation&) const { return hipGraphNodeTypeHost; }
  hipGraphNodeType operator()(const EventRecordOperation&) const {
    return hipGraphNodeTypeEventRecord;
  }
  hipGraphNodeType operator()(const EventWaitOperation&) const { return hipGraphNodeTypeWaitEvent; }
  hipGraphNodeType operator()(const AllocateOperation&) const { return hipGraphNodeTypeMemAlloc; }
  hipGraphNodeType operator()(const FreeOperation&) const { return hipGraphNodeTypeMemFree; }
  hipGraphNodeType operator()(const GraphOperation&) const { return hipGraphNodeTypeGraph; }
};

} // namespace

hipGraphNodeType node_type(const Operation& operation) {
  return std::visit(TypeOf{}, operation);
}

hipError_t run_graph(const std::vector<hipGraphNode*>& order, int device) {
  for (const hipGraphNode* node : order)
    if (node->enabled)
      WAVESIM_HIP_TRY(execute(node->operation, device));
  return hipSuccess;
}

} // namespace wavesim::hip
