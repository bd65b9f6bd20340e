// Which host addresses are device-visible. Device pointers are host addresses, so the map is the
// only thing between a wild pointer in a kernel and the host process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace wavesim {

enum class RangeKind : std::uint8_t { device, host, managed, code, kernarg, global_variable };

struct Range {
  std::uintptr_t begin = 0, end = 0; ///< [begin, end): exact size asked for, not the rounded one
  RangeKind kind = RangeKind::device;
  std::uint64_t serial = 0; ///< number of the allocation, for messages
  int device = 0;
  bool contains(std::uintptr_t p, std::size_t n) const {
    return p >= begin && n <= end - p && p < end;
  }
};

/// Immutable, sorted, disjoint ranges: what one dispatch sees.
class MemorySnapshot {
public:
  explicit MemorySnapshot(std::vector<Range> sorted) : ranges_(std::move(sorted)) {}
  /// The range holding address `p`, or null.
  const Range* find(std::uintptr_t p) const;
  const std::vector<Range>& ranges() const { return ranges_; }

private:
  std::vector<Range> ranges_;
};

/// Process-wide registry; thread-safe. Snapshots are rebuilt only after a change.
class MemoryMap {
public:
  static MemoryMap& instance();
  void add(Range);
  std::optional<Range> remove(std::uintptr_t begin);             ///< the range that began there
  std::optional<Range> lookup(std::uintptr_t p) const;           ///< the range that contains p
  bool overlaps(std::uintptr_t begin, std::uintptr_t end) const; ///< any range touches [begin, end)
  std::shared_ptr<const MemorySnapshot> snapshot() const;

private:
  mutable std::mutex mutex_;
  std::vector<Range> ranges_;
  mutable std::shared_ptr<const MemorySnapshot> snapshot_;
};

} // namespace wavesim
