#include "counters/tally.hpp"

#include "machine/wave.hpp"

namespace wavesim {

OpTally& OpTally::operator+=(const OpTally& other) {
  executions += other.executions;
  lanes += other.lanes;
  lds_clocks += other.lds_clocks;
  lds_conflicts += other.lds_conflicts;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  scratch_bytes_read += other.scratch_bytes_read;
  scratch_bytes_written += other.scratch_bytes_written;
  tcp_accesses += other.tcp_accesses;
  return *this;
}

void Tally::grow(std::uint32_t id) {
  ops.resize(id + 64);
  costs.resize(id + 64);
}

void Tally::end_group(Workgroup& group) {
  if (!group.lines)
    return;
  group_lines_read += group.lines->read.size();
  group_lines_written += group.lines->written.size();
  kernel_lines_read.merge(group.lines->read);
  kernel_lines_written.merge(group.lines->written);
  group.lines->read.clear();
  group.lines->written.clear();
  group.lines->strided_reads.clear();
  group.lines->strided_writes.clear();
}

void Tally::merge(const Tally& other) {
  if (other.ops.size() > ops.size())
    ops.resize(other.ops.size());
  for (std::size_t id = 0; id < other.ops.size(); ++id)
    ops[id] += other.ops[id];
  waits.merge(other.waits);
  alone_clocks += other.alone_clocks;
  alone_groups += other.alone_groups;
  group_lines_read += other.group_lines_read;
  group_lines_written += other.group_lines_written;
  kernel_lines_read.merge(other.kernel_lines_read);
  kernel_lines_written.merge(other.kernel_lines_written);
}

} // namespace wavesim
