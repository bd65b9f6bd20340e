// Vectors of 16 lanes for the matrix instructions: one register with AVX-512, two with AVX2.
// Clang's vector types give both levels the same arithmetic; only what they cannot express is
// intrinsics.
#pragma once

#include <cstdint>
#include <immintrin.h>

namespace wavesim::WAVESIM_SIMD_NS {

inline constexpr unsigned strip = 16; ///< lanes of a vector below; 4 of them are a VGPR

using F32x16 = float __attribute__((vector_size(64)));
using F64x16 = double __attribute__((vector_size(128)));
using I32x16 = std::int32_t __attribute__((vector_size(64)));
using U32x16 = std::uint32_t __attribute__((vector_size(64)));
using I16x16 = std::int16_t __attribute__((vector_size(32)));
using U16x16 = std::uint16_t __attribute__((vector_size(32)));
using F16x16 = _Float16 __attribute__((vector_size(32)));
using I16x32 = std::int16_t __attribute__((vector_size(64)));

#define WAVESIM_INLINE __attribute__((always_inline)) inline

template <class To, class From>
WAVESIM_INLINE To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, x);
}

template <class V, class T>
WAVESIM_INLINE V load16(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

template <class V, class T>
WAVESIM_INLINE void store16(T* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

/// One bit per lane whose mask (0 or -1) is set.
WAVESIM_INLINE std::uint32_t lane_bits(I32x16 mask) {
#ifdef __AVX512F__
  return _mm512_movepi32_mask(bits_as<__m512i>(mask));
#else
  struct Halves {
    __m256 low, high;
  };
  const auto halves = bits_as<Halves>(mask);
  return static_cast<std::uint32_t>(_mm256_movemask_ps(halves.low)) |
         static_cast<std::uint32_t>(_mm256_movemask_ps(halves.high)) << 8;
#endif
}

/// Rounds down to an integer; |x| < 2^31.
WAVESIM_INLINE I32x16 floor_to_int(F32x16 x) {
#ifdef __AVX512F__
  return bits_as<I32x16>(
      _mm512_cvt_roundps_epi32(bits_as<__m512>(x), _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC));
#else
  return __builtin_convertvector(__builtin_elementwise_floor(x), I32x16);
#endif
}

/// Rounds toward zero to an integer; |x| < 2^31.
WAVESIM_INLINE I32x16 truncate_to_int(F32x16 x) {
  return __builtin_convertvector(x, I32x16);
}

/// 2^x for -126 <= x <= 127.
WAVESIM_INLINE F32x16 power_of_two(I32x16 x) {
  return bits_as<F32x16>((x + 127) << 23);
}

/// Sums of neighbouring products: lane l gives a[2l]·b[2l] + a[2l+1]·b[2l+1].
WAVESIM_INLINE I32x16 multiply_add_pairs(I32x16 a, I32x16 b) {
#ifdef __AVX512F__
  return bits_as<I32x16>(_mm512_madd_epi16(bits_as<__m512i>(a), bits_as<__m512i>(b)));
#else
  struct Halves {
    __m256i low, high;
  };
  const auto x = bits_as<Halves>(a), y = bits_as<Halves>(b);
  return bits_as<I32x16>(
      Halves{_mm256_madd_epi16(x.low, y.low), _mm256_madd_epi16(x.high, y.high)});
#endif
}

} // namespace wavesim::WAVESIM_SIMD_NS
