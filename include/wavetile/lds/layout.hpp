/// \file
/// Where the elements of a tile lie in LDS.
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile {

/// A map from the coordinates of a `rows` x `columns` tile to bytes of LDS, known at compile time;
/// usable as template argument.
///
///     offset(row, column) = row * pitch + (column * element_bytes XOR swizzle(row) * chunk)
///     swizzle(row)        = ((row >> shift) XOR (row >> second_shift)) AND mask
///
/// Three families: row-major, padded (a pitch larger than the row), and xor-swizzled (chunks of a
/// row change places by the row's index: no bytes lost, an xor in the address). Made by
/// `row_major`, `padded`, `xor_swizzled` or found by `choose_layout`.
struct layout {
  static constexpr int no_shift = 31; ///< contributes nothing: row >> 31 = 0

  int rows;
  int columns;
  int element_bytes;
  int pitch;        ///< bytes from one row to the next
  int chunk;        ///< bytes that the swizzle moves as one, a power of two; 0: no swizzle
  int mask;         ///< chunks within aligned groups of mask + 1 change places; 2^k - 1
  int shift;        ///< which row bits decide
  int second_shift; ///< further row bits; `no_shift`: none

  /// LDS bytes of the tile.
  WAVETILE_HD constexpr int bytes() const { return rows * pitch; }

  /// The chunk number that row `row` is xor-ed with.
  WAVETILE_HD constexpr int swizzle(int row) const {
    return ((row >> shift) ^ (row >> second_shift)) & mask;
  }

  /// Byte offset of an element.
  WAVETILE_HD constexpr int offset(int row, int column) const {
    return row * pitch + ((column * element_bytes) ^ (swizzle(row) * chunk));
  }

  /// True when the map is one-to-one into `bytes()` bytes: rows do not overlap, and the swizzle
  /// permutes whole chunks, of whole elements, inside the row.
  WAVETILE_HD constexpr bool valid() const {
    if (rows < 1 || columns < 1 || element_bytes < 1 || pitch < columns * element_bytes)
      return false;
    if (pitch > 0x7FFFFFFF / rows)
      return false;
    if (chunk == 0)
      return mask == 0;
    return (chunk & (chunk - 1)) == 0 && (mask & (mask + 1)) == 0 && mask > 0 &&
           chunk % element_bytes == 0 && pitch % (chunk * (mask + 1)) == 0 && shift >= 0 &&
           shift <= no_shift && second_shift >= 0 && second_shift <= no_shift;
  }

  /// True when `access_bytes` bytes that start at a multiple of `access_bytes` in a row stay
  /// together and every row starts at a multiple of `alignment`.
  WAVETILE_HD constexpr bool keeps_together(int access_bytes, int alignment) const {
    return pitch % alignment == 0 && (chunk == 0 || chunk % access_bytes == 0);
  }

  constexpr bool operator==(const layout&) const = default;
};

/// Rows one after the other.
WAVETILE_HD constexpr layout row_major(int rows, int columns, int element_bytes) {
  return {rows, columns, element_bytes, columns * element_bytes, 0, 0, 0, layout::no_shift};
}

/// Row-major with `pad_bytes` unused bytes after each row.
WAVETILE_HD constexpr layout padded(int rows, int columns, int element_bytes, int pad_bytes) {
  layout result = row_major(rows, columns, element_bytes);
  result.pitch += pad_bytes;
  return result;
}

/// Row-major with chunk ^= ((row >> shift) ^ (row >> second_shift)) & mask. `second_shift` lets
/// accesses along rows and across them be free of conflicts at once:
/// `xor_swizzled(rows, columns, bytes, 16, 7, 0, 3)`.
WAVETILE_HD constexpr layout xor_swizzled(int rows, int columns, int element_bytes, int chunk,
                                          int mask, int shift = 0,
                                          int second_shift = layout::no_shift) {
  layout result = row_major(rows, columns, element_bytes);
  result.chunk = chunk;
  result.mask = mask;
  result.shift = shift;
  result.second_shift = second_shift;
  return result;
}

} // namespace wavetile

#if WAVETILE_CUDA
// nvcc 13.0 names the type of a template argument by its mangled name in the host's stubs
using _ZN8wavetile6layoutE = wavetile::layout;
#endif
