// Basic blocks and natural loops of a kernel, as far as its code can be followed: calls and jumps
// through registers are not.
#pragma once

#include "isa/op.hpp"

#include <cstdint>
#include <vector>

namespace wavesim {

struct Kernel;

class FlowGraph {
public:
  struct Block {
    std::vector<const Op*> ops;
    std::vector<unsigned> next;
  };
  struct Loop {
    unsigned header = 0;
    std::vector<unsigned> blocks; ///< sorted; those of inner loops included
    int parent = -1;
    unsigned depth = 0; ///< 0: not inside another loop
  };
  explicit FlowGraph(const Kernel& kernel);

  /// In an order in which a block comes before all that it leads to, loops back excepted.
  const std::vector<Block>& blocks() const { return blocks_; }
  /// Outer loops before inner ones.
  const std::vector<Loop>& loops() const { return loops_; }
  /// Whether the edge leads back to the head of a loop.
  bool leads_back(unsigned from, unsigned to) const { return dominates(to, from); }

private:
  void find_blocks(const Kernel& kernel);
  void order_blocks();
  void find_dominators();
  void find_loops();
  bool dominates(unsigned a, unsigned b) const;

  std::vector<Block> blocks_;
  std::vector<unsigned> dominator_; ///< immediate one; of block 0 itself
  std::vector<Loop> loops_;
};

} // namespace wavesim
