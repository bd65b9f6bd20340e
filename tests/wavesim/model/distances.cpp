#include "model/distances.hpp"

#include "loader/code_object.hpp"
#include "model/flow_graph.hpp"
#include "model/wave_pace.hpp"

#include <algorithm>
#include <map>

namespace wavesim {

namespace {

constexpr unsigned assumed_passes = 8;

std::uint64_t clocks_of(const FlowGraph::Block& block) {
  std::uint64_t sum = 0;
  for (const Op* op : block.ops)
    sum += issue_cost(*op).clocks;
  return sum;
}

/// The way of most clocks through the blocks of `inside`, from the first of them to one that
/// `accept`s being the last; loops inside are passed once.
template <class Inside, class Accept>
std::vector<unsigned> heaviest_path(const FlowGraph& graph, unsigned first, const Inside& inside,
                                    const Accept& accept) {
  const auto& blocks = graph.blocks();
  struct Best {
    std::uint64_t clocks = 0;
    unsigned from = 0;
    bool reached = false;
  };
  std::vector<Best> best(blocks.size());
  best[first] = {clocks_of(blocks[first]), first, true};
  unsigned last = first;
  std::uint64_t most = 0;
  for (unsigned b = first; b < blocks.size(); ++b) {
    if (!best[b].reached || !inside(b))
      continue;
    if (accept(b) && best[b].clocks >= most) {
      most = best[b].clocks;
      last = b;
    }
    for (const unsigned to : blocks[b].next) {
      if (!inside(to) || to <= b || graph.leads_back(b, to))
        continue;
      const std::uint64_t clocks = best[b].clocks + clocks_of(blocks[to]);
      if (!best[to].reached || clocks > best[to].clocks)
        best[to] = {clocks, b, true};
    }
  }
  std::vector<unsigned> path{last};
  while (path.back() != first)
    path.push_back(best[path.back()].from);
  std::reverse(path.begin(), path.end());
  return path;
}

const std::vector<std::uint32_t>& path_of(const LoopNest& nest, int loop) {
  return loop < 0 ? nest.path : nest.loops[static_cast<unsigned>(loop)].path;
}

} // namespace

LoopNest find_loops(const Kernel& kernel, bool lines) {
  const FlowGraph graph(kernel);
  const CodeObject& object = *kernel.object;
  LoopNest nest;
  std::map<std::uint64_t, std::uint32_t> number;
  for (const auto& block : graph.blocks())
    for (const Op* op : block.ops)
      number.emplace(op->pc - object.text_begin(), 0);
  for (auto& [offset, index] : number) {
    index = static_cast<std::uint32_t>(nest.code.size());
    const Op& op = *object.at(object.text_begin() + offset);
    LoopNest::Instruction& i = nest.code.emplace_back();
    i.offset = offset;
    i.cost = issue_cost(op);
    if (op.info)
      i.mnemonic = op.info->mnemonic;
    if (lines && (i.cost.load != LoadKind::none || i.cost.wait))
      i.line = object.source_line(op.pc);
  }
  const auto add = [&](std::vector<std::uint32_t>& to, const std::vector<unsigned>& blocks) {
    for (const unsigned b : blocks)
      for (const Op* op : graph.blocks()[b].ops)
        to.push_back(number.at(op->pc - object.text_begin()));
  };
  for (const auto& found : graph.loops()) {
    LoopNest::Loop& loop = nest.loops.emplace_back();
    loop.parent = found.parent;
    loop.depth = found.depth;
    add(loop.code, found.blocks);
    std::sort(loop.code.begin(), loop.code.end());
    const auto inside = [&](unsigned b) {
      return std::binary_search(found.blocks.begin(), found.blocks.end(), b);
    };
    const auto returns = [&](unsigned b) {
      const auto& next = graph.blocks()[b].next;
      return std::find(next.begin(), next.end(), found.header) != next.end();
    };
    add(loop.path, heaviest_path(graph, found.header, inside, returns));
  }
  if (!graph.blocks().empty())
    add(nest.path, heaviest_path(
                       graph, 0, [](unsigned) { return true; },
                       [&](unsigned b) { return graph.blocks()[b].next.empty(); }));
  return nest;
}

const LoadDistance* SteadyLoop::least(LoadKind kind) const {
  const LoadDistance* found = nullptr;
  for (const LoadDistance& d : loads)
    if (d.kind == kind && (!found || d.clocks < found->clocks))
      found = &d;
  return found;
}

int steady_loop(const LoopNest& nest,
                const std::function<std::uint64_t(const LoopNest::Instruction&)>& executions) {
  std::vector<std::uint64_t> clocks;
  for (const auto& loop : nest.loops) {
    std::uint64_t sum = 0;
    for (const std::uint32_t i : loop.code)
      sum += executions(nest.code[i]) * nest.code[i].cost.clocks;
    clocks.push_back(sum);
  }
  int chosen = -1;
  for (;;) {
    int heaviest = -1;
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < nest.loops.size(); ++i)
      if (nest.loops[i].parent == chosen && clocks[i] > most) {
        heaviest = static_cast<int>(i);
        most = clocks[i];
      }
    if (heaviest < 0 || (chosen >= 0 && 2 * most < clocks[static_cast<unsigned>(chosen)]))
      return chosen;
    chosen = heaviest;
  }
}

SteadyLoop steady_distances(const LoopNest& nest, int loop, const WaitsOfLoads& waits) {
  SteadyLoop steady;
  steady.loop = loop;
  std::vector<std::uint32_t> all;
  if (loop < 0)
    for (std::uint32_t i = 0; i < nest.code.size(); ++i)
      all.push_back(i);
  const auto& code = loop < 0 ? all : nest.loops[static_cast<unsigned>(loop)].code;
  std::map<std::uint32_t, std::uint32_t> inside; // by number
  for (const std::uint32_t i : code)
    inside.emplace(nest.code[i].number(), i);
  for (const std::uint32_t i : code) {
    if (nest.code[i].cost.load == LoadKind::none)
      continue;
    const auto met = waits.find(nest.code[i].number());
    if (met == waits.end())
      continue;
    LoadDistance one{.kind = nest.code[i].cost.load, .load = i};
    for (const LoadWait& w : met->second) {
      const auto at = inside.find(w.wait);
      if (at == inside.end())
        continue;
      if (w.times > one.times || (w.times == one.times && w.least < one.clocks)) {
        one.wait = at->second;
        one.clocks = w.least;
        one.times = w.times;
      }
    }
    if (one.times != 0)
      steady.loads.push_back(one);
  }
  return steady;
}

SteadyLoop static_distances(const LoopNest& nest, int loop) {
  WavePace pace;
  LoadWaits waits;
  pace.start(1);
  const auto& path = path_of(nest, loop);
  for (unsigned pass = 0; pass < (loop < 0 ? 1 : assumed_passes); ++pass)
    for (const std::uint32_t i : path)
      pace.issue(nest.code[i].cost, nest.code[i].number(), waits);
  return steady_distances(nest, loop, waits.all());
}

SteadyLoop static_distances(const LoopNest& nest) {
  std::map<std::uint32_t, std::uint64_t> passes; // by number
  for (const auto& loop : nest.loops)            // inner loops come later and overwrite
    for (const std::uint32_t i : loop.code) {
      std::uint64_t times = 1;
      for (unsigned d = 0; d <= loop.depth; ++d)
        times *= assumed_passes;
      passes[nest.code[i].number()] = times;
    }
  // a loop of matrix instructions may stand beside one that brings the rest of its operands piece
  // by piece, in inner loops that hardly ever run
  const auto is_matrix = [](const LoopNest::Instruction& i) {
    return i.cost.pipe == Pipe::matrix || i.cost.pipe == Pipe::matrix_blocking;
  };
  const bool has_matrix = std::any_of(nest.code.begin(), nest.code.end(), is_matrix);
  return static_distances(nest, steady_loop(nest, [&](const LoopNest::Instruction& i) {
                            if (has_matrix && !is_matrix(i))
                              return std::uint64_t{0};
                            const auto found = passes.find(i.number());
                            return found == passes.end() ? std::uint64_t{1} : found->second;
                          }));
}

LoopWork loop_work(const LoopNest& nest, int loop) {
  LoopWork work;
  const auto& path = path_of(nest, loop);
  WavePace pace;
  LoadWaits ignored;
  pace.start(1);
  std::uint64_t before = 0;
  for (unsigned pass = 0; pass < 2; ++pass) { // the second one has the pipes filled
    before = pace.work();
    for (const std::uint32_t i : path)
      pace.issue(nest.code[i].cost, nest.code[i].number(), ignored);
  }
  work.clocks = pace.work() - before;
  for (const std::uint32_t i : path) {
    const IssueCost& cost = nest.code[i].cost;
    work.instructions += 1;
    if (cost.pipe == Pipe::matrix || cost.pipe == Pipe::matrix_blocking) {
      work.matrix_clocks += cost.clocks;
      ++work.matrix_instructions;
    }
    if (cost.pipe == Pipe::vector)
      work.vector_clocks += cost.clocks;
  }
  return work;
}

} // namespace wavesim
