/// \file
/// The tiled matrix product on NVIDIA GPUs: one workgroup a tile, of one matrix, of a batch or of a
/// list.
#pragma once

#include <wavetile/kernels/matmul/cuda/config.hpp>
#include <wavetile/kernels/matmul/cuda/multiplier.hpp>
#include <wavetile/kernels/matmul/store.hpp>
#include <wavetile/kernels/matmul/tile_place.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

template <class A, class B, class StageA, class StageB>
struct multiplier_of {
  using type = matrix_multiplier<A, B, StageA, StageB>;
};
template <class StageA, class StageB>
struct multiplier_of<float, float, StageA, StageB> {
  using type = fma_multiplier<StageA, StageB>;
};

/// Everything of a tile that types, cut and orders decide.
template <class A, class B, matmul_kernel Kernel, operand_order OrderA, operand_order OrderB>
struct warp_tile {
  static constexpr warp_cut cut = warp_cut_of(Kernel, static_cast<int>(sizeof(A)));
  using stage_a = operand_stage<A, OrderA, fragment_role::a, cut.tile_m, cut.wave_m(), cut.k_bytes>;
  using stage_b = operand_stage<B, OrderB, fragment_role::b, cut.tile_n, cut.wave_n(), cut.k_bytes>;
  using copy_a = stage_copy<stage_a, A, cut.threads()>;
  using copy_b = stage_copy<stage_b, B, cut.threads()>;
  using multiplier = typename multiplier_of<A, B, stage_a, stage_b>::type;
  using fragments = typename multiplier::fragments;
  using element = typename multiplier::element;
  static constexpr int stage_bytes_a = cut.tile_m * cut.k_bytes;
  static constexpr int stage_bytes = stage_bytes_a + cut.tile_n * cut.k_bytes;
  static_assert(stage_bytes * cut.stages == cut.lds_bytes());
  static_assert(multiplier::steps % 2 == 0, "fragments of two steps take turns");

  /// Sums of rows of a warp on their way to memory, in LDS: rows are padded so that writes of pairs
  /// and reads of 16 bytes are free of conflicts.
  static constexpr int run = sizeof(element) == 8 ? 4 : 8; ///< elements a lane stores
  static constexpr int pitch = cut.wave_n() + 8;
  static constexpr int slab_bytes =
      multiplier::slab_rows * pitch * static_cast<int>(sizeof(element));
  static_assert(slab_bytes * cut.warps() <= cut.lds_bytes());
  /// Slabs lie in the last slot where that is large enough, and the next tile's copies go to
  /// others.
  static constexpr bool overlaps = slab_bytes * cut.warps() <= stage_bytes;
  static constexpr int slab_place = overlaps ? (cut.stages - 1) * stage_bytes : 0;
  static_assert(slab_bytes % 16 == 0);

  /// The copies of a tile: the first stages are on their way before its product begins.
  struct pipeline {
    copy_a a;
    copy_b b;
    int stages; ///< of the product
    int tail;   ///< values of k in the last
    int left;   ///< stages whose copies have not begun

    WAVETILE_DEVICE WAVETILE_FORCE_INLINE pipeline(const copy_a& a_, const copy_b& b_,
                                                   int64_t k_count)
        : a(a_), b(b_), stages(static_cast<int>((k_count + stage_a::depth - 1) / stage_a::depth)),
          tail(static_cast<int>(k_count - int64_t{stages - 1} * stage_a::depth)), left(stages) {}

    /// Before the copies of the next stage; whether it has anything.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool begin() {
      const int k_left = left > 1 ? stage_a::depth : left == 1 ? tail : 0;
      a.begin(k_left);
      b.begin(k_left);
      --left;
      return k_left > 0;
    }
    /// Behind them.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void end() {
      a.end();
      b.end();
    }
    /// Number `i` of the copies of a stage, to the slot at `to`.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy(int i, uint32_t to) {
      if (i < copy_a::passes)
        a.copy(i, to);
      else
        b.copy(i - copy_a::passes, to + stage_bytes_a);
    }
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void copy_elements(unsigned char* to) {
      a.copy_elements(to);
      b.copy_elements(to + stage_bytes_a);
    }

    /// Starts the copies of the first stages, to all slots but the last.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void start(bool aligned, unsigned char* memory) {
      const uint32_t base = instruction::lds_address(memory);
#pragma unroll 1
      for (int slot = 0; slot < cut.stages - 1; ++slot) {
        const bool some = begin();
        if (aligned) {
#pragma unroll
          for (int i = 0; i < copies; ++i)
            copy(i, base + static_cast<uint32_t>(slot * stage_bytes));
        } else if (some) {
          copy_elements(memory + slot * stage_bytes);
        }
        end();
        instruction::close_copies();
      }
    }
  };
  static constexpr int copies = copy_a::passes + copy_b::passes;

  /// The product, for the part of a warp at `row`, `column` of the tile. Reads and copies stand
  /// between the products of a step: what multiplies next is read one step ahead, what the stage
  /// that was multiplied last makes room for is copied in all steps but the last.
  template <bool Aligned>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void
  run_loop(multiplier& sums, pipeline& from, int row, int column, int lane, unsigned char* memory) {
    constexpr int steps = multiplier::steps, parts = multiplier::parts;
    constexpr int places = (steps - 1) * parts; // for copies, in a stage
    const uint32_t base = instruction::lds_address(memory);
    instruction::wait_copies<cut.stages - 2>();
    instruction::barrier();

    fragments of[2];
    int writing = (cut.stages - 1) * stage_bytes; // slot
    stage_reader<stage_a, stage_b> at(lane, row, column, base, stage_bytes_a);
#pragma unroll
    for (int part = 0; part < parts; ++part)
      multiplier::read(of[0], at, 0, part);
#pragma unroll 1
    for (int stage = from.stages; stage > 0; --stage) {
      const bool some = from.begin();
      if (!Aligned && some)
        from.copy_elements(memory + writing);
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        if (step == steps - 1) {
          // the copies of the next stage are there, and nobody reads this one any more
          from.end();
          instruction::close_copies();
          instruction::wait_copies<cut.stages - 2>();
          instruction::barrier();
          // the slot that was read is written next; the one behind it is read
          constexpr int last = (cut.stages - 1) * stage_bytes;
          writing = writing == last ? 0 : writing + stage_bytes;
          at.move_by(writing == last ? -last : stage_bytes);
        }
#pragma unroll
        for (int part = 0; part < parts; ++part) {
          multiplier::read(of[(step + 1) % 2], at, (step + 1) % steps, part);
          if constexpr (Aligned)
            if (step < steps - 1) {
              const int place = step * parts + part;
#pragma unroll
              for (int i = place * copies / places; i < (place + 1) * copies / places; ++i)
                from.copy(i, base + static_cast<uint32_t>(writing));
            }
          sums.multiply(of[step % 2], part);
        }
      }
    }
    instruction::wait_copies<0>();
    instruction::barrier();
  }

  /// `run` elements of a row of a slab. Lanes 4 to 7 of eight read their second half first: eight
  /// lanes then read from all banks.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static vec<element, run> read_run(const element* from,
                                                                          int lane) {
    constexpr int half = run / 2;
    const bool swapped = (lane & 4) != 0;
    const auto first = load_vec<half>(from + (swapped ? half : 0));
    const auto second = load_vec<half>(from + (swapped ? 0 : half));
    vec<element, run> result;
    for (int i = 0; i < half; ++i) {
      result[i] = swapped ? second[i] : first[i];
      result[half + i] = swapped ? first[i] : second[i];
    }
    return result;
  }
};

/// A tile on its way.
template <class Types, class Tile>
struct warp_tile_work {
  matmul_task<Types> task;
  tile_place place;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE warp_tile_work(const matmul_arguments<Types>& arguments,
                                                       int64_t group)
      : place(place_of<Tile::cut.tile_m, Tile::cut.tile_n>(arguments, task, group)) {}

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE typename Tile::pipeline
  pipeline(const matmul_arguments<Types>& arguments, int thread) const {
    constexpr warp_cut cut = Tile::cut;
    const int64_t row = place.row * cut.tile_m, column = place.column * cut.tile_n;
    const int64_t k_begin = place.split * place.split_k;
    const int64_t k_end = k_begin + place.split_k < task.k ? k_begin + place.split_k : task.k;
    return {{task.a, task.lda, task.m, row, k_begin, thread},
            {task.b, task.ldb, task.n, column, k_begin, thread},
            k_begin < k_end ? k_end - k_begin : 0};
  }
};

/// The tiles of a product, of a batch or of a list, shared out among the workgroups: while one is
/// stored the copies of the next have begun. LDS: `warp_cut::lds_bytes`, dynamic, through which
/// sums also come to rows.
template <class Types, matmul_kernel Kernel, operand_order OrderA, operand_order OrderB>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(
    (warp_cut_of(Kernel, static_cast<int>(sizeof(typename Types::a)))
         .threads())) void matmul_warp_tile(const __grid_constant__ matmul_arguments<Types>
                                                arguments) {
  using tile = warp_tile<typename Types::a, typename Types::b, Kernel, OrderA, OrderB>;
  using work = warp_tile_work<Types, tile>;
  using multiplier = typename tile::multiplier;
  using element = typename tile::element;
  constexpr warp_cut cut = tile::cut;
  extern WAVETILE_SHARED __align__(128) unsigned char memory[];
  const int thread = thread_id();
  const int lane = thread % wave_size, warp = thread / wave_size;
  const int wave_row = warp / cut.warps_n * cut.wave_m();
  const int wave_column = warp % cut.warps_n * cut.wave_n();
  constexpr int runs = cut.wave_n() / tile::run; // of a row of a slab
  static_assert(wave_size % runs == 0);
  const int right = lane % runs * tile::run;
  auto* const slab =
      reinterpret_cast<element*>(memory + tile::slab_place + warp * tile::slab_bytes);

  int64_t group = arguments.first_group + static_cast<int64_t>(instruction::workgroup_x());
  auto pipeline = work(arguments, group).pipeline(arguments, thread);
  pipeline.start(arguments.aligned, memory);
  for (bool more = true; more;) {
    multiplier sums;
    sums.clear();
    if (arguments.aligned)
      tile::template run_loop<true>(sums, pipeline, wave_row, wave_column, lane, memory);
    else
      tile::template run_loop<false>(sums, pipeline, wave_row, wave_column, lane, memory);

    asm volatile("" : "+l"(group)); // the place is computed again: it is not worth its registers
    const work own(arguments, group);
    const matmul_task<Types>& task = own.task;
    const tile_place& place = own.place;
    const int64_t row = place.row * cut.tile_m + wave_row;
    const int64_t column = place.column * cut.tile_n + wave_column;
    group += gridDim.x;
    more = group < arguments.groups;
    if (more)
      pipeline = work(arguments, group).pipeline(arguments, thread);
    if (tile::overlaps && more)
      pipeline.start(arguments.aligned, memory);

    matmul_output<Types> output(arguments, task, place.batch);
    const bool split = place.splits > 1;
    auto* partial = static_cast<element*>(arguments.partials) + place.first_partial;
    const int64_t own_column = column + right, left = task.n - own_column;
    const int in_columns = left >= tile::run ? tile::run : left > 0 ? static_cast<int>(left) : 0;
    const int64_t rows = column < task.n ? task.m - row : 0; // the same for the whole warp
    // slab by slab in a loop that is not unrolled: one copy of all that happens to elements
#pragma unroll 1
    for (int number = 0; number < multiplier::slabs && number * multiplier::slab_rows < rows;
         ++number) {
      const int64_t first_row = row + number * multiplier::slab_rows;
#pragma unroll
      for (int i = 0; i < multiplier::slabs; ++i)
        if (i == number)
          sums.write(slab, tile::pitch, lane, i);
      __syncwarp();
#pragma unroll 1
      for (int down = lane / runs; down < multiplier::slab_rows; down += wave_size / runs) {
        const auto values = tile::read_run(slab + down * tile::pitch + right, lane);
        const int64_t own_row = first_row + down;
        const int inside = own_row < task.m ? in_columns : 0;
        if (split)
          store_some(partial + own_row * task.n + own_column, values, inside);
        else if (inside > 0)
          output.template store<tile::run>(values, own_row, own_column, inside);
      }
      __syncwarp();
    }
    if (!split)
      output.finish();
    if (!tile::overlaps && more) {
      instruction::barrier();
      pipeline.start(arguments.aligned, memory);
    }
  }
}

} // namespace wavetile::kernels

#endif
