/// \file
/// One operand's tile of one step in LDS, as `wgmma` reads it.
#pragma once

#include <wavetile/arch/cuda/warpgroup_mma.hpp>
#include <wavetile/kernels/matmul/config.hpp>

#if WAVETILE_WARPGROUP_MMA

namespace wavetile::kernels {

/// `Rows` rows of A (columns of B) by 64 values of k in LDS, as `instruction::warpgroup_operand`
/// has it. Where k is strided, blocks of 64 values of k follow each other for every 64 rows.
///
/// Free of conflicts by construction: eight lanes of a copy write the 128 bytes of one row of a
/// block.
template <class T, operand_order Order, int Rows>
struct warpgroup_stage {
  static constexpr int element_bytes = static_cast<int>(sizeof(T));
  static constexpr bool along = Order == operand_order::k_contiguous;
  static constexpr int depth = 128 / element_bytes;
  static constexpr int tile_rows = along ? Rows : depth;
  static constexpr int tile_columns = along ? depth : Rows;
  static constexpr int run = 16 / element_bytes;
  static constexpr int in_row = tile_columns / run;
  static constexpr int pitch = 128;
  static constexpr int bytes = Rows * 128;
  static_assert((Rows % 64 == 0 || (along && Rows % 8 == 0)) && element_bytes == 2);

  static constexpr int block_bytes = 64 * 128; ///< of 64 rows, whatever the order
  static constexpr int step_depth = 16, steps = depth / step_depth;
  /// From 16 values of k to the next.
  static constexpr int step_bytes = along ? step_depth * element_bytes : step_depth * 128;

  /// Byte offset of an element of the tile.
  WAVETILE_HD static constexpr int byte_of(int row, int column) {
    const int block = along ? 0 : column / 64 * block_bytes;
    return block + row * 128 + ((column % 64 / run ^ row % 8) * 16) + column % run * element_bytes;
  }
};

} // namespace wavetile::kernels

#endif
