/// \file
/// One operand's tile of one step in LDS, on NVIDIA GPUs: who writes and reads what where, and the
/// proof that nobody waits.
#pragma once

#include <wavetile/arch/cuda/cp_async.hpp>
#include <wavetile/kernels/matmul/config.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/warp_operand.hpp>

namespace wavetile::kernels {

/// `Rows` rows of A (columns of B) by `KBytes` bytes of k, of which a warp reads `WaveRows`. The
/// tile lies in LDS as in memory: rows of the tile are rows of the operand, or k where that is
/// strided.
///
/// 8-bit and 16-bit elements are read by ldmatrix; of fp64 a lane reads an element at a time, of
/// fp32 16 bytes along whatever is contiguous.
template <class T, operand_order Order, fragment_role Role, int Rows, int WaveRows, int KBytes>
struct operand_stage {
  static constexpr int element_bytes = static_cast<int>(sizeof(T));
  static constexpr bool along = Order == operand_order::k_contiguous;
  static constexpr bool of_a = Role == fragment_role::a;
  static constexpr int depth = KBytes / element_bytes;
  static constexpr int tile_rows = along ? Rows : depth;
  static constexpr int tile_columns = along ? depth : Rows;
  static constexpr int run = 16 / element_bytes;        ///< elements of a copy
  static constexpr int in_row = tile_columns / run;     ///< copies of a row of the tile
  static constexpr bool by_matrix = element_bytes <= 2; ///< read by ldmatrix
  using reader = warp_operand<Role, T, along ? warp_order::k_contiguous : warp_order::k_strided>;

  /// Rows and k of one read. fp32: a lane has four rows of A of 32, four columns of B of 16, and
  /// reads each (each of four k) at a time.
  static constexpr int read_rows = by_matrix ? 16 : element_bytes == 8 ? 8 : of_a ? 32 : 16;
  static constexpr int read_depth = by_matrix ? 32 / element_bytes : 4;
  static constexpr int reads = WaveRows / read_rows, steps = depth / read_depth;

  /// Element of the tile that a lane reads first, of rows from `row` and k from `k` on.
  WAVETILE_HD static constexpr coordinate place(int lane, int row, int k) {
    if constexpr (by_matrix) {
      return reader::place(lane, row, k);
    } else {
      const int own = element_bytes == 8 ? lane / 4 : of_a ? lane / 4 * 4 : lane % 4 * 4;
      const int own_k = element_bytes == 8 ? lane % 4 : 0;
      return along ? coordinate{row + own, k + own_k} : coordinate{k + own_k, row + own};
    }
  }
  static constexpr lds_access read = lds_read(element_bytes == 8 ? 8 : 16, [](int lane) {
    return lane < 32 ? place(lane, 0, 0) : inactive_lane;
  });
  static constexpr lds_access write = lds_write(16, [](int lane) {
    return lane < 32 ? coordinate{lane / in_row, lane % in_row * run} : inactive_lane;
  });
  static constexpr layout_choice choice =
      choose_layout<T, tile_rows, tile_columns>(targets::sm80, 163840, read, write);
  static_assert(
      choice.conflict_free,
      "wavetile::kernels::operand_stage: no layout serves all accesses without conflicts");
  static constexpr int pitch = choice.chosen.pitch; ///< bytes from row to row of the tile
  static constexpr int bytes = Rows * KBytes;
  static_assert(choice.chosen.bytes() == bytes);

  /// Byte offset of an element of the tile.
  WAVETILE_HD static constexpr int byte_of(int row, int column) {
    constexpr layout here = choice.chosen; // device code has no address of a static member
    return here.offset(row, column);
  }
  WAVETILE_HD static constexpr int byte_read(int lane, int row, int k) {
    const coordinate at = place(lane, row, k);
    return byte_of(at.row, at.column);
  }

  /// What read `i` of step `step` differs by from the first: an xor, and a sum.
  static constexpr int xor_of(int i, int step) {
    return along ? step * read_depth * element_bytes : i * read_rows * element_bytes;
  }
  static constexpr int sum_of(int i, int step) {
    return (along ? i * read_rows : step * read_depth) * pitch;
  }
  /// Whether it does: not where steps are shorter than the pattern of the layout.
  static constexpr bool regular = [] {
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < reads; ++i)
        for (int step = 0; step < steps; ++step)
          if (byte_read(lane, i * read_rows, step * read_depth) !=
              (byte_read(lane, 0, 0) ^ xor_of(i, step)) + sum_of(i, step))
            return false;
    return xor_of(reads - 1, steps - 1) < 128 && WaveRows * element_bytes % 32 == 0;
  }();

#if WAVETILE_CUDA
  /// The address of read `i` of step `step`, in a stage at `stage`, a multiple of 128 bytes;
  /// `base` is `stage + byte_read(lane, row, 0)`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static uint32_t
  address(uint32_t base, uint32_t stage, int lane, int row, int i, int step) {
    if constexpr (regular)
      return (base ^ static_cast<uint32_t>(xor_of(i, step))) +
             static_cast<uint32_t>(sum_of(i, step));
    else
      return stage + static_cast<uint32_t>(byte_read(lane, row + i * read_rows, step * read_depth));
  }
#endif
};

#if WAVETILE_CUDA

/// Brings stages of one operand from memory to LDS: every work-item 16 bytes at a time, by cp.async
/// where rows start at multiples of 16 bytes, else element by element through registers. What is
/// outside the matrix, or beyond the end of k, becomes zero and is not read.
///
/// Without branches where rows are aligned, so that copies can stand between products. `Shared`:
/// through the L1 cache, as other workgroups of the multiprocessor read the same.
template <class Stage, class T, int Threads, bool Shared = false>
class stage_copy {
  static constexpr bool along = Stage::along;
  static constexpr int rows_a_pass = Threads / Stage::in_row;
  static_assert(Threads % Stage::in_row == 0 && Stage::tile_rows % rows_a_pass == 0,
                "wavetile::kernels::stage_copy: a step does not share out among the work-items");
  static constexpr int pass_bytes = rows_a_pass * Stage::pitch;
  /// Whether passes lie the same distance apart: not where they are shorter than the layout's
  /// pattern.
  static constexpr bool regular = [] {
    for (int row = 0; row < rows_a_pass; ++row)
      for (int i = 0; row + i * rows_a_pass < Stage::tile_rows; ++i)
        if (Stage::byte_of(row + i * rows_a_pass, 0) != Stage::byte_of(row, 0) + i * pass_bytes)
          return false;
    return true;
  }();

public:
  static constexpr int passes = Stage::tile_rows / rows_a_pass;

  /// For rows `first` … of an operand of `outer` rows whose rows (or values of k) lie `leading`
  /// elements apart; the first stage starts at `k`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE stage_copy(const T* data, int64_t leading, int64_t outer,
                                                   int64_t first, int64_t k, int thread)
      : row_(thread / Stage::in_row), column_(thread % Stage::in_row * Stage::run),
        pass_stride_(leading * rows_a_pass) {
    base_ = static_cast<uint32_t>(Stage::byte_of(row_, column_));
    from_ = along ? data + (first + row_) * leading + k + column_
                  : data + (k + row_) * leading + first + column_;
    const int64_t left = outer - first;
    if constexpr (along)
      inside_ = (left < Stage::tile_rows ? static_cast<int>(left) : Stage::tile_rows) - row_;
    else
      inside_ = bytes_of(left - column_);
  }

  /// Before the copies of the next stage, of which `k_left` values of k are there (none: <= 0).
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void begin(int k_left) {
    in_k_ = along ? bytes_of(k_left - column_) : k_left - row_;
  }
  /// Behind them.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void end() {
    if constexpr (along)
      from_ += Stage::depth - pass_stride_ * passes;
  }

  /// Copy number `i` of the stage, in order, to the stage at `to`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy(int i, uint32_t to) {
    if constexpr (Shared)
      instruction::copy_async_shared(to + offset(i), from_, bytes(i));
    else
      instruction::copy_async(to + offset(i), from_, bytes(i));
    from_ += pass_stride_;
  }

  /// All copies of the stage through registers.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_elements(unsigned char* to) {
#pragma unroll 1
    for (int i = 0; i < passes; ++i) {
      const int count = bytes(i) / Stage::element_bytes;
      vec<T, Stage::run> piece{};
#pragma unroll
      for (int e = 0; e < Stage::run; ++e)
        if (e < count)
          piece[e] = from_[e];
      store_vec(reinterpret_cast<T*>(to + offset(i)), piece);
      from_ += pass_stride_;
    }
  }

private:
  /// Bytes of the 16 that are inside, when `left` elements are.
  template <class Count>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static int bytes_of(Count left) {
    return left >= Stage::run ? 16 : left <= 0 ? 0 : static_cast<int>(left) * Stage::element_bytes;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int bytes(int i) const {
    const int row = i * rows_a_pass; // from the work-item's first
    return along ? (row < inside_ ? in_k_ : 0) : (row < in_k_ ? inside_ : 0);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t offset(int i) const {
    if constexpr (regular)
      return base_ + static_cast<uint32_t>(i * pass_bytes);
    else
      return static_cast<uint32_t>(Stage::byte_of(row_ + i * rows_a_pass, column_));
  }

  const T* from_; ///< of the next copy
  int row_, column_;
  int64_t pass_stride_;
  int inside_; ///< along k: rows from the work-item's first on; else bytes of its pieces
  int in_k_;   ///< of the stage, along k: bytes of its pieces; else rows from its first on
  uint32_t base_;
};

#endif

} // namespace wavetile::kernels
