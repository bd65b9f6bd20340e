/// \file
/// Fragments: what one lane holds of a matrix that a wave multiplies.
#pragma once

#include <wavetile/arch/matrix_instruction.hpp>
#include <wavetile/core/vec.hpp>

namespace wavetile {

namespace detail {

template <class T>
constexpr matrix_type matrix_type_of() {
  if constexpr (is_same_v<T, double>)
    return matrix_type::fp64;
  else if constexpr (is_same_v<T, float>)
    return matrix_type::fp32;
  else if constexpr (is_same_v<T, fp16>)
    return matrix_type::fp16;
  else if constexpr (is_same_v<T, bf16>)
    return matrix_type::bf16;
  else if constexpr (is_same_v<T, fp8_e4m3_fnuz>)
    return matrix_type::e4m3_fnuz;
  else if constexpr (is_same_v<T, fp8_e5m2_fnuz>)
    return matrix_type::e5m2_fnuz;
  else if constexpr (is_same_v<T, int8_t>)
    return matrix_type::int8;
  else {
    static_assert(is_same_v<T, int32_t>,
                  "wavetile::fragment: matrix cores compute with fp64, fp32, fp16, bf16, the two "
                  "fnuz fp8 types and int8");
    return matrix_type::int32;
  }
}

// How a fragment lies in registers: as the type that the compiler's matrix builtins take, so that
// an accumulator stays one register tuple through a loop. Compilers without vectors of that kind
// (a plain host compiler) keep the elements in an array.
#if defined(__clang__)
template <class T>
struct register_element {
  using type = T;
};
template <>
struct register_element<fp16> {
  using type = _Float16;
};
template <>
struct register_element<bf16> {
  using type = short;
};
template <fp8_format Format>
struct register_element<basic_fp8<Format>> {
  using type = int8_t;
};
template <class T>
using register_element_t = typename register_element<T>::type;
template <class T, int N>
struct registers_of {
  typedef register_element_t<T> type __attribute__((ext_vector_type(N)));
};
template <class T>
struct registers_of<T, 1> {
  using type = T;
};
#else
template <class T>
using register_element_t = T;
template <class T, int N>
struct registers_of {
  using type = vec<T, N>;
};
template <class T>
struct registers_of<T, 1> {
  using type = T;
};
#endif

} // namespace detail

/// The 16 x 16 and the 32 x 32 shape for inputs of type `T` (fp64 has the first only):
/// `fragment<fragment_role::a, shape_32x32<bf16>, bf16>`.
template <class T>
inline constexpr matrix_shape shape_16x16{16, 16,
                                          sizeof(T) >= 4 ? 4 : 32 / static_cast<int>(sizeof(T))};
template <class T>
inline constexpr matrix_shape shape_32x32{32, 32, shape_16x16<T>.k / 2};

/// The elements that one lane holds of an operand of a matrix instruction of this shape.
///
/// - `fragment_role::a`: of A, m x k; `b`: of B, k x n; `accumulator`: of C and D, m x n.
/// - `T` is a type of the library itself: double, float, fp16, bf16, fp8_e4m3_fnuz, fp8_e5m2_fnuz,
///   int8_t; accumulators double, float, int32_t, and every numeric type as result of `convert`.
/// - `Origin`: the accumulator type of the instruction, which fixes the layout of the accumulator.
///
/// Element i of lane l is `element(l, i)` of the matrix. Registers: size * sizeof(T) / 4.
/// Uninitialised by default; `fragment f{}` is all zeros.
template <fragment_role Role, matrix_shape Shape, class T,
          matrix_type Origin = detail::matrix_type_of<accumulator_t<T>>()>
struct fragment {
  using element_type = T;
  static constexpr fragment_role role = Role;
  static constexpr matrix_shape shape = Shape;
  static constexpr matrix_type origin = Origin;
  static constexpr int size = fragment_size(Role, Shape); ///< elements of a lane

  static_assert(detail::is_same_v<T, storage_t<T>>,
                "wavetile::fragment: use the library's own element type (storage_t<T>)");
  static_assert((Shape.m == 16 && Shape.n == 16) || (Shape.m == 32 && Shape.n == 32),
                "wavetile::fragment: shapes are 16 x 16 and 32 x 32");
  static_assert(size > 0, "wavetile::fragment: a lane holds at least one element");

  /// Where element `i` of lane `lane` is in the matrix.
  WAVETILE_HD static constexpr matrix_element element(int lane, int i) {
    return fragment_element(Role, Shape, Origin, lane, i);
  }

  /// Element `i`; stays in registers when `i` is known after unrolling.
  WAVETILE_HD WAVETILE_FORCE_INLINE T operator[](int i) const {
    if constexpr (size == 1)
      return registers;
    else
      return detail::bit_cast<T>(registers[i]);
  }
  WAVETILE_HD WAVETILE_FORCE_INLINE void set(int i, T value) {
    if constexpr (size == 1)
      registers = value;
    else
      registers[i] = detail::bit_cast<detail::register_element_t<T>>(value);
  }

  /// All elements equal.
  WAVETILE_HD WAVETILE_FORCE_INLINE static fragment filled(T value) {
    fragment result;
    for (int i = 0; i < size; ++i)
      result.set(i, value);
    return result;
  }

  /// As an array, and from one.
  WAVETILE_HD WAVETILE_FORCE_INLINE vec<T, size> to_vec() const {
    vec<T, size> result;
    for (int i = 0; i < size; ++i)
      result[i] = (*this)[i];
    return result;
  }
  WAVETILE_HD WAVETILE_FORCE_INLINE static fragment from_vec(const vec<T, size>& elements) {
    fragment result;
    for (int i = 0; i < size; ++i)
      result.set(i, elements[i]);
    return result;
  }

  typename detail::registers_of<T, size>::type registers;
};

/// Fragments of consecutive steps in k, filled by one wide read; see `lds_operand`.
template <class Fragment, int Steps>
struct fragment_pack {
  using fragment_type = Fragment;
  static constexpr int steps = Steps;
  Fragment step[Steps];
};

/// The three fragments of a product of `A` by `B` elements; HIP's own types stand for ours.
template <matrix_shape Shape, numeric A, numeric B = A>
struct product_fragments {
  using a = fragment<fragment_role::a, Shape, storage_t<A>>;
  using b = fragment<fragment_role::b, Shape, storage_t<B>>;
  using accumulator = fragment<fragment_role::accumulator, Shape, accumulator_t<A>>;
};

} // namespace wavetile
