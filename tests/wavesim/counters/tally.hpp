// Raw counts of one worker thread during one dispatch. Handlers of memory operations add to the
// record of their own Op; the run loop counts executions. Everything reported is summed from here,
// so results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace wavesim {

struct OpTally {
  std::uint64_t executions = 0;      ///< wave instructions
  std::uint64_t lanes = 0;           ///< sum of active lanes (memory operations only)
  std::uint64_t lds_clocks = 0;      ///< LDS: clocks the banks were busy
  std::uint64_t lds_conflicts = 0;   ///< LDS: clocks beyond the conflict-free number of phases
  std::uint64_t bytes_read = 0;      ///< global: bytes the active lanes asked for
  std::uint64_t bytes_written = 0;
  std::uint64_t tcp_accesses = 0;    ///< quads of lanes looked up in the vector L1
};

struct Tally {
  std::vector<OpTally> ops;                     ///< by Op::id; grown on demand
  std::unordered_set<std::uint64_t> lines_read; ///< distinct 128-byte lines of the current workgroup
  std::unordered_set<std::uint64_t> lines_written;
  std::uint64_t group_lines_read = 0;           ///< summed over finished workgroups
  std::uint64_t group_lines_written = 0;
  std::unordered_set<std::uint64_t> kernel_lines_read; ///< distinct over the dispatch
  std::unordered_set<std::uint64_t> kernel_lines_written;

  OpTally& of(std::uint32_t id) {
    if (id >= ops.size()) ops.resize(id + 64);
    return ops[id];
  }
};

} // namespace wavesim
