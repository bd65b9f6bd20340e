// Matrix instructions with int8 inputs: exact sums, wrapping to 32 bits.
#include "exec/mfma_kernel.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// Pairs of neighbouring-but-one bytes as 16-bit integers: a dword holds two products' factors.
template <unsigned Registers>
void open_pairs(std::int32_t (&to)[2 * Registers * lanes], const LaneRow* rows) {
  for (unsigned r = 0; r < Registers; ++r)
    for (unsigned lane = 0; lane < lanes; lane += strip) {
      const I16x32 x = load16<I16x32>(rows[r] + lane);
      store16(to + 2 * r * lanes + lane, (x << 8) >> 8);
      store16(to + (2 * r + 1) * lanes + lane, x >> 8);
    }
}

/// Pairs: the shape with K counted in pairs of int8.
template <class Pairs>
void multiply_i8(const MatrixOperands& o) {
  constexpr unsigned registers = Pairs::slots / 2;
  LaneRow space[registers];
  alignas(64) std::int32_t b[Pairs::slots * lanes];
  alignas(64) std::int32_t a[Pairs::m == 4 ? 4 : 1][Pairs::slots * lanes];
  open_pairs<registers>(b, b_rows(o, space));
  if constexpr (Pairs::m == 4) {
    for (unsigned row = 0; row < 4; ++row) {
      spread_a<Pairs>(o, row, space);
      open_pairs<registers>(a[row], space);
    }
    for (unsigned row = 0; row < 4; ++row)
      for (unsigned lane = 0; lane < lanes; lane += strip) {
        I32x16 c = load16<I32x16>(o.c_row(row) + lane);
        for (unsigned k = 0; k < Pairs::k; ++k)
          c += multiply_add_pairs(load16<I32x16>(a[row] + lane + Pairs::at(k)),
                                  load16<I32x16>(b + lane + Pairs::at(k)));
        store16(o.d[row] + lane, c);
      }
  } else {
    open_pairs<registers>(a[0], o.a);
    for_each_strip<Pairs, I32x16>(
        o, [&](unsigned row, unsigned block, unsigned column,
               I32x16 c) __attribute__((always_inline)) {
          const std::int32_t* x = a[0] + a_block_of<Pairs>(o, block) * Pairs::m + row;
          const std::int32_t* y = b + block * Pairs::n + column;
#pragma clang loop unroll(full)
          for (unsigned k = 0; k < Pairs::k; ++k)
            c += multiply_add_pairs(x[Pairs::at(k)] | I32x16{}, load16<I32x16>(y + Pairs::at(k)));
          return c;
        });
  }
}

} // namespace

MatrixKernel find_integer_kernel(const MfmaFact& f) {
  if (f.a != MatrixType::i8 || f.sparse)
    return nullptr;
  if (f.m == 4)
    return multiply_i8<MatrixShape<4, 4, 2, 16>>;
  if (f.m == 16)
    return f.blocks == 4 ? multiply_i8<MatrixShape<16, 16, 2, 4>>
                         : multiply_i8<MatrixShape<16, 16, 16>>;
  return f.blocks == 2 ? multiply_i8<MatrixShape<32, 32, 2, 2>>
                       : multiply_i8<MatrixShape<32, 32, 8>>;
}

} // namespace wavesim::WAVESIM_SIMD_NS
