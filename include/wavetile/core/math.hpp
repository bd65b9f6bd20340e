/// \file
/// Scalar fp32 and fp64 functions: one hardware instruction each where gfx9 has one.
#pragma once

#include <wavetile/core/bits.hpp>
#include <wavetile/core/type_traits.hpp>

// one comparison, one maximum, one select; the combination of fmax and isunordered also quiets
#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_maximum)
#define WAVETILE_DETAIL_HAS_MAXIMUM 1
#endif
#endif
#ifndef WAVETILE_DETAIL_HAS_MAXIMUM
#define WAVETILE_DETAIL_HAS_MAXIMUM 0
#endif

namespace wavetile {

/// log2(e) and ln(2), to fold exp into exp2 and log into log2.
inline constexpr float log2_e = 1.44269504088896340736f;
inline constexpr float ln_2 = 0.693147180559945309417f;

/// 2^x: v_exp_f32, 1 ulp. exp2(-inf) = 0, exp2(inf) = inf, NaN stays NaN. Results below 2^-126 may
/// come out as 0: the instruction makes no denormals (`exp2f` costs seven instructions to get
/// them). On NVIDIA GPUs ex2.approx.ftz, whose relative error is below 2^-22 (PTX ISA). Correct
/// under -ffast-math.
WAVETILE_HD WAVETILE_FORCE_INLINE float exp2(float x) {
#if WAVETILE_AMDGCN
  return __builtin_amdgcn_exp2f(x);
#elif WAVETILE_PTX
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return __builtin_exp2f(x);
#endif
}

/// log2(x): v_log_f32, 1 ulp. Denormal x may count as 0, whose result is -inf; negative x gives
/// NaN.
WAVETILE_HD WAVETILE_FORCE_INLINE float log2(float x) {
#if WAVETILE_AMDGCN
  return __builtin_amdgcn_logf(x);
#elif WAVETILE_PTX
  return __log2f(x);
#else
  return __builtin_log2f(x);
#endif
}

/// e^x as exp2(x * log2_e): the error is that of exp2 plus |x| * 2^-24 relative. For softmax fold
/// log2_e into the scale instead.
WAVETILE_HD WAVETILE_FORCE_INLINE float exp(float x) {
  return exp2(x * log2_e);
}

/// ln(x) as log2(x) * ln_2.
WAVETILE_HD WAVETILE_FORCE_INLINE float log(float x) {
  return log2(x) * ln_2;
}

/// 1 / x: v_rcp_f32, 1 ulp; denormal x or a denormal result may be taken for 0.
WAVETILE_HD WAVETILE_FORCE_INLINE float reciprocal(float x) {
#if WAVETILE_AMDGCN
  return __builtin_amdgcn_rcpf(x);
#elif WAVETILE_PTX
  return __frcp_rn(x);
#else
  return 1.0f / x;
#endif
}

/// 1 / sqrt(x): v_rsq_f32, 1 ulp; denormal x may count as 0, whose result is inf.
WAVETILE_HD WAVETILE_FORCE_INLINE float rsqrt(float x) {
#if WAVETILE_AMDGCN
  return __builtin_amdgcn_rsqf(x);
#elif WAVETILE_PTX
  return ::rsqrtf(x);
#else
  return 1.0f / __builtin_sqrtf(x);
#endif
}

/// a * b + c, rounded once.
WAVETILE_HD WAVETILE_FORCE_INLINE float fma(float a, float b, float c) {
#if WAVETILE_PTX
  return ::fmaf(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}
WAVETILE_HD WAVETILE_FORCE_INLINE double fma(double a, double b, double c) {
#if WAVETILE_PTX
  return ::fma(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}

/// What the larger or smaller of two numbers is when one is a NaN.
enum class nan_rule : uint8_t {
  propagate, ///< NaN (the library's reductions)
  ignore     ///< the other one: one instruction, for values whose NaNs show up elsewhere anyway
};

namespace detail {

/// `value`, or a NaN when `a` or `b` is one. Under finite math the choice is made between integers:
/// a float select would carry the promise that it never yields a NaN, and fold.
template <class T>
WAVETILE_HD WAVETILE_FORCE_INLINE T propagate_nan(T a, T b, T value) {
#if WAVETILE_FINITE_MATH
  const int nans = int{is_nan(a)} + int{is_nan(b)}; // ||, with its branches, costs more
  return select(nans != 0, static_cast<T>(quiet_nan), value);
#else
  return unordered(a, b) ? static_cast<T>(quiet_nan) : value;
#endif
}

} // namespace detail

/// The larger of two values. Floats: NaN as `Rule` says; of +0 and -0 either one. Holds under
/// -ffast-math for values as loaded and results of this function.
template <nan_rule Rule = nan_rule::propagate, class T>
WAVETILE_HD WAVETILE_FORCE_INLINE T maximum(T a, T b) {
  if constexpr (!detail::is_any_of_v<T, float, double>)
    return a < b ? b : a;
#if !WAVETILE_FINITE_MATH && WAVETILE_DETAIL_HAS_MAXIMUM
  else if constexpr (Rule == nan_rule::propagate)
    return __builtin_elementwise_maximum(a, b);
#endif
  else {
    T larger;
#if WAVETILE_PTX
    if constexpr (detail::is_same_v<T, float>)
      larger = ::fmaxf(a, b);
    else
      larger = ::fmax(a, b);
#else
    if constexpr (detail::is_same_v<T, float>)
      larger = __builtin_fmaxf(a, b);
    else
      larger = __builtin_fmax(a, b);
#endif
    return Rule == nan_rule::propagate ? detail::propagate_nan(a, b, larger) : larger;
  }
}

/// The smaller of two values; otherwise as `maximum`.
template <nan_rule Rule = nan_rule::propagate, class T>
WAVETILE_HD WAVETILE_FORCE_INLINE T minimum(T a, T b) {
  if constexpr (!detail::is_any_of_v<T, float, double>)
    return b < a ? b : a;
#if !WAVETILE_FINITE_MATH && WAVETILE_DETAIL_HAS_MAXIMUM
  else if constexpr (Rule == nan_rule::propagate)
    return __builtin_elementwise_minimum(a, b);
#endif
  else {
    T smaller;
#if WAVETILE_PTX
    if constexpr (detail::is_same_v<T, float>)
      smaller = ::fminf(a, b);
    else
      smaller = ::fmin(a, b);
#else
    if constexpr (detail::is_same_v<T, float>)
      smaller = __builtin_fminf(a, b);
    else
      smaller = __builtin_fmin(a, b);
#endif
    return Rule == nan_rule::propagate ? detail::propagate_nan(a, b, smaller) : smaller;
  }
}

namespace detail {

/// The least exponent whose power of two is at least `n`; 0 for n <= 1.
constexpr int log2_up(int64_t n) {
  int log2 = 0;
  while ((int64_t{1} << log2) < n)
    ++log2;
  return log2;
}

} // namespace detail

/// Integers: a / b rounded up, for a >= 0 and b > 0, without overflow.
template <class T>
WAVETILE_HD constexpr T divide_up(T a, detail::type_identity_t<T> b) {
  return static_cast<T>(a / b + (a % b != 0 ? 1 : 0));
}

/// Integers: the least multiple of b that is >= a, for a >= 0 and b > 0.
template <class T>
WAVETILE_HD constexpr T round_up(T a, detail::type_identity_t<T> b) {
  return static_cast<T>(divide_up(a, b) * b);
}

} // namespace wavetile
