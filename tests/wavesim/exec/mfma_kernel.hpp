// What the matrix kernels share: operands resolved to rows, and the walk over the rows of D.
#pragma once

#include "exec/mfma_operands.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

/// Operands of one execution. D overlaps C entirely or not at all, and may overlap A and B: kernels
/// read those before they write.
struct MatrixOperands {
  const LaneRow* a = nullptr;
  const LaneRow* b = nullptr;
  const LaneRow* c = nullptr;
  LaneRow* d = nullptr;
  const std::uint32_t* index = nullptr; ///< sparse: row of compression indices
  unsigned c_mask = ~0u;                ///< register r of C is c[r & c_mask] (0 or 1: a constant)
  unsigned cbsz = 0, abid = 0, blgp = 0;
  bool flush_inputs = false; ///< MODE flushes f32 denormal inputs

  const std::uint32_t* c_row(unsigned r) const { return c[r & c_mask]; }
};

using MatrixKernel = void (*)(const MatrixOperands&);

// The kernel of an instruction, or null if the file does not hold it.
MatrixKernel find_half_kernel(const MfmaFact&);
MatrixKernel find_narrow_kernel(const MfmaFact&);
MatrixKernel find_chain_kernel(const MfmaFact&);
MatrixKernel find_integer_kernel(const MfmaFact&);
MatrixKernel find_sparse_kernel(const MfmaFact&);

/// The block whose A data `block` uses.
template <class Shape>
unsigned a_block_of(const MatrixOperands& o, unsigned block) {
  return Shape::blocks == 1 ? 0 : mfma_a_block(block, o.cbsz, o.abid) % Shape::blocks;
}

/// BLGP's lane patterns as a table: computing them in the loop below is miscompiled by clang 22.1
/// at -O3 (patterns 4 to 7 get lane % 32 for lane % 16).
inline constexpr auto b_lanes = [] {
  std::array<std::array<std::uint8_t, lanes>, 8> table{};
  for (unsigned blgp = 0; blgp < 8; ++blgp)
    for (unsigned lane = 0; lane < lanes; ++lane)
      table[blgp][lane] = static_cast<std::uint8_t>(mfma_b_lane(lane, blgp));
  return table;
}();

/// B's registers with BLGP applied; `space` holds them when lanes move.
template <unsigned Registers>
const LaneRow* b_rows(const MatrixOperands& o, LaneRow (&space)[Registers]) {
  if (o.blgp == 0)
    return o.b;
  for (unsigned r = 0; r < Registers; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane)
      space[r][lane] = o.b[r][b_lanes[o.blgp][lane]];
  return space;
}

/// Shapes with 4 rows have one row of D per register, and lanes of different blocks side by side:
/// A is spread so that each lane sees the element of its own block in row `row`.
template <class Shape, unsigned Registers>
void spread_a(const MatrixOperands& o, unsigned row, LaneRow (&to)[Registers]) {
  for (unsigned r = 0; r < Registers; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane)
      to[r][lane] = o.a[r][a_block_of<Shape>(o, lane / 4) * 4 + row];
}

/// Shapes with 16 or 32 rows and a 32-bit D: calls f(row, block, column, c) for each run of 16
/// columns and stores its result.
template <class Shape, class V, class F>
WAVESIM_INLINE void for_each_strip(const MatrixOperands& o, const F& f) {
  constexpr unsigned per_block = Shape::m * Shape::n / lanes;
  for (unsigned r = 0; r < Shape::registers; ++r) {
    const unsigned in_block = r % per_block;
    for (unsigned lane = 0; lane < lanes; lane += strip) {
      const unsigned row = in_block % 4 + 4 * (lane / Shape::n) + 256 / Shape::n * (in_block / 4);
      const V c = load16<V>(o.c_row(r) + lane);
      store16(o.d[r] + lane, f(row, r / per_block, lane % Shape::n, c));
    }
  }
}

} // namespace wavesim::WAVESIM_SIMD_NS
