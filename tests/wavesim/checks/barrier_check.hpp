// `barrier`: waves of a workgroup that do not all come to the same s_barrier with all their lanes.
#pragma once

namespace wavesim {

struct Workgroup;

/// The waves that have not ended stand at barriers, which now open.
void check_barrier(const Workgroup& group);
/// Nothing moves any more while waves stand at a barrier.
void check_barrier_hang(const Workgroup& group);

} // namespace wavesim
