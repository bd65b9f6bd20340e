/// \file
/// Fragments of NVIDIA's matrix instructions: what one of 32 lanes holds. Declarations are for any
/// compiler, products for nvcc.
#pragma once

#include <wavetile/arch/cuda/mma.hpp>
#include <wavetile/arch/cuda/mma_layout.hpp>
#include <wavetile/core/numeric_traits.hpp>
#include <wavetile/core/vec.hpp>

namespace wavetile {

namespace detail {

/// Elements that `mma.sync` multiplies for the library.
template <class T>
inline constexpr bool is_warp_element_v =
    is_any_of_v<T, double, fp16, bf16, int8_t, fp8_e4m3_ocp, fp8_e5m2_ocp>;

template <class T>
inline constexpr bool is_ocp_v = is_any_of_v<T, fp8_e4m3_ocp, fp8_e5m2_ocp>;

template <fragment_role Role, class T>
struct warp_operand_registers {
  static_assert(is_warp_element_v<T>, "wavetile::warp_fragment: matrix cores multiply fp64, fp16, "
                                      "bf16, int8 and the two OCP fp8 types");
  static constexpr int count = Role == fragment_role::a ? 4 : 2;
  uint32_t word[count];
};
template <fragment_role Role>
struct warp_operand_registers<Role, double> {
  double word;
};

} // namespace detail

/// What a lane holds of A or B: `warp_shape(sizeof(T))`, element i at `element(lane, i)`.
template <fragment_role Role, class T>
struct warp_fragment : detail::warp_operand_registers<Role, T> {
  using element_type = T;
  static constexpr fragment_role role = Role;
  static constexpr matrix_shape shape = warp_shape(sizeof(T));
  static constexpr int size = warp_fragment_size(Role, sizeof(T));

  WAVETILE_HD static constexpr matrix_element element(int lane, int i) {
    return warp_element(Role, sizeof(T), lane, i);
  }
};

template <class T>
using warp_a = warp_fragment<fragment_role::a, T>;
template <class T>
using warp_b = warp_fragment<fragment_role::b, T>;

/// What a lane holds of D when elements of `T` are multiplied: fp64, int32 or else fp32.
template <class T>
struct warp_accumulator {
  using element_type = accumulator_t<T>;
  static constexpr matrix_shape shape = warp_shape(sizeof(T));
  static constexpr int size = warp_fragment_size(fragment_role::accumulator, sizeof(T));

  WAVETILE_HD static constexpr matrix_element element(int lane, int i) {
    return warp_element(fragment_role::accumulator, sizeof(T), lane, i);
  }

  element_type value[size];
};

#if WAVETILE_CUDA

namespace detail {

template <class T>
constexpr instruction::mma_type mma_type_of() {
  return is_same_v<T, fp16>           ? instruction::mma_type::f16
         : is_same_v<T, bf16>         ? instruction::mma_type::bf16
         : is_same_v<T, fp8_e4m3_ocp> ? instruction::mma_type::e4m3
                                      : instruction::mma_type::e5m2;
}

} // namespace detail

/// D += A B, one instruction of the whole warp. A and B are of one type, or any two of the OCP fp8
/// types, for which there are instructions from sm_89 on (before, the program traps). Narrow types:
/// products are exact, groups of them are added and rounded as the hardware does; see
/// `matmul_error_factor`. int8 sums wrap.
template <class A, class B>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void warp_mma(warp_accumulator<A>& d, const warp_a<A>& a,
                                                    const warp_b<B>& b) {
  static_assert(detail::is_same_v<A, B> || (detail::is_ocp_v<A> && detail::is_ocp_v<B>),
                "wavetile::warp_mma: A and B are of one type, or both of 8-bit floats");
  if constexpr (detail::is_same_v<A, double>)
    instruction::mma_double(d.value, a.word, b.word);
  else if constexpr (detail::is_same_v<A, int8_t>)
    instruction::mma_int8(d.value, a.word, b.word);
  else
    instruction::mma_float<detail::mma_type_of<A>(), detail::mma_type_of<B>()>(d.value, a.word,
                                                                               b.word);
}

#endif

} // namespace wavetile
