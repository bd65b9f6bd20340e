// Matrix instructions with f32 and f64 inputs: a chain of fused multiply-adds over ascending k,
// rounded to nearest even whatever MODE says. f32 inputs A and B obey MODE's denormal field (the
// ISA manual's sections differ on this); C and D never flush, f64 never does.
#include "exec/mfma_kernel.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

using U64x16 = std::uint64_t __attribute__((vector_size(128)));

void copy_f32(float* to, const std::uint32_t* from, bool flush) {
  for (unsigned lane = 0; lane < lanes; lane += strip) {
    U32x16 x = load16<U32x16>(from + lane);
    if (flush)
      x = (x & 0x7f800000u) != 0u ? x : x & 0x80000000u;
    store16(to + lane, x);
  }
}

template <class Shape>
void multiply_f32(const MatrixOperands& o) {
  static_assert(Shape::slots == 1);
  LaneRow space[1];
  alignas(64) float b[lanes], a[Shape::m == 4 ? 4 : 1][lanes];
  copy_f32(b, *b_rows(o, space), o.flush_inputs);
  if constexpr (Shape::m == 4) {
    for (unsigned row = 0; row < 4; ++row) {
      spread_a<Shape>(o, row, space);
      copy_f32(a[row], *space, o.flush_inputs);
    }
    for (unsigned row = 0; row < 4; ++row)
      for (unsigned lane = 0; lane < lanes; lane += strip)
        store16(o.d[row] + lane,
                __builtin_elementwise_fma(load16<F32x16>(a[row] + lane), load16<F32x16>(b + lane),
                                          load16<F32x16>(o.c_row(row) + lane)));
  } else {
    copy_f32(a[0], *o.a, o.flush_inputs);
    for_each_strip<Shape, F32x16>(
        o, [&](unsigned row, unsigned block, unsigned column, F32x16 c)
               __attribute__((always_inline)) {
                 const float* x = a[0] + a_block_of<Shape>(o, block) * Shape::m + row;
                 const float* y = b + block * Shape::n + column;
                 for (unsigned k = 0; k < Shape::k; ++k)
                   c = __builtin_elementwise_fma(x[Shape::at(k)] - F32x16{},
                                                 load16<F32x16>(y + Shape::at(k)), c);
                 return c;
               });
  }
}

/// 16 lanes of a 64-bit register pair.
WAVESIM_INLINE U64x16 load_pair(const std::uint32_t* low, const std::uint32_t* high,
                                unsigned lane) {
  return __builtin_convertvector(load16<U32x16>(low + lane), U64x16) |
         __builtin_convertvector(load16<U32x16>(high + lane), U64x16) << 32;
}

/// One double per lane; BLGP negates A (bit 0), B (bit 1) and C (bit 2).
void copy_f64(double* to, const LaneRow* from, bool negate) {
  for (unsigned lane = 0; lane < lanes; lane += strip)
    store16(to + lane, load_pair(from[0], from[1], lane) ^ (negate ? std::uint64_t{1} << 63 : 0));
}

template <bool Small>
void multiply_f64(const MatrixOperands& o) {
  alignas(64) double a[lanes], b[lanes];
  copy_f64(a, o.a, o.blgp & 1);
  copy_f64(b, o.b, o.blgp & 2);
  const std::uint64_t c_sign = o.blgp & 4 ? std::uint64_t{1} << 63 : 0;
  // Rows of D: lanes 16q … 16q+15 hold row q + 4·slot, or (4×4) row q of four blocks.
  for (unsigned slot = 0; slot < (Small ? 1 : 4); ++slot)
    for (unsigned q = 0; q < 4; ++q) {
      F64x16 c =
          bits_as<F64x16>(load_pair(o.c_row(2 * slot), o.c_row(2 * slot + 1), q * strip) ^ c_sign);
      for (unsigned k = 0; k < 4; ++k) {
        F64x16 x;
        for (unsigned j = 0; j < strip; ++j)
          x[j] = a[k * 16 + (Small ? j / 4 * 4 + q : q + 4 * slot)];
        c = __builtin_elementwise_fma(x, load16<F64x16>(b + k * 16), c);
      }
      const U64x16 d = bits_as<U64x16>(c);
      store16(o.d[2 * slot] + q * strip, __builtin_convertvector(d, U32x16));
      store16(o.d[2 * slot + 1] + q * strip, __builtin_convertvector(d >> 32, U32x16));
    }
}

} // namespace

MatrixKernel find_chain_kernel(const MfmaFact& f) {
  if (f.a == MatrixType::f64)
    return f.m == 4 ? multiply_f64<true> : multiply_f64<false>;
  if (f.a != MatrixType::f32)
    return nullptr;
  if (f.m == 4)
    return multiply_f32<MatrixShape<4, 4, 1, 16>>;
  if (f.m == 16)
    return f.blocks == 4 ? multiply_f32<MatrixShape<16, 16, 1, 4>>
                         : multiply_f32<MatrixShape<16, 16, 4>>;
  return f.blocks == 2 ? multiply_f32<MatrixShape<32, 32, 1, 2>>
                       : multiply_f32<MatrixShape<32, 32, 2>>;
}

} // namespace wavesim::WAVESIM_SIMD_NS
