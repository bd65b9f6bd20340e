/// \file
/// fp32 arithmetic on chunks, two elements an instruction on gfx942 (v_pk_add_f32, v_pk_mul_f32,
/// v_pk_fma_f32), where the compiler does not find pairs by itself.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/core/vec.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

namespace detail {

WAVETILE_DEVICE WAVETILE_FORCE_INLINE float fused(float a, float b, float c) {
  return fma(a, b, c);
}
#if WAVETILE_AMDGCN
using float_pair = float __attribute__((ext_vector_type(2)));
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float_pair fused(float_pair a, float_pair b, float_pair c) {
  return __builtin_elementwise_fma(a, b, c);
}
#endif

/// `operation` on two elements at a time of `a`, `b` and `c`.
template <int N, class Operation>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, N>
in_pairs(const vec<float, N>& a, const vec<float, N>& b, const vec<float, N>& c,
         Operation operation) {
  vec<float, N> result;
#if WAVETILE_AMDGCN
  constexpr int paired = N / 2 * 2;
#pragma unroll
  for (int e = 0; e < paired; e += 2) {
    const float_pair two = operation(float_pair{a[e], a[e + 1]}, float_pair{b[e], b[e + 1]},
                                     float_pair{c[e], c[e + 1]});
    result[e] = two.x;
    result[e + 1] = two.y;
  }
#else
  constexpr int paired = 0;
#endif
#pragma unroll
  for (int e = paired; e < N; ++e)
    result[e] = operation(a[e], b[e], c[e]);
  return result;
}

} // namespace detail

/// `value` N times.
template <int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, N> spread(float value) {
  vec<float, N> result;
#pragma unroll
  for (int e = 0; e < N; ++e)
    result[e] = value;
  return result;
}
template <int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, N> add(const vec<float, N>& a,
                                                        const vec<float, N>& b) {
  return detail::in_pairs(a, b, a, [](auto x, auto y, auto) { return x + y; });
}
template <int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, N> subtract(const vec<float, N>& a,
                                                             const vec<float, N>& b) {
  return detail::in_pairs(a, b, a, [](auto x, auto y, auto) { return x - y; });
}
template <int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, N> multiply(const vec<float, N>& a,
                                                             const vec<float, N>& b) {
  return detail::in_pairs(a, b, a, [](auto x, auto y, auto) { return x * y; });
}
/// a b + c, rounded once.
template <int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<float, N>
multiply_add(const vec<float, N>& a, const vec<float, N>& b, const vec<float, N>& c) {
  return detail::in_pairs(a, b, c, [](auto x, auto y, auto z) { return detail::fused(x, y, z); });
}
/// Sum of the elements: halves are added until one is left.
template <int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float sum_of(const vec<float, N>& values) {
  if constexpr (N == 1) {
    return values[0];
  } else {
    vec<float, N / 2> low, high;
#pragma unroll
    for (int e = 0; e < N / 2; ++e) {
      low[e] = values[e];
      high[e] = values[e + N / 2];
    }
    return sum_of(add(low, high));
  }
}

} // namespace wavetile::kernels

#endif
