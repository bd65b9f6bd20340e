/// \file
/// The tiled matrix product: one workgroup a tile, of one matrix, of a batch or of a list.
#pragma once

#include <wavetile/kernels/matmul/mainloop.hpp>
#include <wavetile/kernels/matmul/store.hpp>
#include <wavetile/kernels/matmul/tile_place.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// Views that `matmul_mainloop` takes of an operand with `outer` rows of A or columns of B.
template <operand_order Order, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE view<const T, 2> operand_view(const T* data, int64_t outer,
                                                                    int64_t k, int64_t leading) {
  if constexpr (Order == operand_order::k_contiguous)
    return {data, {outer, k}, {leading, 1}};
  else
    return {data, {outer, k}, {1, leading}};
}

/// A fragment of D^T on its way from accumulators to rows of D: every wave turns its own around in
/// its own piece of LDS, so that a lane stores 8 (of 16 x 16 fragments 4) consecutive elements of a
/// row. Rows are padded by what is written and read at once: 16 bytes, or of fp64, whose
/// accumulators are no runs of a row, an element.
template <class Fragment>
struct fragment_turner {
  using accumulator = typename Fragment::element_type;
  static constexpr int side = Fragment::shape.m;
  static constexpr int run = side / 4;
  static constexpr int rows =
      matmul_wave_size / (side / run); ///< of D, that a wave stores at a time
  /// Accumulator registers that are consecutive in a row of D.
  static constexpr int block = wavetile::detail::is_same_v<accumulator, double> ? 1 : 4;
  static constexpr int block_bytes = block * static_cast<int>(sizeof(accumulator));
  using tile_type =
      tile<accumulator, padded(side, side, static_cast<int>(sizeof(accumulator)), block_bytes)>;
  using storage = typename tile_type::storage;
  static_assert(
      bank_conflicts(tile_type::where,
                     lds_write(block_bytes,
                               [](int lane) {
                                 const matrix_element at = Fragment::element(lane, 0);
                                 return coordinate{at.column, at.row};
                               }),
                     targets::gfx942)
              .conflict_free() &&
          bank_conflicts(
              tile_type::where,
              lds_read(block_bytes,
                       [](int lane) {
                         return coordinate{lane / (side / run), lane % (side / run) * run};
                       }),
              targets::gfx942)
              .conflict_free(),
      "wavetile::kernels::fragment_turner: writes or reads have bank conflicts; others "
      "than these are a constant apart");

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void write(storage& to, const Fragment& part,
                                                          int lane) {
    for (int i = 0; i < Fragment::size; i += block) {
      const matrix_element at = Fragment::element(lane, i);
      vec<accumulator, block> values;
      for (int e = 0; e < block; ++e)
        values[e] = part[i + e];
      tile_type(to).write_vec(at.column, at.row, values);
    }
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static vec<accumulator, run> read(storage& from, int row,
                                                                          int column) {
    vec<accumulator, run> values;
    for (int i = 0; i < run; i += block) {
      const auto some = tile_type(from).template read_vec<block>(row, column + i);
      for (int e = 0; e < block; ++e)
        values[i + e] = some[e];
    }
    return values;
  }
};

/// What becomes of the sums of every `scale_block` values of k: times the scales of their row of A
/// and of their block of columns of B they are added to the total in fp32. The scales of the next
/// block are loaded while it is multiplied.
template <class Types, class Loop>
struct scaled_blocks {
  static constexpr bool in_blocks = true;
  static_assert(2 * Loop::tile_k == scale_block && scale_block % Loop::config.wave_m() == 0 &&
                    Loop::config.tile_m % scale_block == 0,
                "wavetile::kernels::scaled_blocks: a block of scales is two steps of the loop, and "
                "a wave's columns are in one");

  typename Loop::accumulators total;
  const float* of_row[Loop::fragments_n]; ///< a lane's
  const float* of_columns;                ///< the wave's are in one block
  int64_t step_row, step_columns;         ///< from block to block
  int64_t left;                           ///< blocks behind the one whose scales are loaded
  float row_scale[Loop::fragments_n], column_scale;

  /// For the piece of D^T at `column`, `row`, for `k_begin` <= k < `k_end`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE scaled_blocks(const matmul_arguments<Types>& arguments,
                                                      const matmul_task<Types>& task, int64_t batch,
                                                      int64_t column, int64_t row, int64_t k_begin,
                                                      int64_t k_end) {
    total.clear();
    const coordinate own = Loop::wave_place();
    const int64_t block = k_begin / scale_block;
    step_row = arguments.scale_step_a[1];
    step_columns = arguments.scale_step_b[1];
    left = divide_up(k_end, int64_t{scale_block}) - block - 1;
    const float* const from_a =
        arguments.scale_a + batch * arguments.scale_batch_a + block * step_row;
    const float* const from_b =
        arguments.scale_b + batch * arguments.scale_batch_b + block * step_columns;
#pragma unroll
    for (int j = 0; j < Loop::fragments_n; ++j) {
      const int64_t at = row + own.column + j * Loop::config.instruction +
                         Loop::accumulator::element(lane_id(), 0).column;
      of_row[j] = from_a + (at < task.m ? at : task.m - 1) * arguments.scale_step_a[0];
    }
    const int64_t at = column + own.row;
    of_columns = from_b + (at < task.n ? at : task.n - 1) / scale_block * arguments.scale_step_b[0];
    if (k_begin < k_end)
      load();
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load() {
#pragma unroll
    for (int j = 0; j < Loop::fragments_n; ++j)
      row_scale[j] = *of_row[j];
    column_scale = *of_columns;
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void operator()(typename Loop::accumulators& sums) {
#pragma unroll
    for (int i = 0; i < Loop::fragments_m; ++i)
#pragma unroll
      for (int j = 0; j < Loop::fragments_n; ++j) {
        const float scale = row_scale[j] * column_scale;
#pragma unroll
        for (int e = 0; e < Loop::accumulator::size; ++e)
          total.at[i][j].set(e, fma(sums.at[i][j][e], scale, total.at[i][j][e]));
      }
    sums.clear();
    // behind the last block its scales are loaded again
    const int64_t row = left > 0 ? step_row : 0, columns = left > 0 ? step_columns : 0;
    --left;
#pragma unroll
    for (int j = 0; j < Loop::fragments_n; ++j)
      of_row[j] += row;
    of_columns += columns;
    load();
  }
};

/// One tile. The main loop computes the transpose, D^T = op(B)^T op(A)^T. LDS: `matmul_mainloop`'s,
/// in which fragments are turned around at the end.
template <class Types, matmul_config Config, operand_order OrderA, operand_order OrderB>
WAVETILE_KERNEL
    __attribute__((amdgpu_flat_work_group_size(Config.threads(), Config.threads()))) void
    matmul_tile(matmul_arguments<Types> arguments) {
  if constexpr (!device_pass_supported) {
    refuse_to_run();
  } else {
    using loop = matmul_mainloop<typename Types::b, typename Types::a, OrderB, OrderA, Config>;
    using fragment = typename loop::accumulator;
    using turner = fragment_turner<fragment>;
    using accumulator = typename Types::accumulator;
    constexpr int tile_m = Config.tile_n, tile_n = Config.tile_m; // of D
    union shared {
      typename loop::storage stages;
      typename turner::storage turned[Config.waves()];
    };
    WAVETILE_SHARED shared memory;

    matmul_task<Types> task;
    const tile_place place = place_of_group<tile_m, tile_n>(arguments, task);
    const int64_t row = place.row * tile_m, column = place.column * tile_n;
    const int64_t k_begin = place.split * place.split_k;
    const int64_t k_end = k_begin + place.split_k < task.k ? k_begin + place.split_k : task.k;
    typename loop::accumulators sums;
    sums.clear();
    const auto in_b = operand_view<OrderB>(task.b, task.n, task.k, task.ldb);
    const auto in_a = operand_view<OrderA>(task.a, task.m, task.k, task.lda);
    if constexpr (Types::block_scaled) {
      scaled_blocks<Types, loop> scaled(arguments, task, place.batch, column, row, k_begin, k_end);
      if (k_begin < k_end)
        loop::run(sums, in_b, in_a, column, row, k_begin, k_end, memory.stages, scaled);
      sums = scaled.total;
    } else if (k_begin < k_end)
      loop::run(sums, in_b, in_a, column, row, k_begin, k_end, memory.stages);
    sums.settle();

    matmul_output<Types> output(arguments, task, place.batch);
    const bool split = place.splits > 1;
    auto* partial = static_cast<accumulator*>(arguments.partials) + place.first_partial;
    const int lane = lane_id();
    auto& turned = memory.turned[wave_id()];
    // fragment by fragment in a loop that is not unrolled: one copy of all that happens to elements
#pragma unroll 1
    for (int number = 0; number < loop::fragments_m * loop::fragments_n; ++number) {
      int count = 0;
      int64_t first_row = 0, first_column = 0;
      loop::for_each_fragment(sums, [&](const fragment& part, int down, int right) {
        if (count++ == number) {
          first_row = row + right;
          first_column = column + down;
          turner::write(turned, part, lane);
        }
      });
      if (first_row >= task.m || first_column >= task.n)
        continue; // the same for the whole wave
      __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
      __builtin_amdgcn_wave_barrier();
      constexpr int lanes = turner::side / turner::run; // of a row
      const int64_t own_column = first_column + lane % lanes * turner::run;
      const int64_t left = task.n - own_column;
      const int columns = left >= turner::run ? turner::run : left > 0 ? static_cast<int>(left) : 0;
#pragma unroll 1
      for (int down = lane / lanes; down < turner::side; down += turner::rows) {
        const auto values = turner::read(turned, down, lane % lanes * turner::run);
        const int64_t own_row = first_row + down;
        const int inside = own_row < task.m ? columns : 0;
        if (split)
          store_some(partial + own_row * task.n + own_column, values, inside);
        else if (inside > 0)
          output.template store<turner::run>(values, own_row, own_column, inside);
      }
      __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
      __builtin_amdgcn_wave_barrier();
    }
    if (!split)
      output.finish();
  }
}

} // namespace wavetile::kernels

#endif
