/// \file
/// Products of few rows by `wgmma`, op(B) coming through LDS: 16-bit elements, code for `sm_90a`.
#pragma once

#include <wavetile/kernels/matmul/cuda/config.hpp>
#include <wavetile/kernels/matmul/cuda/tile_pipeline.hpp>
#include <wavetile/kernels/matmul/cuda/warpgroup_stage.hpp>
#include <wavetile/matrix/warp_fragment.hpp>

#if WAVETILE_WARPGROUP_MMA

namespace wavetile::kernels {

/// Whether it serves products of these types.
template <class A, class B>
inline constexpr bool warpgroup_skinny_serves = wavetile::detail::is_same_v<A, B> && sizeof(A) == 2;

/// D^T = op(B)^T op(A)^T: the columns of a workgroup, 64 a warpgroup, are rows of the matrix
/// instructions. Parts of k go to as many parts of the workgroup, each with slots of its own.
template <class T, operand_order OrderB, int Rows>
struct warpgroup_skinny {
  static constexpr warp_skinny_cut cut = warp_skinny_cut_of(OrderB, 2, Rows);
  static constexpr int blocks = cut.columns / 64, parts = cut.warps / 4 / blocks;
  static constexpr int threads = blocks * 128; ///< of a part
  static constexpr int stages = warpgroup_skinny_stages, ahead = stages - 1;
  using stage_b = warpgroup_stage<T, OrderB, cut.columns>;
  using stage_a = warpgroup_stage<T, operand_order::k_contiguous, Rows>;
  using pipeline = tile_pipeline<stage_b, stage_a, T, T, threads, ahead>;
  static_assert(parts * stages * pipeline::stage_bytes == warpgroup_skinny_lds(cut, Rows));

  /// The sums of k from `k_begin` to `k_end` for the columns from `column` on. `all` in LDS becomes
  /// [part of k][row][column]; a barrier must follow. For rows of both operands that start at
  /// multiples of 16 bytes, and k of A contiguous.
  template <class Task>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void product(const Task& task, int64_t column,
                                                            int64_t k_begin, int64_t k_end,
                                                            int thread, unsigned char* memory) {
    const int part = thread / threads, own = thread % threads;
    const int64_t count = k_end > k_begin ? k_end - k_begin : 0;
    const int64_t share =
        (count + stage_b::depth * parts - 1) / (stage_b::depth * parts) * stage_b::depth;
    const int64_t first = k_begin + part * share;
    const int64_t mine = k_end - first < share ? k_end - first : share;
    pipeline from({task.b, task.ldb, task.n, column, first, own},
                  {task.a, task.lda, task.m, 0, first, own}, mine > 0 ? mine : 0);
    unsigned char* const slots = memory + part * stages * pipeline::stage_bytes;
    from.start(true, slots);

    float sums[Rows / 2];
#pragma unroll
    for (float& one : sums) {
      one = 0;
      asm volatile("" : "+f"(one)::"memory");
    }
    const uint32_t base = instruction::lds_address(slots);
    const auto block = static_cast<uint32_t>(own / 128 * stage_b::block_bytes);
    const uint64_t all_b = instruction::warpgroup_operand(base + block, stage_b::block_bytes);
    const uint64_t all_a =
        instruction::warpgroup_operand(base + pipeline::stage_bytes_a, stage_a::block_bytes);
    int reading = 0, writing = ahead * pipeline::stage_bytes;
#pragma unroll 1
    for (auto stage = share; stage > 0; stage -= stage_b::depth) { // as many in every part
      instruction::wait_copies<ahead - 1>();
      instruction::warpgroup_wait<0>();
      instruction::fence_async_proxy();
      instruction::barrier_of<threads>(part + 1);
      const auto slot = static_cast<uint64_t>(reading / 16);
      instruction::warpgroup_fence();
#pragma unroll
      for (int step = 0; step < stage_b::steps; ++step)
        instruction::warpgroup_mma<wavetile::detail::mma_type_of<T>(), Rows, stage_b::along ? 0 : 1,
                                   0>(
            sums, all_b + slot + static_cast<uint64_t>(step * stage_b::step_bytes) / 16,
            all_a + slot + static_cast<uint64_t>(step * stage_a::step_bytes) / 16);
      instruction::warpgroup_commit();
      from.begin();
#pragma unroll
      for (int i = 0; i < pipeline::copies; ++i)
        from.copy(i, base + static_cast<uint32_t>(writing));
      from.end();
      instruction::close_copies();
      constexpr int last = (stages - 1) * pipeline::stage_bytes;
      reading = reading == last ? 0 : reading + pipeline::stage_bytes;
      writing = writing == last ? 0 : writing + pipeline::stage_bytes;
    }
    instruction::warpgroup_wait<0>();
#pragma unroll
    for (float& one : sums)
      asm volatile("" : "+f"(one)::"memory");
    instruction::wait_copies<0>();
    instruction::barrier();

    auto* const all = reinterpret_cast<float*>(memory) + part * Rows * cut.columns;
    const int lane = own % 32, of_warp = own / 32 * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < Rows / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        all[(j * 8 + lane % 4 * 2 + e % 2) * cut.columns + of_warp + e / 2 * 8] = sums[4 * j + e];
  }
};

} // namespace wavetile::kernels

#endif
