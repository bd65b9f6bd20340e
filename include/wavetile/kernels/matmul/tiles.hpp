/// \file
/// LDS tiles of the tiled matrix product: who writes what where, and the proof that nobody waits.
#pragma once

#include <wavetile/kernels/matmul/config.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/lds_operand.hpp>

namespace wavetile::kernels {

/// Which LDS row holds row `m` of an operand (a column, for B). Operands whose k is contiguous lie
/// as they are. Others are written by lanes that hold 8 bytes of consecutive m each; so that lanes
/// next to each other write rows next to each other, the bits of m that number the elements of a
/// lane change places with those that number the lanes. Which bits depends on the bytes of k a row
/// has. With 32 four rows fill all banks: two bits of m choose among the four, a third the half of
/// the row, for writes as for reads; 16-bit elements with rows of 128 bytes are placed alike.
template <operand_order Order, int ElementBytes, int KBytes>
WAVETILE_HD constexpr int lds_row_of(int m) {
  if constexpr (Order == operand_order::k_contiguous || ElementBytes == 8)
    return m;
  else if constexpr (ElementBytes == 4)
    return (m & ~15) | (m >> 1 & 7) | (m & 1) << 3;
  else if constexpr (ElementBytes == 2 && KBytes != 64)
    return (m & ~31) | (m >> 4 & 1) | ((m >> 1 ^ m >> 3) & 1) << 1 | ((m ^ m >> 2) & 1) << 2 |
           (m >> 2 & 3) << 3;
  else if constexpr (ElementBytes == 2)
    return (m & ~31) | ((m >> 3 ^ m >> 2) & 1) | (m >> 4 & 1) << 1 | (m >> 2 & 1) << 2 |
           (m & 3) << 3;
  else if constexpr (KBytes == 32)
    return (m & ~63) | ((m ^ m >> 3) & 1) | (m >> 4 & 1) << 1 | (m >> 1 & 1) << 2 |
           (m >> 5 & 1) << 3 | (m >> 2 & 3) << 4;
  else // the parity tells m = 0-3 from 4-7 and 20-23, with which one phase of a read asks for them
    return (m & ~63) | ((m >> 3 ^ m >> 2) & 1) | (m >> 4 & 3) << 1 | (m & 7) << 3;
}

/// Its inverse.
template <operand_order Order, int ElementBytes, int KBytes>
WAVETILE_HD constexpr int row_of_lds_row(int r) {
  if constexpr (Order == operand_order::k_contiguous || ElementBytes == 8)
    return r;
  else if constexpr (ElementBytes == 4)
    return (r & ~15) | (r & 7) << 1 | (r >> 3 & 1);
  else if constexpr (ElementBytes == 2 && KBytes != 64)
    return (r & ~31) | ((r >> 2 ^ r >> 3) & 1) | ((r >> 1 ^ r >> 4) & 1) << 1 | (r >> 3 & 3) << 2 |
           (r & 1) << 4;
  else if constexpr (ElementBytes == 2)
    return (r & ~31) | (r >> 3 & 3) | (r >> 2 & 1) << 2 | ((r ^ r >> 2) & 1) << 3 |
           (r >> 1 & 1) << 4;
  else if constexpr (KBytes == 32)
    return (r & ~63) | ((r ^ r >> 5) & 1) | (r >> 2 & 1) << 1 | (r >> 4 & 3) << 2 |
           (r >> 1 & 1) << 4 | (r >> 3 & 1) << 5;
  else
    return (r & ~63) | (r >> 3 & 7) | ((r ^ r >> 5) & 1) << 3 | (r >> 1 & 3) << 4;
}

/// `lds_row_of` as row map of `lds_operand`. Fragments start at multiples of 16 rows, whose bits
/// the map moves independently of those below.
template <operand_order Order, int ElementBytes, int KBytes>
struct lds_row_map {
  WAVETILE_HD constexpr int operator()(int row) const {
    return lds_row_of<Order, ElementBytes, KBytes>(row);
  }
};

/// What a work-item brings of an operand whose k is contiguous: pieces of 16 bytes, neighbours in
/// k, then in rows.
template <class T, int Rows, int KBytes, int Threads>
struct row_pieces {
  static constexpr int in_row = KBytes / 16;
  static constexpr int count = Rows * in_row / Threads; ///< of one work-item
  static constexpr int width = 16 / static_cast<int>(sizeof(T));

  /// First element of piece `i` of work-item `thread`: row of the LDS tile and k.
  WAVETILE_HD static constexpr coordinate place(int thread, int i) {
    const int piece = thread + i * Threads;
    return {piece / in_row, piece % in_row * width};
  }
  static constexpr lds_access write = lds_write(16, [](int lane) { return place(lane, 0); });
};

/// What a work-item brings of an operand whose k is strided: blocks of 4 k by 8 bytes of rows,
/// loaded as pieces of 8 bytes and written, transposed, as runs of k. Eight blocks next to each
/// other in rows alternate with the blocks that fill a 16-byte chunk of k, so that a write touches
/// every bank once. Blocks have 2 k where elements have 8 bytes, with `Pairs`, and where those of
/// 4 k do not share out among the work-items.
template <class T, int Rows, int KBytes, int Threads, bool Pairs>
struct transposed_blocks {
  static constexpr int bytes = static_cast<int>(sizeof(T));
  static constexpr int rows = 8 / bytes; ///< of a block
  static constexpr int depth =
      bytes < 8 && !Pairs && Rows * KBytes % (32 * Threads) == 0 ? 4 : 2; ///< k of a block
  static constexpr int write_bytes = depth * bytes;
  static constexpr int row_blocks = Rows / rows;    ///< side by side in the tile
  static constexpr int in_chunk = 16 / write_bytes; ///< blocks that share a chunk of k
  static constexpr int count = Rows * KBytes / (8 * depth * Threads); ///< of one work-item
  static constexpr bool shared_out = Rows * KBytes % (8 * depth * Threads) == 0;

  /// First element of block `i` of work-item `thread`: row of the operand's tile (not of the LDS
  /// tile) and k.
  WAVETILE_HD static constexpr coordinate place(int thread, int i) {
    const int block = thread + i * Threads;
    const int low = block % 8, in = block / 8 % in_chunk, rest = block / (8 * in_chunk);
    return {(low + 8 * (rest % (row_blocks / 8))) * rows,
            (rest / (row_blocks / 8) * in_chunk + in) * depth};
  }
  /// Write of row `j` of all blocks; of those in front, at the edge, it is negative.
  static constexpr lds_access write_at(int j) {
    return lds_write(write_bytes, [=](int lane) {
      const coordinate at = place(lane, 0);
      const int row = at.row + j < 0 ? at.row + j + Rows : at.row + j;
      return coordinate{lds_row_of<operand_order::k_strided, bytes, KBytes>(row), at.column};
    });
  }
  static constexpr lds_access write = write_at(0), write_moved = write_at(-1);
};

/// One operand's tile in LDS: `Rows` rows of A (columns of B) by `Config.k_bytes` bytes of k.
template <class T, operand_order Order, fragment_role Role, matmul_config Config>
struct operand_tile {
  static constexpr int element_bytes = static_cast<int>(sizeof(T));
  static constexpr int rows = Role == fragment_role::a ? Config.tile_m : Config.tile_n;
  static constexpr int depth = Config.tile_k(element_bytes); ///< columns of the tile: k
  static constexpr matrix_shape shape = Config.instruction == 32 ? shape_32x32<T> : shape_16x16<T>;
  using fragment_type = fragment<Role, shape, T>;
  using row_map = lds_row_map<Order, element_bytes, Config.k_bytes>;
  /// 16 bytes a lane: one read feeds several matrix instructions, and B is read alike.
  using reader = lds_operand<fragment_type, 16 / (fragment_type::size * element_bytes), row_map>;
  using pack = typename reader::pack;
  using pieces = row_pieces<T, rows, Config.k_bytes, Config.threads()>;
  using blocks = transposed_blocks<T, rows, Config.k_bytes, Config.threads(),
                                   Role == fragment_role::b && Config.pairs_of_b>;

  /// Reads and writes at other rows and k differ by multiples of what moves no bank, or by an xor
  /// that permutes the banks; tests look at every one.
  static constexpr layout_choice choice = [] {
    if constexpr (Order == operand_order::k_contiguous)
      return choose_layout<T, rows, depth>(targets::gfx942, 65536, reader::access, pieces::write);
    else
      return choose_layout<T, rows, depth>(targets::gfx942, 65536, reader::access, pieces::write,
                                           blocks::write, blocks::write_moved);
  }();
  static_assert(choice.conflict_free,
                "wavetile::kernels::operand_tile: no layout serves all accesses without conflicts");
  static_assert(Config.k_bytes * rows % (16 * Config.threads()) == 0 &&
                    (Order == operand_order::k_contiguous || blocks::shared_out),
                "wavetile::kernels::operand_tile: a step does not share out among the work-items");
  static_assert(choice.chosen.bytes() == rows * Config.k_bytes);
  using tile_type = tile<T, choice.chosen>;

  WAVETILE_HD static constexpr int lds_row(int m) {
    return lds_row_of<Order, element_bytes, Config.k_bytes>(m);
  }
  WAVETILE_HD static constexpr int row_of_lds(int r) {
    return row_of_lds_row<Order, element_bytes, Config.k_bytes>(r);
  }
};

} // namespace wavetile::kernels
