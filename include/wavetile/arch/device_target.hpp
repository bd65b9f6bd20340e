/// \file
/// The target that device code is being compiled for.
#pragma once

#include <wavetile/arch/targets.hpp>

namespace wavetile {

namespace detail {
#if WAVETILE_AMDGCN && defined(__gfx942__)
inline constexpr architecture pass_architecture = architecture::gfx942;
#elif WAVETILE_AMDGCN && defined(__gfx90a__)
inline constexpr architecture pass_architecture = architecture::gfx90a;
#elif WAVETILE_AMDGCN && defined(__gfx950__)
inline constexpr architecture pass_architecture = architecture::gfx950;
#elif WAVETILE_AMDGCN && defined(__gfx9_4_generic__)
inline constexpr architecture pass_architecture = architecture::gfx9_4_generic;
#elif WAVETILE_CUDA && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr architecture pass_architecture = architecture::sm90;
#elif WAVETILE_CUDA // and the host pass: the lane count all NVIDIA architectures share
inline constexpr architecture pass_architecture = architecture::sm80;
#else
inline constexpr architecture pass_architecture = architecture::unknown;
#endif
} // namespace detail

/// Facts of the architecture this pass compiles for, from the compiler's own macro; for use inside
/// device functions only.
///
/// In the host pass, where bodies of device functions are only checked, and in a device pass for an
/// architecture without a description it is `targets::unknown`: the lane count all described
/// architectures share, and `known()` false. Host code that wants the facts of a device asks the
/// device and `find_target`; types, template arguments of kernels and sizes of parameter structs
/// must not depend on this value.
inline constexpr target device_target = target_of(detail::pass_architecture);

/// Lanes of a wavefront in device code. A constant of ours: the built-in one of HIP is not a
/// constant from ROCm 7 on.
inline constexpr int wave_size = device_target.wave_size;
inline constexpr int wave_size_log2 = wave_size == 64 ? 6 : 5;
static_assert(1 << wave_size_log2 == wave_size);

/// The target on which the library's own kernels prove their layouts, whatever is compiled for: the
/// one they are tuned for.
#if WAVETILE_CUDA
inline constexpr const target& proof_target = targets::sm80;
#else
inline constexpr const target& proof_target = targets::gfx942;
#endif

/// Whether this pass of the compiler makes code of kernels: false in a device pass for an
/// architecture without a description, and in the host's pass, which nothing of it is for (nvcc
/// wants the same templates in all passes). Kernels put their body under
/// `if constexpr (device_pass_supported)` and end the other branch in `refuse_to_run`: such a
/// program still compiles, and host code refuses the device before launch.
inline constexpr bool device_pass_supported = WAVETILE_CUDA
                                                  ? !WAVETILE_DEVICE_PASS || device_target.known()
                                                  : WAVETILE_DEVICE_PASS && device_target.known();

#if WAVETILE_GPU
/// Ends the program with an error; what a kernel does on an architecture that it has no code for.
WAVETILE_DEVICE inline void refuse_to_run() {
#if WAVETILE_PTX
  asm volatile("trap;");
#elif WAVETILE_DEVICE_PASS
  __builtin_trap();
#endif
}
#endif

} // namespace wavetile
