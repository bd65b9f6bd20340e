/// \file
/// Wide accesses to global memory at addresses that may be aligned to an element only.
///
/// gfx9: one access, whatever the address (the HSA ABI enables unaligned accesses). NVIDIA GPUs
/// fault on those, so the widest access that the address allows is chosen there; that is decided
/// once for a wave whose lanes are all aligned alike.
#pragma once

#include <wavetile/integers.hpp>

#if WAVETILE_GPU

namespace wavetile::detail {

#if WAVETILE_CUDA
template <class Word, int Bytes>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_by(void* to, const void* from) {
#pragma unroll
  for (int i = 0; i < Bytes / static_cast<int>(sizeof(Word)); ++i)
    static_cast<Word*>(to)[i] = static_cast<const Word*>(from)[i];
}

/// Which tests there are decides what nvcc 13.0 makes of the others: with accesses of 8 bytes, or
/// with lanes that agree on a width, rows of 50 fp32 gained a fifth on an H200, and aligned rows of
/// bf16 lost up to a third.
template <int Bytes>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_aligned_as(void* to, const void* from,
                                                           uintptr_t address) {
  if (Bytes % 16 == 0 && address % 16 == 0)
    copy_by<uint4, Bytes>(to, from);
  else if (Bytes % 4 == 0 && address % 4 == 0)
    copy_by<uint32_t, Bytes>(to, from);
  else if (Bytes % 2 == 0 && address % 2 == 0)
    copy_by<uint16_t, Bytes>(to, from);
  else
    copy_by<uint8_t, Bytes>(to, from);
}
#endif

/// Reads `sizeof to` bytes, at any address that suits the elements there.
template <int Words>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_anywhere(uint32_t (&to)[Words], const void* from) {
#if WAVETILE_CUDA
  alignas(16) uint32_t local[Words];
  copy_aligned_as<4 * Words>(local, from, reinterpret_cast<uintptr_t>(from));
#pragma unroll
  for (int i = 0; i < Words; ++i)
    to[i] = local[i];
#else
  __builtin_memcpy(&to, from, sizeof to);
#endif
}

/// Writes `value` to any address that suits its elements.
template <class V>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_anywhere(void* to, const V& value) {
#if WAVETILE_CUDA
  alignas(16) V local = value;
  copy_aligned_as<static_cast<int>(sizeof(V))>(to, &local, reinterpret_cast<uintptr_t>(to));
#else
  __builtin_memcpy(to, &value, sizeof value);
#endif
}

} // namespace wavetile::detail

#endif
