/// \file
/// A workgroup's part of a row in LDS; see kernels/rows/cluster.hpp.
#pragma once

#include <wavetile/arch/cuda/cluster.hpp>
#include <wavetile/kernels/rows/cluster.hpp>
#include <wavetile/kernels/rows/cuda/butterfly.hpp>
#include <wavetile/kernels/rows/cuda/wide_access.hpp>
#include <wavetile/kernels/rows/row_tile.hpp>
#include <wavetile/kernels/rows/team.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// The part of a row of `T` that a workgroup has, chunks of `Chunk` elements. Each wave copies,
/// waits for and reads its own pieces: the waves of a workgroup meet only for the statistics. In
/// step n a wave has `at_once` times 32 consecutive chunks, a lane every 32nd of them; which lane
/// adds up which column depends on the length of the row alone. `Wide`: the row starts at a
/// multiple of 16 bytes; else it comes through registers.
///
/// Steps are loops, not unrolled, and narrow accesses have code of their own: each is run through
/// once for a row. (H200: 170 KB of straight code for both took LayerNorm of 131,072 bf16 at 46 %
/// of a copy.)
template <class T, int Chunk, int Number, bool Light, bool Wide>
class cluster_part {
public:
  static constexpr row_cluster_cut cut = row_cluster_cut_of(Number, Light);
  static constexpr int chunk_bytes = Chunk * static_cast<int>(sizeof(T));
  static constexpr int at_once = cut.lane_bytes / chunk_bytes;
  static constexpr int steps = cut.steps;
  static constexpr int held = cut.held;
  static_assert(chunk_bytes % 16 == 0 && at_once >= 1 && steps <= 2 * held);

  /// Starts the copies of what LDS holds. `memory`: the dynamic LDS; `number`: of this workgroup in
  /// its cluster of `workgroups`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE cluster_part(unsigned char* memory, const T* row,
                                                     int64_t columns, int64_t part_chunks,
                                                     uint32_t number, uint32_t workgroups)
      : lane_(static_cast<uint32_t>(lane_id())) {
    const auto wave = static_cast<uint32_t>(wave_id());
    const int64_t first = number * part_chunks;
    const int64_t left = columns / Chunk - first;
    const auto mine = static_cast<int>(left > part_chunks ? part_chunks : (left < 0 ? 0 : left)) -
                      static_cast<int>(wave * wave_chunks);
    left_ = mine < 0 ? 0 : mine;
    first_column_ = (first + wave * wave_chunks) * Chunk;
    row_ = row + first_column_;
    // barriers of the wave, then its slots, those of one number side by side
    unsigned char* const barriers = memory + workgroups * cut.waves * 16 + wave * held * 16;
    barriers_ = static_cast<uint32_t>(__cvta_generic_to_shared(barriers));
    const auto header = static_cast<uint32_t>(
        (workgroups * cut.waves * 16 + cut.waves * held * 16 + 127) / 128 * 128);
    slots_ = memory + header + wave * wave_bytes;
    if constexpr (Wide) {
      if (lane_ == 0) {
        for (int slot = 0; slot < held; ++slot) {
          instruction::start_barrier(arrived(slot), 1);
          instruction::start_barrier(emptied(slot), 32);
        }
        instruction::publish_barriers();
      }
      __syncwarp();
    }
#pragma unroll 1
    for (int step = 0; step < held; ++step)
      if (in_use(step))
        fetch(step, step, !again(step));
  }

  /// Whether the wave has anything of a step; uniform.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool in_use(int step) const {
    return step * step_chunks < left_;
  }
  /// Whether all lanes have all of a step.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool whole(int step) const {
    return step * step_chunks + wave_chunks <= left_;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool owns(int step, int i) const {
    return step * step_chunks + i * 32 + static_cast<int>(lane_) < left_;
  }
  /// Chunks of a step that the lane owns.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int owned(int step) const {
    const int rest = left_ - step * step_chunks - static_cast<int>(lane_) + 31;
    return rest < 0 ? 0 : (rest / 32 < at_once ? rest / 32 : at_once);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t column(int step, int i) const {
    // constants last: they become part of the access
    return first_column_ +
           static_cast<int64_t>(step * step_chunks + static_cast<int>(lane_)) * Chunk +
           i * (32 * Chunk);
  }

  /// `body(step, slot)` for each step, once all of it has arrived; then what LDS has no room for
  /// takes its place.
  template <class Body>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void measure(Body body) {
#pragma unroll 1
    for (int step = 0; step < steps && in_use(step); ++step) {
      const int filling = step < held ? 0 : 1, slot = step - filling * held;
      wait(slot, filling);
      body(step, slot);
      if (again(step))
        refill(slot, 0, step + held);
    }
  }

  /// `body(step, slot, next)` once more for each step, in an order that begins with those that are
  /// there; `next` is the step after it, -1 at the end.
  template <class Body>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(Body body) {
#pragma unroll 1
    for (int i = 0; i < steps && in_use(i); ++i) {
      const int slot = i < held ? i : i - held;
      if (i >= held)
        wait(slot, 2);
      body(turn(i), slot, i + 1 < steps && in_use(i + 1) ? turn(i + 1) : -1);
      if (again(i))
        refill(slot, 1, i);
    }
  }
  /// The step that `write` begins with.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int first_written() const {
    return turn(0);
  }

  /// A chunk of the lane in a slot; anything where it owns none.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, Chunk> chunk(int slot, int i) const {
    vec<T, Chunk> result;
    alignas(16) uint4 words[chunk_bytes / 16];
#pragma unroll
    for (int k = 0; k < chunk_bytes / 16; ++k)
      words[k] = reinterpret_cast<const uint4*>(place(slot, i))[k];
    __builtin_memcpy(&result, words, sizeof result);
    return result;
  }

private:
  static constexpr int wave_chunks = at_once * 32;
  static constexpr int step_chunks = cut.waves * wave_chunks;
  static constexpr int wave_bytes = wave_chunks * chunk_bytes;

  /// Whether the step's place in LDS is needed for a later one.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool again(int step) const {
    return step + held < steps && in_use(step + held);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int turn(int i) const {
    return i >= held ? i - held : (again(i) ? i + held : i);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t arrived(int slot) const {
    return barriers_ + static_cast<uint32_t>(slot) * 16;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t emptied(int slot) const {
    return arrived(slot) + 8;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE unsigned char* place(int slot, int i) const {
    return slots_ + slot * (cut.waves * wave_bytes) +
           (i * 32 + static_cast<int>(lane_)) * chunk_bytes;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait(int slot, int filling) const {
    if constexpr (Wide)
      instruction::wait_for_phase(arrived(slot), static_cast<uint32_t>(filling) & 1);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void fetch(int slot, int step, bool last_reading) const {
    const int chunks = left_ - step * step_chunks;
    const T* const from = row_ + static_cast<int64_t>(step) * step_chunks * Chunk;
    if constexpr (Wide) {
      if (lane_ == 0) {
        const int bytes = (chunks < wave_chunks ? chunks : wave_chunks) * chunk_bytes;
        const uint64_t policy = last_reading ? instruction::read_once() : instruction::read_again();
        instruction::arrive_with_bytes(arrived(slot), bytes);
        instruction::copy_bulk(static_cast<uint32_t>(__cvta_generic_to_shared(
                                   slots_ + slot * (cut.waves * wave_bytes))),
                               from, bytes, arrived(slot), policy);
      }
    } else {
#pragma unroll 1
      for (int i = 0; i < at_once; ++i)
        if (i * 32 + static_cast<int>(lane_) < chunks) {
          uint32_t words[chunk_bytes / 4];
          wavetile::detail::load_anywhere(words, from + (i * 32 + static_cast<int>(lane_)) * Chunk);
          __builtin_memcpy(place(slot, i), words, sizeof words);
        }
    }
  }
  /// Fills a slot again once all lanes of the wave have read what was in it.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void refill(int slot, int emptying, int step) const {
    if constexpr (Wide) {
      instruction::arrive(emptied(slot));
      if (lane_ == 0)
        instruction::wait_for_phase(emptied(slot), static_cast<uint32_t>(emptying) & 1);
    }
    fetch(slot, step, true);
  }

  const T* row_;
  int64_t first_column_;
  unsigned char* slots_;
  uint32_t barriers_;
  uint32_t lane_;
  int left_; ///< chunks from the wave's first to the end of the part
};

/// Statistics of all waves of a cluster, each of up to four fp32.
template <int Waves>
class cluster_exchange {
public:
  /// Says that the workgroup has started.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE cluster_exchange(unsigned char* memory, uint32_t number,
                                                         uint32_t workgroups)
      : all_(reinterpret_cast<float4*>(memory)), number_(number), workgroups_(workgroups) {
    __syncwarp(); // lane 0 comes from its copies; all lanes of a wave arrive as one
    if (workgroups_ > 1)
      instruction::arrive_at_cluster();
  }

  /// Hands the statistics of a wave, the same in all its lanes, to all others. Once.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void swap(const float4& own) {
    const auto lane = static_cast<uint32_t>(lane_id());
    float4* const to = all_ + number_ * Waves + static_cast<uint32_t>(wave_id());
    if (workgroups_ > 1) {
      instruction::wait_for_cluster(); // all have started, so that there is LDS to write to
      if (lane < workgroups_)
        instruction::store_in_cluster(static_cast<uint32_t>(__cvta_generic_to_shared(to)), lane,
                                      own);
      __syncwarp(); // whose lanes come to the barrier together
      instruction::cluster_barrier();
    } else {
      if (lane == 0)
        *to = own;
      __syncthreads();
    }
  }

  /// `each(statistics)` for the lane's share of all waves.
  template <class Each>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read(Each each) const {
    for (uint32_t i = static_cast<uint32_t>(lane_id()); i < workgroups_ * Waves; i += 32)
      each(all_[i]);
  }

private:
  float4* all_;
  uint32_t number_, workgroups_;
};

} // namespace wavetile::kernels

#endif
