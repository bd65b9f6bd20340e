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
/// instructions. Warpgroups that have the same columns share the k of every stage. A stage is 128
/// deep, so that of B with contiguous k two lines of a column, which memory has in one page, are
/// asked for together: on an H200 105 us against 112 with 64, of 13,312 columns and k of 16,384.
template <class T, operand_order OrderB, int Rows>
struct warpgroup_skinny {
  static constexpr warp_skinny_cut cut = warp_skinny_cut_of(OrderB, 2, Rows);
  static constexpr int blocks = cut.columns / 64, parts = cut.warps / 4 / blocks;
  static constexpr int stages = warpgroup_skinny_stages, ahead = stages - 1;
  using stage_b = warpgroup_stage<T, OrderB, cut.columns, warpgroup_skinny_depth>;
  using stage_a = warpgroup_stage<T, operand_order::k_contiguous, Rows, warpgroup_skinny_depth>;
  /// Two workgroups of a multiprocessor read the same rows of A at about the same time: of many
  /// rows that is worth a way through the L1 cache.
  using pipeline = tile_pipeline<stage_b, stage_a, T, T, cut.warps * 32, ahead, (Rows > 16)>;
  static constexpr int steps = stage_b::steps / parts; ///< of a stage, of a warpgroup
  static_assert(stages * pipeline::stage_bytes == warpgroup_skinny_lds(cut, Rows) &&
                stage_b::steps % parts == 0);

  /// The sums of k from `k_begin` to `k_end` for the columns from `column` on. `memory` in LDS
  /// becomes [warpgroup with the same columns][row][column]; a barrier must follow. For rows of
  /// both operands that start at multiples of 16 bytes, and k of A contiguous.
  template <class Task>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void product(const Task& task, int64_t column,
                                                            int64_t k_begin, int64_t k_end,
                                                            int thread, unsigned char* memory) {
    pipeline from({task.b, task.ldb, task.n, column, k_begin, thread},
                  {task.a, task.lda, task.m, 0, k_begin, thread},
                  k_end > k_begin ? k_end - k_begin : 0);
    from.start(true, memory);

    float sums[Rows / 2];
#pragma unroll
    for (float& one : sums) {
      one = 0;
      asm volatile("" : "+f"(one)::"memory");
    }
    const int block = thread / 128 % blocks, part = thread / 128 / blocks;
    const uint32_t base = instruction::lds_address(memory);
    const uint64_t all_b = instruction::warpgroup_operand(
        base + static_cast<uint32_t>(block * stage_b::block_bytes), stage_b::block_bytes);
    const uint64_t all_a =
        instruction::warpgroup_operand(base + pipeline::stage_bytes_a, stage_a::block_bytes);
    int reading = 0, writing = ahead * pipeline::stage_bytes;
#pragma unroll 1
    for (int stage = from.stages; stage > 0; --stage) {
      instruction::wait_copies<ahead - 1>();
      instruction::warpgroup_wait<0>();
      instruction::fence_async_proxy();
      instruction::barrier();
      const auto slot = static_cast<uint64_t>(reading / 16);
      instruction::warpgroup_fence();
#pragma unroll
      for (int i = 0; i < steps; ++i) {
        const int step = part * steps + i;
        instruction::warpgroup_mma<wavetile::detail::mma_type_of<T>(), Rows, stage_b::along ? 0 : 1,
                                   0>(
            sums, all_b + slot + static_cast<uint64_t>(stage_b::step_byte(step)) / 16,
            all_a + slot + static_cast<uint64_t>(stage_a::step_byte(step)) / 16);
      }
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
    const int own = thread % 128, lane = own % 32;
    const int of_warp = block * 64 + own / 32 * 16 + lane / 4;
#pragma unroll
    for (int j = 0; j < Rows / 8; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        all[(j * 8 + lane % 4 * 2 + e % 2) * cut.columns + of_warp + e / 2 * 8] = sums[4 * j + e];
  }
};

} // namespace wavetile::kernels

#endif
