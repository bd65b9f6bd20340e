/// \file
/// A tensor that somebody else owns: pointer, extents, strides.
#pragma once

#include <wavetile/core/type_traits.hpp>

namespace wavetile {

/// sum of index[i] * stride[i]. The parameters are 64-bit, so nothing is multiplied in 32 bits
/// whatever integers the caller holds: element_offset({65536, 32768}, {32769, 1}) = 2147581952.
template <int Rank>
WAVETILE_HD constexpr int64_t element_offset(const int64_t (&index)[Rank],
                                             const int64_t (&stride)[Rank]) {
  int64_t offset = 0;
  for (int i = 0; i < Rank; ++i)
    offset += index[i] * stride[i];
  return offset;
}

/// `Rank`-dimensional array of `T` in global memory, not owned. Strides count elements, may exceed
/// the row (padding) and may be 0 (broadcast) for inputs. An aggregate, usable as kernel argument;
/// its layout is the same for host and device.
template <class T, int Rank>
struct view {
  static_assert(Rank >= 1, "a view has at least one dimension");
  using element_type = T;
  static constexpr int rank = Rank;

  T* data;
  int64_t extent[Rank];
  int64_t stride[Rank];

  /// Offset in elements of an index.
  template <class... Index>
  requires(sizeof...(Index) == Rank) WAVETILE_HD constexpr int64_t offset(Index... index) const {
    return element_offset<Rank>({static_cast<int64_t>(index)...}, stride);
  }

  template <class... Index>
  requires(sizeof...(Index) == Rank) WAVETILE_HD constexpr T& operator()(Index... index) const {
    return data[offset(index...)];
  }

  /// Number of elements; 0 if an extent is 0. Meaningful for extents >= 0.
  WAVETILE_HD constexpr int64_t size() const {
    int64_t count = 1;
    for (int i = 0; i < Rank; ++i)
      count *= extent[i];
    return count;
  }

  WAVETILE_HD constexpr bool empty() const {
    for (int i = 0; i < Rank; ++i)
      if (extent[i] == 0)
        return true;
    return false;
  }

  /// True when the elements lie densely in row-major order (an extent of 1 permits any stride).
  WAVETILE_HD constexpr bool is_dense() const {
    int64_t expected = 1;
    for (int i = Rank - 1; i >= 0; --i) {
      if (extent[i] != 1 && stride[i] != expected)
        return false;
      expected *= extent[i];
    }
    return true;
  }

  /// Elements from the lowest to one past the highest address touched, for strides >= 0; 0 when
  /// empty.
  WAVETILE_HD constexpr int64_t span() const {
    if (empty())
      return 0;
    int64_t last = 0;
    for (int i = 0; i < Rank; ++i)
      last += (extent[i] - 1) * stride[i];
    return last + 1;
  }

  /// A view of T reads as a view of const T.
  WAVETILE_HD constexpr operator view<const T, Rank>() const requires(!detail::is_const_v<T>) {
    view<const T, Rank> result{data, {}, {}};
    for (int i = 0; i < Rank; ++i) {
      result.extent[i] = extent[i];
      result.stride[i] = stride[i];
    }
    return result;
  }
};

/// Dense row-major view: `make_view(p, rows, columns)`.
template <class T, class... Extent>
requires(sizeof...(Extent) >= 1) WAVETILE_HD
    constexpr view<T, static_cast<int>(sizeof...(Extent))> make_view(T* data, Extent... extent) {
  constexpr int rank = static_cast<int>(sizeof...(Extent));
  view<T, rank> result{data, {static_cast<int64_t>(extent)...}, {}};
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    result.stride[i] = stride;
    stride *= result.extent[i];
  }
  return result;
}

/// View with given strides: `make_strided_view(p, {rows, columns}, {leading_dimension, 1})`.
template <class T, int Rank>
WAVETILE_HD constexpr view<T, Rank> make_strided_view(T* data, const int64_t (&extent)[Rank],
                                                      const int64_t (&stride)[Rank]) {
  view<T, Rank> result{data, {}, {}};
  for (int i = 0; i < Rank; ++i) {
    result.extent[i] = extent[i];
    result.stride[i] = stride[i];
  }
  return result;
}

} // namespace wavetile
