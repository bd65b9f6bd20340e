/// \file
/// Operators launch kernels: a compiler of host code alone, or one without HIP's headers, is told
/// what is needed before it meets what it does not know.
#pragma once

#include <wavetile/config.hpp>

#if !WAVETILE_GPU
#error                                                                                             \
    "wavetile: operators need a device compiler: clang++, amdclang++ or hipcc with -x hip, or nvcc (in CMake a .hip source and wavetile_hip_target); a host compiler has arch/, core/ and lds/"
#elif WAVETILE_HIP && defined(__has_include)
#if !__has_include(<hip/hip_runtime_api.h>)
#error                                                                                             \
    "wavetile: operators need <hip/hip_runtime_api.h>, which is on no include path: name ROCm's folder (--rocm-path, -isystem), or run cmake/setup-toolchain.sh"
#endif
#endif
