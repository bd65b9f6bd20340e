/// \file
/// Values that are the same in all lanes, and are to stay in scalar registers.
#pragma once

#include <wavetile/arch/device_target.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels::detail {

/// A value that is the same in all lanes, in scalar registers, whatever the compiler knows of it.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t uniform(uint32_t value) {
  return static_cast<uint32_t>(__builtin_amdgcn_readfirstlane(static_cast<int>(value)));
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint64_t uniform(uint64_t value) {
  return uint64_t{uniform(static_cast<uint32_t>(value >> 32))} << 32 |
         uniform(static_cast<uint32_t>(value));
}

/// Keeps a uniform value in scalar registers, and the optimiser from making vector induction
/// variables of what is computed from it.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void keep_scalar(T& value) {
  value = uniform(value); // nothing, where it is known to be scalar
#if WAVETILE_AMDGCN &&                                                                             \
    defined(__OPTIMIZE__) // else values live in memory, and come back in vector registers
  asm("" : "+s"(value));
#endif
}

} // namespace wavetile::kernels::detail

#endif
