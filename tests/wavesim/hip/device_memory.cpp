#include "hip/device_memory.hpp"

#include "checks/session.hpp"
#include "hip/runtime.hpp"
#include "machine/resident_pages.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <sys/mman.h>

namespace wavesim::hip {

namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t page = 4096;
/// Never handed out, so that a kernel that runs past the end is caught.
constexpr std::size_t smallest_gap = 256;

constexpr std::size_t round_up(std::size_t x, std::size_t to) {
  return (x + to - 1) / to * to;
}

/// Size in the arena: large allocations have larger gaps.
std::size_t with_gap(std::size_t bytes) {
  return round_up(bytes, alignment) + (bytes >= 16 * page ? page : smallest_gap);
}

} // namespace

DeviceMemory& DeviceMemory::instance() {
  static auto* memory = new DeviceMemory;
  return *memory;
}

DeviceMemory::DeviceMemory() : used_(static_cast<std::size_t>(std::max(settings().devices, 1))) {
  // Address space costs nothing; plenty of it keeps fragments harmless. Always at the same place
  // where possible, so that addresses, and what a program derives from them, repeat from run to
  // run.
  auto* wish = reinterpret_cast<void*>(std::uintptr_t{0x2000'0000'0000});
  for (arena_bytes_ = std::size_t{1} << 40; arena_bytes_ > settings().memory / 2;
       arena_bytes_ /= 2) {
    void* arena = mmap(wish, arena_bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED)
      continue;
    madvise(arena, arena_bytes_, MADV_DONTDUMP);
    madvise(arena, arena_bytes_,
            MADV_HUGEPAGE); // first touches of large buffers cost more than kernels
    arena_ = reinterpret_cast<std::uintptr_t>(arena);
    put_back({arena_, arena_bytes_});
    return;
  }
  arena_bytes_ = 0;
}

std::uintptr_t DeviceMemory::take(std::size_t bytes) {
  const auto best = free_by_size_.lower_bound({bytes, 0});
  if (best == free_by_size_.end())
    return 0;
  const auto [size, begin] = *best;
  free_by_size_.erase(best);
  free_by_address_.erase(begin);
  if (size > bytes) {
    free_by_size_.emplace(size - bytes, begin + bytes);
    free_by_address_.emplace(begin + bytes, size - bytes);
  }
  return begin;
}

void DeviceMemory::put_back(Piece piece) {
  const auto drop = [&](auto it) {
    free_by_size_.erase({it->second, it->first});
    return free_by_address_.erase(it);
  };
  auto next = free_by_address_.lower_bound(piece.begin);
  if (next != free_by_address_.end() && next->first == piece.begin + piece.bytes) {
    piece.bytes += next->second;
    next = drop(next);
  }
  if (next != free_by_address_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == piece.begin) {
      piece = {before->first, before->second + piece.bytes};
      drop(before);
    }
  }
  free_by_address_.emplace(piece.begin, piece.bytes);
  free_by_size_.emplace(piece.bytes, piece.begin);
}

void* DeviceMemory::allocate(std::size_t bytes, RangeKind kind, int device, unsigned flags,
                             bool pooled) {
  const std::lock_guard lock(mutex_);
  const bool host = kind == RangeKind::host;
  std::size_t& used = host ? used_host_ : used_[static_cast<std::size_t>(device)];
  const std::size_t limit = host ? settings().memory : device_memory_bytes();
  if (bytes > limit || used > limit - bytes)
    return nullptr;
  const std::uintptr_t begin = take(with_gap(bytes));
  if (begin == 0)
    return nullptr;
  used += bytes;
  touched_end_ = std::max(touched_end_, begin + bytes);
  bound_kept();
  Allocation allocation;
  allocation.begin = begin;
  allocation.bytes = bytes;
  allocation.kind = kind;
  allocation.device = device;
  allocation.flags = flags;
  allocation.pooled = pooled;
  allocations_.emplace(begin, allocation);
  MemoryMap::instance().add({begin, begin + bytes, kind, ++serial_, device});
  return reinterpret_cast<void*>(begin);
}

void DeviceMemory::forget(const Allocation& allocation) {
  MemoryMap::instance().remove(allocation.begin);
  if (allocation.registered)
    return;
  if (allocation.kind == RangeKind::host)
    used_host_ -= allocation.bytes;
  else
    used_[static_cast<std::size_t>(allocation.device)] -= allocation.bytes;
  const Piece piece{allocation.begin, with_gap(allocation.bytes)};
  if (enabled_checks().has(Check::memory)) {
    quarantine(piece, allocation.bytes);
    return;
  }
  clear(allocation.begin, allocation.bytes);
  put_back(piece);
  bound_kept();
}

/// The piece's address is not handed out again before much other memory was freed, so that a stale
/// pointer meets nobody's memory. Address space is plenty; the host gets its pages back.
void DeviceMemory::quarantine(Piece piece, std::size_t bytes) {
  constexpr std::size_t most_pieces = 1024; // as many as messages remember
  const std::uintptr_t end = piece.begin + bytes;
  const std::uintptr_t first_page = round_up(piece.begin, page), last_page = end / page * page;
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); };
  if (first_page >= last_page) {
    std::memset(at(piece.begin), 0, bytes);
  } else {
    std::memset(at(piece.begin), 0, first_page - piece.begin);
    std::memset(at(last_page), 0, end - last_page);
    madvise(at(first_page), last_page - first_page, MADV_DONTNEED);
  }
  quarantined_.push_back(piece);
  quarantined_bytes_ += piece.bytes;
  while (quarantined_.size() > most_pieces || quarantined_bytes_ > arena_bytes_ / 2) {
    quarantined_bytes_ -= quarantined_.front().bytes;
    put_back(quarantined_.front());
    quarantined_.pop_front();
  }
}

/// Allocations start as zeros, whatever was there before. The host's pages are kept.
void DeviceMemory::clear(std::uintptr_t begin, std::size_t bytes) {
  const std::uintptr_t end = begin + bytes;
  const std::uintptr_t first_page = round_up(begin, page), last_page = end / page * page;
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); };
  if (first_page >= last_page) {
    std::memset(at(begin), 0, bytes);
    return;
  }
  std::memset(at(begin), 0, first_page - begin);
  std::memset(at(last_page), 0, end - last_page);
  clear_resident(at(first_page), last_page - first_page);
  kept_ += last_page - first_page;
}

/// Free pieces and allocations together stay within the limit of device memory.
void DeviceMemory::bound_kept() {
  const std::size_t used = std::accumulate(used_.begin(), used_.end(), used_host_);
  const auto within = [&] {
    return kept_ <= settings().memory && used <= settings().memory - kept_;
  };
  const auto for_each_free = [&](const auto& f) {
    for (const auto& [begin, bytes] : free_by_address_) {
      const std::uintptr_t first = round_up(begin, page);
      const std::uintptr_t last = std::min(begin + bytes, touched_end_) / page * page;
      if (first < last)
        f(reinterpret_cast<std::byte*>(first), last - first);
    }
  };
  if (within())
    return;
  kept_ = 0;
  for_each_free(
      [&](std::byte* begin, std::size_t bytes) { kept_ += resident_bytes(begin, bytes); });
  if (within())
    return;
  for_each_free([](std::byte* begin, std::size_t bytes) { madvise(begin, bytes, MADV_DONTNEED); });
  kept_ = 0;
}

bool DeviceMemory::release(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto it = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (it == allocations_.end() || it->second.registered)
    return false;
  const Allocation allocation = it->second;
  allocations_.erase(it);
  forget(allocation);
  return true;
}

bool DeviceMemory::register_host(void* pointer, std::size_t bytes, unsigned flags) {
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  if (MemoryMap::instance().overlaps(begin, begin + bytes))
    return false;
  Allocation allocation;
  allocation.begin = begin;
  allocation.bytes = bytes;
  allocation.kind = RangeKind::host;
  allocation.flags = flags;
  allocation.registered = true;
  allocations_.emplace(begin, allocation);
  MemoryMap::instance().add({begin, begin + bytes, RangeKind::host, ++serial_, 0});
  return true;
}

bool DeviceMemory::unregister_host(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto it = allocations_.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (it == allocations_.end() || !it->second.registered)
    return false;
  forget(it->second);
  allocations_.erase(it);
  return true;
}

std::optional<Allocation> DeviceMemory::find(const void* pointer) const {
  const std::lock_guard lock(mutex_);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto it = allocations_.upper_bound(address);
  if (it == allocations_.begin())
    return std::nullopt;
  --it;
  if (address - it->second.begin >= it->second.bytes)
    return std::nullopt;
  return it->second;
}

bool DeviceMemory::in_arena(const void* pointer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return address >= arena_ && address - arena_ < arena_bytes_;
}

std::size_t DeviceMemory::used(int device) const {
  const std::lock_guard lock(mutex_);
  return used_[static_cast<std::size_t>(device)];
}

void DeviceMemory::release_all(int device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(allocations_, [&](const auto& entry) {
    const Allocation& a = entry.second;
    // Managed memory may be a variable of the program, which lives on.
    if (a.registered || a.kind != RangeKind::device || a.device != device)
      return false;
    forget(a);
    return true;
  });
}

} // namespace wavesim::hip
