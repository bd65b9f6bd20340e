/// \file
/// What the arrays of a row operator tell its kernels.
#pragma once

#include <wavetile/kernels/rows/operand.hpp>
#include <wavetile/kernels/rows/row_map.hpp>

namespace wavetile::kernels {

/// Every row of the array starts at a multiple of the bytes of one access to a chunk.
inline bool rows_aligned(const operand& array, int chunk) {
  const int64_t whole = int64_t{chunk} * array.element_bytes;
  const int64_t bytes = whole < 16 ? whole : 16;
  bool aligned = static_cast<int64_t>(reinterpret_cast<uintptr_t>(array.data)) % bytes == 0;
  for (int axis = 0; axis < array.rank - 1; ++axis)
    aligned = aligned &&
              (array.extent[axis] == 1 || array.stride[axis] * array.element_bytes % bytes == 0);
  return aligned;
}

/// Row map of arrays with the extents of `arrays[0]`.
template <int Count>
row_map<Count> map_rows(const operand* const (&arrays)[Count]) {
  int64_t stride[Count][max_leading_axes] = {};
  for (int i = 0; i < Count; ++i)
    for (int axis = 0; axis < arrays[i]->rank - 1; ++axis)
      stride[i][axis] = arrays[i]->stride[axis];
  return make_row_map<Count>(arrays[0]->rank - 1, arrays[0]->extent, stride);
}

} // namespace wavetile::kernels
