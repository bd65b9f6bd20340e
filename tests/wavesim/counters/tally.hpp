// Raw counts of one worker thread during one dispatch. Handlers of memory operations add to the
// record of their own Op; the run loop counts executions. Everything reported is summed from here,
// so results do not depend on the number of threads. The rules stand in counters/rules.hpp.
#pragma once

#include "counters/line_set.hpp"
#include "model/issue_cost.hpp"
#include "model/load_waits.hpp"

#include <cstdint>
#include <vector>

namespace wavesim {

struct Op;
struct Workgroup;

struct OpTally {
  std::uint64_t executions = 0;    ///< wave instructions
  std::uint64_t lanes = 0;         ///< sum of active lanes (memory operations only)
  std::uint64_t lds_clocks = 0;    ///< LDS: clocks the banks were busy
  std::uint64_t lds_conflicts = 0; ///< LDS: clocks beyond the conflict-free number of phases
  std::uint64_t bytes_read = 0;    ///< global memory: bytes the active lanes read
  std::uint64_t bytes_written = 0;
  std::uint64_t scratch_bytes_read = 0; ///< private memory
  std::uint64_t scratch_bytes_written = 0;
  std::uint64_t tcp_accesses = 0; ///< look-ups in the vector L1

  OpTally& operator+=(const OpTally& other);
};

struct Tally {
  std::vector<OpTally> ops;           ///< by Op::id; grown on demand
  std::vector<IssueCost> costs;       ///< of the same; Pipe::unknown until it is executed
  LoadWaits waits;                    ///< distances from loads to their waits
  std::uint64_t alone_clocks = 0;     ///< WavePace::alone of a followed workgroup's last wave
  std::uint64_t alone_groups = 0;     ///< workgroups whose pace was followed
  std::uint64_t group_lines_read = 0; ///< distinct lines per workgroup, summed over workgroups
  std::uint64_t group_lines_written = 0;
  LineSet kernel_lines_read; ///< distinct over the dispatch
  LineSet kernel_lines_written;

  [[gnu::always_inline]] OpTally& of(std::uint32_t id) {
    if (id >= ops.size())
      grow(id);
    return ops[id];
  }
  /// After of(op.id).
  [[gnu::always_inline]] const IssueCost& cost_of(const Op& op, std::uint32_t id) {
    if (costs[id].pipe == Pipe::unknown) [[unlikely]]
      costs[id] = issue_cost(op);
    return costs[id];
  }
  /// To be called once when a workgroup has ended: takes its lines into the sums and empties them.
  void end_group(Workgroup& group);
  /// Adds the counts of another thread of the same dispatch.
  void merge(const Tally& other);

private:
  void grow(std::uint32_t id);
};

} // namespace wavesim
