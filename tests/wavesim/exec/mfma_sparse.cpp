// v_smfmac: A holds two of every four k values, chosen row by row by the index operand. No
// bit-exact order has been published for these; the products that remain are added as a dense
// instruction of half the depth would add them.
#include "exec/mfma_fused_kernel.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// B's element for each stored element of a row of A.
template <class Full>
struct ChosenStrip {
  const float* values;
  const std::int16_t* exponents;
  const std::uint16_t* positions;
  WAVESIM_INLINE void skip(unsigned k) { positions += k; }
  WAVESIM_INLINE F32x16 value(unsigned k) const { return load16<F32x16>(values + positions[k]); }
  WAVESIM_INLINE I16x16 exponent(unsigned k) const {
    return load16<I16x16>(exponents + positions[k]);
  }
};

/// Where the B elements of each row are. `index_bits`: width of an index set (8 for 16-bit inputs,
/// 16 for 8-bit inputs); ABID chooses the set when CBSZ is 0.
template <class Stored, class Full>
void find_positions(const MatrixOperands& o, unsigned index_bits,
                    std::uint16_t (&positions)[Full::m][Stored::k]) {
  const unsigned set = o.cbsz == 0 ? o.abid % (32 / index_bits) * index_bits : 0;
  constexpr unsigned fields = Stored::slots / 2; // of one lane
  for (unsigned row = 0; row < Full::m; ++row)
    for (unsigned quad = 0; quad < Stored::k / 2; ++quad) {
      const unsigned word = o.index[row + Full::m * (quad / fields)] >> set;
      const unsigned pair = word >> (4 * (quad % fields));
      positions[row][2 * quad] = static_cast<std::uint16_t>(Full::at(4 * quad + (pair & 3)));
      positions[row][2 * quad + 1] =
          static_cast<std::uint16_t>(Full::at(4 * quad + (pair >> 2 & 3)));
    }
}

template <unsigned M, unsigned K, MatrixType TypeA, MatrixType TypeB>
void multiply_sparse(const MatrixOperands& o) {
  using Stored = MatrixShape<M, M, K / 2>;
  using Full = MatrixShape<M, M, K>;
  constexpr bool narrow_type = bits_of(TypeA) == 8;
  constexpr unsigned group = narrow_type ? 16 : 8;
  std::uint16_t positions[M][K / 2];
  find_positions<Stored, Full>(o, narrow_type ? 16 : 8, positions);
  MatrixSide<Stored::slots, true> a;
  MatrixSide<Full::slots, false> b;
  open_registers<TypeA>(a, o.a, Stored::slots * bits_of(TypeA) / 32);
  open_registers<TypeB>(b, o.b, Full::slots * bits_of(TypeB) / 32);
  for_each_strip<Full, F32x16>(
      o, [&](unsigned row, unsigned, unsigned column, F32x16 c) __attribute__((always_inline)) {
        return fused_groups<Stored, group, narrow_type>(
            BroadcastRow<Stored>(a, row),
            ChosenStrip<Full>{b.value + column, b.exponent + column, positions[row]}, c);
      });
}

template <unsigned M, unsigned K>
void multiply_sparse_i8(const MatrixOperands& o) {
  using Stored = MatrixShape<M, M, K / 2>;
  using Full = MatrixShape<M, M, K>;
  std::uint16_t positions[M][K / 2];
  find_positions<Stored, Full>(o, 16, positions);
  const auto open = [](std::int32_t* to, const LaneRow* rows, unsigned slots) {
    for (unsigned slot = 0; slot < slots; ++slot)
      for (unsigned lane = 0; lane < lanes; ++lane)
        to[slot * lanes + lane] =
            static_cast<std::int8_t>(rows[slot / 4][lane] >> (8 * (slot % 4)) & 255);
  };
  alignas(64) std::int32_t a[Stored::slots * lanes], b[Full::slots * lanes];
  open(a, o.a, Stored::slots);
  open(b, o.b, Full::slots);
  for_each_strip<Full, I32x16>(
      o, [&](unsigned row, unsigned, unsigned column, I32x16 c) __attribute__((always_inline)) {
        for (unsigned k = 0; k < Stored::k; ++k)
          c += a[Stored::at(k) + row] * load16<I32x16>(b + column + positions[row][k]);
        return c;
      });
}

template <MatrixType A, MatrixType B>
MatrixKernel find(const MfmaFact& f) {
  if (f.a != A || f.b != B)
    return nullptr;
  constexpr unsigned deep = bits_of(A) == 8 ? 2 : 1;
  return f.m == 32 ? multiply_sparse<32, 16 * deep, A, B> : multiply_sparse<16, 32 * deep, A, B>;
}

} // namespace

MatrixKernel find_sparse_kernel(const MfmaFact& f) {
  using enum MatrixType;
  if (!f.sparse)
    return nullptr;
  if (f.a == i8)
    return f.m == 32 ? multiply_sparse_i8<32, 32> : multiply_sparse_i8<16, 64>;
  for (const MatrixKernel k : {find<f16, f16>(f), find<bf16, bf16>(f), find<fp8, fp8>(f),
                               find<fp8, bf8>(f), find<bf8, fp8>(f), find<bf8, bf8>(f)})
    if (k)
      return k;
  return nullptr;
}

} // namespace wavesim::WAVESIM_SIMD_NS
