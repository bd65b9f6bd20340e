/// \file
/// Clusters of workgroups that take rows in turn, several of which are in LDS; see
/// kernels/rows/cluster.hpp.
#pragma once

#include <wavetile/arch/cuda/cluster.hpp>
#include <wavetile/kernels/rows/cluster.hpp>
#include <wavetile/kernels/rows/cuda/butterfly.hpp>
#include <wavetile/kernels/rows/cuda/wide_access.hpp>
#include <wavetile/kernels/rows/row_map.hpp>
#include <wavetile/kernels/rows/row_tile.hpp>
#include <wavetile/kernels/rows/team.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// The parts of rows of `T` that a wave has, chunks of `Chunk` elements: of each row the same
/// columns, a lane every 32nd chunk of them. Which lane adds up which column depends on the length
/// of the row alone. `Wide`: all rows start at multiples of 16 bytes and are copied in bulk; else
/// they come through registers.
template <class T, int Chunk, int Steps, bool Wide>
class ring_part {
public:
  static constexpr row_ring ring{Steps};
  static constexpr int chunk_bytes = Chunk * static_cast<int>(sizeof(T));
  static constexpr int at_once = row_ring::lane_bytes / chunk_bytes;
  static_assert(chunk_bytes % 16 == 0 && at_once >= 1);

  /// Of wave `wave`; `number`: of this workgroup in its cluster of `workgroups`. `slots`: the parts
  /// in LDS, `arrived`: the wave's barriers, one a slot.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE ring_part(unsigned char* slots, uint32_t arrived,
                                                  int64_t columns, int64_t part_chunks,
                                                  uint32_t number, uint32_t workgroups,
                                                  uint32_t wave)
      : slots_(slots + wave * wave_bytes), arrived_(arrived), lane_(static_cast<int>(lane_id())) {
    constexpr int line = 128 / chunk_bytes; // of rows that start at one no two waves share any
    const int64_t wave_chunks =
        round_up(divide_up(part_chunks, int64_t{row_ring::waves}), int64_t{line});
    const int64_t first = number * part_chunks + wave * wave_chunks;
    const int64_t end = (number + 1) * part_chunks, all = columns / Chunk;
    const int64_t left = (end < all ? end : all) - first;
    mine_ = static_cast<int>(left > wave_chunks ? wave_chunks : (left < 0 ? 0 : left));
    first_column_ = first * Chunk;
    const auto tail = static_cast<uint32_t>(columns % Chunk);
    tail_column_ = columns - tail + lane_;
    const bool takes_tail = number + 1 == workgroups && wave == 0;
    has_tail_ = takes_tail && static_cast<uint32_t>(lane_) < tail;
    elements_ = mine_ * Chunk + (takes_tail ? static_cast<int>(tail) : 0);
  }

  /// Whether all lanes have all of a step.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool whole(int step) const {
    return (step + 1) * step_chunks <= mine_;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool owns(int step, int i) const {
    return step * step_chunks + i * 32 + lane_ < mine_;
  }
  /// Elements of the wave.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int elements() const { return elements_; }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t column(int step, int i) const {
    return first_column_ + lane_ * Chunk + (step * step_chunks + i * 32) * Chunk;
  }
  /// Whether the lane has a column after the last whole chunk, and which.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool has_tail() const { return has_tail_; }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t tail_column() const { return tail_column_; }

  /// Starts to fill a slot with a part of `row`, once all lanes have read what was in it.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void fetch(const T* row, int slot) const {
    const T* const from = row + first_column_;
    if constexpr (Wide) {
      __syncwarp();
      if (lane_ == 0 && mine_ > 0) {
        const int bytes = mine_ * chunk_bytes;
        instruction::arrive_with_bytes(arrived(slot), bytes);
        instruction::copy_bulk(
            static_cast<uint32_t>(__cvta_generic_to_shared(slots_ + slot * slot_bytes)), from,
            bytes, arrived(slot), instruction::read_once());
      }
      __syncwarp();
    } else {
#pragma unroll 1
      for (int i = lane_; i < mine_; i += 32) {
        uint32_t words[chunk_bytes / 4];
        wavetile::detail::load_anywhere(words, from + i * Chunk);
        __builtin_memcpy(slots_ + slot * slot_bytes + i * chunk_bytes, words, sizeof words);
      }
    }
  }
  /// Waits until a slot has been filled; `turn` times before.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait(int slot, uint32_t turn) const {
    if constexpr (Wide)
      if (mine_ > 0)
        instruction::wait_for_phase(arrived(slot), turn & 1);
  }

  /// A chunk of the lane in a slot; anything where it owns none.
  template <class U = T>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<U, Chunk> chunk(int slot, int step, int i) const {
    static_assert(sizeof(U) == sizeof(T));
    vec<U, Chunk> result;
    alignas(16) uint4 words[chunk_bytes / 16];
#pragma unroll
    for (int k = 0; k < chunk_bytes / 16; ++k)
      words[k] = reinterpret_cast<const uint4*>(place(slot, step, i))[k];
    __builtin_memcpy(&result, words, sizeof result);
    return result;
  }
  /// Puts another in its place. `instruction::order_before_copies` must follow.
  template <class U>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void put(int slot, int step, int i,
                                                 const vec<U, Chunk>& value) const {
    static_assert(sizeof(U) == sizeof(T));
    alignas(16) uint4 words[chunk_bytes / 16];
    __builtin_memcpy(words, &value, sizeof value);
#pragma unroll
    for (int k = 0; k < chunk_bytes / 16; ++k)
      reinterpret_cast<uint4*>(place(slot, step, i))[k] = words[k];
  }

private:
  static constexpr int step_chunks = at_once * 32;
  static constexpr int wave_bytes = Steps * step_chunks * chunk_bytes;
  static constexpr int slot_bytes = row_ring::waves * wave_bytes;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t arrived(int slot) const {
    return arrived_ + static_cast<uint32_t>(slot) * (row_ring::waves * 8);
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE unsigned char* place(int slot, int step, int i) const {
    return slots_ + slot * slot_bytes + (step * step_chunks + i * 32 + lane_) * chunk_bytes;
  }

  unsigned char* slots_;
  uint32_t arrived_;
  int lane_;
  int mine_; ///< chunks of the wave
  int elements_;
  int64_t first_column_;
  int64_t tail_column_;
  bool has_tail_;
};

/// Place in a ring of `Size`, and how often it has come round.
template <int Size>
struct ring_turn {
  int place = 0;
  uint32_t turn = 0;
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void advance() {
    if (++place == Size) {
      place = 0;
      ++turn;
    }
  }
};

/// Statistics of a workgroup in memory, each number beside the tag of its row: 64 bits are written
/// and read as one.
struct alignas(16) ring_entry {
  uint64_t numbers[4];

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void put(const float4& value, uint32_t tag) {
    const uint64_t high = uint64_t{tag} << 32;
    asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};\n\t"
                 "st.relaxed.gpu.global.v2.b64 [%0+16], {%3, %4};" ::"l"(numbers),
                 "l"(high | float_bits(value.x)), "l"(high | float_bits(value.y)),
                 "l"(high | float_bits(value.z)), "l"(high | float_bits(value.w))
                 : "memory");
  }
  /// Whether they are those of the row.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool get(float4& value, uint32_t tag) const {
    uint64_t words[4];
    asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%4];\n\t"
                 "ld.relaxed.gpu.global.v2.b64 {%2, %3}, [%4+16];"
                 : "=l"(words[0]), "=l"(words[1]), "=l"(words[2]), "=l"(words[3])
                 : "l"(numbers)
                 : "memory");
    bool all = true;
#pragma unroll
    for (const uint64_t word : words)
      all = all && static_cast<uint32_t>(word >> 32) == tag;
    const auto number = [&](int i) { return float_from_bits(static_cast<uint32_t>(words[i])); };
    value = {number(0), number(1), number(2), number(3)};
    return all;
  }
};

/// The rows of a cluster: `team`, team + teams, … below `rows`.
struct ring_rows {
  int64_t rows;
  int64_t team, teams;
  uint32_t number;     ///< of this workgroup in its cluster
  uint32_t workgroups; ///< of the cluster, or that share rows through memory
};

/// Takes a cluster's rows, or those of workgroups that exchange statistics through `exchange`,
/// zeros at first. All functions are called by all lanes of a wave.
///
///     start(part)                       of each wave that has a part, first; returns a function
///                                       object `row`, the wave's own for all rows, with
///     row.address(r)                    where row r starts
///     row.measure(part, r, slot, wait)  its statistics in the wave, a float4 that all lanes have;
///                                       `wait()` until the part is there
///     row.write(part, r, slot, total)   results; `total()` waits for the statistics of the row
///     combine(statistics, own)          of all lanes' float4, where `own`, else of none
template <class T, int Chunk, int Steps, bool Memory, bool Wide, class Start, class Combine>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void run_ring(unsigned char* memory, int64_t columns,
                                                    int64_t part_chunks, const ring_rows& given,
                                                    void* exchange, Start start, Combine combine) {
  using part_type = ring_part<T, Chunk, Steps, Wide>;
  constexpr row_ring ring{Steps, Memory};
  constexpr int waves = row_ring::waves, held = ring.rows(), kept = ring.statistics();
  constexpr int64_t held_bytes = held * ring.part_bytes();
  const auto barriers = static_cast<uint32_t>(__cvta_generic_to_shared(memory + held_bytes));
  constexpr uint32_t first = held * waves * 8;
  const auto measured = [&](int i) { return barriers + first + static_cast<uint32_t>(i) * 8; };
  const auto gathered = [&](int i) { return measured(kept + i); };
  const auto finished = [&](int i) { return measured(2 * kept + i); };
  auto* const of_waves =
      reinterpret_cast<float4*>(memory + held_bytes + (held * waves + 3 * kept) * 8);
  float4* const of_workgroups = of_waves + kept * waves;
  float4* const of_row = of_workgroups + kept * most_clustered;
  const auto wave = static_cast<uint32_t>(wave_id());
  const auto lane = static_cast<uint32_t>(lane_id());
  const int from_all = static_cast<int>(given.workgroups) * 16;
  const bool sends = !Memory && given.workgroups > 1; // one alone writes, and arrives itself

  if (thread_id() == 0) {
#pragma unroll 1
    for (uint32_t i = 0; i < held * waves; ++i)
      instruction::start_barrier(barriers + i * 8, 1);
#pragma unroll 1
    for (int i = 0; i < kept; ++i) {
      instruction::start_barrier(measured(i), waves);
      instruction::start_barrier(gathered(i), 1);
      instruction::start_barrier(finished(i), 2); // who reads of_waves, who writes of_row
    }
    instruction::publish_barriers();
#pragma unroll 1
    for (int i = 0; i < kept && sends; ++i)
      instruction::arrive_with_bytes(gathered(i), from_all);
  }
  __syncthreads();
  if constexpr (!Memory)
    instruction::arrive_at_cluster();
  // all have started, so that there is LDS to write to
  const auto all_started = [] {
    if constexpr (!Memory) {
      __syncwarp();
      instruction::wait_for_cluster();
    }
  };
  ring_entry* const entries = static_cast<ring_entry*>(exchange) +
                              given.team * kept * static_cast<int64_t>(given.workgroups);

  if (wave < waves) {
    const part_type part(memory, barriers + wave * 8, columns, part_chunks, given.number,
                         given.workgroups, wave);
    auto row = start(part);
    int64_t coming = given.team;
    for (int slot = 0; slot < held && coming < given.rows; ++slot, coming += given.teams)
      part.fetch(row.address(coming), slot);
    all_started();
    ring_turn<held> filled, read;
    ring_turn<kept> seen, told;
    int64_t next = given.team;
    int ahead = 0; // rows measured whose results are not written
#pragma unroll 1
    for (int64_t done = given.team; done < given.rows;) {
      if (next < given.rows) {
        const float4 own =
            row.measure(part, next, filled.place, [&] { part.wait(filled.place, filled.turn); });
        __syncwarp(); // all lanes have read of_row, which the arrival says
        if (lane == 0) {
          of_waves[seen.place * waves + wave] = own;
          instruction::arrive(measured(seen.place));
        }
        __syncwarp();
        filled.advance();
        seen.advance();
        next += given.teams;
        ++ahead;
      }
      if (ahead > ring.behind() || next >= given.rows) {
        row.write(part, done, read.place, [&] {
          instruction::wait_for_phase(finished(told.place), told.turn & 1);
          return of_row[told.place];
        });
        if (coming < given.rows) {
          part.fetch(row.address(coming), read.place);
          coming += given.teams;
        }
        read.advance();
        told.advance();
        done += given.teams;
        --ahead;
      }
    }
  } else if (wave == waves) {
    all_started();
    ring_turn<kept> at;
    uint32_t tag = 1;
#pragma unroll 1
    for (int64_t r = given.team; r < given.rows; r += given.teams, at.advance(), ++tag) {
      instruction::wait_for_phase(measured(at.place), at.turn & 1);
      const bool own = lane < waves;
      const float4 all = combine(of_waves[at.place * waves + (own ? lane : 0)], own);
      __syncwarp(); // all lanes have read
      if (lane == 0)
        instruction::arrive(finished(at.place));
      if constexpr (Memory) {
        if (lane == 0)
          entries[at.place * given.workgroups + given.number].put(all, tag);
      } else if (lane < given.workgroups) {
        float4* const to = of_workgroups + at.place * most_clustered + given.number;
        if (sends) {
          instruction::send_in_cluster(static_cast<uint32_t>(__cvta_generic_to_shared(to)), lane,
                                       all, gathered(at.place));
        } else {
          *to = all;
          instruction::arrive(gathered(at.place));
        }
      }
      __syncwarp();
    }
  } else {
    all_started();
    ring_turn<kept> at;
    uint32_t tag = 1, turn = wave - waves - 1;
#pragma unroll 1
    for (int64_t r = given.team; r < given.rows; r += given.teams, at.advance(), ++tag) {
      if (turn-- != 0)
        continue;
      turn = ring.gatherers() - 1;
      instruction::wait_for_phase(measured(at.place), at.turn & 1); // all have read of_row
      float4 all;
      if constexpr (Memory) {
        constexpr int groups = most_through_memory / 32;
        float4 found[groups];
        for (bool all_there = false; !all_there;) {
          all_there = true;
#pragma unroll
          for (int i = 0; i < groups; ++i)
            if (const uint32_t from = i * 32 + lane; from < given.workgroups)
              all_there =
                  entries[at.place * given.workgroups + from].get(found[i], tag) && all_there;
        }
        __syncwarp();
        float4 of_group{};
#pragma unroll
        for (uint32_t i = 0; i < groups; ++i)
          if (i * 32 < given.workgroups) {
            const float4 one = combine(found[i], i * 32 + lane < given.workgroups);
            if (lane == i)
              of_group = one;
          }
        all = combine(of_group, lane * 32 < given.workgroups);
      } else {
        instruction::wait_for_phase_in_cluster(gathered(at.place), at.turn & 1);
        const bool own = lane < given.workgroups;
        all = combine(of_workgroups[at.place * most_clustered + (own ? lane : 0)], own);
        __syncwarp(); // all lanes have read
        if (lane == 0 && sends)
          instruction::arrive_with_bytes(gathered(at.place), from_all);
      }
      if (lane == 0) {
        of_row[at.place] = all;
        instruction::arrive(finished(at.place));
      }
      __syncwarp();
    }
  }
  if constexpr (!Memory) {
    __syncwarp();
    instruction::cluster_barrier(); // nobody writes to LDS of a workgroup that has ended
  }
}

/// Whether all rows of an array start at multiples of 16 bytes.
template <int Operands, class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool rows_are_wide(const row_map<Operands>& map, int operand,
                                                         const T* array) {
  bool wide = are_wide(array);
#pragma unroll
  for (int axis = 0; axis < max_leading_axes; ++axis)
    wide = wide && map.stride[operand][axis] * static_cast<int64_t>(sizeof(T)) % 16 == 0;
  return wide;
}

/// The rows of this workgroup's cluster.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE ring_rows rows_in_turn(int64_t rows, uint32_t workgroups) {
  const uint32_t team = workgroup_id() / workgroups;
  return {rows, team, gridDim.x / workgroups, workgroup_id() - team * workgroups, workgroups};
}

} // namespace wavetile::kernels

#endif
