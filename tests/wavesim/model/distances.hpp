// Issue-to-wait distances of a kernel's steady loop: for each load, the clocks of other work its
// wave issues before the s_waitcnt that needs it. A load whose distance is small is not hidden by
// its own wave, however early it stands in the source.
#pragma once

#include "model/issue_cost.hpp"
#include "model/load_waits.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace wavesim {

struct Kernel;

/// The loops of a kernel by offsets into the text, so that it outlives the code object.
struct LoopNest {
  struct Instruction {
    std::uint64_t offset = 0;
    std::uint32_t number() const { return static_cast<std::uint32_t>(offset / 4); }
    IssueCost cost;
    std::string mnemonic;
    std::string line; ///< "file:line", or "" without -g
  };
  struct Loop {
    std::vector<std::uint32_t> code; ///< indices into `code` below, ascending
    int parent = -1;
    unsigned depth = 0;
    std::vector<std::uint32_t> path; ///< one pass of the most work, in order
  };
  std::vector<Instruction> code;   ///< all that can be reached, by offset
  std::vector<Loop> loops;         ///< outer before inner
  std::vector<std::uint32_t> path; ///< without loops: the way of most work from entry to end
};

/// `lines`: look up the source line of each load and wait.
LoopNest find_loops(const Kernel& kernel, bool lines);

struct LoadDistance {
  LoadKind kind = LoadKind::none;
  std::uint32_t load = 0, wait = 0; ///< indices into LoopNest::code
  std::uint64_t clocks = 0;
  std::uint64_t times = 0;
};

struct SteadyLoop {
  int loop = -1;                   ///< index into LoopNest::loops; -1: there is none
  std::vector<LoadDistance> loads; ///< by offset
  /// The load of this kind with the smallest distance, or null.
  const LoadDistance* least(LoadKind kind) const;
};

/// Where the kernel spends its time: the loop of most clocks, then the loop inside it as long as
/// one of those has at least half of them. `executions` of an instruction of nest.code; -1: none.
int steady_loop(const LoopNest& nest,
                const std::function<std::uint64_t(const LoopNest::Instruction&)>& executions);

/// For each load in the loop the wait in the loop that it mostly meets (without a loop: any wait).
/// Instructions go by Instruction::number().
SteadyLoop steady_distances(const LoopNest& nest, int loop, const WaitsOfLoads& waits);

/// Without execution: several passes of the loop along its path of most work. Loops are taken to
/// run eight times each, and where there are matrix instructions only these count in the choice.
SteadyLoop static_distances(const LoopNest& nest);
/// The same for one loop of the nest (-1: the path without loops).
SteadyLoop static_distances(const LoopNest& nest, int loop);

/// What one pass of the loop's path issues.
struct LoopWork {
  std::uint64_t instructions = 0, clocks = 0, matrix_clocks = 0, vector_clocks = 0;
  std::uint64_t matrix_instructions = 0;
};
LoopWork loop_work(const LoopNest& nest, int loop);

} // namespace wavesim
