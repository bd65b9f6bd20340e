/// \file
/// `wgmma`: products of a warpgroup (four consecutive warps, the first a multiple of four) whose
/// operands it reads from LDS by itself, asynchronously. In code for `sm_90a` only.
///
///     fence_async_proxy();  barrier();       // what work-items or cp.async wrote to LDS is seen;
///                                            // the fence may follow the barrier, too
///     warpgroup_fence();
///     warpgroup_mma<mma_type::bf16, 256, along, along>(sums, a, b);   // as often as wanted
///     warpgroup_commit();                    // a group
///     …
///     warpgroup_wait<0>();                   // sums are there
///
/// Source: NVIDIA, PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Instructions".
#pragma once

#include <wavetile/arch/cuda/mma.hpp>

/// Whether this pass makes code that has these instructions.
#if WAVETILE_CUDA && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define WAVETILE_WARPGROUP_MMA 1
#else
#define WAVETILE_WARPGROUP_MMA 0
#endif

#if WAVETILE_CUDA

namespace wavetile::instruction {

/// Where an operand of 16-bit elements lies in LDS, in blocks of 8 x 128 bytes, each a multiple of
/// 1024: eight rows of 64 values of k, or (k strided) eight values of k of 64 rows. 16 bytes `c` of
/// 128 bytes `r` of a block lie at place c ^ r.
///
/// `address`: of the operand's first block. `row_blocks`: bytes from one block to the next 64 rows,
/// read where k is strided only. Blocks that follow each other (8 rows along k, 8 values of k
/// otherwise) lie 1024 bytes apart. 16 values of k further: 32 bytes, or 2048 where k is strided.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint64_t warpgroup_operand(uint32_t address,
                                                                 uint32_t row_blocks) {
  const uint32_t low = address >> 4 | row_blocks >> 4 << 16;
  constexpr uint32_t high = 1024u >> 4 | 1u << 30; // swizzle of 128 bytes
  return uint64_t{high} << 32 | low;
}

#if WAVETILE_WARPGROUP_MMA

/// What this work-item has written to LDS (its finished cp.async, too), or seen written by others
/// through a barrier, comes before what `wgmma` reads.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void fence_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Before the first product, and wherever registers of sums were written by others.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void warpgroup_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void warpgroup_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most the `Groups` newest groups are under way.
template <int Groups>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void warpgroup_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Groups) : "memory");
}

#define WAVETILE_DETAIL_SUMS_8(I)                                                                  \
  "+f"(d[I]), "+f"(d[I + 1]), "+f"(d[I + 2]), "+f"(d[I + 3]), "+f"(d[I + 4]), "+f"(d[I + 5]),      \
      "+f"(d[I + 6]), "+f"(d[I + 7])
#define WAVETILE_DETAIL_SUMS_32(I)                                                                 \
  WAVETILE_DETAIL_SUMS_8(I), WAVETILE_DETAIL_SUMS_8(I + 8), WAVETILE_DETAIL_SUMS_8(I + 16),        \
      WAVETILE_DETAIL_SUMS_8(I + 24)
#define WAVETILE_DETAIL_NAMES_8 "{%0,%1,%2,%3,%4,%5,%6,%7"
#define WAVETILE_DETAIL_NAMES_16 WAVETILE_DETAIL_NAMES_8 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define WAVETILE_DETAIL_NAMES_32                                                                   \
  WAVETILE_DETAIL_NAMES_16                                                                         \
  ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define WAVETILE_DETAIL_NAMES_64                                                                   \
  WAVETILE_DETAIL_NAMES_32                                                                         \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,"  \
  "%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define WAVETILE_DETAIL_NAMES_128                                                                  \
  WAVETILE_DETAIL_NAMES_64                                                                         \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,"  \
  "%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,"   \
  "%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,"     \
  "%126,%127"
#define WAVETILE_DETAIL_WGMMA(SHAPE, TYPES, NAMES, REST, INPUTS, ...)                              \
  asm volatile("wgmma.mma_async.sync.aligned." SHAPE ".f32." TYPES " " NAMES "}, " REST            \
:__VA_ARGS__                                                                                       \
               : WAVETILE_DETAIL_INPUTS_##INPUTS                                                   \
               : "memory")
// of A in LDS, and in registers; `Adds` is a condition
#define WAVETILE_DETAIL_INPUTS_LDS "l"(a), "l"(b), "n"(Adds), "n"(StridedA), "n"(StridedB)
#define WAVETILE_DETAIL_INPUTS_REGISTERS                                                           \
  "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(StridedB)
#define WAVETILE_DETAIL_REST_LDS(A, B, ADDS, STRIDED_A, STRIDED_B)                                 \
  A ", " B ", " ADDS ", 1, 1, " STRIDED_A ", " STRIDED_B ";"
#define WAVETILE_DETAIL_REST_REGISTERS(A0, A1, A2, A3, B, STRIDED_B)                               \
  "{" A0 ", " A1 ", " A2 ", " A3 "}, " B ", 1, 1, 1, " STRIDED_B ";"
#define WAVETILE_DETAIL_WGMMA_OF(TYPES)                                                            \
  if constexpr (N == 16)                                                                           \
    WAVETILE_DETAIL_WGMMA("m64n16k16", TYPES, WAVETILE_DETAIL_NAMES_8,                             \
                          WAVETILE_DETAIL_REST_LDS("%8", "%9", "%10", "%11", "%12"), LDS,          \
                          WAVETILE_DETAIL_SUMS_8(0));                                              \
  else if constexpr (N == 32)                                                                      \
    WAVETILE_DETAIL_WGMMA("m64n32k16", TYPES, WAVETILE_DETAIL_NAMES_16,                            \
                          WAVETILE_DETAIL_REST_LDS("%16", "%17", "%18", "%19", "%20"), LDS,        \
                          WAVETILE_DETAIL_SUMS_8(0), WAVETILE_DETAIL_SUMS_8(8));                   \
  else if constexpr (N == 64)                                                                      \
    WAVETILE_DETAIL_WGMMA("m64n64k16", TYPES, WAVETILE_DETAIL_NAMES_32,                            \
                          WAVETILE_DETAIL_REST_LDS("%32", "%33", "%34", "%35", "%36"), LDS,        \
                          WAVETILE_DETAIL_SUMS_32(0));                                             \
  else if constexpr (N == 128)                                                                     \
    WAVETILE_DETAIL_WGMMA("m64n128k16", TYPES, WAVETILE_DETAIL_NAMES_64,                           \
                          WAVETILE_DETAIL_REST_LDS("%64", "%65", "%66", "%67", "%68"), LDS,        \
                          WAVETILE_DETAIL_SUMS_32(0), WAVETILE_DETAIL_SUMS_32(32));                \
  else                                                                                             \
    WAVETILE_DETAIL_WGMMA("m64n256k16", TYPES, WAVETILE_DETAIL_NAMES_128,                          \
                          WAVETILE_DETAIL_REST_LDS("%128", "%129", "%130", "%131", "%132"), LDS,   \
                          WAVETILE_DETAIL_SUMS_32(0), WAVETILE_DETAIL_SUMS_32(32),                 \
                          WAVETILE_DETAIL_SUMS_32(64), WAVETILE_DETAIL_SUMS_32(96))
#define WAVETILE_DETAIL_WGMMA_FROM_REGISTERS(TYPES)                                                \
  if constexpr (N == 64)                                                                           \
    WAVETILE_DETAIL_WGMMA(                                                                         \
        "m64n64k16", TYPES, WAVETILE_DETAIL_NAMES_32,                                              \
        WAVETILE_DETAIL_REST_REGISTERS("%32", "%33", "%34", "%35", "%36", "%37"), REGISTERS,       \
        WAVETILE_DETAIL_SUMS_32(0));                                                               \
  else                                                                                             \
    WAVETILE_DETAIL_WGMMA(                                                                         \
        "m64n128k16", TYPES, WAVETILE_DETAIL_NAMES_64,                                             \
        WAVETILE_DETAIL_REST_REGISTERS("%64", "%65", "%66", "%67", "%68", "%69"), REGISTERS,       \
        WAVETILE_DETAIL_SUMS_32(0), WAVETILE_DETAIL_SUMS_32(32))

/// 64 rows by `N` (16, 32, 64, 128 or 256) columns by 16 values of k of 16-bit floats, sums in
/// fp32. `StridedA`, `StridedB`: 1 where k is strided. `Adds`: 0 where the sums begin, what is in
/// them does not count. Warp w of the four, lane l has of rows 16 w + l / 4 + 8 h and columns 8 j +
/// 2 (l mod 4) + c the sums d[4 j + 2 h + c]; `Sums`: an array, or what has its operator.
template <mma_type Type, int N, int StridedA, int StridedB, int Adds = 1, class Sums>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void warpgroup_mma(Sums& d, uint64_t a, uint64_t b) {
  static_assert(N == 16 || N == 32 || N == 64 || N == 128 || N == 256,
                "wavetile::warpgroup_mma: columns");
  static_assert(Type == mma_type::bf16 || Type == mma_type::f16,
                "wavetile::warpgroup_mma: for 16-bit floats");
  if constexpr (Type == mma_type::bf16) {
    WAVETILE_DETAIL_WGMMA_OF("bf16.bf16");
  } else {
    WAVETILE_DETAIL_WGMMA_OF("f16.f16");
  }
}

/// The same for 64 or 128 columns with A in registers, those of `warp_a` of the warp's 16 rows.
/// They and the sums are the instruction's until it is waited for.
template <mma_type Type, int N, int StridedB, class Sums>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void warpgroup_mma(Sums& d, const uint32_t (&a)[4],
                                                         uint64_t b) {
  static_assert(N == 64 || N == 128, "wavetile::warpgroup_mma: columns");
  static_assert(Type == mma_type::bf16 || Type == mma_type::f16,
                "wavetile::warpgroup_mma: for 16-bit floats");
  if constexpr (Type == mma_type::bf16) {
    WAVETILE_DETAIL_WGMMA_FROM_REGISTERS("bf16.bf16");
  } else {
    WAVETILE_DETAIL_WGMMA_FROM_REGISTERS("f16.f16");
  }
}

/// Gives registers of this warpgroup up until `Count` (a multiple of 8) are left, or takes as many
/// as make `Count`, and waits for them. The kernel has `__launch_bounds__` for one workgroup.
template <int Count>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}

#undef WAVETILE_DETAIL_WGMMA_FROM_REGISTERS
#undef WAVETILE_DETAIL_REST_REGISTERS
#undef WAVETILE_DETAIL_REST_LDS
#undef WAVETILE_DETAIL_INPUTS_REGISTERS
#undef WAVETILE_DETAIL_INPUTS_LDS
#undef WAVETILE_DETAIL_WGMMA_OF
#undef WAVETILE_DETAIL_WGMMA
#undef WAVETILE_DETAIL_NAMES_128
#undef WAVETILE_DETAIL_NAMES_64
#undef WAVETILE_DETAIL_NAMES_32
#undef WAVETILE_DETAIL_NAMES_16
#undef WAVETILE_DETAIL_NAMES_8
#undef WAVETILE_DETAIL_SUMS_32
#undef WAVETILE_DETAIL_SUMS_8

#endif

} // namespace wavetile::instruction

#endif
