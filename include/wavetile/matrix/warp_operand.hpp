/// \file
/// Fragments of NVIDIA's matrix instructions from LDS tiles.
#pragma once

#include <wavetile/arch/cuda/ldmatrix.hpp>
#include <wavetile/lds/access.hpp>
#include <wavetile/lds/layout.hpp>
#include <wavetile/matrix/warp_fragment.hpp>

namespace wavetile {

/// How a tile in LDS lies, seen from the index k that is summed over.
enum class warp_order : uint8_t {
  k_contiguous, ///< tile rows are rows of A (columns of B), tile columns are k
  k_strided,    ///< tile rows are k, tile columns are rows of A (columns of B)
};

/// Reads 16 rows of A (or columns of B) by 32 bytes of k with one `ldmatrix.x4`. T: 16 or 8 bits.
///
/// As A that is one fragment. As B it is two, of which the first holds columns 0 … 7 and the second
/// 8 … 15. Of 8-bit elements with k strided, fragment row r is row `row_of(r)` of the 16: products
/// have their rows (columns, for B) permuted alike.
///
/// `place` is the element whose address a lane gives; `access_at` describes it to the layout model:
/// a tile is free of conflicts when `bank_conflicts(where, access_at(…), targets::sm90)` says so.
template <class T, warp_order Order>
struct warp_operand {
  static_assert(sizeof(T) <= 2, "wavetile::warp_operand: for elements of 8 and 16 bits");
  static constexpr int rows = 16;
  static constexpr int depth = 32 / static_cast<int>(sizeof(T)); ///< of k
  static constexpr int run = 16 / static_cast<int>(sizeof(T));   ///< elements of 16 bytes

  /// The row of the operand that row `r` of the fragments is.
  WAVETILE_HD static constexpr int row_of(int r) {
    return Order == warp_order::k_strided && sizeof(T) == 1 ? r % 8 * 2 + r / 8 : r;
  }

  /// Element of the tile, for the 16 rows from `row` on and k from `k` on.
  WAVETILE_HD static constexpr coordinate place(int lane, int row = 0, int k = 0) {
    if constexpr (Order == warp_order::k_contiguous) {
      const matrix_element at = ldmatrix_place(lane);
      return {row + at.row, k + at.column * run};
    } else {
      const matrix_element at =
          sizeof(T) == 1 ? ldmatrix_bytes_place(lane) : ldmatrix_transposed_place(lane);
      return {k + at.row, row + at.column * run};
    }
  }
  static constexpr lds_access access_at(int row = 0, int k = 0) {
    return lds_read(16, [=](int lane) { return lane < 32 ? place(lane, row, k) : inactive_lane; });
  }
  static constexpr lds_access access = access_at(0, 0);

#if WAVETILE_CUDA
  /// From the address in LDS of this lane's `place`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static warp_a<T> load(uint32_t address) {
    warp_a<T> result;
    if constexpr (Order == warp_order::k_contiguous) {
      instruction::load_matrices(result.word, address);
    } else {
      instruction::load_matrices_transposed(result.word, address);
      if constexpr (sizeof(T) == 1)
        instruction::sort_bytes(result.word);
    }
    return result;
  }

  /// From a tile of this layout that starts at `base`.
  template <layout Where>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static warp_a<T> load(uint32_t base, int lane, int row,
                                                              int k) {
    const coordinate at = place(lane, row, k);
    return load(base + static_cast<uint32_t>(Where.offset(at.row, at.column)));
  }
#endif
};

/// Columns 8 `Half` … + 7 of a read of 16, as B.
template <int Half, class T>
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr warp_b<T> half_of(const warp_a<T>& read) {
  warp_b<T> result{};
  result.word[0] = read.word[Half];
  result.word[1] = read.word[Half + 2];
  return result;
}

} // namespace wavetile
