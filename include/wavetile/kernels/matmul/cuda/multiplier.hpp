/// \file
/// What one warp computes of a tile: fragments of a step, products, and the way of the sums back to
/// rows.
#pragma once

#include <wavetile/kernels/matmul/cuda/operand_stage.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// `WaveM` x `WaveN` sums of one warp by matrix instructions: 8-bit and 16-bit elements, fp64.
template <class A, class B, class StageA, class StageB>
struct matrix_multiplier {
  static constexpr bool is_double = sizeof(A) == 8;
  static constexpr int steps = StageA::steps;
  static constexpr int reads_m = StageA::reads, reads_n = StageB::reads;
  static constexpr int halves = is_double ? 1 : 2; ///< fragments of B of a read
  using accumulator = warp_accumulator<A>;
  using element = typename accumulator::element_type;
  using read_b = wavetile::detail::conditional_t<is_double, warp_b<B>, warp_b_pair<B>>;

  accumulator sums[reads_m][reads_n * halves];

  struct fragments {
    warp_a<A> a[reads_m];
    read_b b[reads_n];
  };

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void clear() {
    for (auto& row : sums)
      for (auto& one : row)
        one = {};
  }

  /// Part `part` of `parts` of the reads of a step.
  static constexpr int parts = reads_m;
  template <class Place>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void read(fragments& to, const Place& at, int step,
                                                         int part) {
    to.a[part] = read_one<StageA, warp_a<A>>(at.a(part, step));
#pragma unroll
    for (int j = part * reads_n / parts; j < (part + 1) * reads_n / parts; ++j)
      to.b[j] = read_one<StageB, read_b>(at.b(j, step));
  }

  /// Part `i` of the products of a step: one row of fragments, forth and back in turn, so that the
  /// fragment of B at the turn is used again at once.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply(const fragments& f, int i) {
#pragma unroll
    for (int n = 0; n < reads_n * halves; ++n) {
      const int j = i % 2 == 0 ? n : reads_n * halves - 1 - n;
      if constexpr (is_double)
        warp_mma(sums[i][j], f.a[i], f.b[j]);
      else
        warp_mma(sums[i][j], f.a[i], f.b[j / 2].half[j % 2]);
    }
  }

  /// Rows of a slab, and slabs of a warp.
  static constexpr int slab_rows = StageA::read_rows, slabs = reads_m;

  /// Writes row block `i` of the sums to `slab`, whose rows are `pitch` elements apart.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(element* slab, int pitch, int lane,
                                                   int i) const {
#pragma unroll
    for (int j = 0; j < reads_n; ++j)
#pragma unroll
      for (int e = 0; e < accumulator::size; e += 2) {
        const matrix_element at = accumulator::element(lane, e);
        element* const row = slab + row_of_a(at.row) * pitch + j * StageB::read_rows;
        if constexpr (is_double) {
          store_vec(row + at.column,
                    vec<element, 2>{{sums[i][j].value[e], sums[i][j].value[e + 1]}});
        } else {
          const element(&low)[4] = sums[i][2 * j].value;
          const element(&high)[4] = sums[i][2 * j + 1].value;
          if constexpr (StageB::reader::row_of(1) == 1) {
            store_vec(row + at.column, vec<element, 2>{{low[e], low[e + 1]}});
            store_vec(row + at.column + 8, vec<element, 2>{{high[e], high[e + 1]}});
          } else { // columns c and c + 8 are neighbours
            store_vec(row + at.column * 2,
                      vec<element, 4>{{low[e], high[e], low[e + 1], high[e + 1]}});
          }
        }
      }
  }

private:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static int row_of_a(int r) {
    if constexpr (is_double)
      return r;
    else
      return StageA::reader::row_of(r);
  }
  template <class Stage, class Result>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static Result read_one(uint32_t address) {
    if constexpr (is_double) {
      Result result;
      asm volatile("ld.shared.f64 %0, [%1];" : "=d"(result.word) : "r"(address) : "memory");
      return result;
    } else {
      return Stage::reader::load(address);
    }
  }
};

/// The same for fp32, by fused multiply-adds: lane l has rows 4 (l / 4) … + 3 of every 32, columns
/// 4 (l mod 4) … + 3 of every 16. A step is four values of k.
template <class StageA, class StageB>
struct fma_multiplier {
  static constexpr int blocks_m = StageA::reads, blocks_n = StageB::reads;
  static constexpr int steps = StageA::steps;
  using element = float;

  float sums[blocks_m][4][blocks_n][4];

  /// [block][row or k][k or row], as it lies in LDS.
  struct fragments {
    vec<float, 4> a[blocks_m][4];
    vec<float, 4> b[blocks_n][4];
  };

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void clear() {
    for (auto& block : sums)
      for (auto& row : block)
        for (auto& other : row)
          for (float& one : other)
            one = 0;
  }

  /// Part `part` of `parts` of the reads and of the products of a step.
  static constexpr int parts = 4;
  template <class Place>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void read(fragments& to, const Place& at, int step,
                                                         int part) {
#pragma unroll
    for (int i = 0; i < blocks_m; ++i)
      to.a[i][part] = read_one(at.plain_a(i, step, part));
#pragma unroll
    for (int j = 0; j < blocks_n; ++j)
      to.b[j][part] = read_one(at.plain_b(j, step, part));
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply(const fragments& f, int k) {
#pragma unroll
    for (int i = 0; i < blocks_m; ++i)
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int j = 0; j < blocks_n; ++j)
#pragma unroll
          for (int c = 0; c < 4; ++c)
            sums[i][r][j][c] = fma(StageA::along ? f.a[i][r][k] : f.a[i][k][r],
                                   StageB::along ? f.b[j][c][k] : f.b[j][k][c], sums[i][r][j][c]);
  }

  static constexpr int slab_rows = 32, slabs = blocks_m;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(float* slab, int pitch, int lane, int i) const {
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
      for (int j = 0; j < blocks_n; ++j) {
        const float(&one)[4] = sums[i][r][j];
        store_vec(slab + (lane / 4 * 4 + r) * pitch + lane % 4 * 4 + j * 16,
                  vec<float, 4>{{one[0], one[1], one[2], one[3]}});
      }
  }

private:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static vec<float, 4> read_one(uint32_t address) {
    vec<float, 4> result;
    asm volatile("ld.shared.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(result[0]), "=f"(result[1]), "=f"(result[2]), "=f"(result[3])
                 : "r"(address)
                 : "memory");
    return result;
  }
};

/// Where a lane of a warp reads in a stage.
template <class StageA, class StageB>
struct stage_reader {
  int lane, row, column;     ///< of the warp's part
  uint32_t stage_a, stage_b; ///< addresses in LDS
  uint32_t base_a, base_b;   ///< the lane's first reads

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE stage_reader(int lane_, int row_, int column_,
                                                     uint32_t stage, uint32_t from_a_to_b)
      : lane(lane_), row(row_), column(column_), stage_a(stage), stage_b(stage + from_a_to_b),
        base_a(stage + static_cast<uint32_t>(StageA::byte_read(lane_, row_, 0))),
        base_b(stage + from_a_to_b + static_cast<uint32_t>(StageB::byte_read(lane_, column_, 0))) {
    asm("" : "+r"(base_a), "+r"(base_b)); // kept, and not computed again for every stage
  }
  /// To another stage.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void move_by(int bytes) {
    stage_a += static_cast<uint32_t>(bytes);
    stage_b += static_cast<uint32_t>(bytes);
    base_a += static_cast<uint32_t>(bytes);
    base_b += static_cast<uint32_t>(bytes);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t a(int i, int step) const {
    return StageA::address(base_a, stage_a, lane, row, i, step);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t b(int j, int step) const {
    return StageB::address(base_b, stage_b, lane, column, j, step);
  }
  /// Of fp32: number `e` of four rows, or of four k.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t plain_a(int i, int step, int e) const {
    return stage_a + plain<StageA>(row + i * StageA::read_rows, step, e);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t plain_b(int j, int step, int e) const {
    return stage_b + plain<StageB>(column + j * StageB::read_rows, step, e);
  }

private:
  template <class Stage>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t plain(int first, int step, int e) const {
    return static_cast<uint32_t>(Stage::along ? Stage::byte_read(lane, first + e, 4 * step)
                                              : Stage::byte_read(lane, first, 4 * step + e));
  }
};

} // namespace wavetile::kernels

#endif
