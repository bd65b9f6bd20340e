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

/// Two fragments of B side by side: columns 0 … 7 and 8 … 15.
template <class T>
struct warp_b_pair {
  warp_b<T> half[2];
};

/// Reads 16 rows of A, or 16 columns of B, by 32 bytes of k with one `ldmatrix.x4`: a fragment of
/// A, or two of B. T: 16 or 8 bits.
///
/// Of 8-bit elements with k strided, fragment row r (column r of the pair) is row `row_of(r)` of
/// the 16: products have their rows (columns, for B) permuted alike.
///
/// `place` is the element whose address a lane gives; `access_at` describes it to the layout model:
/// a tile is free of conflicts when `bank_conflicts(where, access_at(…), targets::sm90)` says so.
template <fragment_role Role, class T, warp_order Order>
struct warp_operand {
  static_assert(sizeof(T) <= 2, "wavetile::warp_operand: for elements of 8 and 16 bits");
  static_assert(Role != fragment_role::accumulator, "wavetile::warp_operand: role a or b");
  static constexpr bool of_a = Role == fragment_role::a;
  static constexpr int rows = 16;
  static constexpr int depth = 32 / static_cast<int>(sizeof(T)); ///< of k
  static constexpr int run = 16 / static_cast<int>(sizeof(T));   ///< elements of 16 bytes
  using result = detail::conditional_t<of_a, warp_a<T>, warp_b_pair<T>>;

  /// The row of the operand that row `r` of the fragment (column `r` of the pair) is.
  WAVETILE_HD static constexpr int row_of(int r) {
    return Order == warp_order::k_strided && sizeof(T) == 1 ? r % 8 * 2 + r / 8 : r;
  }

  /// Element of the tile, for the 16 rows from `row` on and k from `k` on.
  WAVETILE_HD static constexpr coordinate place(int lane, int row = 0, int k = 0) {
    if constexpr (Order == warp_order::k_contiguous) {
      const matrix_element at = ldmatrix_place(Role, lane);
      return {row + at.row, k + at.column * run};
    } else {
      const matrix_element at =
          sizeof(T) == 1 ? ldmatrix_bytes_place(lane) : ldmatrix_transposed_place(Role, lane);
      return {k + at.row, row + at.column * run};
    }
  }
  static constexpr lds_access access_at(int row = 0, int k = 0) {
    return lds_read(16, [=](int lane) { return lane < 32 ? place(lane, row, k) : inactive_lane; });
  }
  static constexpr lds_access access = access_at(0, 0);

#if WAVETILE_CUDA
  /// From the address in LDS of this lane's `place`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static result load(uint32_t address) {
    uint32_t word[4];
    if constexpr (Order == warp_order::k_contiguous) {
      instruction::load_matrices(word, address);
    } else {
      instruction::load_matrices_transposed(word, address);
      if constexpr (sizeof(T) == 1)
        instruction::sort_bytes<of_a>(word);
    }
    result fragments;
    for (int i = 0; i < 4; ++i)
      if constexpr (of_a)
        fragments.word[i] = word[i];
      else
        fragments.half[i / 2].word[i % 2] = word[i];
    return fragments;
  }

  /// From a tile of this layout that starts at `base`.
  template <layout Where>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static result load(uint32_t base, int lane, int row,
                                                           int k) {
    const coordinate at = place(lane, row, k);
    return load(base + static_cast<uint32_t>(Where.offset(at.row, at.column)));
  }
#endif
};

} // namespace wavetile
