/// \file
/// Fragments of A and B from LDS tiles, as accesses whose bank conflicts can be counted.
#pragma once

#include <wavetile/lds/access.hpp>
#include <wavetile/lds/tile.hpp>
#include <wavetile/matrix/fragment.hpp>
#include <wavetile/wave/lane.hpp>

namespace wavetile {

namespace detail {
/// A tile may hold HIP's own type of the same bits.
template <class Tile, class T>
constexpr void check_tile_type() {
  static_assert(is_same_v<storage_t<typename Tile::element_type>, T>,
                "wavetile: the LDS tile has another element type than the fragment");
}
} // namespace detail

/// Rows of a fragment as they are.
struct same_row {
  WAVETILE_HD constexpr int operator()(int row) const { return row; }
};

/// Reads fragments from a tile whose rows are the rows of A (or the columns of B) and whose columns
/// are k: `Steps` matrix instructions' worth with one read of up to 16 bytes a lane.
///
/// One read covers `depth` = k * Steps values of k. Lane group g (lanes that hold the same k) gets
/// `elements` consecutive ones, from g * elements on, and step s takes elements s * size … of them:
/// the instruction's own k is a permutation of the tile's. That is harmless as long as A and B are
/// read with the same `Steps`, because a sum does not care which k is called which.
///
/// `RowMap` permutes rows of the fragment: fragment row r is row `RowMap{}(r)` of the tile.
///
///     using fragments = product_fragments<shape_32x32<bf16>, bf16>;
///     using read_a = lds_operand<fragments::a>;             // ds_read_b128, 2 steps
///     static_assert(conflict_free(tile_a::where, targets::gfx942, read_a::access));
///     mma(d, read_a::load(a, row, k), read_b::load(b, column, k));
template <class Fragment,
          int Steps =
              16 / (Fragment::size * static_cast<int>(sizeof(typename Fragment::element_type))),
          class RowMap = same_row>
struct lds_operand {
  using T = typename Fragment::element_type;
  static_assert(Fragment::role != fragment_role::accumulator,
                "wavetile::lds_operand: for A and B; accumulators have store_accumulator");
  static constexpr int rows =
      Fragment::role == fragment_role::a ? Fragment::shape.m : Fragment::shape.n;
  static constexpr int elements = Fragment::size * Steps; ///< of one lane's read
  static constexpr int bytes = elements * static_cast<int>(sizeof(T));
  static constexpr int depth = Fragment::shape.k * Steps; ///< values of k that one read covers
  static_assert(Steps >= 1 && bytes <= 16 && (bytes & (bytes - 1)) == 0,
                "wavetile::lds_operand: Steps makes one read of 4, 8 or 16 bytes");
  using pack = fragment_pack<Fragment, Steps>;

  /// First element that `lane` reads for the fragment whose first row and k are these.
  WAVETILE_HD static constexpr coordinate place(int lane, int row = 0, int k = 0) {
    return {row + RowMap{}(lane % rows), k + lane / rows * elements};
  }
  /// The read as an access, at any position.
  static constexpr lds_access access_at(int row, int k) {
    return lds_read(bytes, [=](int lane) { return place(lane, row, k); });
  }
  static constexpr lds_access access = access_at(0, 0);

#if WAVETILE_HIP
  /// The fragments whose first row and k in the tile are these, the same in all lanes.
  template <class Tile>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static pack load(Tile from, int row, int k,
                                                         int lane = lane_id()) {
    detail::check_tile_type<Tile, T>();
    const coordinate at = place(lane, row, k);
    return split(
        detail::bit_cast<vec<T, elements>>(from.template read_vec<elements>(at.row, at.column)));
  }
#endif

  /// The fragments in one lane's `elements` consecutive values of k.
  WAVETILE_HD WAVETILE_FORCE_INLINE static pack split(const vec<T, elements>& run) {
    pack result;
    for (int s = 0; s < Steps; ++s)
      for (int i = 0; i < Fragment::size; ++i)
        result.step[s].set(i, run[s * Fragment::size + i]);
    return result;
  }
};

/// The same from a tile whose rows are k and whose columns are the rows of A (or the columns of B):
/// element by element, one ds_read of the element's size each, all lanes of a group in one tile
/// row. Cheap for fp32 and fp64, whose fragments are one element; for narrower types write the tile
/// transposed and use `lds_operand`. Element e of a lane is k = (lane / rows) * elements + e, as
/// there, so that the two kinds may be mixed.
template <class Fragment, int Steps = 1>
struct lds_operand_strided {
  using T = typename Fragment::element_type;
  static_assert(Fragment::role != fragment_role::accumulator,
                "wavetile::lds_operand_strided: for A and B");
  static constexpr int rows =
      Fragment::role == fragment_role::a ? Fragment::shape.m : Fragment::shape.n;
  static constexpr int elements = Fragment::size * Steps;
  static constexpr int depth = Fragment::shape.k * Steps;
  using pack = fragment_pack<Fragment, Steps>;

  /// Element `e` of a lane: tile row k, tile column `row`.
  WAVETILE_HD static constexpr coordinate place(int lane, int e, int row = 0, int k = 0) {
    return {k + lane / rows * elements + e, row + lane % rows};
  }
  static constexpr lds_access access_at(int e, int row = 0, int k = 0) {
    return lds_read(static_cast<int>(sizeof(T)), [=](int lane) { return place(lane, e, row, k); });
  }
  static constexpr lds_access access = access_at(0, 0, 0);

#if WAVETILE_HIP
  template <class Tile>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static pack load(Tile from, int row, int k,
                                                         int lane = lane_id()) {
    detail::check_tile_type<Tile, T>();
    pack result;
    for (int e = 0; e < elements; ++e) {
      const coordinate at = place(lane, e, row, k);
      result.step[e / Fragment::size].set(e % Fragment::size,
                                          detail::bit_cast<T>(from.read(at.row, at.column)));
    }
    return result;
  }
#endif
};

} // namespace wavetile
