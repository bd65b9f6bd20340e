#include "machine/memory_map.hpp"

#include "machine/freed_ranges.hpp"

#include <algorithm>

namespace wavesim {

namespace {

/// The first range that ends beyond `p`: the only one that can hold it.
template <class Ranges>
auto candidate(Ranges& ranges, std::uintptr_t p) {
  return std::upper_bound(ranges.begin(), ranges.end(), p,
                          [](std::uintptr_t x, const Range& r) { return x < r.end; });
}

} // namespace

const Range* MemorySnapshot::find(std::uintptr_t p) const {
  const auto it = candidate(ranges_, p);
  return it != ranges_.end() && it->begin <= p ? &*it : nullptr;
}

MemoryMap& MemoryMap::instance() {
  // Never destroyed: destructors of the program's own globals still free device memory.
  static auto* map = new MemoryMap;
  return *map;
}

void MemoryMap::add(Range range) {
  const std::lock_guard lock(mutex_);
  forget_freed(range.begin, range.end);
  ranges_.insert(candidate(ranges_, range.begin), range);
  snapshot_.reset();
}

std::optional<Range> MemoryMap::remove(std::uintptr_t begin) {
  const std::lock_guard lock(mutex_);
  const auto it = candidate(ranges_, begin);
  if (it == ranges_.end() || it->begin != begin)
    return std::nullopt;
  const Range removed = *it;
  ranges_.erase(it);
  snapshot_.reset();
  remember_freed(removed);
  return removed;
}

std::optional<Range> MemoryMap::lookup(std::uintptr_t p) const {
  const std::lock_guard lock(mutex_);
  const auto it = candidate(ranges_, p);
  if (it == ranges_.end() || it->begin > p)
    return std::nullopt;
  return *it;
}

bool MemoryMap::overlaps(std::uintptr_t begin, std::uintptr_t end) const {
  const std::lock_guard lock(mutex_);
  const auto it = candidate(ranges_, begin);
  return it != ranges_.end() && it->begin < end;
}

std::shared_ptr<const MemorySnapshot> MemoryMap::snapshot() const {
  const std::lock_guard lock(mutex_);
  if (!snapshot_)
    snapshot_ = std::make_shared<MemorySnapshot>(ranges_);
  return snapshot_;
}

} // namespace wavesim
