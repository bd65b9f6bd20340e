/// \file
/// Products of few rows on NVIDIA GPUs: op(B) streams past at full width, no LDS on its way but
/// where `wgmma` takes it from there (warpgroup_skinny.hpp).
#pragma once

#include <wavetile/kernels/matmul/cuda/config.hpp>
#include <wavetile/kernels/matmul/cuda/warpgroup_skinny.hpp>
#include <wavetile/kernels/matmul/store.hpp>
#include <wavetile/kernels/matmul/tile_place.hpp>
#include <wavetile/matrix/warp_fragment.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// 16 bytes of a matrix that is read once: not kept in the L1 cache.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<uint32_t, 4> load_streamed(const void* from) {
  vec<uint32_t, 4> result;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(result[0]), "=r"(result[1]), "=r"(result[2]), "=r"(result[3])
               : "l"(from));
  return result;
}

/// What a warp does of D^T = op(B)^T op(A)^T: `columns` columns of op(B), as rows of its matrix
/// instructions, by batches of `depth` values of k, in `chunks`. `Rows` rows of op(A).
///
/// Which k a lane has in an instruction is free, as long as both operands have the same. k of B
/// contiguous: a lane loads 16 bytes of a column, which are its k of two instructions; two chunks
/// are a whole line of 128 bytes. k strided: it loads 16 bytes of columns of four (of bytes eight)
/// k, and pairs (fours) of k are put together from as many; the columns of a lane are then those of
/// four (eight) instructions.
template <class Types, operand_order OrderB, int Rows>
struct warp_skinny_loop {
  using A = typename Types::a;
  using B = typename Types::b;
  static constexpr int bytes = static_cast<int>(sizeof(B));
  static constexpr warp_skinny_cut cut = warp_skinny_cut_of(OrderB, bytes, Rows);
  static constexpr bool along = OrderB == operand_order::k_contiguous;
  static constexpr int columns = cut.warp_columns;
  static constexpr int warps_n = cut.columns / columns; ///< side by side; the others share k
  static constexpr int warps_k = cut.warps_k();
  static constexpr int run = 16 / bytes; ///< elements of a load
  static constexpr int blocks = columns / 16;
  static constexpr int groups_m = Rows / 8;
  /// Of many rows the sums leave registers for a smaller batch only.
  static constexpr int chunks = !along && (Rows > 16 || bytes == 1) ? 1 : 2;
  static constexpr int chunk_depth = along ? 4 * run : 32 / bytes;
  static constexpr int depth = chunks * chunk_depth;
  static constexpr int own = along ? run : 8 / bytes; ///< k of a lane in a chunk
  static constexpr int chunk_loads = along ? 4 : own, loads = chunks * chunk_loads;
  static constexpr int halves = along ? 2 : 1; ///< products of a chunk for each block
  using accumulator = warp_accumulator<A>;
  using element = typename accumulator::element_type;
  using words_a = vec<uint32_t, 2 * halves>; ///< the k of a lane of A in a chunk
  static_assert(has_warp_skinny(bytes) && own * bytes == 8 * halves);
  /// Workgroups that registers should leave room for.
  static constexpr int resident =
      cut.warps <= 8 && 4 * (blocks * groups_m + 2 * loads) <= 96 ? 2 : 1;

  struct batch {
    vec<uint32_t, 4> b[chunks][chunk_loads];
  };
  struct rows_of_a {
    words_a a[chunks][groups_m];
  };
  accumulator sums[blocks][groups_m];

  const matmul_task<Types>& task;
  bool aligned, a_along;
  int64_t column; ///< first
  int64_t k_end;
  int lane;

  /// First k of a lane in a chunk.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t own_k(int64_t k, int chunk) const {
    return k + chunk * chunk_depth + lane % 4 * own;
  }

  /// Whether every batch that ends at or before `k_end` can be loaded without a look at bounds.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool all_inside() const {
    return aligned && a_along && column + columns <= task.n;
  }

  /// Where a lane loads batches that are inside. Rows of op(A) that there are not are the last one:
  /// what comes of them is not stored.
  struct places {
    const A* a[groups_m];
    const B* b;
    int64_t step_b; ///< to the next columns, or the next k

    WAVETILE_DEVICE WAVETILE_FORCE_INLINE explicit places(const warp_skinny_loop& of, int64_t k) {
#pragma unroll
      for (int g = 0; g < groups_m; ++g) {
        const int64_t row = g * 8 + of.lane / 4;
        a[g] = of.task.a + (row < of.task.m ? row : of.task.m - 1) * of.task.lda + of.own_k(k, 0);
      }
      if constexpr (along)
        b = of.task.b + (of.column + of.lane / 4) * of.task.ldb + of.own_k(k, 0);
      else
        b = of.task.b + of.own_k(k, 0) * of.task.ldb + of.column + of.lane / 4 * run;
      step_b = along ? 8 * of.task.ldb : of.task.ldb;
    }
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(batch& to) const {
      const B* from = b;
      if constexpr (along) {
#pragma unroll
        for (int i = 0; i < chunk_loads; ++i, from += step_b)
#pragma unroll
          for (int c = 0; c < chunks; ++c)
            to.b[c][i] = load_streamed(from + c * chunk_depth);
      } else {
#pragma unroll
        for (int c = 0; c < chunks; ++c, from += (chunk_depth - chunk_loads) * step_b)
#pragma unroll
          for (int i = 0; i < chunk_loads; ++i, from += step_b)
            to.b[c][i] = load_streamed(from);
      }
    }
    /// Rows of op(A), `back` values of k before the place that `advance` has come to.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(rows_of_a& to, int64_t back) const {
#pragma unroll
      for (int c = 0; c < chunks; ++c)
#pragma unroll
        for (int g = 0; g < groups_m; ++g)
          to.a[c][g] = __builtin_bit_cast(words_a, load_vec<own>(a[g] + c * chunk_depth - back));
    }
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void advance(int64_t k) {
#pragma unroll
      for (int g = 0; g < groups_m; ++g)
        a[g] += k;
      b += along ? k : k * step_b;
    }
  };

  /// The same with bounds, and for rows that are not aligned; what is outside is zero.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_part(batch& to, rows_of_a& to_a,
                                                       int64_t k) const {
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
#pragma unroll
      for (int i = 0; i < chunk_loads; ++i)
        to.b[c][i] = along ? part_b(column + i * 8 + lane / 4, own_k(k, c))
                           : part_b(own_k(k, c) + i, column + lane / 4 * run);
#pragma unroll
      for (int g = 0; g < groups_m; ++g) {
        const int64_t row = g * 8 + lane / 4;
        vec<A, own> piece{};
        if (row < task.m)
#pragma unroll
          for (int i = 0; i < own; ++i) {
            const int64_t at = own_k(k, c) + i;
            if (at < k_end)
              piece[i] = task.a[a_along ? row * task.lda + at : at * task.lda + row];
          }
        to_a.a[c][g] = __builtin_bit_cast(words_a, piece);
      }
    }
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply(const batch& of, const rows_of_a& rows) {
#pragma unroll
    for (int c = 0; c < chunks; ++c)
#pragma unroll
      for (int j = 0; j < blocks; ++j)
#pragma unroll
        for (int half = 0; half < halves; ++half) {
          warp_a<B> a;
          if constexpr (along) {
            const vec<uint32_t, 4>&upper = of.b[c][2 * j], &lower = of.b[c][2 * j + 1];
            a = {{{upper[2 * half], lower[2 * half], upper[2 * half + 1], lower[2 * half + 1]}}};
          } else if constexpr (bytes == 1) {
            const auto& k = of.b[c];
            const int word = j / 4;                    // columns 4 word … + 3, and eight on
            const auto four = [&](int first, int in) { // k of column j
              const uint32_t select = j % 4 < 2 ? 0x5140 : 0x7362;
              return __byte_perm(__byte_perm(k[first][in], k[first + 1][in], select),
                                 __byte_perm(k[first + 2][in], k[first + 3][in], select),
                                 j % 2 == 0 ? 0x5410 : 0x7632);
            };
            a = {{{four(0, word), four(0, word + 2), four(4, word), four(4, word + 2)}}};
          } else {
            const auto& k = of.b[c];
            const uint32_t select = j % 2 == 0 ? 0x5410 : 0x7632;
            const int word = j / 2; // columns 2 word, + 1, and four on
            a = {{{__byte_perm(k[0][word], k[1][word], select),
                   __byte_perm(k[0][word + 2], k[1][word + 2], select),
                   __byte_perm(k[2][word], k[3][word], select),
                   __byte_perm(k[2][word + 2], k[3][word + 2], select)}}};
          }
#pragma unroll
          for (int g = 0; g < groups_m; ++g) {
            const warp_b<A> b{{{rows.a[c][g][2 * half], rows.a[c][g][2 * half + 1]}}};
            // accumulators of two kinds of fp8 are the same
            warp_mma(reinterpret_cast<warp_accumulator<B>&>(sums[j][g]), a, b);
          }
        }
  }

  /// Column, from the first of the warp, of row `r` of block `j`.
  WAVETILE_HD static constexpr int column_of(int j, int r) {
    return along ? 16 * j + r : r % 8 * run + r / 8 * (run / 2) + j;
  }

private:
  /// 16 bytes of row `row` of B from column `first` on, of which not all need be inside.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<uint32_t, 4> part_b(int64_t row, int64_t first) const {
    vec<B, run> piece{};
    const int64_t left = (along ? k_end : task.n) - first;
    if (row < (along ? task.n : k_end)) {
      const B* const from = task.b + row * task.ldb + first;
      if (aligned && left >= run)
        return load_streamed(from);
#pragma unroll
      for (int e = 0; e < run; ++e)
        if (e < left)
          piece[e] = from[e];
    }
    return __builtin_bit_cast(wavetile::vec<uint32_t, 4>, piece);
  }
};

/// The sums of k from `k_begin` to `k_end`, of all columns of a workgroup from `column` on: its
/// warps take batches of k in turn. `memory` in LDS becomes [warp of k][row][column].
template <class Types, operand_order OrderB, int Rows>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
stream_skinny(const matmul_task<Types>& task, bool aligned, bool a_along, int64_t first_column,
              int64_t k_begin, int64_t k_end, int thread, unsigned char* memory) {
  using loop = warp_skinny_loop<Types, OrderB, Rows>;
  using element = typename loop::element;
  constexpr int columns = loop::cut.columns;
  const int lane = thread % wave_size, warp = thread / wave_size;
  const int warp_k = warp / loop::warps_n, own_column = warp % loop::warps_n * loop::columns;

  loop own{{}, task, aligned, a_along, first_column + own_column, k_end, lane};
  constexpr int64_t stride = int64_t{loop::warps_k} * loop::depth;
  int64_t k = k_begin + int64_t{warp_k} * loop::depth;
  if (own.all_inside() && k + loop::depth <= k_end) {
    typename loop::places at(own, k);
    int64_t left = (k_end - k - loop::depth) / stride; // whole batches behind the first
    k += (left + 1) * stride;
    typename loop::batch first, second;
    typename loop::rows_of_a rows;
    at.load(first);
    for (; left >= 2; left -= 2) {
      at.advance(stride);
      at.load(second);
      at.load(rows, stride);
      own.multiply(first, rows);
      at.advance(stride);
      at.load(first);
      at.load(rows, stride);
      own.multiply(second, rows);
    }
    if (left > 0) {
      at.advance(stride);
      at.load(second);
      at.load(rows, stride);
      own.multiply(first, rows);
      at.load(rows, 0);
      own.multiply(second, rows);
    } else {
      at.load(rows, 0);
      own.multiply(first, rows);
    }
  }
#pragma unroll 1
  for (; k < k_end; k += stride) {
    typename loop::batch one;
    typename loop::rows_of_a rows;
    own.load_part(one, rows, k);
    own.multiply(one, rows);
  }

  auto* const all = reinterpret_cast<element*>(memory);
  element* const mine = all + warp_k * Rows * columns + own_column;
#pragma unroll
  for (int j = 0; j < loop::blocks; ++j)
#pragma unroll
    for (int g = 0; g < loop::groups_m; ++g)
#pragma unroll
      for (int e = 0; e < loop::accumulator::size; ++e) {
        const matrix_element at = loop::accumulator::element(lane, e);
        mine[(g * 8 + at.column) * columns + loop::column_of(j, at.row)] = own.sums[j][g].value[e];
      }
}

/// A workgroup computes `warp_skinny_cut::columns` columns of up to `Rows` rows; its parts take
/// their share of k and add their sums through LDS (dynamic: `warp_skinny_lds`) in fixed order.
template <class Types, operand_order OrderB, int Rows>
WAVETILE_KERNEL __launch_bounds__(
    warp_skinny_loop<Types, OrderB, Rows>::cut.warps * 32,
    warp_skinny_loop<Types, OrderB,
                     Rows>::resident) void matmul_warp_skinny(const __grid_constant__
                                                                  matmul_arguments<Types>
                                                                      arguments) {
  using loop = warp_skinny_loop<Types, OrderB, Rows>;
  using element = typename loop::element;
  constexpr int columns = loop::cut.columns, warps = loop::cut.warps;
  extern WAVETILE_SHARED __align__(1024) unsigned char skinny_memory[];
  unsigned char* const memory = skinny_memory;

  matmul_task<Types> task;
  const tile_place place = place_of_group<Rows, columns>(arguments, task);
  const int64_t k_begin = place.split * place.split_k;
  const int64_t k_end = k_begin + place.split_k < task.k ? k_begin + place.split_k : task.k;
  const int thread = thread_id();
  const int64_t column = place.column * columns;
  const bool a_along = arguments.order_a == operand_order::k_contiguous;
  int parts = loop::warps_k;
#if WAVETILE_WARPGROUP_MMA
  if constexpr (warpgroup_skinny_serves<typename Types::a, typename Types::b>) {
    using wide = warpgroup_skinny<typename Types::b, OrderB, Rows>;
    if (arguments.aligned && a_along) {
      parts = wide::parts;
      wide::product(task, column, k_begin, k_end, thread, memory);
    } else {
      stream_skinny<Types, OrderB, Rows>(task, arguments.aligned, a_along, column, k_begin, k_end,
                                         thread, memory);
    }
  } else
#endif
    stream_skinny<Types, OrderB, Rows>(task, arguments.aligned, a_along, column, k_begin, k_end,
                                       thread, memory);
  instruction::barrier();

  const auto* const all = reinterpret_cast<const element*>(memory);
  matmul_output<Types> output(arguments, task, place.batch);
  const bool split = place.splits > 1;
  auto* partial = static_cast<element*>(arguments.partials) + place.first_partial;
  constexpr int run = 4, runs = columns / run;
#pragma unroll 1
  for (int i = thread; i < Rows * runs; i += warps * wave_size) {
    const int64_t row = i / runs, first = column + i % runs * run;
    const int64_t left = row < task.m ? task.n - first : 0;
    const int inside = left >= run ? run : left > 0 ? static_cast<int>(left) : 0;
    if (inside == 0)
      continue;
    vec<element, run> sums{};
#pragma unroll 1
    for (int w = 0; w < parts; ++w) {
      const auto one = load_vec<run>(all + (w * Rows + row) * columns + i % runs * run);
      for (int e = 0; e < run; ++e)
        sums[e] = matmul_output<Types>::sum(sums[e], one[e]);
    }
    if (split)
      store_some(partial + row * task.n + first, sums, inside);
    else
      output.template store<run>(sums, row, first, inside);
  }
  if (!split)
    output.finish();
}

} // namespace wavetile::kernels

#endif
