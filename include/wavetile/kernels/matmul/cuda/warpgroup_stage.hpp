/// \file
/// One operand's tile of one step in LDS, as `wgmma` reads it.
#pragma once

#include <wavetile/arch/cuda/warpgroup_mma.hpp>
#include <wavetile/kernels/matmul/config.hpp>

#if WAVETILE_WARPGROUP_MMA

namespace wavetile::kernels {

/// `Rows` rows of A (columns of B) by `Depth` values of k in LDS, as
/// `instruction::warpgroup_operand` has it: all rows of every 64 values of k or, where k is
/// strided, all k of every 64 rows follow each other.
///
/// Free of conflicts by construction: eight lanes of a copy write the 128 bytes of one row of a
/// block.
template <class T, operand_order Order, int Rows, int Depth = 64>
struct warpgroup_stage {
  static constexpr int element_bytes = static_cast<int>(sizeof(T));
  static constexpr bool along = Order == operand_order::k_contiguous;
  static constexpr int depth = Depth;
  static constexpr int tile_rows = along ? Rows : depth;
  static constexpr int tile_columns = along ? depth : Rows;
  static constexpr int run = 16 / element_bytes;
  static constexpr int in_row = tile_columns / run;
  static constexpr int pitch = 128;
  static constexpr int bytes = Rows * depth * element_bytes;
  static_assert((Rows % 64 == 0 || (along && Rows % 8 == 0)) && element_bytes == 2 &&
                depth % 64 == 0);

  /// To the next 64 rows: of 64 values of k, or where k is strided of all.
  static constexpr int block_bytes = (along ? 64 : depth) * 128;
  static constexpr int step_depth = 16, steps = depth / step_depth;

  /// Where 16 values of k begin.
  WAVETILE_HD static constexpr int step_byte(int step) {
    constexpr int in_block = 64 / step_depth;
    return along ? step / in_block * Rows * 128 + step % in_block * step_depth * element_bytes
                 : step * step_depth * 128;
  }

  /// Byte offset of an element of the tile.
  WAVETILE_HD static constexpr int byte_of(int row, int column) {
    return column / 64 * (along ? Rows * 128 : block_bytes) + row * 128 +
           ((column % 64 / run ^ row % 8) * 16) + column % run * element_bytes;
  }
};

} // namespace wavetile::kernels

#endif
