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

/// The first 64 bytes of the running kernel's only parameter, a `Leading`, in scalar registers that
/// one instruction fills. What is formed of them is formed where it is used, unless that is twice
/// without `afresh` between.
template <class Leading>
class leading_arguments {
  static_assert(sizeof(Leading) == 64);

public:
  template <class Arguments>
  WAVETILE_DEVICE
      WAVETILE_FORCE_INLINE explicit leading_arguments([[maybe_unused]] const Arguments& arguments)
#if WAVETILE_AMDGCN && defined(__OPTIMIZE__)
      : words_(*(const constant_words*)__builtin_amdgcn_kernarg_segment_ptr()) {
    afresh();
  }
#else
      : words_(arguments) {
  }
#endif

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void afresh() {
#if WAVETILE_AMDGCN && defined(__OPTIMIZE__)
    asm volatile("" : "+s"(words_));
#endif
  }

  /// Pointers are to be passed through `in_global_memory` before use.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE Leading get() const {
    Leading leading;
    __builtin_memcpy(&leading, &words_, sizeof leading);
    return leading;
  }

private:
#if WAVETILE_AMDGCN && defined(__OPTIMIZE__)
  using words = uint32_t __attribute__((ext_vector_type(16)));
  using constant_words = __attribute__((address_space(4))) words;
  words words_;
#else
  Leading words_;
#endif
};

/// The same pointer, of which the optimiser can see that it is one to global memory.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T* in_global_memory(T* pointer) {
#if WAVETILE_AMDGCN
  return (T*)(__attribute__((address_space(1))) T*)reinterpret_cast<uintptr_t>(pointer);
#else
  return pointer;
#endif
}

} // namespace wavetile::kernels

#endif
