#include "model/flow_graph.hpp"

#include "loader/code_object.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace wavesim {

namespace {

bool is_call(const Op& op) {
  const std::string_view name = op.info->mnemonic;
  return name == "s_swappc_b64" || name == "s_call_b64";
}

/// Where the code goes on after an instruction that ends a block.
std::vector<std::uint64_t> successors(const Op& op) {
  if (!op.info || (op.info->flags & op_ends))
    return {};
  const std::uint64_t behind = op.pc + op.size;
  if (is_call(op))
    return {behind};
  if (op.info->flags & op_indirect)
    return {};
  if (std::string_view(op.info->mnemonic) == "s_branch")
    return {op.target};
  if (op.info->flags & op_branch)
    return {behind, op.target};
  return {behind};
}

bool ends_block(const Op& op) {
  return !op.info || (op.info->flags & (op_ends | op_indirect | op_branch)) != 0;
}

} // namespace

FlowGraph::FlowGraph(const Kernel& kernel) {
  find_blocks(kernel);
  order_blocks();
  find_dominators();
  find_loops();
}

void FlowGraph::find_blocks(const Kernel& kernel) {
  const CodeObject& code = *kernel.object;
  std::set<std::uint64_t> leaders{kernel.entry};
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> work{kernel.entry};
  while (!work.empty()) {
    std::uint64_t pc = work.back();
    work.pop_back();
    while (seen.insert(pc).second) {
      const Op* op = code.at(pc);
      if (!op)
        break;
      if (ends_block(*op)) {
        for (const std::uint64_t to : successors(*op)) {
          leaders.insert(to);
          work.push_back(to);
        }
        break;
      }
      pc += op->size;
    }
  }
  std::map<std::uint64_t, unsigned> number;
  for (const std::uint64_t pc : leaders)
    if (code.at(pc)) {
      number.emplace(pc, static_cast<unsigned>(blocks_.size()));
      blocks_.emplace_back();
    }
  for (const auto& [begin, index] : number) {
    Block& block = blocks_[index];
    for (std::uint64_t pc = begin;;) {
      const Op* op = code.at(pc);
      if (!op)
        break;
      block.ops.push_back(op);
      pc += op->size;
      if (!ends_block(*op) && !number.contains(pc))
        continue;
      for (const std::uint64_t to : ends_block(*op) ? successors(*op) : std::vector{pc})
        if (const auto found = number.find(to); found != number.end())
          block.next.push_back(found->second);
      break;
    }
  }
  // The entry is block 0 only when nothing lies before it.
  if (const auto entry = number.find(kernel.entry); entry != number.end() && entry->second != 0) {
    const unsigned other = entry->second;
    std::swap(blocks_[0], blocks_[other]);
    for (Block& block : blocks_)
      for (unsigned& to : block.next)
        to = to == 0 ? other : to == other ? 0 : to;
  }
}

/// Reverse postorder from the entry; blocks that are not reached go.
void FlowGraph::order_blocks() {
  std::vector<unsigned> post;
  std::vector<char> visited(blocks_.size(), 0);
  std::vector<std::pair<unsigned, std::size_t>> stack;
  if (!blocks_.empty()) {
    stack.emplace_back(0, 0);
    visited[0] = 1;
  }
  while (!stack.empty()) {
    auto& [block, at] = stack.back();
    if (at == blocks_[block].next.size()) {
      post.push_back(block);
      stack.pop_back();
      continue;
    }
    const unsigned to = blocks_[block].next[at++];
    if (!visited[to]) {
      visited[to] = 1;
      stack.emplace_back(to, 0);
    }
  }
  std::vector<unsigned> place(blocks_.size(), 0);
  std::vector<Block> ordered;
  for (auto it = post.rbegin(); it != post.rend(); ++it) {
    place[*it] = static_cast<unsigned>(ordered.size());
    ordered.push_back(std::move(blocks_[*it]));
  }
  for (Block& block : ordered)
    for (unsigned& to : block.next)
      to = place[to];
  blocks_ = std::move(ordered);
}

void FlowGraph::find_dominators() {
  constexpr unsigned unknown = ~0u;
  dominator_.assign(blocks_.size(), unknown);
  if (blocks_.empty())
    return;
  std::vector<std::vector<unsigned>> before(blocks_.size());
  for (unsigned b = 0; b < blocks_.size(); ++b)
    for (const unsigned to : blocks_[b].next)
      before[to].push_back(b);
  dominator_[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned b = 1; b < blocks_.size(); ++b) {
      unsigned common = unknown;
      for (unsigned from : before[b]) {
        if (dominator_[from] == unknown)
          continue;
        if (common == unknown) {
          common = from;
          continue;
        }
        unsigned other = common;
        while (from != other) {
          while (from > other)
            from = dominator_[from];
          while (other > from)
            other = dominator_[other];
        }
        common = from;
      }
      if (common != dominator_[b]) {
        dominator_[b] = common;
        changed = true;
      }
    }
  }
}

bool FlowGraph::dominates(unsigned a, unsigned b) const {
  while (b > a)
    b = dominator_[b];
  return a == b;
}

void FlowGraph::find_loops() {
  std::vector<std::vector<unsigned>> before(blocks_.size());
  for (unsigned b = 0; b < blocks_.size(); ++b)
    for (const unsigned to : blocks_[b].next)
      before[to].push_back(b);
  for (unsigned header = 0; header < blocks_.size(); ++header) {
    std::set<unsigned> inside;
    std::vector<unsigned> work;
    for (const unsigned from : before[header])
      if (leads_back(from, header)) {
        inside.insert(header);
        if (inside.insert(from).second)
          work.push_back(from);
      }
    while (!work.empty()) {
      const unsigned b = work.back();
      work.pop_back();
      for (const unsigned from : before[b])
        if (inside.insert(from).second)
          work.push_back(from);
    }
    if (inside.empty())
      continue;
    Loop loop;
    loop.header = header;
    loop.blocks.assign(inside.begin(), inside.end());
    // Headers come in order, so the innermost loop around is the last one that holds this header.
    for (int outer = static_cast<int>(loops_.size()) - 1; outer >= 0; --outer) {
      const Loop& candidate = loops_[static_cast<unsigned>(outer)];
      if (std::binary_search(candidate.blocks.begin(), candidate.blocks.end(), header)) {
        loop.parent = outer;
        loop.depth = candidate.depth + 1;
        break;
      }
    }
    loops_.push_back(std::move(loop));
  }
}

} // namespace wavesim
