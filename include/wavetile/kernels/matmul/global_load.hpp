/// \file
/// Loads that are known to be of global memory, wherever their pointers come from. A pointer that
/// was itself read from memory has no address space: its loads would be FLAT, which also count as
/// LDS operations, and any wait for one is a wait for all.
#pragma once

#include <wavetile/core/vec.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels::detail {

/// Words of global memory that are aligned to a byte only: programs on AMD GPUs run in unaligned
/// access mode (LLVM, AMDGPU usage guide), where one load instruction serves every address.
template <int Words>
struct loose_words {
  typedef uint32_t type __attribute__((vector_size(Words * 4), aligned(1), may_alias));
};
template <>
struct loose_words<1> {
  typedef uint32_t type __attribute__((aligned(1), may_alias));
};

/// Loads at a uniform base plus an offset a lane: no address arithmetic in vector registers.
/// The offset is shown to be 32 bits wide where it is used: widened outside a loop, it would be
/// added in the loop.
template <int Words>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<uint32_t, Words> load_words(uint64_t base,
                                                                      uint32_t& offset) {
#if WAVETILE_AMDGCN
  asm("" : "+v"(offset));
  using byte = const __attribute__((address_space(1))) unsigned char;
  using loose = const __attribute__((address_space(1))) typename loose_words<Words>::type;
  const wavetile::detail::word_t<Words* 4> loaded = *(loose*)((byte*)base + offset);
#else
  const wavetile::detail::word_t<Words* 4> loaded =
      *reinterpret_cast<const typename loose_words<Words>::type*>(base + offset);
#endif
  return wavetile::detail::bit_cast<vec<uint32_t, Words>>(loaded);
}

/// Loads at an address of each lane, a multiple of the elements' size.
template <int Words>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<uint32_t, Words> load_words(uint64_t address) {
#if WAVETILE_AMDGCN
  using loose = const __attribute__((address_space(1))) typename loose_words<Words>::type;
  const wavetile::detail::word_t<Words* 4> loaded = *(loose*)address;
#else
  const wavetile::detail::word_t<Words* 4> loaded =
      *reinterpret_cast<const typename loose_words<Words>::type*>(address);
#endif
  return wavetile::detail::bit_cast<vec<uint32_t, Words>>(loaded);
}

/// The bits of one element, in a register or two.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE auto load_bits(uint64_t address) {
  using wavetile::detail::conditional_t;
  using bits = conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  typedef conditional_t<sizeof(T) == 1, uint8_t, conditional_t<sizeof(T) == 2, uint16_t, bits>>
      loose __attribute__((may_alias));
#if WAVETILE_AMDGCN
  return bits{*(const __attribute__((address_space(1))) loose*)address};
#else
  return bits{*reinterpret_cast<const loose*>(address)};
#endif
}

/// One element.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T load_element(uint64_t address) {
  using wavetile::detail::conditional_t;
  using narrow = conditional_t<sizeof(T) == 1, uint8_t, uint16_t>;
  using bits =
      conditional_t<sizeof(T) == 8, uint64_t, conditional_t<sizeof(T) == 4, uint32_t, narrow>>;
  return wavetile::detail::bit_cast<T>(static_cast<bits>(load_bits<T>(address)));
}

} // namespace wavetile::kernels::detail

#endif
