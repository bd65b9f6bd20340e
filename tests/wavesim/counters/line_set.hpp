// A set of 128-byte memory lines, kept as one 64-bit mask per 8 KiB block, behind a small table of
// lines that are known to be in it: most accesses touch lines that were touched before. Out of line
// on purpose: the executor's SIMD variants call it, and code inlined there would be compiled for
// their level.
#pragma once

#include <array>
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

  /// Not 0 when a line may be missing from the set; 0: it is there for sure. Several can be joined
  /// with |, which costs less than a branch for each.
  std::uint64_t unknown(std::uint64_t line) const { return recent_[slot_of(line)] ^ line; }

private:
  struct Slot {
    std::uint64_t key = 0;  ///< block number + 1; 0 is free
    std::uint64_t mask = 0; ///< bit i: line i of the block
  };
  void insert(std::uint64_t block, std::uint64_t mask);
  Slot& find(std::uint64_t key);
  void grow();
  static constexpr std::size_t recent_lines = 512;
  /// Neighbours and rows of powers of two get different places.
  static std::size_t slot_of(std::uint64_t line) { return (line ^ line >> 7) % recent_lines; }

  std::array<std::uint64_t, recent_lines>
      recent_{};            ///< lines of the set; 0: none (no memory is there)
  std::vector<Slot> slots_; ///< open addressing, a power of two
  std::size_t used_ = 0;
  std::uint64_t size_ = 0;
};

/// Accesses of a full wave with a constant stride between lanes whose lines are all in a set
/// already: kernels come back to rows and columns.
class StridedAccesses {
public:
  struct Access {
    std::uint64_t base = 0, stride = 0, bytes = 0, look_ups = 0; ///< base 0: none
  };
  Access& place(std::uint64_t base, std::uint64_t stride) {
    return access_[(base >> 2 ^ base >> 8 ^ base >> 14 ^ stride >> 2) % places];
  }
  void clear() {
    if (used_)
      access_.fill(Access{});
    used_ = false;
  }
  void set_used() { used_ = true; }

private:
  static constexpr std::size_t places = 64;
  std::array<Access, places> access_{};
  bool used_ = false;
};

/// Distinct lines of global memory that one workgroup touched so far.
struct GroupLines {
  LineSet read, written;
  StridedAccesses strided_reads, strided_writes;
};

} // namespace wavesim
