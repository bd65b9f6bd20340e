/// \file
/// From the number of a row to where it starts in each array of a problem.
#pragma once

#include <wavetile/kernels/rows/divider.hpp>

namespace wavetile::kernels {

/// Leading axes a row operator accepts beside the row itself.
inline constexpr int max_leading_axes = 3;

/// Rows 0 … rows-1 of up to three leading axes, numbered in row-major order, in `Operands` arrays
/// with strides of their own. A kernel argument; the host builds it with `make_row_map`.
template <int Operands>
struct row_map {
  int32_t axes = 1;                             ///< leading axes left after joining, 1 … 3
  divider inner[max_leading_axes - 1];          ///< extents of the innermost two of them
  int64_t stride[Operands][max_leading_axes]{}; ///< elements; axis 0 is the innermost

  /// Offsets in elements of row `row` in every operand.
  WAVETILE_HD WAVETILE_FORCE_INLINE constexpr void locate(int64_t row,
                                                          int64_t (&offset)[Operands]) const {
    if (axes == 1) {
      for (int i = 0; i < Operands; ++i)
        offset[i] = row * stride[i][0];
      return;
    }
    const int64_t outer = inner[0].quotient(row);
    const int64_t first = row - outer * inner[0].divisor();
    int64_t second = outer, third = 0;
    if (axes == 3) {
      third = inner[1].quotient(outer);
      second = outer - third * inner[1].divisor();
    }
    for (int i = 0; i < Operands; ++i)
      offset[i] = first * stride[i][0] + second * stride[i][1] + third * stride[i][2];
  }
};

/// Row map of the leading axes `extent[0 … axes-1]` (outermost first, none of them 0) and each
/// operand's strides in the same order. Axes of one element are dropped, and neighbours are joined
/// where every operand steps through them evenly, so most problems need no division.
template <int Operands>
constexpr row_map<Operands> make_row_map(int axes, const int64_t* extent,
                                         const int64_t (&stride)[Operands][max_leading_axes]) {
  row_map<Operands> map;
  int64_t size[max_leading_axes] = {1, 1, 1};
  int count = 0;
  for (int axis = axes - 1; axis >= 0; --axis) {
    if (extent[axis] == 1)
      continue;
    bool joins = count > 0;
    for (int i = 0; i < Operands && joins; ++i)
      joins = stride[i][axis] == map.stride[i][count - 1] * size[count - 1];
    if (joins) {
      size[count - 1] *= extent[axis];
      continue;
    }
    size[count] = extent[axis];
    for (int i = 0; i < Operands; ++i)
      map.stride[i][count] = stride[i][axis];
    ++count;
  }
  map.axes = count == 0 ? 1 : count;
  map.inner[0] = divider(size[0]);
  map.inner[1] = divider(size[1]);
  return map;
}

} // namespace wavetile::kernels
