/// \file
/// `mma.sync`: D = A B + D of one warp. Registers and lanes: arch/cuda/mma_layout.hpp.
#pragma once

#include <wavetile/config.hpp>
#include <wavetile/integers.hpp>

#if WAVETILE_CUDA

namespace wavetile::instruction {

/// Element types of A and B, as the instruction names them.
enum class mma_type : uint8_t { f16, bf16, e4m3, e5m2 };

#define WAVETILE_DETAIL_MMA(SHAPE, TYPES, D, A, B)                                                 \
  asm volatile("mma.sync.aligned." SHAPE ".row.col." TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, "       \
               "{%8,%9}, {%0,%1,%2,%3};"                                                           \
               : D(d[0]), D(d[1]), D(d[2]), D(d[3])                                                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

/// m16n8k16 of 16-bit floats or m16n8k32 of 8-bit ones (from sm_89 on), sums in fp32.
template <mma_type A, mma_type B>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void mma_float(float (&d)[4], const uint32_t (&a)[4],
                                                     const uint32_t (&b)[2]) {
  if constexpr (A == mma_type::f16 && B == mma_type::f16)
    WAVETILE_DETAIL_MMA("m16n8k16", "f32.f16.f16.f32", "+f", a, b);
  else if constexpr (A == mma_type::bf16 && B == mma_type::bf16)
    WAVETILE_DETAIL_MMA("m16n8k16", "f32.bf16.bf16.f32", "+f", a, b);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890
  else
    __trap(); // no such instruction; the host refuses the device before
#else
  else if constexpr (A == mma_type::e4m3 && B == mma_type::e4m3)
    WAVETILE_DETAIL_MMA("m16n8k32", "f32.e4m3.e4m3.f32", "+f", a, b);
  else if constexpr (A == mma_type::e4m3 && B == mma_type::e5m2)
    WAVETILE_DETAIL_MMA("m16n8k32", "f32.e4m3.e5m2.f32", "+f", a, b);
  else if constexpr (A == mma_type::e5m2 && B == mma_type::e4m3)
    WAVETILE_DETAIL_MMA("m16n8k32", "f32.e5m2.e4m3.f32", "+f", a, b);
  else
    WAVETILE_DETAIL_MMA("m16n8k32", "f32.e5m2.e5m2.f32", "+f", a, b);
#endif
}

/// m16n8k32 of int8, sums in int32, which wrap.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void mma_int8(int32_t (&d)[4], const uint32_t (&a)[4],
                                                    const uint32_t (&b)[2]) {
  WAVETILE_DETAIL_MMA("m16n8k32", "s32.s8.s8.s32", "+r", a, b);
}

#undef WAVETILE_DETAIL_MMA

/// m8n8k4 of fp64.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void mma_double(double (&d)[2], double a, double b) {
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(d[0]), "+d"(d[1])
               : "d"(a), "d"(b));
}

} // namespace wavetile::instruction

#endif
