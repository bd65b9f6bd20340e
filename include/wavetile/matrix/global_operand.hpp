/// \file
/// Fragments straight from and to global memory, with bounds.
#pragma once

#include <wavetile/core/view.hpp>
#include <wavetile/matrix/lds_operand.hpp>

#if WAVETILE_HIP

namespace wavetile {

/// Reads fragments of `Operand` (an `lds_operand`: the same elements in the same order) from a
/// matrix whose rows are those of A (or the columns of B) and whose columns are k, dense in k.
/// Elements outside the matrix are zero and are not read: tails in k are zero in both operands, so
/// that an infinity in one cannot meet a zero in the other.
///
/// With `Aligned` a run inside the matrix is one load of its size: data pointer, row stride and
/// first k must be multiples of `elements` elements. Otherwise one load an element.
template <class Operand, bool Aligned, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE typename Operand::pack
load_operand(const view<const T, 2>& from, int64_t row, int64_t k, int lane = lane_id()) {
  static_assert(detail::is_same_v<storage_t<T>, typename Operand::T>,
                "wavetile::load_operand: the matrix has another element type than the fragment");
  constexpr int elements = Operand::elements;
  const coordinate at = Operand::place(lane);
  const int64_t r = row + at.row;
  const int64_t first = k + at.column;
  vec<typename Operand::T, elements> run{};
  if (r < from.extent[0]) {
    const auto* source = storage_pointer(from.data) + (r * from.stride[0] + first);
    if (Aligned && first + elements <= from.extent[1])
      return Operand::split(load_vec<elements>(source));
    for (int e = 0; e < elements; ++e)
      if (first + e < from.extent[1])
        run[e] = source[e];
  }
  return Operand::split(run);
}

namespace detail {

/// Calls `visit(i, inside, offset)` for each element of an accumulator whose first element is
/// (`row`, `column`) of a matrix; `inside` is constant when the whole fragment lies in it. Rows of
/// a lane's elements differ by amounts that all lanes share, so that the offsets are one vector
/// address plus scalars.
template <class Fragment, class T, class Visit>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void visit_accumulator(const view<T, 2>& matrix, int64_t row,
                                                             int64_t column, int lane,
                                                             const Visit& visit) {
  constexpr matrix_element start = Fragment::element(0, 0);
  const matrix_element first = Fragment::element(lane, 0);
  const int64_t r = row + first.row;
  const int64_t c = column + first.column;
  const int64_t base = r * matrix.stride[0] + c * matrix.stride[1];
  const auto down = [](int i) { return int64_t{Fragment::element(0, i).row - start.row}; };
  if (row + Fragment::shape.m <= matrix.extent[0] &&
      column + Fragment::shape.n <= matrix.extent[1]) {
    for (int i = 0; i < Fragment::size; ++i)
      visit(i, true, base + down(i) * matrix.stride[0]);
  } else {
    for (int i = 0; i < Fragment::size; ++i)
      visit(i, r + down(i) < matrix.extent[0] && c < matrix.extent[1],
            base + down(i) * matrix.stride[0]);
  }
}

} // namespace detail

/// Reads C; elements outside the matrix are zero and are not read.
template <class Fragment, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE Fragment load_accumulator(const view<const T, 2>& from,
                                                                int64_t row, int64_t column,
                                                                int lane = lane_id()) {
  Fragment result{};
  detail::visit_accumulator<Fragment>(
      from, row, column, lane, [&](int i, bool inside, int64_t offset) {
        if (inside)
          result.set(i, convert<typename Fragment::element_type>(from.data[offset]));
      });
  return result;
}

/// Writes D, converted to the matrix's element type; elements outside the matrix are left out.
/// Lanes of a group write consecutive columns: 64 or 128 bytes a row with fp32, half with 16 bits.
template <class Fragment, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_accumulator(const view<T, 2>& to,
                                                             const Fragment& d, int64_t row,
                                                             int64_t column, int lane = lane_id()) {
  detail::visit_accumulator<Fragment>(to, row, column, lane,
                                      [&](int i, bool inside, int64_t offset) {
                                        if (inside)
                                          to.data[offset] = convert<T>(d[i]);
                                      });
}

} // namespace wavetile

#endif
