// Moves between register rows (a dword per lane) and memory (a run of bytes per lane), for every
// data width of DS, FLAT, GLOBAL, SCRATCH and MUBUF.
#pragma once

#include "exec/operands.hpp"

#include <cstddef>

namespace wavesim::WAVESIM_SIMD_NS {

/// What one lane moves. Loads: `_d16` fills the low half and `_d16_hi` the high half of the
/// register and leaves the other half alone. Stores: `_d16_hi` takes the data from the high half,
/// signedness means nothing.
enum class Width : std::uint8_t {
  ubyte,
  sbyte,
  ushort,
  sshort,
  ubyte_d16,
  ubyte_d16_hi,
  sbyte_d16,
  sbyte_d16_hi,
  short_d16,
  short_d16_hi,
  dword,
  dwordx2,
  dwordx3,
  dwordx4
};

constexpr unsigned width_bytes(Width w) {
  switch (w) {
  case Width::ubyte:
  case Width::sbyte:
  case Width::ubyte_d16:
  case Width::ubyte_d16_hi:
  case Width::sbyte_d16:
  case Width::sbyte_d16_hi:
    return 1;
  case Width::ushort:
  case Width::sshort:
  case Width::short_d16:
  case Width::short_d16_hi:
    return 2;
  case Width::dword:
    return 4;
  case Width::dwordx2:
    return 8;
  case Width::dwordx3:
    return 12;
  case Width::dwordx4:
    return 16;
  }
  return 0;
}

constexpr unsigned width_dwords(Width w) {
  return (width_bytes(w) + 3) / 4;
}

constexpr Type width_type(Width w) {
  switch (width_bytes(w)) {
  case 1:
    return Type::b8;
  case 2:
    return Type::b16;
  case 4:
    return Type::b32;
  case 8:
    return Type::b64;
  case 12:
    return Type::b96;
  default:
    return Type::b128;
  }
}

template <class T>
inline T peek(const std::byte* p) {
  T x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

template <class T>
inline void poke(std::byte* p, T x) {
  std::memcpy(p, &x, sizeof x);
}

/// A register after a sub-dword or dword load into it; `old` is what it held.
template <Width W>
inline std::uint32_t loaded(const std::byte* p, std::uint32_t old) {
  constexpr std::uint32_t low = 0xffff, high = 0xffff0000;
  const auto extend = [](auto x) { return static_cast<std::uint32_t>(static_cast<int>(x)); };
  if constexpr (W == Width::ubyte)
    return peek<std::uint8_t>(p);
  else if constexpr (W == Width::sbyte)
    return extend(peek<std::int8_t>(p));
  else if constexpr (W == Width::ushort)
    return peek<std::uint16_t>(p);
  else if constexpr (W == Width::sshort)
    return extend(peek<std::int16_t>(p));
  else if constexpr (W == Width::ubyte_d16)
    return (old & high) | peek<std::uint8_t>(p);
  else if constexpr (W == Width::ubyte_d16_hi)
    return (old & low) | std::uint32_t{peek<std::uint8_t>(p)} << 16;
  else if constexpr (W == Width::sbyte_d16)
    return (old & high) | (extend(peek<std::int8_t>(p)) & low);
  else if constexpr (W == Width::sbyte_d16_hi)
    return (old & low) | extend(peek<std::int8_t>(p)) << 16;
  else if constexpr (W == Width::short_d16)
    return (old & high) | peek<std::uint16_t>(p);
  else if constexpr (W == Width::short_d16_hi)
    return (old & low) | std::uint32_t{peek<std::uint16_t>(p)} << 16;
  else
    return peek<std::uint32_t>(p);
}

/// Loads one lane of a register (tuple) whose first row is `row`.
template <Width W>
inline void load_lane(std::uint32_t* row, unsigned lane, const std::byte* p) {
  if constexpr (width_dwords(W) == 1) {
    row[lane] = loaded<W>(p, row[lane]);
  } else {
    for (unsigned d = 0; d < width_dwords(W); ++d)
      row[d * lanes + lane] = peek<std::uint32_t>(p + 4 * d);
  }
}

template <Width W>
inline void store_lane(const std::uint32_t* row, unsigned lane, std::byte* p) {
  constexpr bool high = W == Width::ubyte_d16_hi || W == Width::short_d16_hi;
  const std::uint32_t x = high ? row[lane] >> 16 : row[lane];
  if constexpr (width_bytes(W) == 1)
    poke(p, static_cast<std::uint8_t>(x));
  else if constexpr (width_bytes(W) == 2)
    poke(p, static_cast<std::uint16_t>(x));
  else
    for (unsigned d = 0; d < width_dwords(W); ++d)
      poke(p + 4 * d, row[d * lanes + lane]);
}

/// A lane that reads nothing gets zero (out of range of LDS or of a buffer).
template <Width W>
inline void load_zero(std::uint32_t* row, unsigned lane) {
  constexpr std::byte zero[16] = {};
  load_lane<W>(row, lane, zero);
}

/// Bit i is set where lane i of the row is at most `limit`, unsigned.
inline std::uint64_t lanes_at_most(const std::uint32_t* row, std::uint32_t limit) {
  std::uint64_t mask = 0;
#ifdef __AVX512F__
  const __m512i bound = _mm512_set1_epi32(static_cast<int>(limit));
  for (unsigned i = 0; i < lanes; i += 16)
    mask |= std::uint64_t{_mm512_cmple_epu32_mask(_mm512_load_si512(row + i), bound)} << i;
#else
  const __m256i bound = _mm256_set1_epi32(static_cast<int>(limit));
  for (unsigned i = 0; i < lanes; i += 8) {
    const __m256i x = _mm256_load_si256(reinterpret_cast<const __m256i*>(row + i));
    const __m256i on = _mm256_cmpeq_epi32(_mm256_max_epu32(x, bound), bound);
    mask |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(on)))} << i;
  }
#endif
  return mask;
}

// ----------------------------------------------------------- all lanes at once, four by four

inline __m128i read_bits(const std::byte* p, std::integral_constant<unsigned, 2>) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
}
inline __m128i read_bits(const std::byte* p, std::integral_constant<unsigned, 3>) {
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
  return _mm_insert_epi32(low, peek<int>(p + 8), 2);
}
inline __m128i read_bits(const std::byte* p, std::integral_constant<unsigned, 4>) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

inline void write_bits(std::byte* p, __m128i x, std::integral_constant<unsigned, 2>) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), x);
}
inline void write_bits(std::byte* p, __m128i x, std::integral_constant<unsigned, 3>) {
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), x);
  poke(p + 8, _mm_extract_epi32(x, 2));
}
inline void write_bits(std::byte* p, __m128i x, std::integral_constant<unsigned, 4>) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x);
}

/// Loads all 64 lanes; `at(lane)` is the address of a lane.
template <Width W, class At>
inline void load_all(std::uint32_t* row, At at) {
  if constexpr (width_dwords(W) == 1) {
    for (unsigned lane = 0; lane < lanes; ++lane)
      row[lane] = loaded<W>(at(lane), row[lane]);
  } else {
    constexpr std::integral_constant<unsigned, width_dwords(W)> dwords_each;
    for (unsigned lane = 0; lane < lanes; lane += 4) {
      const __m128i a = read_bits(at(lane), dwords_each);
      const __m128i b = read_bits(at(lane + 1), dwords_each);
      const __m128i c = read_bits(at(lane + 2), dwords_each);
      const __m128i d = read_bits(at(lane + 3), dwords_each);
      const __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
      const auto put = [&](unsigned dword, __m128i x) {
        _mm_store_si128(reinterpret_cast<__m128i*>(row + dword * lanes + lane), x);
      };
      put(0, _mm_unpacklo_epi64(ab, cd));
      put(1, _mm_unpackhi_epi64(ab, cd));
      if constexpr (dwords_each > 2) {
        const __m128i ab2 = _mm_unpackhi_epi32(a, b), cd2 = _mm_unpackhi_epi32(c, d);
        put(2, _mm_unpacklo_epi64(ab2, cd2));
        if constexpr (dwords_each > 3)
          put(3, _mm_unpackhi_epi64(ab2, cd2));
      }
    }
  }
}

/// Stores all 64 lanes, lowest lane first.
template <Width W, class At>
inline void store_all(const std::uint32_t* row, At at) {
  if constexpr (width_dwords(W) == 1) {
    for (unsigned lane = 0; lane < lanes; ++lane)
      store_lane<W>(row, lane, at(lane));
  } else {
    constexpr std::integral_constant<unsigned, width_dwords(W)> dwords_each;
    for (unsigned lane = 0; lane < lanes; lane += 4) {
      const auto get = [&](unsigned dword) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(row + dword * lanes + lane));
      };
      const __m128i r0 = get(0), r1 = get(1);
      const __m128i r2 = dwords_each > 2 ? get(2) : _mm_setzero_si128();
      const __m128i r3 = dwords_each > 3 ? get(3) : _mm_setzero_si128();
      const __m128i lo01 = _mm_unpacklo_epi32(r0, r1), lo23 = _mm_unpacklo_epi32(r2, r3);
      const __m128i hi01 = _mm_unpackhi_epi32(r0, r1), hi23 = _mm_unpackhi_epi32(r2, r3);
      write_bits(at(lane), _mm_unpacklo_epi64(lo01, lo23), dwords_each);
      write_bits(at(lane + 1), _mm_unpackhi_epi64(lo01, lo23), dwords_each);
      write_bits(at(lane + 2), _mm_unpacklo_epi64(hi01, hi23), dwords_each);
      write_bits(at(lane + 3), _mm_unpackhi_epi64(hi01, hi23), dwords_each);
    }
  }
}

/// The lanes of `mask`, or all at once when that is everybody.
template <Width W, class At>
inline void load_lanes(std::uint32_t* row, std::uint64_t mask, At at) {
  if (mask == all_lanes)
    load_all<W>(row, at);
  else
    for_each_lane(mask, [&](unsigned lane) { load_lane<W>(row, lane, at(lane)); });
}

template <Width W, class At>
inline void store_lanes(const std::uint32_t* row, std::uint64_t mask, At at) {
  if (mask == all_lanes)
    store_all<W>(row, at);
  else
    for_each_lane(mask, [&](unsigned lane) { store_lane<W>(row, lane, at(lane)); });
}

/// Memory as contiguous runs: lane i at p + i * width. One dword a lane is a plain copy.
template <Width W>
inline void load_run(std::uint32_t* row, const std::byte* p) {
  if constexpr (W == Width::dword)
    std::memcpy(row, p, sizeof(LaneRow));
  else
    load_all<W>(row, [p](unsigned lane) { return p + std::size_t{lane} * width_bytes(W); });
}

template <Width W>
inline void store_run(const std::uint32_t* row, std::byte* p) {
  if constexpr (W == Width::dword)
    std::memcpy(p, row, sizeof(LaneRow));
  else
    store_all<W>(row, [p](unsigned lane) { return p + std::size_t{lane} * width_bytes(W); });
}

} // namespace wavesim::WAVESIM_SIMD_NS
