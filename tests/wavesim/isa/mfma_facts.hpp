// The matrix instructions of gfx942 as data: one table for the executor, the counters and the
// hazard checks. Shapes, pass counts and element layouts are those of AMD's matrix instruction
// calculator (ROCm/amd_matrix_instruction_calculator, commit 2ef91896); opcodes are LLVM's. The
// layouts follow a few rules, stated below as functions; the tests compare them with the
// calculator's own output.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace wavesim {

enum class MatrixType : std::uint8_t { f64, f32, xf32, f16, bf16, fp8, bf8, i8, i32 };

constexpr unsigned bits_of(MatrixType type) {
  switch (type) {
  case MatrixType::f64:
    return 64;
  case MatrixType::f32:
  case MatrixType::xf32:
  case MatrixType::i32:
    return 32;
  case MatrixType::f16:
  case MatrixType::bf16:
    return 16;
  case MatrixType::fp8:
  case MatrixType::bf8:
  case MatrixType::i8:
    return 8;
  }
  return 0;
}

/// Where an element sits in the matrix: A holds (row, k), B (column, k), C and D (row, column).
struct MatrixElement {
  unsigned row = 0, column = 0, k = 0, block = 0;
  friend constexpr bool operator==(const MatrixElement&, const MatrixElement&) = default;
};

/// D = A·B + C for `blocks` independent m×k by k×n products held by 64 lanes.
/// "Slot" s of a lane is its element number s, counted from bit 0 of the operand's first register.
struct MfmaFact {
  std::string_view mnemonic;
  std::uint8_t opcode; ///< VOP3P opcode
  bool sparse;         ///< v_smfmac: A is 4:2 compressed, D is also C
  std::uint8_t m, n, k, blocks;
  MatrixType a, b, cd;
  std::uint8_t passes; ///< 1 pass = 4 clocks of the SIMD's matrix unit

  constexpr bool is_f64() const { return cd == MatrixType::f64; }
  /// LLVM's XDL class, which the hazard rules distinguish: everything but f32 and f64 inputs.
  constexpr bool xdl() const { return a != MatrixType::f32 && a != MatrixType::f64; }
  /// CBSZ and ABID are meaningful (broadcast of A's blocks; index set when sparse).
  constexpr bool takes_cbsz() const { return sparse || (blocks > 1 && !is_f64()); }
  /// BLGP is meaningful (lane pattern of B; on f64 negation of A, B, C).
  constexpr bool takes_blgp() const { return !sparse && (blocks > 1 || !xdl()); }

  constexpr unsigned clocks() const { return 4u * passes; }
  /// Clocks of those in which an independent VALU instruction may run.
  constexpr unsigned valu_clocks() const { return xdl() ? clocks() - (sparse ? 8 : 4) : 0; }
  /// Operations of one wave instruction, multiply and add counted apart (sparse: as if dense).
  constexpr unsigned ops() const { return 2u * m * n * k * blocks; }
  constexpr unsigned ops_per_cu_clock() const { return 4 * ops() / clocks(); }

  /// Elements per lane. A sparse A holds half of its k values.
  constexpr unsigned a_slots() const { return m * k * blocks / 64u / (sparse ? 2 : 1); }
  constexpr unsigned b_slots() const { return n * k * blocks / 64u; }
  constexpr unsigned d_slots() const { return m * n * blocks / 64u; }
  constexpr unsigned a_registers() const { return a_slots() * bits_of(a) / 32; }
  constexpr unsigned b_registers() const { return b_slots() * bits_of(b) / 32; }
  constexpr unsigned d_registers() const { return d_slots() * bits_of(cd) / 32; }

  /// A: lanes run over the rows of a block, then over the blocks, then over runs of k.
  /// Sparse: `k` is the first of the four k values that slots 2q and 2q+1 choose from.
  constexpr MatrixElement a_element(unsigned lane, unsigned slot) const {
    const unsigned run = lane / (m * blocks);
    const unsigned at = sparse ? 2 * run * a_slots() + slot / 2 * 4 : run * a_slots() + slot;
    return {.row = lane % m, .column = 0, .k = at, .block = lane / m % blocks};
  }
  constexpr MatrixElement b_element(unsigned lane, unsigned slot) const {
    return {.row = 0,
            .column = lane % n,
            .k = lane / (n * blocks) * b_slots() + slot,
            .block = lane / n % blocks};
  }
  /// C and D: a lane holds one column.
  constexpr MatrixElement d_element(unsigned lane, unsigned slot) const {
    if (m == 4 && is_f64())
      return {.row = lane / 16, .column = lane % 4, .k = 0, .block = lane / 4 % 4};
    if (m == 4)
      return {.row = slot, .column = lane % 4, .k = 0, .block = lane / 4};
    if (is_f64())
      return {.row = lane / 16 + 4 * slot, .column = lane % 16, .k = 0, .block = 0};
    const unsigned per_block =
        m * n / 64u; // slots of one block: runs of 4 rows, half-waves alternate
    const unsigned in_block = slot % per_block;
    return {.row = in_block % 4 + 4 * (lane / n) + 256u / n * (in_block / 4),
            .column = lane % n,
            .k = 0,
            .block = slot / per_block};
  }
};

inline constexpr auto mfma_facts = [] {
  using enum MatrixType;
  return std::array<MfmaFact, 46>{{
      {"v_mfma_f32_16x16x8_xf32", 0x3e, false, 16, 16, 8, 1, xf32, xf32, f32, 4},
      {"v_mfma_f32_32x32x4_xf32", 0x3f, false, 32, 32, 4, 1, xf32, xf32, f32, 8},
      {"v_mfma_f32_32x32x1_2b_f32", 0x40, false, 32, 32, 1, 2, f32, f32, f32, 16},
      {"v_mfma_f32_16x16x1_4b_f32", 0x41, false, 16, 16, 1, 4, f32, f32, f32, 8},
      {"v_mfma_f32_4x4x1_16b_f32", 0x42, false, 4, 4, 1, 16, f32, f32, f32, 2},
      {"v_mfma_f32_32x32x2_f32", 0x44, false, 32, 32, 2, 1, f32, f32, f32, 16},
      {"v_mfma_f32_16x16x4_f32", 0x45, false, 16, 16, 4, 1, f32, f32, f32, 8},
      {"v_mfma_f32_32x32x4_2b_f16", 0x48, false, 32, 32, 4, 2, f16, f16, f32, 16},
      {"v_mfma_f32_16x16x4_4b_f16", 0x49, false, 16, 16, 4, 4, f16, f16, f32, 8},
      {"v_mfma_f32_4x4x4_16b_f16", 0x4a, false, 4, 4, 4, 16, f16, f16, f32, 2},
      {"v_mfma_f32_32x32x8_f16", 0x4c, false, 32, 32, 8, 1, f16, f16, f32, 8},
      {"v_mfma_f32_16x16x16_f16", 0x4d, false, 16, 16, 16, 1, f16, f16, f32, 4},
      {"v_mfma_i32_32x32x4_2b_i8", 0x50, false, 32, 32, 4, 2, i8, i8, i32, 16},
      {"v_mfma_i32_16x16x4_4b_i8", 0x51, false, 16, 16, 4, 4, i8, i8, i32, 8},
      {"v_mfma_i32_4x4x4_16b_i8", 0x52, false, 4, 4, 4, 16, i8, i8, i32, 2},
      {"v_mfma_i32_32x32x16_i8", 0x56, false, 32, 32, 16, 1, i8, i8, i32, 8},
      {"v_mfma_i32_16x16x32_i8", 0x57, false, 16, 16, 32, 1, i8, i8, i32, 4},
      {"v_mfma_f32_32x32x4_2b_bf16", 0x5d, false, 32, 32, 4, 2, bf16, bf16, f32, 16},
      {"v_mfma_f32_16x16x4_4b_bf16", 0x5e, false, 16, 16, 4, 4, bf16, bf16, f32, 8},
      {"v_mfma_f32_4x4x4_16b_bf16", 0x5f, false, 4, 4, 4, 16, bf16, bf16, f32, 2},
      {"v_mfma_f32_32x32x8_bf16", 0x60, false, 32, 32, 8, 1, bf16, bf16, f32, 8},
      {"v_mfma_f32_16x16x16_bf16", 0x61, false, 16, 16, 16, 1, bf16, bf16, f32, 4},
      {"v_smfmac_f32_16x16x32_f16", 0x62, true, 16, 16, 32, 1, f16, f16, f32, 4},
      {"v_smfmac_f32_32x32x16_f16", 0x64, true, 32, 32, 16, 1, f16, f16, f32, 8},
      {"v_smfmac_f32_16x16x32_bf16", 0x66, true, 16, 16, 32, 1, bf16, bf16, f32, 4},
      {"v_smfmac_f32_32x32x16_bf16", 0x68, true, 32, 32, 16, 1, bf16, bf16, f32, 8},
      {"v_smfmac_i32_16x16x64_i8", 0x6a, true, 16, 16, 64, 1, i8, i8, i32, 4},
      {"v_smfmac_i32_32x32x32_i8", 0x6c, true, 32, 32, 32, 1, i8, i8, i32, 8},
      {"v_mfma_f64_16x16x4_f64", 0x6e, false, 16, 16, 4, 1, f64, f64, f64, 8},
      {"v_mfma_f64_4x4x4_4b_f64", 0x6f, false, 4, 4, 4, 4, f64, f64, f64, 4},
      {"v_mfma_f32_16x16x32_bf8_bf8", 0x70, false, 16, 16, 32, 1, bf8, bf8, f32, 4},
      {"v_mfma_f32_16x16x32_bf8_fp8", 0x71, false, 16, 16, 32, 1, bf8, fp8, f32, 4},
      {"v_mfma_f32_16x16x32_fp8_bf8", 0x72, false, 16, 16, 32, 1, fp8, bf8, f32, 4},
      {"v_mfma_f32_16x16x32_fp8_fp8", 0x73, false, 16, 16, 32, 1, fp8, fp8, f32, 4},
      {"v_mfma_f32_32x32x16_bf8_bf8", 0x74, false, 32, 32, 16, 1, bf8, bf8, f32, 8},
      {"v_mfma_f32_32x32x16_bf8_fp8", 0x75, false, 32, 32, 16, 1, bf8, fp8, f32, 8},
      {"v_mfma_f32_32x32x16_fp8_bf8", 0x76, false, 32, 32, 16, 1, fp8, bf8, f32, 8},
      {"v_mfma_f32_32x32x16_fp8_fp8", 0x77, false, 32, 32, 16, 1, fp8, fp8, f32, 8},
      {"v_smfmac_f32_16x16x64_bf8_bf8", 0x78, true, 16, 16, 64, 1, bf8, bf8, f32, 4},
      {"v_smfmac_f32_16x16x64_bf8_fp8", 0x79, true, 16, 16, 64, 1, bf8, fp8, f32, 4},
      {"v_smfmac_f32_16x16x64_fp8_bf8", 0x7a, true, 16, 16, 64, 1, fp8, bf8, f32, 4},
      {"v_smfmac_f32_16x16x64_fp8_fp8", 0x7b, true, 16, 16, 64, 1, fp8, fp8, f32, 4},
      {"v_smfmac_f32_32x32x32_bf8_bf8", 0x7c, true, 32, 32, 32, 1, bf8, bf8, f32, 8},
      {"v_smfmac_f32_32x32x32_bf8_fp8", 0x7d, true, 32, 32, 32, 1, bf8, fp8, f32, 8},
      {"v_smfmac_f32_32x32x32_fp8_bf8", 0x7e, true, 32, 32, 32, 1, fp8, bf8, f32, 8},
      {"v_smfmac_f32_32x32x32_fp8_fp8", 0x7f, true, 32, 32, 32, 1, fp8, fp8, f32, 8},
  }};
}();

/// The fact whose mnemonic this is, or null.
constexpr const MfmaFact* find_mfma(std::string_view mnemonic) {
  for (const MfmaFact& fact : mfma_facts)
    if (fact.mnemonic == mnemonic)
      return &fact;
  return nullptr;
}

/// CBSZ and ABID: the block whose A data the product of `block` uses.
constexpr unsigned mfma_a_block(unsigned block, unsigned cbsz, unsigned abid) {
  const unsigned group = 1u << cbsz;
  return block / group * group + abid % group;
}

/// BLGP: the lane whose B data lane `lane` uses.
constexpr unsigned mfma_b_lane(unsigned lane, unsigned blgp) {
  switch (blgp) {
  case 1:
    return lane % 32;
  case 2:
    return lane % 32 + 32;
  case 3:
    return (lane + 16) % 64;
  case 4:
  case 5:
  case 6:
  case 7:
    return lane % 16 + 16 * (blgp - 4);
  default:
    return lane;
  }
}

} // namespace wavesim
