// How handlers read sources and write destinations. A vector operand is a row of 64 dwords; VGPRs
// are read in place, scalars and constants are spread over a caller-given row. 64-bit operands are
// two rows: dword 0 and dword 1.
#pragma once

#include "isa/op.hpp"
#include "machine/wave.hpp"

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace wavesim::WAVESIM_SIMD_NS {

inline constexpr std::uint64_t all_lanes = ~std::uint64_t{0};

struct alignas(64) Row {
  std::uint32_t lane[lanes];
  operator std::uint32_t*() { return lane; }
  operator const std::uint32_t*() const { return lane; }
};

constexpr bool is_half(Type t) {
  return t == Type::f16 || t == Type::bf16 || t == Type::i16 || t == Type::u16 || t == Type::b16;
}

// ---------------------------------------------------------------------------------- scalars

inline std::uint32_t scalar32(const Wave& w, const Source& s) {
  switch (s.kind) {
  case Source::Kind::sgpr:
    return w.s[s.reg];
  case Source::Kind::constant:
    return static_cast<std::uint32_t>(s.value);
  case Source::Kind::scc:
    return w.scc;
  case Source::Kind::vccz:
    return w.vcc() == 0;
  case Source::Kind::execz:
    return w.exec() == 0;
  default:
    return 0;
  }
}

inline std::uint64_t scalar64(const Wave& w, const Source& s) {
  switch (s.kind) {
  case Source::Kind::sgpr:
    return w.s64(s.reg);
  case Source::Kind::constant:
    return s.value;
  default:
    return scalar32(w, s);
  }
}

/// Destination codes: SGPRs, VCC, M0, EXEC … all live in Wave::s under their own code.
inline void set_scalar32(Wave& w, unsigned code, std::uint32_t x) {
  w.s[code] = x;
}
inline void set_scalar64(Wave& w, unsigned code, std::uint64_t x) {
  w.set_s64(code, x);
}

// ------------------------------------------------------------------------------------- rows

inline void spread(std::uint32_t* row, std::uint32_t x) {
#ifdef __AVX512F__
  const __m512i v = _mm512_set1_epi32(static_cast<int>(x));
  for (unsigned i = 0; i < lanes; i += 16)
    _mm512_store_si512(row + i, v);
#else
  const __m256i v = _mm256_set1_epi32(static_cast<int>(x));
  for (unsigned i = 0; i < lanes; i += 8)
    _mm256_store_si256(reinterpret_cast<__m256i*>(row + i), v);
#endif
}

/// Rows are the same or apart, never shifted against each other.
inline void copy_row(std::uint32_t* to, const std::uint32_t* from) {
#ifdef __AVX512F__
  for (unsigned i = 0; i < lanes; i += 16)
    _mm512_store_si512(to + i, _mm512_load_si512(from + i));
#else
  for (unsigned i = 0; i < lanes; i += 8)
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + i),
                       _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i)));
#endif
}

/// The register `reg` of the vector (or accumulation) file. Tuples are consecutive rows.
inline std::uint32_t* register_row(Wave& w, bool agpr, unsigned reg) {
  return agpr ? w.a[reg] : w.v[reg];
}
inline const std::uint32_t* register_row(const Wave& w, bool agpr, unsigned reg) {
  return agpr ? w.a[reg] : w.v[reg];
}

/// Dword `dword` of a source, all 64 lanes, without modifiers. `space` is used unless the source is
/// a vector register. Constants are already expanded to the operand's type.
inline const std::uint32_t* source_row(const Wave& w, const Source& s, Row& space,
                                       unsigned dword = 0) {
  if (s.kind == Source::Kind::vgpr) [[likely]]
    return w.v[s.reg + dword];
  if (s.kind == Source::Kind::agpr)
    return w.a[s.reg + dword];
  std::uint32_t x;
  if (s.kind == Source::Kind::sgpr)
    x = w.s[s.reg + dword];
  else if (s.kind == Source::Kind::constant)
    x = static_cast<std::uint32_t>(s.value >> (32 * dword));
  else
    x = dword ? 0 : scalar32(w, s);
  spread(space, x);
  return space;
}

#ifdef __AVX512F__
/// The lanes of `mask` from `fresh`, the others from `old`, in a register: the compiler would make
/// a masked store of it.
inline __m512i blended(__m512i old, __mmask16 mask, __m512i fresh) {
  __m512i x = _mm512_mask_mov_epi32(old, mask, fresh);
  asm("" : "+v"(x));
  return x;
}
#endif

/// Writes the lanes of `exec`, leaves the others alone. A blend, not a masked store: that is slow
/// on some CPUs, on others a load has to wait until it has left the store queue, and the row is
/// this wave's own.
inline void store_row(std::uint32_t* to, const std::uint32_t* from, std::uint64_t exec) {
  if (exec == all_lanes) [[likely]]
    return copy_row(to, from);
#ifdef __AVX512F__
  for (unsigned i = 0; i < lanes; i += 16)
    _mm512_store_si512(to + i, blended(_mm512_load_si512(to + i), static_cast<__mmask16>(exec >> i),
                                       _mm512_load_si512(from + i)));
#else
  for (unsigned half = 0; half < lanes; half += 32) {
    const __m256i part = _mm256_set1_epi32(static_cast<int>(exec >> half));
    __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (unsigned i = half; i < half + 32; i += 8) {
      const __m256i on = _mm256_cmpeq_epi32(_mm256_and_si256(part, bit), bit);
      bit = _mm256_slli_epi32(bit, 8);
      __m256i* const at = reinterpret_cast<__m256i*>(to + i);
      const __m256i fresh = _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i));
      __m256i merged = _mm256_blendv_epi8(_mm256_load_si256(at), fresh, on);
      asm("" : "+x"(merged)); // or the compiler makes it a masked store after all
      _mm256_store_si256(at, merged);
    }
  }
#endif
}

/// Lane i becomes all ones where bit i of `mask` is set, else zero.
inline void spread_mask(std::uint32_t* row, std::uint64_t mask) {
#ifdef __AVX512F__
  for (unsigned i = 0; i < lanes; i += 16)
    _mm512_store_si512(row + i, _mm512_movm_epi32(static_cast<__mmask16>(mask >> i)));
#else
  for (unsigned half = 0; half < lanes; half += 32) {
    const __m256i part = _mm256_set1_epi32(static_cast<int>(mask >> half));
    __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for (unsigned i = half; i < half + 32; i += 8) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(row + i),
                         _mm256_cmpeq_epi32(_mm256_and_si256(part, bit), bit));
      bit = _mm256_slli_epi32(bit, 8);
    }
  }
#endif
}

/// Bit i of the result is bit 31 of lane i (a row of lane masks goes back to 64 bits).
inline std::uint64_t gather_mask(const std::uint32_t* row) {
  std::uint64_t mask = 0;
#ifdef __AVX512F__
  for (unsigned i = 0; i < lanes; i += 16)
    mask |= std::uint64_t{_mm512_movepi32_mask(_mm512_load_si512(row + i))} << i;
#else
  for (unsigned i = 0; i < lanes; i += 8)
    mask |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_ps(
                _mm256_castsi256_ps(_mm256_load_si256(reinterpret_cast<const __m256i*>(row + i)))))}
            << i;
#endif
  return mask;
}

/// Calls f(lane) for each set bit, lowest first.
template <class F>
inline void for_each_lane(std::uint64_t exec, F&& f) {
  for (; exec; exec &= exec - 1)
    f(static_cast<unsigned>(std::countr_zero(exec)));
}

} // namespace wavesim::WAVESIM_SIMD_NS
