/// \file
/// What becomes of an accumulator: other types, other operands, LDS.
#pragma once

#include <wavetile/matrix/lds_operand.hpp>

namespace wavetile {

/// Element by element `convert<To>`; pairs and fours share an instruction where the device has one.
template <numeric To, matrix_shape Shape, class T, matrix_type Origin>
WAVETILE_HD WAVETILE_FORCE_INLINE fragment<fragment_role::accumulator, Shape, To, Origin>
convert(const fragment<fragment_role::accumulator, Shape, T, Origin>& from) {
  using result = fragment<fragment_role::accumulator, Shape, To, Origin>;
  return result::from_vec(convert<To>(from.to_vec()));
}

/// Replaces each element by `f(value, row, column)`, with the element's place in a matrix in which
/// the fragment's first element is (`row`, `column`): scaling, bias, masks, activation.
template <class Fragment, class F>
WAVETILE_HD WAVETILE_FORCE_INLINE void transform(Fragment& d, int row, int column, int lane,
                                                 const F& f) {
  for (int i = 0; i < Fragment::size; ++i) {
    const matrix_element at = Fragment::element(lane, i);
    d.set(i, f(d[i], row + at.row, column + at.column));
  }
}

/// Part `Part` of an accumulator as an operand of the next product, without moving a value between
/// lanes: rows Part * k … of D are the k values that the same lanes hold of B. As role `b` it is
/// those rows of D; as role `a`, those rows of D transposed. 16-bit types (k = 16 or 8), whose
/// fragments are four elements like the runs of rows in an accumulator. `T` is the type converted
/// to.
///
///     // d = K * Q^T; then V^T * P with P = d, one instruction for each 8 rows of d
///     mma(o, v_fragment, as_operand<fragment_role::b, bf16, 0>(d));
template <fragment_role Role, class T, int Part, matrix_shape Shape>
WAVETILE_HD WAVETILE_FORCE_INLINE auto
as_operand(const fragment<fragment_role::accumulator, Shape, float>& d) {
  constexpr matrix_shape shape{Shape.m, Shape.n, shape_16x16<T>.k * 16 / Shape.m};
  using result = fragment<Role, shape, T>;
  static_assert(Role != fragment_role::accumulator && sizeof(T) == 2,
                "wavetile::as_operand: role a or b, of a 16-bit type");
  static_assert(Part >= 0 && Part < Shape.m / shape.k,
                "wavetile::as_operand: there are m / k parts");
  vec<float, 4> run;
  for (int i = 0; i < 4; ++i)
    run[i] = d[4 * Part + i];
  return result::from_vec(convert<T>(run));
}

/// Writes an accumulator to an LDS tile, element by element: tile element (row, column) is that of
/// the matrix. One ds_write of the element's size each; the lanes of a group write one tile row.
template <class Fragment>
struct lds_accumulator {
  static_assert(Fragment::role == fragment_role::accumulator,
                "wavetile::lds_accumulator: for accumulators; A and B have lds_operand");
  using T = typename Fragment::element_type;

  WAVETILE_HD static constexpr coordinate place(int lane, int i, int row = 0, int column = 0) {
    const matrix_element at = Fragment::element(lane, i);
    return {row + at.row, column + at.column};
  }
  static constexpr lds_access access_at(int i, int row = 0, int column = 0) {
    return lds_write(static_cast<int>(sizeof(T)),
                     [=](int lane) { return place(lane, i, row, column); });
  }
  static constexpr lds_access access = access_at(0, 0, 0);

#if WAVETILE_HIP
  template <class Tile>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void store(Tile to, const Fragment& d, int row,
                                                          int column, int lane = lane_id()) {
    using U = typename Tile::element_type;
    detail::check_tile_type<Tile, T>();
    for (int i = 0; i < Fragment::size; ++i) {
      const coordinate at = place(lane, i, row, column);
      to.write(at.row, at.column, detail::bit_cast<U>(d[i]));
    }
  }
#endif
};

/// Writes an accumulator transposed: tile element (column, row) is element (row, column) of the
/// matrix. A lane's runs of four rows lie together in the tile, so each is one ds_write of four
/// elements. Not for fp64, whose rows are apart.
template <class Fragment>
struct lds_accumulator_transposed {
  static_assert(Fragment::role == fragment_role::accumulator &&
                    Fragment::origin != matrix_type::fp64,
                "wavetile::lds_accumulator_transposed: for accumulators of 32 bits");
  using T = typename Fragment::element_type;
  static constexpr int runs = Fragment::size / 4;

  WAVETILE_HD static constexpr coordinate place(int lane, int run, int row = 0, int column = 0) {
    const matrix_element at = Fragment::element(lane, 4 * run);
    return {column + at.column, row + at.row};
  }
  static constexpr lds_access access_at(int run, int row = 0, int column = 0) {
    return lds_write(4 * static_cast<int>(sizeof(T)),
                     [=](int lane) { return place(lane, run, row, column); });
  }
  static constexpr lds_access access = access_at(0, 0, 0);

#if WAVETILE_HIP
  template <class Tile>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void store(Tile to, const Fragment& d, int row,
                                                          int column, int lane = lane_id()) {
    using U = typename Tile::element_type;
    detail::check_tile_type<Tile, T>();
    for (int run = 0; run < runs; ++run) {
      const coordinate at = place(lane, run, row, column);
      vec<U, 4> four;
      for (int i = 0; i < 4; ++i)
        four[i] = detail::bit_cast<U>(d[4 * run + i]);
      to.write_vec(at.row, at.column, four);
    }
  }
#endif
};

} // namespace wavetile
