// Operands of the matrix instructions: registers opened into values (and exponents) per element.
#pragma once

#include "exec/mfma_vector.hpp"
#include "isa/mfma_facts.hpp"
#include "machine/wave.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

/// Shape of an instruction, and where its operands' elements are. All offsets count lanes of
/// consecutive arrays of 64, one array per slot.
template <unsigned M, unsigned N, unsigned K, unsigned Blocks = 1>
struct MatrixShape {
  static constexpr unsigned m = M, n = N, k = K, blocks = Blocks;
  static constexpr unsigned slots = M * K * Blocks / lanes; ///< of A and of B (M = N)
  static constexpr unsigned run = M * Blocks; ///< lanes that hold the same values of k
  static constexpr unsigned registers = M * N * Blocks / lanes; ///< of a 32-bit D
  static_assert(M == N);
  /// Distance of element k from element 0.
  static constexpr unsigned at(unsigned kk) { return kk % slots * lanes + kk / slots * run; }
};

/// Elements of A or B by slot and lane. Exponents are as mfma_fused.hpp wants them; a broadcast
/// operand (A) keeps them twice in a dword, which one load can spread over a vector.
template <unsigned Slots, bool Broadcast>
struct MatrixSide {
  using Exponent = std::conditional_t<Broadcast, std::uint32_t, std::int16_t>;
  alignas(64) float value[Slots * lanes];
  alignas(64) Exponent exponent[Slots * lanes];

  WAVESIM_INLINE void set(unsigned slot, unsigned lane, F32x16 v, I16x16 e) {
    store16(value + slot * lanes + lane, v);
    if constexpr (Broadcast)
      store16(exponent + slot * lanes + lane,
              __builtin_convertvector(bits_as<U16x16>(e), U32x16) * 0x10001u);
    else
      store16(exponent + slot * lanes + lane, e);
  }
};

WAVESIM_INLINE I16x16 narrow(I32x16 x) {
  return __builtin_convertvector(x, I16x16);
}

/// Exponent of an element from its exponent field (`bias` and `special` are the type's).
template <class V>
WAVESIM_INLINE V element_exponent(V field, int bias, V zero, V nonfinite) {
  using T = std::remove_cvref_t<decltype(field[0])>;
  const V e = __builtin_elementwise_max(field, V{} + T{1}) - static_cast<T>(bias);
  return nonfinite ? V{} + T{400} : zero ? V{} - T{126} : e;
}

/// Writes 16 lanes of the elements packed in `word`, the register `index` of the operand.
template <MatrixType Type, class Side>
WAVESIM_INLINE void open_word(Side& side, unsigned index, unsigned lane, U32x16 word) {
  if constexpr (Type == MatrixType::f16) {
    for (unsigned i = 0; i < 2; ++i) {
      const U16x16 h = __builtin_convertvector(word >> (16 * i), U16x16);
      const I16x16 field = bits_as<I16x16>((h >> 10) & 31);
      const I16x16 e = element_exponent(field, 15, bits_as<I16x16>((h & 0x7fff) == 0), field == 31);
      side.set(2 * index + i, lane, __builtin_convertvector(bits_as<F16x16>(h), F32x16), e);
    }
  } else if constexpr (Type == MatrixType::bf16 || Type == MatrixType::xf32) {
    constexpr unsigned count = 32 / bits_of(Type);
    for (unsigned i = 0; i < count; ++i) {
      U32x16 v = word & 0xffffe000u; // xf32: cut to 10 mantissa bits, but a NaN stays one
      if constexpr (Type == MatrixType::xf32)
        v = (word & 0x7fffffffu) > 0x7f800000u ? v | 0x400000u : v;
      else
        v = i == 0 ? word << 16 : word & 0xffff0000u;
      const I32x16 field = bits_as<I32x16>((v >> 23) & 255u);
      const I32x16 e = element_exponent(field, 127, I32x16{}, field == 255);
      side.set(count * index + i, lane, bits_as<F32x16>(v), narrow(e));
    }
  } else {
    static_assert(Type == MatrixType::fp8 || Type == MatrixType::bf8);
    constexpr bool fp8 = Type == MatrixType::fp8; // e4m3 with bias 8, else e5m2 with bias 16
    constexpr unsigned mantissa = fp8 ? 3 : 2;
    for (unsigned i = 0; i < 4; ++i) {
      const U32x16 byte = (word >> (8 * i)) & 255u, magnitude = byte & 127u;
      // The field read as that of a float, then the difference of the biases; exact, denormals too.
      const F32x16 size =
          bits_as<F32x16>(magnitude << (23 - mantissa)) * (fp8 ? 0x1p119f : 0x1p111f);
      const U32x16 bits = bits_as<U32x16>(size) | (byte & 128u) << 24;
      const I32x16 nan = bits_as<I32x16>(byte == 128u);
      const I32x16 e = element_exponent(bits_as<I32x16>(magnitude >> mantissa), fp8 ? 8 : 16,
                                        bits_as<I32x16>(magnitude == 0u), nan);
      side.set(4 * index + i, lane,
               bits_as<F32x16>(bits_as<U32x16>(nan) != 0u ? U32x16{} + 0x7fc00000u : bits),
               narrow(e));
    }
  }
}

template <MatrixType Type, class Side>
WAVESIM_INLINE void open_registers(Side& side, const LaneRow* rows, unsigned count) {
  for (unsigned r = 0; r < count; ++r)
    for (unsigned lane = 0; lane < lanes; lane += strip)
      open_word<Type>(side, r, lane, load16<U32x16>(rows[r] + lane));
}

/// One row of A: each element spread over the vector.
template <class Shape>
struct BroadcastRow {
  const float* values;
  const std::uint32_t* exponents;
  template <unsigned Slots>
  BroadcastRow(const MatrixSide<Slots, true>& side, unsigned offset)
      : values(side.value + offset), exponents(side.exponent + offset) {}
  WAVESIM_INLINE void skip(unsigned k) { values += Shape::at(k), exponents += Shape::at(k); }
  WAVESIM_INLINE F32x16 value(unsigned k) const { return values[Shape::at(k)] - F32x16{}; }
  WAVESIM_INLINE I16x16 exponent(unsigned k) const {
    using I32x8 = std::uint32_t __attribute__((vector_size(32)));
    return bits_as<I16x16>(exponents[Shape::at(k)] | I32x8{});
  }
};

/// Sixteen lanes of B (or of an A that differs from lane to lane).
template <class Shape>
struct LaneStrip {
  const float* values;
  const std::int16_t* exponents;
  template <unsigned Slots>
  LaneStrip(const MatrixSide<Slots, false>& side, unsigned offset)
      : values(side.value + offset), exponents(side.exponent + offset) {}
  WAVESIM_INLINE void skip(unsigned k) { values += Shape::at(k), exponents += Shape::at(k); }
  WAVESIM_INLINE F32x16 value(unsigned k) const { return load16<F32x16>(values + Shape::at(k)); }
  WAVESIM_INLINE I16x16 exponent(unsigned k) const {
    return load16<I16x16>(exponents + Shape::at(k));
  }
};

} // namespace wavesim::WAVESIM_SIMD_NS
