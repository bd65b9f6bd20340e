/// \file
/// The copies of a tile of a matrix product on NVIDIA GPUs.
#pragma once

#include <wavetile/kernels/matmul/cuda/operand_stage.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// The copies of a tile: the first stages are on their way before its product begins. `SharedB`:
/// see `stage_copy`.
template <class StageA, class StageB, class A, class B, int Threads, int Ahead,
          bool SharedB = false>
struct tile_pipeline {
  using copy_a = stage_copy<StageA, A, Threads>;
  using copy_b = stage_copy<StageB, B, Threads, SharedB>;
  static constexpr int stage_bytes_a = StageA::bytes;
  static constexpr int stage_bytes = StageA::bytes + StageB::bytes;
  static constexpr int copies = copy_a::passes + copy_b::passes;

  copy_a a;
  copy_b b;
  int stages; ///< of the product
  int tail;   ///< values of k in the last
  int left;   ///< stages whose copies have not begun

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE tile_pipeline(const copy_a& a_, const copy_b& b_,
                                                      int64_t k_count)
      : a(a_), b(b_), stages(static_cast<int>((k_count + StageA::depth - 1) / StageA::depth)),
        tail(static_cast<int>(k_count - int64_t{stages - 1} * StageA::depth)), left(stages) {}

  /// Before the copies of the next stage; whether it has anything.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool begin() {
    const int k_left = left > 1 ? StageA::depth : left == 1 ? tail : 0;
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

  /// Starts the copies of the first `Ahead` stages, to slots 0 ….
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void start(bool aligned, unsigned char* memory) {
    const uint32_t base = instruction::lds_address(memory);
#pragma unroll 1
    for (int slot = 0; slot < Ahead; ++slot) {
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

} // namespace wavetile::kernels

#endif
