/// \file
/// Matrix instructions of a warp of 32 lanes: shapes, and which lane holds which element. Usable by
/// any compiler.
///
/// Source: NVIDIA, PTX ISA 9.0, "Warp Level Matrix Multiply-Accumulate Instructions" (mma,
/// ldmatrix), whose tables the tests state once more in their own words.
#pragma once

#include <wavetile/arch/matrix_instruction.hpp>

namespace wavetile {

/// The shape of `mma.sync` that the library uses for elements of this size: m16n8k16 for 16 bits,
/// m16n8k32 for 8 bits, m8n8k4 for fp64. There is none for fp32 that keeps its precision.
constexpr matrix_shape warp_shape(int element_bytes) {
  return element_bytes == 8 ? matrix_shape{8, 8, 4} : matrix_shape{16, 8, 32 / element_bytes};
}

/// Where element `i` of lane `lane` is in its matrix, counted from bit 0 of the first register.
///
/// - A (m x k): lane l holds row l / 4 of the upper and of the lower eight rows; four lanes share a
///   row, each with four bytes of k at a time: upper half, lower half, then both 16 bytes on in k.
/// - B (k x n): the same with column l / 4 of the eight columns.
/// - C, D (m x n): rows as A; each lane two columns next to each other.
/// - fp64: one element of A and B, two of C.
constexpr matrix_element warp_element(fragment_role role, int element_bytes, int lane, int i) {
  const int group = lane / 4, member = lane % 4;
  if (role == fragment_role::accumulator)
    return {group + i / 2 * 8, member * 2 + i % 2};
  if (element_bytes == 8)
    return role == fragment_role::a ? matrix_element{group, member} : matrix_element{member, group};
  const int run = 4 / element_bytes; // elements of a register
  const int part = i / run;          // register
  if (role == fragment_role::a)
    return {group + part % 2 * 8, (part / 2 * 4 + member) * run + i % run};
  return {(part * 4 + member) * run + i % run, group};
}

/// Elements of a lane.
constexpr int warp_fragment_size(fragment_role role, int element_bytes) {
  return fragment_size(role, warp_shape(element_bytes), 32);
}

/// The row of 16 bytes whose address lane `lane` gives to `ldmatrix.x4` for 16 rows of A by 32
/// bytes of k, whose k is contiguous: {row, number of 16 bytes in k}. The four registers are those
/// of A. In role `b`, for 16 columns of B, they are those of two fragments of eight columns, one
/// after the other (the instruction wants the registers of a fragment next to each other).
constexpr matrix_element ldmatrix_place(fragment_role role, int lane) {
  if (role == fragment_role::a)
    return {lane % 16, lane / 16};
  return {lane % 8 + lane / 16 * 8, lane / 8 % 2};
}

/// The same for `ldmatrix.x4.trans` of 16-bit elements whose rows of A (columns of B) are
/// contiguous, in 16 values of k by 32 bytes: {k, number of 16 bytes in rows}.
constexpr matrix_element ldmatrix_transposed_place(fragment_role role, int lane) {
  if (role == fragment_role::a)
    return {lane % 8 + lane / 16 * 8, lane / 8 % 2};
  return {lane % 16, lane / 16};
}

/// As `ldmatrix_transposed_place` for elements of 8 bits, in 32 values of k by 16 bytes, in either
/// role. The instruction moves pairs of them: registers 0 and 1 then hold four k of the rows
/// 2 (l / 4) and 2 (l / 4) + 1, registers 2 and 3 the same 16 k on, and `sort_bytes` makes
/// fragments of them.
constexpr matrix_element ldmatrix_bytes_place(int lane) {
  const int row = lane % 8;
  return {row / 2 * 4 + row % 2 + lane / 8 % 2 * 2 + lane / 16 * 16, 0};
}

} // namespace wavetile
