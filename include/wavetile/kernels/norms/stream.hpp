/// \file
/// RMSNorm and LayerNorm of rows that do not fit in registers: a reading for the statistics, one
/// for the scale of a quantised row, one for the results.
#pragma once

#include <wavetile/kernels/norms/arithmetic.hpp>
#include <wavetile/kernels/rows/reread.hpp>
#include <wavetile/kernels/rows/row_stream.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// Count, mean, and sum of squared differences from it, of some elements (Welford); combined with
/// those of others as Chan, Golub and LeVeque do ("Updating formulae and a pairwise algorithm for
/// computing sample variances").
struct running_variance {
  float count = 0;
  float mean = 0;
  float squares = 0;

  template <int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void add(const vec<float, N>& values) {
    float sum = 0;
#pragma unroll
    for (int e = 0; e < N; ++e)
      sum += values[e];
    const float own_mean = sum * (1.0f / N);
    float own_squares = 0;
#pragma unroll
    for (int e = 0; e < N; ++e) {
      const float d = values[e] - own_mean;
      own_squares = fma(d, d, own_squares);
    }
    const float before = count;
    count += N;
    const float share = N * reciprocal(count);
    const float distance = own_mean - mean;
    mean = fma(distance, share, mean);
    squares += own_squares + distance * distance * (before * share);
  }
};

/// The loops over the chunks of one row.
template <class Types, int AtOnce>
struct norm_stream {
  static constexpr int chunk = Types::chunk;
  using held = typename Types::held;
  norm_arguments<Types> args;
  int64_t offset[4];
  row_run<chunk> run;
  uint32_t lane, team;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE norm_stream(const norm_arguments<Types>& arguments,
                                                    int64_t row, uint32_t own_lane, uint32_t lanes)
      : args(reread(arguments)), run(row_run<chunk>::all(args.columns)), lane(own_lane),
        team(lanes) {
    args.map.locate(row, offset);
  }
  /// A part of a row that is split.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE norm_stream(const norm_arguments<Types>& arguments,
                                                    int64_t row, const row_run<chunk>& part,
                                                    uint32_t own_lane, uint32_t lanes)
      : norm_stream(arguments, row, own_lane, lanes) {
    run = part;
  }

  /// `each(vec of fp32, column)` for every chunk of a lane of an array, `last(value, column)` for
  /// its column of the tail.
  template <class T, class Each, class Last>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read(const T* row, Each each, Last last) const {
    for (int64_t first = run.begin + lane; first < run.end; first += int64_t{team} * AtOnce) {
      chunk_batch<T, chunk, AtOnce> batch;
      batch.load(row, first, team, run.end);
#pragma unroll
      for (int i = 0; i < AtOnce; ++i) {
        const int64_t number = first + int64_t{team} * i;
        if (number < run.end) {
          const auto raw = batch.chunk(i);
          vec<float, chunk> values;
#pragma unroll
          for (int e = 0; e < chunk; ++e)
            values[e] = convert<float>(raw[e]);
          each(values, number * chunk);
        }
      }
    }
    if (lane < run.tail)
      last(convert<float>(row[run.tail_column + lane]), run.tail_column + lane);
  }

  /// h of every element for the first time: sums are formed and written.
  template <class Each, class Last>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void first_reading(Each each, Last last) const {
    if constexpr (Types::has_residual) {
      const typename Types::residual* residual = args.residual + offset[2];
      held* const sum = args.sum + offset[3];
      read(
          args.x + offset[0],
          [&](vec<float, chunk> values, int64_t column) {
            vec<typename Types::residual, chunk> added;
            __builtin_memcpy(&added, residual + column, sizeof added);
            vec<held, chunk> sums;
#pragma unroll
            for (int e = 0; e < chunk; ++e) {
              sums[e] = convert<held>(values[e] + convert<float>(added[e]));
              values[e] = convert<float>(sums[e]);
            }
            store_chunk(sum + column, sums);
            each(values);
          },
          [&](float value, int64_t column) {
            const held added = convert<held>(value + convert<float>(residual[column]));
            sum[column] = added;
            last(convert<float>(added));
          });
    } else {
      read(
          args.x + offset[0], [&](const vec<float, chunk>& values, int64_t) { each(values); },
          [&](float value, int64_t) { last(value); });
    }
  }

  /// The statistics of a lane's elements; for rms only the sum of squares.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE running_variance measure() const {
    running_variance seen;
    if constexpr (Types::kind == norm_kind::layer) {
      first_reading([&](const vec<float, chunk>& values) { seen.add(values); },
                    [&](float value) { seen.add(vec<float, 1>{{value}}); });
    } else {
      float sums[chunk] = {};
      first_reading(
          [&](const vec<float, chunk>& values) {
#pragma unroll
            for (int e = 0; e < chunk; ++e)
              sums[e] = fma(values[e], values[e], sums[e]);
          },
          [&](float value) { sums[0] = fma(value, value, sums[0]); });
#pragma unroll
      for (int step = chunk / 2; step > 0; step /= 2)
#pragma unroll
        for (int e = 0; e < step; ++e)
          sums[e] += sums[e + step];
      seen.squares = sums[0];
    }
    return seen;
  }

  /// v of every element; each lane reads what it read, or wrote, before.
  template <class Each, class Last>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void next_reading(const norm_statistics& statistics,
                                                          Each each, Last last) const {
    const held* from = nullptr;
    if constexpr (Types::has_residual)
      from = args.sum + offset[3];
    else
      from = args.x + offset[0];
    const auto value_of = [&](float h, float weight, float bias) {
      return statistics.template operator()<Types::kind>(h, weight, bias);
    };
    const auto parameter = [](const auto* array, int64_t column) {
      vec<float, chunk> values;
      vec<wavetile::detail::remove_cv_t<wavetile::detail::remove_reference_t<decltype(*array)>>,
          chunk>
          raw;
      __builtin_memcpy(&raw, array + column, sizeof raw);
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[e] = convert<float>(raw[e]);
      return values;
    };
    read(
        from,
        [&](vec<float, chunk> values, int64_t column) {
          vec<float, chunk> weight, bias;
#pragma unroll
          for (int e = 0; e < chunk; ++e) {
            weight[e] = 1;
            bias[e] = 0;
          }
          if constexpr (Types::has_weight)
            weight = parameter(args.weight, column);
          if constexpr (Types::has_bias)
            bias = parameter(args.bias, column);
#pragma unroll
          for (int e = 0; e < chunk; ++e)
            values[e] = value_of(values[e], weight[e], bias[e]);
          each(values, column);
        },
        [&](float h, int64_t column) {
          float weight = 1, bias = 0;
          if constexpr (Types::has_weight)
            weight = convert<float>(args.weight[column]);
          if constexpr (Types::has_bias)
            bias = convert<float>(args.bias[column]);
          last(value_of(h, weight, bias), column);
        });
  }
};

/// A workgroup for each row at a time.
template <class Types, norm_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void norm_stream_rows(norm_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team_type = workgroup_team<Config.waves>;
    constexpr int chunk = Types::chunk;
    using output = typename Types::output;
    WAVETILE_SHARED typename team_type::storage memory[2];
    int turn = 0;
    for (int64_t number = workgroup_id(); number < args.rows; number += args.teams) {
      const team_type team(memory[turn]);
      turn ^= 1;
      const norm_stream<Types, Config.slots> row(args, number, team.lane(), team.size());
      norm_statistics statistics;
      const running_variance seen = row.measure();
      float squares = seen.squares;
      if constexpr (Types::kind == norm_kind::layer) {
        statistics.mean =
            team.template all_reduce<0>(seen.count * seen.mean, op::plus{}) * args.per_column;
        const float distance = seen.mean - statistics.mean;
        squares = fma(seen.count * distance, distance, seen.squares);
      }
      statistics.finish(team.template all_reduce<1>(squares, op::plus{}), args.per_column,
                        args.epsilon);

      norm_quantiser<Types::scaling, output> quantise;
      if constexpr (Types::scaling == norm_scaling::given)
        quantise.factor = args.output_factor;
      if constexpr (Types::scaling == norm_scaling::per_row) {
        int largest = 0;
        const auto see = [&](float value) {
          const int bits = magnitude_bits(value);
          largest = bits > largest ? bits : largest;
        };
        row.next_reading(
            statistics,
            [&](const vec<float, chunk>& values, int64_t) {
#pragma unroll
              for (int e = 0; e < chunk; ++e)
                see(values[e]);
            },
            [&](float value, int64_t) { see(value); });
        const float scale =
            quantise.scale_of(team.template all_reduce<2>(largest, op::maximum{}), quantise.factor);
        if (team.lane() == 0)
          args.scales[number] = scale;
      }
      output* const y = args.y + row.offset[1];
      row.next_reading(
          statistics,
          [&](vec<float, chunk> values, int64_t column) {
#pragma unroll
            for (int e = 0; e < chunk; ++e)
              values[e] = quantise(values[e]);
            store_chunk(y + column, convert<output>(values));
          },
          [&](float value, int64_t column) { y[column] = convert<output>(quantise(value)); });
    }
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
