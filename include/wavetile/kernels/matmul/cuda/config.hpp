/// \file
/// The ways the tiled matrix product is cut on NVIDIA GPUs.
#pragma once

#include <wavetile/kernels/matmul/config.hpp>

namespace wavetile::kernels {

/// One cut. A workgroup computes a `tile_m` x `tile_n` piece of D; its `warps_m` x `warps_n` warps
/// share it evenly. One step of the loop takes `k_bytes` bytes of k from every row of A and column
/// of B through LDS, which holds `stages` steps, all but one of them (with `wgmma` two) on their
/// way.
struct warp_cut {
  int tile_m, tile_n, k_bytes, warps_m, warps_n, stages;

  constexpr int warps() const { return warps_m * warps_n; }
  constexpr int threads() const { return warps() * targets::sm80.wave_size; }
  constexpr int tile_k(int element_bytes) const { return k_bytes / element_bytes; }
  constexpr int wave_m() const { return tile_m / warps_m; }
  constexpr int wave_n() const { return tile_n / warps_n; }
  constexpr int lds_bytes() const { return stages * (tile_m + tile_n) * k_bytes; }
  constexpr int accumulator_registers(int accumulator_bytes) const {
    return wave_m() * wave_n() / targets::sm80.wave_size * accumulator_bytes / 4;
  }
};

/// Whether NVIDIA's kernels have a cut of this name.
constexpr bool has_warp_cut(matmul_kernel kernel) {
  return kernel == matmul_kernel::large || kernel == matmul_kernel::middle ||
         kernel == matmul_kernel::compact;
}

/// The cut behind a name for elements of this size, where a workgroup can have `lds` bytes of LDS:
/// all fit that of sm_80, and where there is more `large` of 16 bits holds a step more.
///
/// 8 and 16 bits: a warp of the larger two computes 64 x 64, so that fragments are read from LDS
/// for 32 products each, and two warps of a scheduler hide each other's latency. fp32 is computed
/// by fused multiply-adds, fp64 by m8n8k4: tiles are smaller, as accumulators take more registers.
constexpr warp_cut warp_cut_of(matmul_kernel kernel, int element_bytes, int lds) {
  if (element_bytes == 8)
    return kernel == matmul_kernel::compact ? warp_cut{64, 64, 128, 2, 2, 3}
                                            : warp_cut{128, 64, 128, 4, 2, 3};
  if (element_bytes == 4)
    return kernel == matmul_kernel::compact ? warp_cut{64, 64, 128, 2, 2, 3}
                                            : warp_cut{128, 128, 128, 2, 4, 3};
  switch (kernel) {
  case matmul_kernel::large:
    return {128, 256, 128, 2, 4, element_bytes == 2 && lds >= 4 * (128 + 256) * 128 ? 4 : 3};
  case matmul_kernel::middle:
    return {128, 128, 128, 2, 2, 3};
  default:
    return {64, 64, 128, 2, 2, 4};
  }
}

/// How `skinny` is cut: the warps of a workgroup share its columns and, by turns, k, of which they
/// take `step` values together. There is none for fp32 and fp64.
struct warp_skinny_cut {
  int columns, step, warps;
  int warp_columns; ///< of one warp

  /// Warps that share k; each leaves its sums of the workgroup's columns in LDS.
  constexpr int warps_k() const { return warps * warp_columns / columns; }
};
constexpr bool has_warp_skinny(int element_bytes) {
  return element_bytes <= 2;
}
/// For `rows` rows. Bytes: of more than 16 rows every workgroup reads as many bytes as half of its
/// columns have, so it takes twice as many; those whose k is strided come 16 columns at a time. 16
/// bits: workgroups so small that each multiprocessor has two or so, of any number of rows.
constexpr warp_skinny_cut warp_skinny_cut_of(operand_order order_b, int element_bytes,
                                             int64_t rows) {
  if (order_b == operand_order::k_strided && element_bytes == 1)
    return {128, 512, 8, 128};
  const bool wide = rows > 16 && element_bytes == 1;
  return {wide ? 128 : 64, 512 / element_bytes,
          wide         ? 16
          : rows <= 16 ? 8
                       : 4,
          order_b == operand_order::k_contiguous ? 32 : 64};
}
/// Stages that a workgroup with `wgmma` has in LDS, the values of k of each, and the LDS that
/// takes, for 16-bit elements. In code for `sm_90a`; the host, which does not know it from plain
/// `sm_90`, asks for that LDS on every such device.
inline constexpr int warpgroup_skinny_stages = 4, warpgroup_skinny_depth = 128;
constexpr int warpgroup_skinny_lds(const warp_skinny_cut& cut, int rows) {
  return warpgroup_skinny_stages * (cut.columns + rows) * 2 * warpgroup_skinny_depth;
}
/// LDS of a workgroup for `rows` rows of a kernel (16 or 32) with sums of `accumulator_bytes`.
/// `lds`: what a workgroup can have where there is `wgmma`, else 0.
constexpr int warp_skinny_lds(const warp_skinny_cut& cut, int element_bytes, int accumulator_bytes,
                              int rows, int lds) {
  const int sums = cut.warps_k() * rows * cut.columns * accumulator_bytes;
  const int wide = element_bytes == 2 ? warpgroup_skinny_lds(cut, rows) : 0;
  return wide <= lds && wide > sums ? wide : sums;
}
/// Most rows of op(A), and those the kernel for this many computes.
inline constexpr int64_t warp_skinny_rows = 32;
constexpr int warp_skinny_tile(int64_t rows) {
  return rows <= 16 ? 16 : 32;
}

} // namespace wavetile::kernels
