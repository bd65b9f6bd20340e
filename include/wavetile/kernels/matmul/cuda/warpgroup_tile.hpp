/// \file
/// A tile of the matrix product by `wgmma`: 16-bit elements, code for `sm_90a`.
#pragma once

#include <wavetile/arch/cuda/warpgroup_mma.hpp>
#include <wavetile/arch/device_target.hpp>
#include <wavetile/kernels/matmul/cuda/tile_pipeline.hpp>
#include <wavetile/kernels/matmul/cuda/tile_slabs.hpp>
#include <wavetile/kernels/matmul/cuda/warpgroup_stage.hpp>
#include <wavetile/matrix/warp_fragment.hpp>

#if WAVETILE_WARPGROUP_MMA

namespace wavetile::kernels {

/// Everything of a tile that types, cut and orders decide. A warpgroup has 64 rows, or more where
/// there are fewer warpgroups, and all columns.
template <class T, matmul_kernel Kernel, operand_order OrderA, operand_order OrderB>
struct warpgroup_tile {
  static constexpr warp_cut cut =
      warp_cut_of(Kernel, static_cast<int>(sizeof(T)), device_target.lds_bytes);
  using stage_a = warpgroup_stage<T, OrderA, cut.tile_m>;
  using stage_b = warpgroup_stage<T, OrderB, cut.tile_n>;
  static_assert(cut.k_bytes == 128);
  /// With four slots products of two stages are under way at a time: what is copied goes to the
  /// slot before theirs. With three, products end before those of the next stage begin.
  static constexpr bool two_products = cut.stages > 3;
  static constexpr int ahead = cut.stages - (two_products ? 2 : 1); ///< stages on their way
  using pipeline = tile_pipeline<stage_a, stage_b, T, T, cut.threads(), ahead>;
  static constexpr int stage_bytes = pipeline::stage_bytes;

  static constexpr int blocks = cut.tile_m * 4 / 64 / cut.warps(); ///< of 64 rows, of a warpgroup
  static constexpr int slab_columns = 64, across = cut.tile_n / slab_columns;
  using slabs = tile_slabs<float, 16, slab_columns, cut.warps(), cut.stages, stage_bytes>;

  struct multiplier {
    using element = float;
    static constexpr int slabs = blocks * across;
    float sums[blocks][cut.tile_n / 2];

    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void clear() {
#pragma unroll
      for (auto& block : sums)
#pragma unroll
        for (float& one : block)
          one = 0;
    }

    /// Between others' use of the sums and the products: nothing of it moves past.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void hold() {
#pragma unroll
      for (auto& block : sums)
#pragma unroll
        for (float& one : block)
          asm volatile("" : "+f"(one)::"memory");
    }

    /// Starts the products of a stage.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void multiply(uint64_t a, uint64_t b) {
      constexpr auto type = wavetile::detail::mma_type_of<T>();
      instruction::warpgroup_fence();
#pragma unroll
      for (int step = 0; step < stage_a::steps; ++step)
#pragma unroll
        for (int i = 0; i < blocks; ++i)
          instruction::warpgroup_mma<type, cut.tile_n, stage_a::along ? 0 : 1,
                                     stage_b::along ? 0 : 1>(
              sums[i],
              a + static_cast<uint64_t>(stage_a::step_byte(step) + i * stage_a::block_bytes) / 16,
              b + static_cast<uint64_t>(stage_b::step_byte(step)) / 16);
      instruction::warpgroup_commit();
    }

    /// Writes slab `number` to `slab`, whose rows are `pitch` elements apart.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(float* slab, int pitch, int lane,
                                                     int number) const {
      const float(&from)[cut.tile_n / 2] = sums[number / across];
#pragma unroll
      for (int j = 0; j < slab_columns / 8; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int first = (number % across * (slab_columns / 8) + j) * 4 + half * 2;
          store_vec(slab + (lane / 4 + half * 8) * pitch + j * 8 + lane % 4 * 2,
                    vec<float, 2>{{from[first], from[first + 1]}});
        }
    }
  };

  /// Where the part of a warp starts in the tile, and slab `number` in the part.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static coordinate part_of(int warp) {
    return {warp / 4 * blocks * 64 + warp % 4 * 16, 0};
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static coordinate slab_at(int number) {
    return {number / across * 64, number % across * slab_columns};
  }

  /// The product. Copies are issued while it is computed.
  template <bool Aligned>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void run_loop(multiplier& sums, pipeline& from,
                                                             int warp, int, unsigned char* memory) {
    const uint32_t base = instruction::lds_address(memory);
    const uint32_t base_a = base + static_cast<uint32_t>(warp / 4 * blocks * stage_a::block_bytes);
    const uint64_t all_a = instruction::warpgroup_operand(base_a, stage_a::block_bytes);
    const uint64_t all_b =
        instruction::warpgroup_operand(base + pipeline::stage_bytes_a, stage_b::block_bytes);
    sums.hold();
    int reading = 0, writing = ahead * stage_bytes; // slots
#pragma unroll 1
    for (int stage = from.stages; stage > 0; --stage) {
      instruction::wait_copies<ahead - 1>();
      if constexpr (!two_products)
        instruction::warpgroup_wait<0>();
      instruction::fence_async_proxy();
      instruction::barrier();
      const auto slot = static_cast<uint64_t>(reading / 16);
      sums.multiply(all_a + slot, all_b + slot);

      const bool some = from.begin();
      if constexpr (Aligned) {
#pragma unroll
        for (int i = 0; i < pipeline::copies; ++i)
          from.copy(i, base + static_cast<uint32_t>(writing));
      } else if (some) {
        from.copy_elements(memory + writing);
      }
      from.end();
      instruction::close_copies();
      if constexpr (two_products)
        instruction::warpgroup_wait<1>();
      constexpr int last = (cut.stages - 1) * stage_bytes;
      reading = reading == last ? 0 : reading + stage_bytes;
      writing = writing == last ? 0 : writing + stage_bytes;
    }
    instruction::warpgroup_wait<0>();
    sums.hold();
    instruction::wait_copies<0>();
    instruction::barrier();
  }
};

} // namespace wavetile::kernels

#endif
