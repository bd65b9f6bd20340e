// Can the workgroups of a kernel run in parallel without a difference that a race-free program
// sees?
#pragma once

#include <string>

namespace wavesim {

struct Kernel;

struct ParallelVerdict {
  bool safe = false;
  std::string reason; ///< why not: the first instruction that stands in the way
};

/// Walks the code that the kernel can reach. Safe means: every global atomic returns nothing, is an
/// integer operation and commutes with every other one of the kernel; no load asks for agent or
/// system coherence (sc1), so no workgroup waits for another; no message goes to the host; and
/// every jump through a register was resolved. The verdict is kept with the kernel.
const ParallelVerdict& parallel_verdict(const Kernel& kernel);

} // namespace wavesim
