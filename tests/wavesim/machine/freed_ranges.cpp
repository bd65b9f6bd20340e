#include "machine/freed_ranges.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

namespace wavesim {

namespace {

struct Freed {
  std::mutex mutex;
  std::deque<Range> ranges; ///< oldest first
};

Freed& freed() {
  static auto* only = new Freed; // as long-lived as the memory map
  return *only;
}

} // namespace

void remember_freed(const Range& range) {
  constexpr std::size_t remembered = 1024;
  const std::lock_guard lock(freed().mutex);
  if (freed().ranges.size() == remembered)
    freed().ranges.pop_front();
  freed().ranges.push_back(range);
}

void forget_freed(std::uintptr_t begin, std::uintptr_t end) {
  const std::lock_guard lock(freed().mutex);
  std::erase_if(freed().ranges, [&](const Range& r) { return r.begin < end && begin < r.end; });
}

std::optional<Range> find_freed(std::uintptr_t p) {
  const std::lock_guard lock(freed().mutex);
  const auto& ranges = freed().ranges;
  const auto it = std::find_if(ranges.rbegin(), ranges.rend(),
                               [p](const Range& r) { return r.contains(p, 1); });
  return it == ranges.rend() ? std::nullopt : std::optional(*it);
}

} // namespace wavesim
