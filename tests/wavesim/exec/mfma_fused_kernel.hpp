// Dense matrix kernels on the fused dot product.
#pragma once

#include "exec/mfma_fused.hpp"
#include "exec/mfma_kernel.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

template <class Shape, unsigned Group, bool Halves, class A, class B>
WAVESIM_INLINE F32x16 fused_groups(A a, B b, F32x16 c) {
  for (unsigned k = 0; k < Shape::k; k += Group) {
    c = fused_dot<Group, Halves>(a, b, c);
    a.skip(Group);
    b.skip(Group);
  }
  return c;
}

/// Group: products added before one rounding. Halves: even and odd k apart (8-bit inputs).
template <class Shape, MatrixType TypeA, MatrixType TypeB, unsigned Group, bool Halves>
void multiply_fused(const MatrixOperands& o) {
  constexpr unsigned slots = Shape::slots, registers = slots * bits_of(TypeA) / 32;
  LaneRow space[registers];
  MatrixSide<slots, false> b;
  open_registers<TypeB>(b, b_rows(o, space), registers);
  if constexpr (Shape::m == 4) {
    MatrixSide<slots, false> a[4];
    for (unsigned row = 0; row < 4; ++row) {
      spread_a<Shape>(o, row, space);
      open_registers<TypeA>(a[row], space, registers);
    }
    for (unsigned row = 0; row < 4; ++row)
      for (unsigned lane = 0; lane < lanes; lane += strip) {
        const F32x16 c = load16<F32x16>(o.c_row(row) + lane);
        store16(o.d[row] + lane, fused_groups<Shape, Group, Halves>(LaneStrip<Shape>(a[row], lane),
                                                                    LaneStrip<Shape>(b, lane), c));
      }
  } else {
    MatrixSide<slots, true> a;
    open_registers<TypeA>(a, o.a, registers);
    for_each_strip<Shape, F32x16>(
        o, [&](unsigned row, unsigned block, unsigned column, F32x16 c)
               __attribute__((always_inline)) {
                 return fused_groups<Shape, Group, Halves>(
                     BroadcastRow<Shape>(a, a_block_of<Shape>(o, block) * Shape::m + row),
                     LaneStrip<Shape>(b, block * Shape::n + column), c);
               });
  }
}

} // namespace wavesim::WAVESIM_SIMD_NS
