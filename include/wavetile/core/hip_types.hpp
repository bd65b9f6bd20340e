/// \file
/// HIP's own element types, on NVIDIA GPUs CUDA's, and the compiler's, accepted wherever ours are.
///
/// Only declares HIP's types; include <hip/hip_fp16.h>, <hip/hip_bf16.h>, <hip/hip_fp8.h>, …
/// or CUDA's, yourself, before or after, where you use them.
#pragma once

#include <wavetile/core/numeric_traits.hpp>

#if WAVETILE_HIP || defined(__HIP_PLATFORM_AMD__)

struct __half;
struct __hip_bfloat16;
struct hip_bfloat16;
struct __hip_fp8_e4m3_fnuz;
struct __hip_fp8_e5m2_fnuz;
struct __hip_fp8_e4m3;
struct __hip_fp8_e5m2;

namespace wavetile {

template <>
struct numeric_traits<::__half> : numeric_traits<fp16> {};
template <>
struct numeric_traits<::__hip_bfloat16> : numeric_traits<bf16> {};
template <>
struct numeric_traits<::hip_bfloat16> : numeric_traits<bf16> {};
template <>
struct numeric_traits<::__hip_fp8_e4m3_fnuz> : numeric_traits<fp8_e4m3_fnuz> {};
template <>
struct numeric_traits<::__hip_fp8_e5m2_fnuz> : numeric_traits<fp8_e5m2_fnuz> {};
template <>
struct numeric_traits<::__hip_fp8_e4m3> : numeric_traits<fp8_e4m3_ocp> {};
template <>
struct numeric_traits<::__hip_fp8_e5m2> : numeric_traits<fp8_e5m2_ocp> {};

} // namespace wavetile

#endif

#if WAVETILE_CUDA

struct __half;
struct __nv_bfloat16;
struct __nv_fp8_e4m3;
struct __nv_fp8_e5m2;

namespace wavetile {

template <>
struct numeric_traits<::__half> : numeric_traits<fp16> {};
template <>
struct numeric_traits<::__nv_bfloat16> : numeric_traits<bf16> {};
template <>
struct numeric_traits<::__nv_fp8_e4m3> : numeric_traits<fp8_e4m3_ocp> {};
template <>
struct numeric_traits<::__nv_fp8_e5m2> : numeric_traits<fp8_e5m2_ocp> {};

} // namespace wavetile

#endif

#if defined(__clang__) && WAVETILE_HIP
namespace wavetile {
template <>
struct numeric_traits<_Float16> : numeric_traits<fp16> {};
template <>
struct numeric_traits<__bf16> : numeric_traits<bf16> {};
} // namespace wavetile
#endif

namespace wavetile {

/// The same number as the library's own type: `to_storage(__half) -> fp16`. Bits are kept.
template <numeric T>
WAVETILE_HD WAVETILE_FORCE_INLINE storage_t<T> to_storage(T value) {
  return detail::bit_cast<storage_t<T>>(value);
}

/// The other direction: `from_storage<__half>(fp16) -> __half`.
template <numeric T>
WAVETILE_HD WAVETILE_FORCE_INLINE T from_storage(storage_t<T> value) {
  return detail::bit_cast<T>(value);
}

/// A pointer to elements of type `T` as a pointer to the library's own type with the same bits.
template <numeric T>
WAVETILE_HD WAVETILE_FORCE_INLINE storage_t<T>* storage_pointer(T* pointer) {
  return reinterpret_cast<storage_t<T>*>(pointer);
}
template <numeric T>
WAVETILE_HD WAVETILE_FORCE_INLINE const storage_t<T>* storage_pointer(const T* pointer) {
  return reinterpret_cast<const storage_t<T>*>(pointer);
}

} // namespace wavetile
