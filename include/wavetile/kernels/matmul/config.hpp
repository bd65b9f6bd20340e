/// \file
/// The ways the tiled matrix product is cut.
#pragma once

#include <wavetile/arch/targets.hpp>
#include <wavetile/core/enumerator.hpp>

namespace wavetile {

/// How an operand lies in memory, seen from the index k that the product sums over.
enum class operand_order : uint8_t {
  k_contiguous, ///< elements of consecutive k lie together: A as M x K, B as N x K, row-major
  k_strided,    ///< the leading dimension lies between them: A as K x M, B as K x N, row-major
};

constexpr const char* name_of(operand_order order) {
  constexpr const char* names[] = {"k_contiguous", "k_strided"};
  return detail::name_in(names, order);
}

/// Work-items of a wave on the targets that these cuts are made for.
inline constexpr int matmul_wave_size = targets::gfx942.wave_size;

/// How the waves of a workgroup share its SIMDs.
enum class matmul_schedule : uint8_t {
  interleaved, ///< every wave has memory instructions between its matrix instructions
  /// The waves of the upper half are one turn behind: while one half multiplies, at higher
  /// priority, the other moves data, and a barrier ends both turns.
  ping_pong,
};

/// One cut of the tiled product. A template argument.
///
/// A workgroup computes a `tile_m` x `tile_n` piece of C. Its `waves_m` x `waves_n` waves share it
/// evenly, each as a grid of matrix instructions of `instruction` x `instruction`. One step of the
/// loop takes `k_bytes` bytes of k from every row of A and every column of B through LDS, which
/// holds two steps: LDS is 2 (tile_m + tile_n) k_bytes.
struct matmul_config {
  int tile_m = 128;
  int tile_n = 128;
  int k_bytes = 64;
  int waves_m = 2;
  int waves_n = 2;
  int instruction = 32;
  matmul_schedule schedule = matmul_schedule::interleaved;
  /// Steps whose loads are in registers while another is multiplied: more where a step is short.
  int steps_ahead = 1;
  /// Whether elements of a byte whose k is strided are written to LDS two at a time, of the columns
  /// of B: half the vector instructions of transposing them for twice the LDS clocks of writing.
  bool pairs_of_b = false;

  constexpr int waves() const { return waves_m * waves_n; }
  constexpr int threads() const { return waves() * matmul_wave_size; }
  /// Values of k in one step, for elements of this size.
  constexpr int tile_k(int element_bytes) const { return k_bytes / element_bytes; }
  constexpr int lds_bytes() const { return 2 * (tile_m + tile_n) * k_bytes; }
  /// Rows and columns of the part that one wave computes.
  constexpr int wave_m() const { return tile_m / waves_m; }
  constexpr int wave_n() const { return tile_n / waves_n; }
  /// Accumulator registers of a lane, for accumulators of this size.
  constexpr int accumulator_registers(int accumulator_bytes) const {
    return wave_m() * wave_n() / matmul_wave_size * accumulator_bytes / 4;
  }
  /// Clocks of LDS for a step of the workgroup, free of conflicts: 128 bytes a clock, for each row
  /// one write, or of pairs the clocks of two, and a read by every wave that multiplies it.
  constexpr int lds_clocks() const {
    return (tile_m * (1 + waves_n) + tile_n * ((pairs_of_b ? 2 : 1) + waves_m)) * k_bytes / 128;
  }
  /// Clocks of a SIMD's matrix core for its quarter of a step, for elements of 8 or 16 bits: a CU
  /// does 1024 multiplications of 16 bits a clock, twice as many of 8. With `lds_clocks` this
  /// tells how busy LDS is while the matrix cores are, whatever number of workgroups a CU holds.
  constexpr int matrix_clocks() const { return tile_m * tile_n * (k_bytes / 2) / 1024; }
  /// Whether the parts are whole: what `matmul_mainloop` asserts.
  constexpr bool valid() const {
    return (instruction == 16 || instruction == 32) && waves() >= 1 && waves() <= 16 &&
           tile_m % (waves_m * instruction) == 0 && tile_n % (waves_n * instruction) == 0 &&
           tile_m % 64 == 0 && tile_n % 64 == 0 &&
           (k_bytes == 32 || k_bytes == 64 || k_bytes == 128) &&
           tile_m * k_bytes % (threads() * 16) == 0 && tile_n * k_bytes % (threads() * 16) == 0 &&
           lds_bytes() <= targets::gfx942.lds_bytes && (steps_ahead == 1 || steps_ahead == 2);
  }

  friend constexpr bool operator==(const matmul_config&, const matmul_config&) = default;
};

/// The cuts by name, largest tile first, with LDS clocks per matrix clock (`lds_clocks`).
///
/// Where elements have 8 bits and k is strided, the loop has one v_perm_b32 for every two bytes of
/// a step: 16 / tile_n of the matrix clocks for A, 16 / tile_m for B. It takes no less: of each
/// 4 x 4 bytes, four dwords with bytes of two k each and four of all four must be made, and no
/// instruction makes more than one dword out of two. Writes of two bytes (`pairs_of_b`) leave out
/// the second four, each for the LDS clocks of a write of four. For both operands that is 12.5 % of
/// 256 x 256, and with LDS busy for 0.5 as well 9.4 % where four waves read less and columns are
/// written in pairs: that is what `large` and `large_four` are then. Their waves have 64 x 256, not
/// 128 x 128 with LDS at 0.44, as what lies outside the matrix is left out wave by wave. (256 x 192
/// would have 10.4 % at best with LDS at 0.52, `wide` 18.8 % with 0.44, or 15.6 % with 0.5.)
enum class matmul_kernel : uint8_t {
  large,      ///< 256 x 256, eight waves, two on a SIMD; 0.5
  ping_pong,  ///< as large, the two waves of a SIMD taking turns at memory and matrix cores; 0.5
  large_four, ///< 256 x 192, four waves with 128 x 96 each, one on a SIMD; 0.44
  /// 256 x 128 (128 columns of the operand whose k is strided, if one is), two waves with
  /// 128 x 128 each; two workgroups on a CU; 0.44. For products that have too few tiles of `large`
  /// for all CUs and enough of these.
  wide,
  middle,  ///< 128 x 128, four waves, two workgroups on a CU; 0.75
  compact, ///< 64 x 64, four waves; 1.5
};
inline constexpr int matmul_kernel_count = 6;

constexpr const char* name_of(matmul_kernel kernel) {
  constexpr const char* names[] = {"large", "ping_pong", "large_four", "wide", "middle", "compact"};
  return detail::name_in(names, kernel);
}

/// The cut behind a name for elements of this size and operands that lie so. fp64 has 16 x 16
/// instructions only, and accumulators twice as large: its tiles are half as high.
constexpr matmul_config config_of(matmul_kernel kernel, int element_bytes,
                                  operand_order order_a = operand_order::k_contiguous,
                                  operand_order order_b = operand_order::k_contiguous) {
  constexpr auto interleaved = matmul_schedule::interleaved;
  const bool a_strided = order_a == operand_order::k_strided;
  const bool b_strided = order_b == operand_order::k_strided;
  const bool transposes_bytes = element_bytes == 1 && a_strided && b_strided;
  matmul_config result;
  switch (kernel) {
  case matmul_kernel::large:
    result = {256, 256, 64, 2, 4, 32};
    break;
  case matmul_kernel::ping_pong:
    result = {256, 256, 64, 2, 4, 32, matmul_schedule::ping_pong};
    break;
  case matmul_kernel::large_four:
    result = {256, 192, 64, 2, 2, 32};
    break;
  case matmul_kernel::wide:
    // a step of 4-byte elements is long enough
    if (element_bytes == 8)
      result = {256, 128, 64, 2, 2, 32, interleaved, 2};
    else if (a_strided && !b_strided)
      result = {128, 256, 32, 1, 2, 32, interleaved, element_bytes == 4 ? 1 : 2};
    else
      result = {256, 128, 32, 2, 1, 32, interleaved, element_bytes == 4 ? 1 : 2};
    break;
  case matmul_kernel::middle:
    result = {128, 128, 64, 2, 2, 32, interleaved, 2};
    break;
  case matmul_kernel::compact:
    result = {64, 64, 128, 2, 2, 32, interleaved, 2};
    break;
  }
  if (transposes_bytes && (kernel == matmul_kernel::large || kernel == matmul_kernel::large_four))
    result = {256, 256, 64, 4, 1, 32, interleaved, 1, true};
  if (element_bytes == 8) {
    result.instruction = 16;
    if (kernel != matmul_kernel::compact)
      result.tile_m /= 2;
  }
  return result;
}

} // namespace wavetile
