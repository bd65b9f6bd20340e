// From the arguments of a launch to a run of the kernel.
#pragma once

#include "hip/module.hpp"
#include "hip/operation.hpp"

#include <hip/hip_runtime_api.h>

#include <cstdint>

namespace wavesim::hip {

/// Which family of calls a launch came through: they report bad dimensions differently.
enum class LaunchCall { runtime, module };

/// Checks the dimensions against device and kernel.
hipError_t check_launch(const ihipModuleSymbol_t& function, dim3 grid, dim3 block,
                        std::size_t shared_bytes, bool cooperative, LaunchCall call);

/// Copies the explicit arguments into a kernarg segment. `pointers`: one pointer per argument, as
/// many bytes as the kernel's metadata says; or `extra`: a buffer, HIP_LAUNCH_PARAM_BUFFER_POINTER
/// style.
hipError_t gather_arguments(const Kernel& kernel, void* const* pointers, void* const* extra,
                            std::vector<std::byte>& segment);

hipError_t run_kernel(const KernelOperation& operation, int device);

/// Private memory per lane of kernels with a dynamic stack (hipLimitStackSize).
std::uint32_t& stack_limit();

} // namespace wavesim::hip
