/// \file
/// Matrix instructions: shapes, types, cost, and which lane holds which element.
///
/// Shapes, clocks and layouts are those of AMD's matrix instruction calculator
/// (ROCm/amd_matrix_instruction_calculator, commit 2ef91896), whose output the tests compare every
/// lane and register with.
#pragma once

#include <wavetile/arch/target.hpp>

namespace wavetile {

/// The part an operand plays in D = A * B + C. C and D share one layout.
enum class fragment_role : uint8_t { a, b, accumulator };

/// A is m x k, B k x n, C and D m x n.
struct matrix_shape {
  int m, n, k;
  constexpr bool operator==(const matrix_shape&) const = default;
};

/// The most that `matrix_instruction::result_states` can be: of 16 passes.
inline constexpr int most_result_states = 19;

/// Element types of matrix instructions.
enum class matrix_type : uint8_t { fp64, fp32, fp16, bf16, e4m3_fnuz, e5m2_fnuz, int8, int32 };

/// An element of a matrix.
struct matrix_element {
  int row, column;
  constexpr bool operator==(const matrix_element&) const = default;
};

/// Elements of an operand that each of `lanes` lanes holds.
constexpr int fragment_size(fragment_role role, const matrix_shape& shape, int lanes = 64) {
  const int elements = role == fragment_role::a   ? shape.m * shape.k
                       : role == fragment_role::b ? shape.k * shape.n
                                                  : shape.m * shape.n;
  return elements / lanes;
}

/// Which element of its operand is number `i` of those that lane `lane` holds, counted from bit 0
/// of the operand's first register. Holds for the dense instructions of one 16x16 or 32x32 block.
///
/// - A: lanes run over the m rows, then over runs of k; a lane's elements are consecutive in k.
/// - B: the same with the n columns.
/// - C, D of 4 bytes: a lane holds one column; its elements are runs of four rows, the runs of the
///   lane groups interleaved. C, D of 8 bytes: rows 64 / n apart.
constexpr matrix_element fragment_element(fragment_role role, const matrix_shape& shape,
                                          matrix_type accumulator, int lane, int i) {
  if (role == fragment_role::a)
    return {lane % shape.m, lane / shape.m * fragment_size(role, shape) + i};
  if (role == fragment_role::b)
    return {lane / shape.n * fragment_size(role, shape) + i, lane % shape.n};
  const int groups = 64 / shape.n; // of lanes, each holding all columns
  if (accumulator == matrix_type::fp64)
    return {lane / shape.n + groups * i, lane % shape.n};
  return {i % 4 + 4 * (lane / shape.n) + 4 * groups * (i / 4), lane % shape.n};
}

/// One matrix instruction.
struct matrix_instruction {
  const char* mnemonic;
  matrix_shape shape;
  matrix_type a, b, accumulator;
  int clocks; ///< that it occupies the matrix unit of one SIMD; 0: not known

  /// Wait states that gfx942 needs between this instruction and one of the vector unit, the LDS or
  /// memory that reads its result, which the hardware does not wait for; 0: not known. A state is
  /// an instruction of the same wave, or one of s_nop's. With passes of four clocks: passes + 2 of
  /// fp32 inputs, passes + 3 of others, 18 of fp64 (memory; 11 of the vector unit). Source: LLVM,
  /// lib/Target/AMDGPU/GCNHazardRecognizer.cpp (gfx940).
  constexpr int result_states() const {
    if (clocks == 0)
      return 0;
    if (accumulator == matrix_type::fp64)
      return 18;
    return clocks / 4 + (a == matrix_type::fp32 ? 2 : 3);
  }

  /// Multiplications and additions.
  constexpr int flops() const { return 2 * shape.m * shape.n * shape.k; }
  constexpr matrix_element element(fragment_role role, int lane, int i) const {
    return fragment_element(role, shape, accumulator, lane, i);
  }
};

namespace detail {

namespace table {
using enum matrix_type;
/// Dense single-block instructions of gfx942.
// clang-format off
inline constexpr matrix_instruction gfx942_matrix_instructions[] = {
    {"v_mfma_f64_16x16x4_f64", {16, 16, 4}, fp64, fp64, fp64, 32},
    {"v_mfma_f32_16x16x4_f32", {16, 16, 4}, fp32, fp32, fp32, 32},
    {"v_mfma_f32_32x32x2_f32", {32, 32, 2}, fp32, fp32, fp32, 64},
    {"v_mfma_f32_16x16x16_f16", {16, 16, 16}, fp16, fp16, fp32, 16},
    {"v_mfma_f32_32x32x8_f16", {32, 32, 8}, fp16, fp16, fp32, 32},
    {"v_mfma_f32_16x16x16_bf16", {16, 16, 16}, bf16, bf16, fp32, 16},
    {"v_mfma_f32_32x32x8_bf16", {32, 32, 8}, bf16, bf16, fp32, 32},
    {"v_mfma_f32_16x16x32_fp8_fp8", {16, 16, 32}, e4m3_fnuz, e4m3_fnuz, fp32, 16},
    {"v_mfma_f32_16x16x32_fp8_bf8", {16, 16, 32}, e4m3_fnuz, e5m2_fnuz, fp32, 16},
    {"v_mfma_f32_16x16x32_bf8_fp8", {16, 16, 32}, e5m2_fnuz, e4m3_fnuz, fp32, 16},
    {"v_mfma_f32_16x16x32_bf8_bf8", {16, 16, 32}, e5m2_fnuz, e5m2_fnuz, fp32, 16},
    {"v_mfma_f32_32x32x16_fp8_fp8", {32, 32, 16}, e4m3_fnuz, e4m3_fnuz, fp32, 32},
    {"v_mfma_f32_32x32x16_fp8_bf8", {32, 32, 16}, e4m3_fnuz, e5m2_fnuz, fp32, 32},
    {"v_mfma_f32_32x32x16_bf8_fp8", {32, 32, 16}, e5m2_fnuz, e4m3_fnuz, fp32, 32},
    {"v_mfma_f32_32x32x16_bf8_bf8", {32, 32, 16}, e5m2_fnuz, e5m2_fnuz, fp32, 32},
    {"v_mfma_i32_16x16x32_i8", {16, 16, 32}, int8, int8, int32, 16},
    {"v_mfma_i32_32x32x16_i8", {32, 32, 16}, int8, int8, int32, 32},
};
// clang-format on
} // namespace table

/// Whether an architecture has a gfx942 instruction, with the same layout. gfx90a lacks the 8-bit
/// ones; gfx950's 8-bit floats are OCP; the generic target has what gfx942 and gfx950 share. (LLVM)
constexpr bool has_gfx942_instruction(architecture arch, const matrix_instruction& one) {
  const bool fp8 = one.a == matrix_type::e4m3_fnuz || one.a == matrix_type::e5m2_fnuz;
  switch (arch) {
  case architecture::gfx942:
    return true;
  case architecture::gfx950:
  case architecture::gfx9_4_generic:
    return !fp8;
  case architecture::gfx90a:
    return !fp8 && one.a != matrix_type::int8;
  case architecture::sm80:
  case architecture::sm90:
  case architecture::unknown:
    break;
  }
  return false;
}

} // namespace detail

/// The instruction of an architecture with this shape and these input types; `clocks` 0 where they
/// are not known, and an empty mnemonic where there is no such instruction.
constexpr matrix_instruction find_matrix_instruction(architecture arch, const matrix_shape& shape,
                                                     matrix_type a, matrix_type b) {
  for (matrix_instruction one : detail::table::gfx942_matrix_instructions)
    if (one.shape == shape && one.a == a && one.b == b &&
        detail::has_gfx942_instruction(arch, one)) {
      if (arch != architecture::gfx942)
        one.clocks = 0;
      return one;
    }
  return {"", shape, a, b, a, 0};
}

/// Whether there is one.
constexpr bool has_matrix_instruction(architecture arch, const matrix_shape& shape, matrix_type a,
                                      matrix_type b) {
  return find_matrix_instruction(arch, shape, a, b).mnemonic[0] != '\0';
}

} // namespace wavetile
