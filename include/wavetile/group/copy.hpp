/// \file
/// Tiles brought from global memory to LDS by all work-items of a workgroup.
#pragma once

#include <wavetile/core/vec.hpp>
#include <wavetile/core/view.hpp>
#include <wavetile/group/workgroup.hpp>
#include <wavetile/lds/access.hpp>
#include <wavetile/lds/tile.hpp>

#if WAVETILE_GPU

namespace wavetile::group {

/// Copies a `Tile::rows` x `Tile::columns` piece of a matrix into an LDS tile, `Width` elements (1
/// to 16 bytes, a power of two) at a time: global loads into registers with `load`, LDS writes with
/// `store`, so that a pipeline can put work between the two; `copy` does both. Elements outside the
/// matrix become `fill` and are not read: pieces inside it are one load of `Width` elements, pieces
/// on its right edge one load an element. A tile that lies wholly inside takes a path without
/// predicates.
///
/// Work-item t handles pieces t, t + BlockSize, …, counted along rows: neighbours load neighbouring
/// addresses. Every piece that is loaded whole must be aligned to its size: data pointer, row
/// stride and first column multiples of `Width` elements (choose Width 1 where they are not).
///
/// Registers: `pieces` vectors of `Width` elements. No barrier: put one before the tile is read.
///
///     using copier = group::tile_copy<tile_a, 256, 8>;
///     static_assert(conflict_free(tile_a::where, targets::gfx942, copier::access));
///     copier::copy(matrix, row, column, a);
///     group::barrier();
template <class Tile, int BlockSize, int Width>
class tile_copy {
  using T = typename Tile::element_type;
  static_assert(Width >= 1 && (Width & (Width - 1)) == 0 && Width * sizeof(T) <= 16,
                "wavetile::group::tile_copy: Width is a power of two of at most 16 bytes");
  static_assert(Tile::columns % Width == 0,
                "wavetile::group::tile_copy: Width divides the columns of the tile");
  static constexpr int row_pieces = Tile::columns / Width;
  static constexpr int all_pieces = Tile::rows * row_pieces;

public:
  /// Pieces of one work-item.
  static constexpr int pieces = (all_pieces + BlockSize - 1) / BlockSize;

  /// What a work-item holds between `load` and `store`.
  struct staged {
    vec<T, Width> piece[pieces];
  };

  /// The LDS write of a wave (the first; others are the same some rows down where a wave covers
  /// whole rows), for `bank_conflicts` and `choose_layout`.
  static constexpr lds_access access = lds_write(Width * static_cast<int>(sizeof(T)), [](int lane) {
    return lane < all_pieces ? coordinate{lane / row_pieces, lane % row_pieces * Width}
                             : inactive_lane;
  });

  /// Loads the tile whose first element is (`row`, `column`) of `from`; both are >= 0 and the same
  /// in all work-items.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static staged load(const view<const T, 2>& from,
                                                           int64_t row, int64_t column, T fill = {},
                                                           int thread = thread_id()) {
    staged result;
    const auto visit = [&](auto load_one) {
      for (int i = 0; i < pieces; ++i) {
        const int number = thread + i * BlockSize;
        if (all_pieces % BlockSize == 0 || number < all_pieces)
          result.piece[i] =
              load_one(row + number / row_pieces, column + number % row_pieces * Width);
      }
    };
    if (row + Tile::rows <= from.extent[0] && column + Tile::columns <= from.extent[1])
      visit([&](int64_t r, int64_t c) {
        return load_vec<Width>(&from.data[r * from.stride[0] + c]);
      });
    else
      visit([&](int64_t r, int64_t c) { return load_piece(from, r, c, fill); });
    return result;
  }

  /// Writes what `load` returned to the tile.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void store(const staged& from, Tile to,
                                                          int thread = thread_id()) {
    for (int i = 0; i < pieces; ++i) {
      const int number = thread + i * BlockSize;
      if (all_pieces % BlockSize == 0 || number < all_pieces)
        to.write_vec(number / row_pieces, number % row_pieces * Width, from.piece[i]);
    }
  }

  /// `load`, then `store`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void copy(const view<const T, 2>& from, int64_t row,
                                                         int64_t column, Tile to, T fill = {},
                                                         int thread = thread_id()) {
    store(load(from, row, column, fill, thread), to, thread);
  }

private:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static vec<T, Width>
  load_piece(const view<const T, 2>& from, int64_t r, int64_t c, T fill) {
    const T* source = &from.data[r * from.stride[0] + c];
    if (r < from.extent[0] && c + Width <= from.extent[1])
      return load_vec<Width>(source);
    vec<T, Width> piece = make_vec<Width>(fill);
    for (int e = 0; e < Width; ++e)
      if (r < from.extent[0] && c + e < from.extent[1])
        piece[e] = source[e];
    return piece;
  }
};

} // namespace wavetile::group

#endif
