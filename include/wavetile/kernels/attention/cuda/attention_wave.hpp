/// \file
/// What a wave of attention has on NVIDIA GPUs, and how it writes its results.
#pragma once

#include <wavetile/kernels/attention/cuda/change_scores.hpp>
#include <wavetile/kernels/attention/cuda/loader.hpp>
#include <wavetile/kernels/attention/cuda/online_softmax.hpp>
#include <wavetile/kernels/attention/cuda/tile_rows.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// A wave's part of a tile of queries, in registers: sums and accumulators of its rows.
template <class Types, attention_config Config>
class attention_wave {
protected:
  using T = typename Types::input;
  using tiles = attention_warp_tiles<T, Config>;
  static constexpr int row_tiles = Config.row_tiles;
  static constexpr int value_elements = Config.head.v;
  static constexpr int value_steps = Config.head.v / 16;
  static constexpr bool shares = Config.shares_rows;
  /// Of 16 elements of v: those of a wave, which has each `Config.waves`-th where waves share rows.
  static constexpr int own_value_steps =
      shares ? (value_steps + Config.waves - 1) / Config.waves : value_steps;

  const attention_arguments<Types>& args_;
  const int lane_;
  const int wave_;
  const uint32_t memory_; ///< address in LDS
  online_softmax softmax_[row_tiles][2];
  warp_accumulator<T> output_[row_tiles][2 * own_value_steps];

  WAVETILE_DEVICE
  WAVETILE_FORCE_INLINE attention_wave(const attention_arguments<Types>& args, uint32_t memory)
      : args_(args), lane_(thread_id() % 32), wave_(wave_id()), memory_(memory), output_{} {}

  /// Where the wave's `n`-th 16 elements of v are, and whether there are such.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int value_step(int n) const {
    return shares ? wave_ + n * Config.waves : n;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool has_value_step(int n) const {
    return !shares || value_steps % Config.waves == 0 || value_step(n) < value_steps;
  }

  /// The wave's results. Those of 16 bits go through its queries' place in LDS, so that whole rows
  /// are written, where rows of o are aligned.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store(const tile_work& work) const {
    const tile_rows& rows = work.rows;
    const int64_t batch = work.batch;
    const int tile_row = work.tile_row, wave_row = work.wave_row, first = work.q.first;
    const bool q_array = args_.extents.q_begin != nullptr;
    using output = typename Types::output;
    const bool is_part = Types::form != attention_form::prefill && args_.parts.values != nullptr;
    output* const o = args_.o + offset_of(args_.o_steps, q_array, batch, 0, first);
    const auto o_row = [&](const tile_rows::place& place) {
      return o + place.head * args_.o_steps.head + place.query * args_.o_steps.row;
    };
    const bool by_rows = !shares && sizeof(output) == 2 && !is_part && in_chunks(o, args_.o_steps);
    if (by_rows)
      __syncwarp(); // no lane reads the wave's queries any more
    const lane_address<tiles::query_layout, accumulator_pairs> pair_at(lane_);
    const uint32_t own =
        memory_ + static_cast<uint32_t>((wave_row - tile_row) * tiles::query_pitch);
#pragma unroll
    for (int m = 0; m < row_tiles; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float total = softmax_[m][h].total();
        const float factor = total == 0.0f ? 0.0f : reciprocal(total);
        if constexpr (!shares && sizeof(output) == 2)
          if (by_rows) {
#pragma unroll
            for (int n = 0; n < 2 * value_steps; ++n) {
              const float* value = output_[m][n].value + 2 * h;
              store_word(pair_at.in(own).at(16 * m + 8 * h, 8 * n),
                         pack_probabilities<output>(value[0] * factor, value[1] * factor));
            }
          }
        const int row = wave_row + accumulator_row(m, h, lane_);
        if (row >= rows.count)
          continue;
        const auto place = rows.of(row);
        if constexpr (Types::form != attention_form::prefill)
          if (is_part) {
            const int64_t part_row =
                work.part * args_.parts.row_count +
                (batch * args_.query_heads + place.head) * args_.extents.q_rows + place.query;
            store_row(args_.parts.values + part_row * value_elements, m, h, factor);
            store_log(args_.parts.logs + part_row, m, h, total, [](float log) { return log; });
            continue;
          }
        if (args_.lse != nullptr)
          store_log(args_.lse +
                        offset_of(args_.lse_steps, q_array, batch, place.head, first + place.query),
                    m, h, total, [](float log) { return log * ln_2; });
        if (!by_rows)
          store_row(o_row(place), m, h, factor);
      }
    if (!by_rows)
      return;
    __syncwarp();
    constexpr int chunks = value_steps * 2, units = Config.rows_of_wave() * chunks;
#pragma unroll 4
    for (int number = lane_; number < units; number += 32) {
      const int row = wave_row + number / chunks, column = number % chunks * 8;
      if (row >= rows.count)
        break;
      uint32_t words[4];
      load_chunk(words, memory_ + offset_in<tiles::query_layout>(row - tile_row, column));
      *reinterpret_cast<uint4*>(o_row(rows.of(row)) + column) =
          uint4{words[0], words[1], words[2], words[3]};
    }
  }

private:
  /// The lane's share of a row's result.
  template <class Output>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_row(Output* to, int tile, int half,
                                                       float factor) const {
    const bool aligned = reinterpret_cast<uint64_t>(to) % (2 * sizeof(Output)) == 0;
#pragma unroll
    for (int n = 0; n < own_value_steps; ++n) {
      if (!has_value_step(n))
        break;
      for (int part = 0; part < 2; ++part) { // of eight elements
        const float* value = output_[tile][2 * n + part].value + 2 * half;
        store_pair(to + 16 * value_step(n) + 8 * part + lane_ % 4 * 2, aligned, value[0] * factor,
                   value[1] * factor);
      }
    }
  }

  /// A row's logarithm, by one lane. `Log` is what becomes of that of base 2.
  template <class Log>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store_log(float* log, int tile, int half, float total,
                                                       const Log& as_log) const {
    if (log != nullptr && lane_ % 4 == 0 && (!shares || wave_ == 0))
      *log = as_log(softmax_[tile][half].log(total));
  }
};

} // namespace wavetile::kernels

#endif
