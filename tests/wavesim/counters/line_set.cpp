#include "counters/line_set.hpp"

namespace wavesim {

namespace {
constexpr unsigned lines_per_block = 64;
} // namespace

LineSet::Slot& LineSet::find(std::uint64_t key) {
  const std::size_t last = slots_.size() - 1;
  // Fibonacci hashing: block numbers are dense, so their low bits alone would cluster.
  std::size_t at = static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ull) >> 32) & last;
  while (slots_[at].key != 0 && slots_[at].key != key)
    at = (at + 1) & last;
  return slots_[at];
}

void LineSet::grow() {
  std::vector<Slot> old = std::move(slots_);
  slots_.assign(old.empty() ? 16 : 2 * old.size(), Slot{});
  for (const Slot& slot : old)
    if (slot.key != 0)
      find(slot.key) = slot;
}

void LineSet::insert(std::uint64_t block, std::uint64_t mask) {
  if (2 * (used_ + 1) > slots_.size())
    grow();
  Slot& slot = find(block + 1);
  if (slot.key == 0) {
    slot.key = block + 1;
    ++used_;
  }
  size_ += static_cast<std::uint64_t>(std::popcount(mask & ~slot.mask));
  slot.mask |= mask;
}

void LineSet::add(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0)
    return;
  std::uint64_t line = address / line_bytes;
  const std::uint64_t last = (address + bytes - 1) / line_bytes;
  constexpr std::uint64_t few = 16;
  if (line != 0 && last - line < few) { // in recent_ 0 is no line
    std::uint64_t missing = 0;
    for (std::uint64_t at = line; at <= last; ++at)
      missing |= unknown(at);
    if (missing == 0)
      return;
    for (std::uint64_t at = line; at <= last; ++at)
      recent_[slot_of(at)] = at;
  }
  while (line <= last) {
    const std::uint64_t block = line / lines_per_block;
    const std::uint64_t end = (block + 1) * lines_per_block - 1;
    const std::uint64_t stop = last < end ? last : end;
    const std::uint64_t count = stop - line + 1;
    const std::uint64_t ones = count == lines_per_block ? ~0ull : (1ull << count) - 1;
    insert(block, ones << (line % lines_per_block));
    line = stop + 1;
  }
}

void LineSet::add_lanes(const std::uint64_t* address, std::uint64_t lanes, std::uint64_t bytes) {
  // Neighbouring lanes mostly share a line, and nearly always a block.
  std::uint64_t line = ~0ull, block = ~0ull, mask = 0;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t at = address[std::countr_zero(lanes)];
    const std::uint64_t first = at / line_bytes, last = (at + bytes - 1) / line_bytes;
    if ((first == line && last == line) || (first != 0 && (unknown(first) | unknown(last)) == 0))
      continue;
    if (first / lines_per_block != last / lines_per_block) {
      add(at, bytes);
      continue;
    }
    recent_[slot_of(first)] = first;
    recent_[slot_of(last)] = last;
    if (first / lines_per_block != block) {
      if (mask != 0)
        insert(block, mask);
      block = first / lines_per_block;
      mask = 0;
    }
    mask |= 1ull << first % lines_per_block | 1ull << last % lines_per_block;
    line = last;
  }
  if (mask != 0)
    insert(block, mask);
}

void LineSet::merge(const LineSet& other) {
  for (const Slot& slot : other.slots_)
    if (slot.key != 0)
      insert(slot.key - 1, slot.mask);
}

void LineSet::clear() {
  if (used_ != 0) {
    slots_.assign(slots_.size(), Slot{});
    recent_.fill(0);
  }
  used_ = 0;
  size_ = 0;
}

} // namespace wavesim
