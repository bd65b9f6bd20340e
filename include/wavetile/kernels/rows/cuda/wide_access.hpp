/// \file
/// Accesses of 16 bytes where a kernel knows that addresses are multiples of them: the code that
/// asks (row_tile.hpp) is several times as long, and loads that may be either are waited for one by
/// one.
#pragma once

#include <wavetile/kernels/rows/row_tile.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// Stores a chunk; `Wide`: at a multiple of 16 bytes of global memory, by an instruction that is
/// named: of four chunks of bf16 in a row the compiler stored the first by 4 bytes.
template <bool Wide, class T, int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_chunk_at(T* to, const vec<T, N>& value) {
  if constexpr (!Wide) {
    store_chunk(to, value);
  } else {
    static_assert(sizeof value % 16 == 0);
    alignas(16) uint4 words[sizeof value / 16];
    __builtin_memcpy(words, &value, sizeof value);
#pragma unroll
    for (size_t i = 0; i < sizeof value / 16; ++i)
      asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(
                       __cvta_generic_to_global(reinterpret_cast<uint4*>(to) + i)),
                   "r"(words[i].x), "r"(words[i].y), "r"(words[i].z), "r"(words[i].w)
                   : "memory");
  }
}

/// Whether arrays start at multiples of 16 bytes.
template <class... Ts>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool are_wide(const Ts*... arrays) {
  return ((reinterpret_cast<uintptr_t>(arrays) | ...) % 16) == 0;
}

} // namespace wavetile::kernels

#endif
