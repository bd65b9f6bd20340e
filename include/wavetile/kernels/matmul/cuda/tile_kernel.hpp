/// \file
/// The tiled matrix product on NVIDIA GPUs: one workgroup a tile, of one matrix, of a batch or of a
/// list.
#pragma once

#include <wavetile/kernels/matmul/cuda/config.hpp>
#include <wavetile/kernels/matmul/cuda/multiplier.hpp>
#include <wavetile/kernels/matmul/cuda/tile_pipeline.hpp>
#include <wavetile/kernels/matmul/cuda/tile_slabs.hpp>
#include <wavetile/kernels/matmul/cuda/warpgroup_tile.hpp>
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

/// Everything of a tile that types, cut and orders decide, with `mma.sync`.
template <class A, class B, matmul_kernel Kernel, operand_order OrderA, operand_order OrderB>
struct warp_tile {
  static constexpr warp_cut cut =
      warp_cut_of(Kernel, static_cast<int>(sizeof(A)), device_target.lds_bytes);
  using stage_a = operand_stage<A, OrderA, fragment_role::a, cut.tile_m, cut.wave_m(), cut.k_bytes>;
  using stage_b = operand_stage<B, OrderB, fragment_role::b, cut.tile_n, cut.wave_n(), cut.k_bytes>;
  static constexpr int ahead = cut.stages - 1; ///< stages on their way
  using pipeline = tile_pipeline<stage_a, stage_b, A, B, cut.threads(), ahead>;
  using multiplier = typename multiplier_of<A, B, stage_a, stage_b>::type;
  using fragments = typename multiplier::fragments;
  using slabs = tile_slabs<typename multiplier::element, multiplier::slab_rows, cut.wave_n(),
                           cut.warps(), cut.stages, pipeline::stage_bytes>;
  static_assert(multiplier::steps % 2 == 0, "fragments of two steps take turns");

  /// Where the part of a warp starts in the tile, and slab `number` in the part.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static coordinate part_of(int warp) {
    return {warp / cut.warps_n * cut.wave_m(), warp % cut.warps_n * cut.wave_n()};
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static coordinate slab_at(int number) {
    return {number * multiplier::slab_rows, 0};
  }

  /// The product, for the part of a warp. Reads and copies stand between the products of a step:
  /// what multiplies next is read one step ahead, what the stage that was multiplied last makes
  /// room for is copied in all steps but the last.
  template <bool Aligned>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void
  run_loop(multiplier& sums, pipeline& from, int warp, int lane, unsigned char* memory) {
    constexpr int steps = multiplier::steps, parts = multiplier::parts;
    constexpr int places = (steps - 1) * parts; // for copies, in a stage
    constexpr int copies = pipeline::copies, stage_bytes = pipeline::stage_bytes;
    const uint32_t base = instruction::lds_address(memory);
    instruction::wait_copies<ahead - 1>();
    instruction::barrier();

    fragments of[2];
    int writing = ahead * stage_bytes; // slot
    const coordinate part_at = part_of(warp);
    stage_reader<stage_a, stage_b> at(lane, part_at.row, part_at.column, base,
                                      pipeline::stage_bytes_a);
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
          instruction::wait_copies<ahead - 1>();
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
};

/// The one for a pass of the compiler: by `wgmma` where there is such code, else by `mma.sync`.
template <class A, class B, matmul_kernel Kernel, operand_order OrderA, operand_order OrderB>
struct tile_of {
  using type = warp_tile<A, B, Kernel, OrderA, OrderB>;
};
#if WAVETILE_WARPGROUP_MMA
template <class T, matmul_kernel Kernel, operand_order OrderA, operand_order OrderB>
requires(sizeof(T) == 2) struct tile_of<T, T, Kernel, OrderA, OrderB> {
  using type = warpgroup_tile<T, Kernel, OrderA, OrderB>;
};
#endif

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
    (warp_cut_of(Kernel, static_cast<int>(sizeof(typename Types::a)), targets::sm80.lds_bytes)
         .threads())) void matmul_warp_tile(const __grid_constant__ matmul_arguments<Types>
                                                arguments) {
  using tile = typename tile_of<typename Types::a, typename Types::b, Kernel, OrderA, OrderB>::type;
  using work = warp_tile_work<Types, tile>;
  using multiplier = typename tile::multiplier;
  using element = typename multiplier::element;
  using slabs = typename tile::slabs;
  constexpr warp_cut cut = tile::cut;
  extern WAVETILE_SHARED __align__(1024) unsigned char tile_memory[];
  unsigned char* const memory = tile_memory;
  const int thread = thread_id();
  const int lane = thread % wave_size, warp = thread / wave_size;
  static_assert(wave_size % slabs::runs == 0);
  const int right = lane % slabs::runs * slabs::run;
  auto* const slab = reinterpret_cast<element*>(memory + slabs::place + warp * slabs::bytes);

  int64_t group = arguments.first_group + static_cast<int64_t>(instruction::workgroup_x());
  auto pipeline = work(arguments, group).pipeline(arguments, thread);
  pipeline.start(arguments.aligned, memory);
  for (bool more = true; more;) {
    multiplier sums;
    sums.clear();
    if (arguments.aligned)
      tile::template run_loop<true>(sums, pipeline, warp, lane, memory);
    else
      tile::template run_loop<false>(sums, pipeline, warp, lane, memory);

    asm volatile("" : "+l"(group)); // the place is computed again: it is not worth its registers
    const work own(arguments, group);
    const matmul_task<Types>& task = own.task;
    const tile_place& place = own.place;
    const coordinate part = tile::part_of(warp);
    const int64_t row = place.row * cut.tile_m + part.row;
    const int64_t column = place.column * cut.tile_n + part.column;
    group += gridDim.x;
    more = group < arguments.groups;
    if (more)
      pipeline = work(arguments, group).pipeline(arguments, thread);
    if (slabs::overlaps && more)
      pipeline.start(arguments.aligned, memory);

    matmul_output<Types> output(arguments, task, place.batch);
    const bool split = place.splits > 1;
    auto* partial = static_cast<element*>(arguments.partials) + place.first_partial;
    // slab by slab in a loop that is not unrolled: one copy of all that happens to elements
#pragma unroll 1
    for (int number = 0; number < multiplier::slabs; ++number) {
      const coordinate at = tile::slab_at(number);
      const int64_t first_row = row + at.row;
      if (first_row >= task.m || column + at.column >= task.n) // the same for the whole warp
        continue;
      const int64_t own_column = column + at.column + right, left = task.n - own_column;
      const int in_columns = left >= slabs::run ? slabs::run
                             : left > 0         ? static_cast<int>(left)
                                                : 0;
#pragma unroll
      for (int i = 0; i < multiplier::slabs; ++i)
        if (i == number)
          sums.write(slab, slabs::pitch, lane, i);
      __syncwarp();
#pragma unroll 1
      for (int down = lane / slabs::runs; down < slabs::rows; down += wave_size / slabs::runs) {
        const auto values = slabs::read_run(slab + down * slabs::pitch + right, lane);
        const int64_t own_row = first_row + down;
        const int inside = own_row < task.m ? in_columns : 0;
        if (split)
          store_some(partial + own_row * task.n + own_column, values, inside);
        else if (inside > 0)
          output.template store<slabs::run>(values, own_row, own_column, inside);
      }
      __syncwarp();
    }
    if (!split)
      output.finish();
    if (!slabs::overlaps && more) {
      instruction::barrier();
      pipeline.start(arguments.aligned, memory);
    }
  }
}

} // namespace wavetile::kernels

#endif
