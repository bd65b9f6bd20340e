/// \file
/// Runs of elements at any multiple of the element size.
#pragma once

#include <wavetile/core/vec.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// `N` elements at any multiple of the element size. gfx9 loads them at any address at once; NVIDIA
/// GPUs do where they are aligned.
template <class T, int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_run(vec<T, N>& run, const T* from) {
#if WAVETILE_CUDA
  run = is_aligned(from, alignof(vec<T, N>)) ? load_vec<N>(from) : load_vec_unaligned<N>(from);
#else
  __builtin_memcpy(&run, from, sizeof run);
#endif
}
#if WAVETILE_CUDA
/// One store of a vec to global memory, 4 to 16 bytes at a time. In assembly: nvcc joins two ways
/// to store the same elements, and the narrower one wins.
template <class T, int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_whole(T* to, const vec<T, N>& run) {
  constexpr int bytes = static_cast<int>(alignof(vec<T, N>)), count = sizeof(run) / bytes;
  if constexpr (bytes < 4) {
    store_vec(to, run);
  } else {
    const auto words =
        wavetile::detail::bit_cast<wavetile::detail::words<4, static_cast<int>(sizeof(run) / 4)>>(
            run);
    auto* const at = reinterpret_cast<unsigned char*>(to);
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const auto* const word = words.word + i * bytes / 4;
      if constexpr (bytes == 16)
        asm volatile("st.global.v4.b32 [%0], {%1,%2,%3,%4};" ::"l"(at + i * bytes), "r"(word[0]),
                     "r"(word[1]), "r"(word[2]), "r"(word[3])
                     : "memory");
      else if constexpr (bytes == 8)
        asm volatile("st.global.v2.b32 [%0], {%1,%2};" ::"l"(at + i * bytes), "r"(word[0]),
                     "r"(word[1])
                     : "memory");
      else
        asm volatile("st.global.b32 [%0], %1;" ::"l"(at + i * bytes), "r"(word[0]) : "memory");
    }
  }
}
#endif

template <class T, int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_run(T* to, const vec<T, N>& run) {
#if WAVETILE_CUDA
  if (is_aligned(to, alignof(vec<T, N>)))
    store_whole(to, run);
  else
    store_vec_unaligned(to, run);
#else
  __builtin_memcpy(to, &run, sizeof run);
#endif
}

} // namespace wavetile::kernels

#endif
