/// \file
/// Kernel arguments in loops that have no scalar registers left for them.
#pragma once

#include <wavetile/config.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// The arguments of the running kernel, whose only parameter is an `Arguments`, read again from
/// where they lie. In a loop over rows the optimiser would else keep all of them in scalar
/// registers throughout, and spill those.
template <class Arguments>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE Arguments
reread([[maybe_unused]] const Arguments& arguments) {
#if WAVETILE_AMDGCN && defined(__OPTIMIZE__) // else the address is in a vector register
  auto* segment = __builtin_amdgcn_kernarg_segment_ptr();
  asm volatile("" : "+s"(segment));
  return *(const Arguments*)segment; // out of the constant address space: no C++ cast does it
#else
  return arguments;
#endif
}

} // namespace wavetile::kernels

#endif
