/// \file
/// What the rest of the library needs to know about the compiler. Macros only; includes nothing,
/// so that device layers also compile where there is no standard library (hipRTC).
#pragma once

#include <wavetile/version.hpp>

#if defined(_MSVC_LANG)
#define WAVETILE_DETAIL_CPLUSPLUS _MSVC_LANG
#else
#define WAVETILE_DETAIL_CPLUSPLUS __cplusplus
#endif
#if WAVETILE_DETAIL_CPLUSPLUS < 202002L
#error "wavetile needs C++20: compile with -std=c++20 or newer"
#endif
#undef WAVETILE_DETAIL_CPLUSPLUS

// The device language of this translation unit, 1 or 0. At most one is 1; both are 0 for a plain
// host compiler, which can use arch/, core/ and lds/.
#if defined(__HIP__) || defined(__HIPCC_RTC__)
#define WAVETILE_HIP 1
#else
#define WAVETILE_HIP 0
#endif
#if defined(__CUDACC__) && !WAVETILE_HIP
#define WAVETILE_CUDA 1
#if !defined(__CUDACC_RELAXED_CONSTEXPR__)
#error "wavetile: nvcc needs --expt-relaxed-constexpr"
#endif
#else
#define WAVETILE_CUDA 0
#endif

/// 1 where device functions exist, in either language.
#define WAVETILE_GPU (WAVETILE_HIP || WAVETILE_CUDA)

/// 1 while the compiler generates code for a GPU, 0 in a host pass. Selects between two spellings
/// of one result only: types, sizes and constants never depend on it.
#if (WAVETILE_HIP && defined(__HIP_DEVICE_COMPILE__)) || (WAVETILE_CUDA && defined(__CUDA_ARCH__))
#define WAVETILE_DEVICE_PASS 1
#else
#define WAVETILE_DEVICE_PASS 0
#endif

/// 1 in a device pass for an AMD GPU, where the `__builtin_amdgcn_*` functions exist.
#if WAVETILE_DEVICE_PASS && defined(__AMDGCN__)
#define WAVETILE_AMDGCN 1
#else
#define WAVETILE_AMDGCN 0
#endif

/// 1 in a device pass for an NVIDIA GPU.
#if WAVETILE_DEVICE_PASS && WAVETILE_CUDA
#define WAVETILE_PTX 1
#else
#define WAVETILE_PTX 0
#endif

/// 1 where infinities or NaNs may be assumed absent (-ffast-math, -ffinite-math-only). Bit tests
/// are then shielded from the optimiser; see core/bits.hpp.
#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__
#define WAVETILE_FINITE_MATH 1
#else
#define WAVETILE_FINITE_MATH 0
#endif

// Function markings. Spelled as attributes where possible: no HIP header is needed.
#if WAVETILE_HIP
#define WAVETILE_HOST __attribute__((host))
#define WAVETILE_DEVICE __attribute__((device))
#define WAVETILE_HD __attribute__((host)) __attribute__((device))
#define WAVETILE_KERNEL __attribute__((global))
#define WAVETILE_SHARED __attribute__((shared))
#elif WAVETILE_CUDA
#define WAVETILE_HOST __host__
#define WAVETILE_DEVICE __device__
#define WAVETILE_HD __host__ __device__
#define WAVETILE_KERNEL __global__
#define WAVETILE_SHARED __shared__
#else
#define WAVETILE_HOST
#define WAVETILE_DEVICE
#define WAVETILE_HD
#endif

/// Marks a kernel whose workgroups always have `size` work-items: registers are budgeted for that.
/// `WAVETILE_WORKGROUPS` budgets them for `groups` workgroups of a CU or SM at a time.
#if WAVETILE_HIP
#define WAVETILE_WORKGROUP_SIZE(size) __attribute__((amdgpu_flat_work_group_size(size, size)))
#if defined(__OPTIMIZE__)
#define WAVETILE_WORKGROUPS(size, groups)                                                          \
  __attribute__((amdgpu_flat_work_group_size(size, size),                                          \
                 amdgpu_waves_per_eu((groups) * (size) < 512 ? 1 : (groups) * (size) / 256)))
#else // registers are not looked after
#define WAVETILE_WORKGROUPS(size, groups) WAVETILE_WORKGROUP_SIZE(size)
#endif
#elif WAVETILE_CUDA
#define WAVETILE_WORKGROUP_SIZE(size) __launch_bounds__(size)
#define WAVETILE_WORKGROUPS(size, groups) __launch_bounds__(size, groups)
#endif

/// For small functions that must vanish into their caller also at -O0: address spaces and
/// register contents are only known after inlining.
#if defined(_MSC_VER) && !defined(__clang__)
#define WAVETILE_FORCE_INLINE __forceinline
#else
#define WAVETILE_FORCE_INLINE inline __attribute__((always_inline))
#endif
