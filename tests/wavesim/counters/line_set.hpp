// A set of 128-byte memory lines, kept as one 64-bit mask per 8 KiB block. Out of line on purpose:
// the executor's SIMD variants call it, and code inlined there would be compiled for their level.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wavesim {

/// Bytes of a line of the vector L1 and of L2 on gfx942 (CDNA3 white paper, p. 9-10).
inline constexpr std::uint64_t line_bytes = 128;

class LineSet {
public:
  /// Adds every line that [address, address + bytes) touches.
  void add(std::uint64_t address, std::uint64_t bytes);
  /// Adds the lines touched by `bytes` bytes at each address[lane] of the lanes in `mask`.
  void add_lanes(const std::uint64_t* address, std::uint64_t mask, std::uint64_t bytes);
  void merge(const LineSet& other);
  void clear();
  std::uint64_t size() const { return size_; } ///< distinct lines

private:
  struct Slot {
    std::uint64_t key = 0;  ///< block number + 1; 0 is free
    std::uint64_t mask = 0; ///< bit i: line i of the block
  };
  void insert(std::uint64_t block, std::uint64_t mask);
  Slot& find(std::uint64_t key);
  void grow();

  std::vector<Slot> slots_; ///< open addressing, a power of two
  std::size_t used_ = 0;
  std::uint64_t size_ = 0;
};

/// Distinct lines of global memory that one workgroup touched so far.
struct GroupLines {
  LineSet read, written;
};

} // namespace wavesim
