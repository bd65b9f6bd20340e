/// \file
/// Host checks of the arrays a row operator is given, independent of their element types.
#pragma once

#include <wavetile/core/bits.hpp>
#include <wavetile/core/numeric_traits.hpp>
#include <wavetile/core/status.hpp>
#include <wavetile/core/view.hpp>

namespace wavetile::kernels {

/// Largest rank of a row operator's arrays.
inline constexpr int max_rank = 4;

/// A view without its element type.
struct operand {
  const char* name = ""; ///< as the caller knows it: "x"
  const void* data = nullptr;
  int element_bytes = 1;
  int rank = 1;
  int added_axes = 0; ///< in front, which the caller's view has not
  int64_t extent[max_rank] = {};
  int64_t stride[max_rank] = {}; ///< elements

  constexpr int64_t columns() const { return extent[rank - 1]; }
  constexpr int64_t rows() const {
    int64_t count = 1;
    for (int axis = 0; axis < rank - 1; ++axis)
      count *= extent[axis];
    return count;
  }
  constexpr bool empty() const {
    for (int axis = 0; axis < rank; ++axis)
      if (extent[axis] == 0)
        return true;
    return false;
  }
};

template <class T, int Rank>
operand describe(const char* name, const view<T, Rank>& array) {
  static_assert(Rank <= max_rank, "row operators take views of rank 1 to 4");
  operand result;
  result.name = name;
  result.data = array.data;
  result.element_bytes = static_cast<int>(sizeof(T));
  result.rank = Rank;
  for (int axis = 0; axis < Rank; ++axis) {
    result.extent[axis] = array.extent[axis];
    result.stride[axis] = array.stride[axis];
  }
  return result;
}

/// "x.stride[1]", by the axes of the caller's view.
inline fixed_text<32> member_name(const operand& array, const char* member, int axis) {
  fixed_text<32> text;
  text.append(array.name).append('.').append(member).append('[');
  return text.append(axis - array.added_axes).append(']');
}

/// "alpha: it is 0.5, …"
inline status number_failure(const char* name, double value, const char* why) {
  char digits[32];
  (void)__builtin_snprintf(digits, sizeof digits, "%g", value);
  const char* infinity = is_negative_inf(value) ? "-infinity" : "+infinity";
  return status::failure(status_code::invalid_argument, name, "it is ")
      .append(is_nan(value)      ? "NaN"
              : is_finite(value) ? digits
                                 : infinity)
      .append(why);
}

/// Bytes from `data` to the lowest byte of the array and to one past the highest; false when they
/// do not fit 62 bits. For arrays that are not empty.
inline bool byte_range(const operand& array, int64_t& low, int64_t& high) {
  low = 0;
  high = array.element_bytes;
  for (int axis = 0; axis < array.rank; ++axis) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(array.extent[axis] - 1, array.stride[axis], &reach) ||
        __builtin_mul_overflow(reach, int64_t{array.element_bytes}, &reach) ||
        reach > (int64_t{1} << 60) || reach < -(int64_t{1} << 60))
      return false;
    (reach < 0 ? low : high) += reach;
  }
  return true;
}

/// No negative extent, and a number of elements and a reach that 62 bits hold.
inline status check_extents(const operand& array) {
  int64_t count = 1;
  bool fits = true;
  for (int axis = 0; axis < array.rank; ++axis) {
    if (array.extent[axis] < 0)
      return status::failure(status_code::invalid_argument,
                             member_name(array, "extent", axis).c_str(), array.extent[axis],
                             ">= 0");
    if (array.extent[axis] > 0)
      fits = fits && !__builtin_mul_overflow(count, array.extent[axis], &count);
  }
  int64_t low = 0, high = 0;
  if (array.empty() || (fits && count < (int64_t{1} << 62) && byte_range(array, low, high)))
    return {};
  status result = status::failure(status_code::unsupported_shape, array.name, "extents ");
  for (int axis = 0; axis < array.rank; ++axis)
    result.append(axis == 0 ? "" : " x ").append(array.extent[axis]);
  result.append(", strides ");
  for (int axis = 0; axis < array.rank; ++axis)
    result.append(axis == 0 ? "" : " x ").append(array.stride[axis]);
  return result.append(", allowed: < 2^62 elements, and <= 2^60 bytes along each axis");
}

/// What must hold of an array that is read or written: not null, aligned to its elements, elements
/// of a row next to each other. For arrays that are not empty.
inline status check_access(const operand& array) {
  if (array.data == nullptr)
    return status::failure(status_code::null_pointer, array.name,
                           "null pointer to an array that is not empty");
  const auto address = reinterpret_cast<uintptr_t>(array.data);
  if (address % static_cast<uintptr_t>(array.element_bytes) != 0)
    return status::failure(status_code::misaligned, array.name, static_cast<int64_t>(address),
                           "a multiple of ")
        .append(array.element_bytes)
        .append(" bytes, the size of an element");
  const int last = array.rank - 1;
  if (array.extent[last] > 1 && array.stride[last] != 1)
    return status::failure(status_code::unsupported_shape,
                           member_name(array, "stride", last).c_str(), array.stride[last],
                           "1 (the elements of a row lie next to each other)");
  return {};
}

/// Equal rank and extents.
inline status check_same_extents(const operand& array, const operand& model) {
  if (array.rank != model.rank)
    return status::failure(status_code::unsupported_shape, array.name, "has rank ")
        .append(array.rank)
        .append(", ")
        .append(model.name)
        .append(" has rank ")
        .append(model.rank);
  for (int axis = 0; axis < array.rank; ++axis)
    if (array.extent[axis] != model.extent[axis])
      return status::failure(status_code::unsupported_shape,
                             member_name(array, "extent", axis).c_str(), array.extent[axis], "")
          .append(model.extent[axis])
          .append(", the extent of ")
          .append(model.name);
  return {};
}

/// The leading axes of an array, largest step first, steps in bytes and positive; without axes of
/// one element, where `other` has only one as well or is null.
struct row_grid {
  int axes = 0;
  int axis[max_rank] = {}; ///< of the array
  int64_t extent[max_rank] = {};
  int64_t step[max_rank] = {};
  int64_t row_bytes = 0;
};

inline row_grid grid_of(const operand& array, const operand* other = nullptr) {
  row_grid grid;
  grid.row_bytes = array.columns() * array.element_bytes;
  for (int axis = 0; axis < array.rank - 1; ++axis) {
    if (array.extent[axis] == 1 && (other == nullptr || other->extent[axis] == 1))
      continue;
    const int64_t step = array.stride[axis] < 0 ? -array.stride[axis] : array.stride[axis];
    int place = grid.axes++;
    for (; place > 0 && grid.step[place - 1] < step * array.element_bytes; --place) {
      grid.step[place] = grid.step[place - 1];
      grid.extent[place] = grid.extent[place - 1];
      grid.axis[place] = grid.axis[place - 1];
    }
    grid.axis[place] = axis;
    grid.step[place] = step * array.element_bytes;
    grid.extent[place] = array.extent[axis];
  }
  return grid;
}

/// Every row lies apart from every other, axes nested in one another: what an output needs.
inline status check_rows_apart(const operand& array) {
  const row_grid grid = grid_of(array);
  int64_t reach = grid.row_bytes;
  for (int axis = grid.axes - 1; axis >= 0; --axis) {
    if (grid.step[axis] < reach) {
      const int own = grid.axis[axis];
      return status::failure(status_code::overlapping, member_name(array, "stride", own).c_str(),
                             array.stride[own], "at least ")
          .append(reach / array.element_bytes)
          .append(" either way: the rows of an output must not overlap or interleave");
    }
    reach += (grid.extent[axis] - 1) * grid.step[axis];
  }
  return {};
}

/// The very same elements: an operation on both is in place.
inline bool same_elements(const operand& a, const operand& b) {
  if (a.data != b.data || a.element_bytes != b.element_bytes || a.rank != b.rank)
    return false;
  for (int axis = 0; axis < a.rank; ++axis)
    if (a.extent[axis] != b.extent[axis] ||
        (a.extent[axis] != 1 && a.stride[axis] != b.stride[axis]))
      return false;
  return true;
}

// Is there a combination of row differences of two grids of the same steps, from `axis` on, that
// brings two rows that are `distance` bytes apart into contact?
inline bool rows_meet(const row_grid& grid, const row_grid& other, int axis, int64_t distance) {
  const int64_t other_bytes = other.row_bytes;
  if (axis >= grid.axes || axis >= max_rank)
    return distance < grid.row_bytes && distance > -other_bytes;
  int64_t reach = grid.row_bytes > other_bytes ? grid.row_bytes : other_bytes;
  for (int inner = axis + 1; inner < grid.axes; ++inner)
    reach += ((grid.extent[inner] > other.extent[inner] ? grid : other).extent[inner] - 1) *
             grid.step[inner];
  const int64_t step = grid.step[axis];
  if (step == 0)
    return rows_meet(grid, other, axis + 1, distance);
  const int64_t nearest = -distance / step;
  const int64_t around = reach / step + 1;
  if (around > 8)
    return true; // not a nested layout: assume the worst
  for (int64_t k = nearest - around; k <= nearest + around; ++k)
    if (k > -grid.extent[axis] && k < other.extent[axis] &&
        rows_meet(grid, other, axis + 1, distance + k * step))
      return true;
  return false;
}

/// The same array, with the steps of `model` along axes of which it has only one element: those are
/// never made.
inline operand with_steps_of(const operand& array, const operand& model) {
  operand result = array;
  if (array.rank == model.rank)
    for (int axis = 0; axis < array.rank - 1; ++axis)
      if (array.extent[axis] == 1)
        result.stride[axis] = model.stride[axis];
  return result;
}

/// Whether two arrays share memory: exact for arrays with the same steps between rows (two column
/// ranges of one matrix are apart, and so are heads side by side in one row), else by the range of
/// their addresses. For arrays not empty.
inline bool share_memory(const operand& a, const operand& b) {
  int64_t a_low = 0, a_high = 0, b_low = 0, b_high = 0;
  if (!byte_range(a, a_low, a_high) || !byte_range(b, b_low, b_high))
    return true;
  const auto a_base = static_cast<int64_t>(reinterpret_cast<uintptr_t>(a.data));
  const auto b_base = static_cast<int64_t>(reinterpret_cast<uintptr_t>(b.data));
  if (a_base + a_high <= b_base + b_low || b_base + b_high <= a_base + a_low)
    return false;
  const bool single = a.rank == b.rank; // then axes of one element are kept
  const row_grid a_grid = grid_of(with_steps_of(a, b), single ? &b : nullptr),
                 b_grid = grid_of(with_steps_of(b, a), single ? &a : nullptr);
  if (a_grid.axes != b_grid.axes)
    return true;
  for (int axis = 0; axis < a_grid.axes; ++axis)
    if (a_grid.step[axis] != b_grid.step[axis])
      return true;
  return rows_meet(a_grid, b_grid, 0, (b_base + b_low) - (a_base + a_low));
}

/// "y: starts 4 bytes after x and overlaps it, allowed: …"
inline status overlap_failure(const operand& output, const operand& input, const char* allowed) {
  const auto from = reinterpret_cast<uintptr_t>(input.data);
  const auto to = reinterpret_cast<uintptr_t>(output.data);
  status result = status::failure(status_code::overlapping, output.name, "starts ");
  if (from == to)
    result.append("where ").append(input.name).append(" does");
  else
    result.append(static_cast<uint64_t>(to < from ? from - to : to - from))
        .append(to < from ? " bytes before " : " bytes after ")
        .append(input.name);
  return result.append(" and overlaps it, allowed: ").append(allowed);
}

/// An output and an input are the same array or apart.
inline status check_in_place_or_apart(const operand& output, const operand& input) {
  if (same_elements(output, input) || !share_memory(output, input))
    return {};
  return overlap_failure(output, input,
                         "apart, or exactly in place (same pointer, extents, strides and element "
                         "size)");
}

/// `bytes` of lent memory, which kernels write, touch no element's range of an array.
inline status check_memory_apart(const void* memory, int64_t bytes, const operand& array) {
  int64_t low = 0, high = 0;
  if (bytes == 0 || array.empty() || !byte_range(array, low, high))
    return {};
  const auto begin = static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory));
  const auto base = static_cast<int64_t>(reinterpret_cast<uintptr_t>(array.data));
  if (begin + bytes <= base + low || base + high <= begin)
    return {};
  return status::failure(status_code::overlapping, "memory.data", "its first ")
      .append(bytes)
      .append(" bytes overlap ")
      .append(array.name)
      .append(", allowed: apart from every array of the call");
}

} // namespace wavetile::kernels
