// Memory handed out to programs: one arena of address space, 256-byte aligned pieces with a gap
// between them, each known to the memory map while it lives.
#pragma once

#include "machine/memory_map.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

namespace wavesim::hip {

struct Allocation {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  RangeKind kind = RangeKind::device;
  int device = 0;
  unsigned flags = 0;      ///< as given to the call that made it
  bool registered = false; ///< memory of the program (hipHostRegister), not of the arena
  bool pooled = false;     ///< from hipMallocAsync or a memory pool
};

class DeviceMemory {
public:
  static DeviceMemory& instance();

  /// Contents are zero. Null when the device (or, for host memory, the host) has no room.
  void* allocate(std::size_t bytes, RangeKind kind, int device, unsigned flags,
                 bool pooled = false);
  /// False when nothing begins at `pointer` (freed twice, or never allocated).
  bool release(const void* pointer);
  /// Makes memory of the program visible; false when a part of it already is.
  bool register_host(void* pointer, std::size_t bytes, unsigned flags);
  bool unregister_host(void* pointer);

  /// The allocation that contains the address.
  std::optional<Allocation> find(const void* pointer) const;
  /// Whether the address lies in the arena, so that only an allocation makes it valid.
  bool in_arena(const void* pointer) const;
  std::size_t used(int device) const;
  /// Frees all device memory of the device (hipDeviceReset).
  void release_all(int device);

private:
  DeviceMemory();
  struct Piece { ///< of the arena: allocation with its gap
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
  };
  std::uintptr_t take(std::size_t bytes);
  void put_back(Piece piece);
  void forget(const Allocation& allocation);
  void clear(std::uintptr_t begin, std::size_t bytes);
  void bound_kept();
  void quarantine(Piece piece, std::size_t bytes);

  mutable std::mutex mutex_;
  std::uintptr_t arena_ = 0;
  std::size_t arena_bytes_ = 0;
  std::map<std::uintptr_t, std::size_t> free_by_address_;
  std::set<std::pair<std::size_t, std::uintptr_t>> free_by_size_;
  std::map<std::uintptr_t, Allocation> allocations_;
  std::deque<Piece> quarantined_; ///< under the memory check: freed, not to be handed out yet
  std::size_t quarantined_bytes_ = 0;
  std::vector<std::size_t> used_; ///< by device
  std::size_t used_host_ = 0;
  std::size_t kept_ = 0;           ///< at least what free pieces keep of the host's pages
  std::uintptr_t touched_end_ = 0; ///< nothing behind it was ever allocated
  std::uint64_t serial_ = 0;
};

} // namespace wavesim::hip
