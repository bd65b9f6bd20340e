#include "exec/global_access.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

bool find_range(const Wave& w, const Op& op, std::uint64_t begin, std::uint64_t bytes) {
  const MemorySnapshot* memory = w.group->dispatch->memory.get();
  const Range* range = memory ? memory->find(begin) : nullptr;
  if (!range || !range->contains(begin, bytes))
    return false;
  w.group->ranges.entry[op.id % RangeCache::entries] = {range->begin, range->end};
  return true;
}

void check_each_lane(const Wave& w, const Op& op, const Addresses& at, std::uint64_t mask,
                     unsigned bytes, const char* what) {
  for_each_lane(mask, [&](unsigned lane) {
    if (!find_range(w, op, at.lane[lane], bytes))
      memory_fault(w, op, lane, at.lane[lane], bytes, what);
  });
}

} // namespace wavesim::WAVESIM_SIMD_NS
