/// \file
/// The runtime's interface, under HIP's names on every platform.
#pragma once

#include <wavetile/config.hpp>

#if WAVETILE_CUDA && !defined(__HIP_PLATFORM_NVIDIA__)
#include <wavetile/launch/cuda/hip_names.hpp>
#else
#include <hip/hip_runtime_api.h>
#endif
