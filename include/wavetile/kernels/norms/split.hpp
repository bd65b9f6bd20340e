/// \file
/// RMSNorm and LayerNorm of rows that do not fit in registers, each shared by several workgroups:
/// one kernel for the statistics of parts, one for the results (and one between for the scales of
/// quantised rows).
#pragma once

#include <wavetile/kernels/norms/stream.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// Part of a row and first row of a workgroup.
template <class Types>
struct norm_part {
  uint32_t part;
  int64_t first_row;
  row_run<Types::chunk> run;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE explicit norm_part(const norm_arguments<Types>& args) {
    const uint32_t group = workgroup_id();
    first_row = group / args.parts;
    part = group - static_cast<uint32_t>(first_row) * args.parts;
    run = row_run<Types::chunk>::part(args.columns, args.part_chunks, part, args.parts);
  }
};

/// First launch: mean, and sum of squared differences from it (rms: of squares), of each part.
template <class Types, norm_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void norm_split_measure(norm_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team_type = workgroup_team<Config.waves>;
    WAVETILE_SHARED typename team_type::storage memory[2];
    const norm_part<Types> own(args);
    const auto count =
        static_cast<float>((own.run.end - own.run.begin) * Types::chunk + own.run.tail);
    int turn = 0;
    for (int64_t row = own.first_row; row < args.rows; row += args.teams) {
      const team_type team(memory[turn]);
      turn ^= 1;
      const norm_stream<Types, Config.slots> stream(args, row, own.run, team.lane(), team.size());
      const running_variance seen = stream.measure();
      float mean = 0, squares = seen.squares;
      if constexpr (Types::kind == norm_kind::layer) {
        mean = team.template all_reduce<0>(seen.count * seen.mean, op::plus{}) * reciprocal(count);
        const float distance = seen.mean - mean;
        squares = fma(seen.count * distance, distance, squares);
      }
      squares = team.template all_reduce<1>(squares, op::plus{});
      if (team.lane() == 0)
        args.partials[row * args.parts + own.part] = vec<float, 2>{{mean, squares}};
    }
  } else {
    refuse_to_run();
  }
}

/// The statistics of a row from those of its parts, in the same order in every wave.
template <class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE norm_statistics
norm_of_parts(const norm_arguments<Types>& args, int64_t row) {
  const vec<float, 2>* const partials = args.partials + row * args.parts;
  const auto lane = static_cast<uint32_t>(lane_id());
  const wave_team team;
  norm_statistics statistics;
  float squares = 0;
  if constexpr (Types::kind == norm_kind::layer) {
    const int64_t most = args.part_chunks * Types::chunk;
    const auto count = [&](uint32_t part) {
      return static_cast<float>(part + 1 < args.parts ? most : args.columns - part * most);
    };
    float sum = 0;
    for (uint32_t part = lane; part < args.parts; part += wave_size)
      sum = fma(count(part), partials[part][0], sum);
    statistics.mean = team.template all_reduce<0>(sum, op::plus{}) * args.per_column;
    for (uint32_t part = lane; part < args.parts; part += wave_size) {
      const vec<float, 2> own = partials[part];
      const float distance = own[0] - statistics.mean;
      squares += fma(count(part) * distance, distance, own[1]);
    }
  } else {
    for (uint32_t part = lane; part < args.parts; part += wave_size)
      squares += partials[part][1];
  }
  statistics.finish(team.template all_reduce<1>(squares, op::plus{}), args.per_column,
                    args.epsilon);
  return statistics;
}

/// Further launches: with `Largest` the largest magnitude of each part of the results, else the
/// results. A lane keeps its share of weight and bias of the part, or of as much of it as it holds
/// at a time, for all rows of the workgroup.
template <class Types, norm_config Config, bool Largest>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void norm_split_apply(norm_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    constexpr int chunk = Types::chunk, slots = Config.slots;
    constexpr norm_kind kind = Types::kind;
    using output = typename Types::output;
    using team_type = workgroup_team<Config.waves>;
    WAVETILE_SHARED typename team_type::storage memory[2];
    const norm_part<Types> own(args);
    const auto lane = static_cast<uint32_t>(thread_id());
    constexpr uint32_t team_size = Config.threads();
    int turn = 0;
    for (int64_t begin = own.run.begin; begin < own.run.end; begin += slots * team_size) {
      const int64_t first = begin + lane;
      const bool has_tail = begin == own.run.begin && lane < own.run.tail;
      const int64_t tail_column = own.run.tail_column + lane;
      chunk_batch<typename Types::weight, chunk, Types::has_weight ? slots : 1> weights;
      chunk_batch<typename Types::bias, chunk, Types::has_bias ? slots : 1> biases;
      float tail_weight = 1, tail_bias = 0;
      if constexpr (Types::has_weight) {
        weights.load(args.weight, first, team_size, own.run.end);
        if (has_tail)
          tail_weight = convert<float>(args.weight[tail_column]);
      }
      if constexpr (Types::has_bias) {
        biases.load(args.bias, first, team_size, own.run.end);
        if (has_tail)
          tail_bias = convert<float>(args.bias[tail_column]);
      }
      for (int64_t row = own.first_row; row < args.rows; row += args.teams) {
        const norm_stream<Types, slots> stream(args, row, own.run, lane, team_size);
        const auto* from = [&] {
          if constexpr (Types::has_residual)
            return static_cast<const typename Types::held*>(args.sum) + stream.offset[3];
          else
            return args.x + stream.offset[0];
        }();
        chunk_batch<typename Types::held, chunk, slots> h;
        h.load(from, first, team_size, own.run.end);
        const float tail = has_tail ? convert<float>(from[tail_column]) : 0.0f;
        const norm_statistics statistics = norm_of_parts(args, row);
        const auto values_of = [&](int i) {
          const auto raw = h.chunk(i);
          vec<float, chunk> values;
#pragma unroll
          for (int e = 0; e < chunk; ++e)
            values[e] = convert<float>(raw[e]);
          vec<float, chunk> weight, bias;
#pragma unroll
          for (int e = 0; e < chunk; ++e) {
            weight[e] = 1;
            bias[e] = 0;
          }
          if constexpr (Types::has_weight)
            weight = convert<float>(weights.chunk(i));
          if constexpr (Types::has_bias)
            bias = convert<float>(biases.chunk(i));
#pragma unroll
          for (int e = 0; e < chunk; ++e)
            values[e] = statistics.template operator()<kind>(values[e], weight[e], bias[e]);
          return values;
        };
        const auto owns = [&](int i) { return first + int64_t{team_size} * i < own.run.end; };
        const float tail_value = statistics.template operator()<kind>(tail, tail_weight, tail_bias);

        const int64_t place = row * args.parts;
        if constexpr (Largest) {
          int largest = has_tail ? magnitude_bits(tail_value) : 0;
#pragma unroll
          for (int i = 0; i < slots; ++i)
            if (owns(i)) {
              const auto values = values_of(i);
#pragma unroll
              for (int e = 0; e < chunk; ++e) {
                const int bits = magnitude_bits(values[e]);
                largest = bits > largest ? bits : largest;
              }
            }
          const team_type team(memory[turn]);
          turn ^= 1;
          largest = team.template all_reduce<2>(largest, op::maximum{});
          if (lane == 0) {
            int& all = args.largest[place + own.part];
            all = begin == own.run.begin || largest > all ? largest : all;
          }
        } else {
          norm_quantiser<Types::scaling, output> quantise;
          if constexpr (Types::scaling == norm_scaling::given)
            quantise.factor = args.output_factor;
          if constexpr (Types::scaling == norm_scaling::per_row) {
            int largest = 0;
            for (uint32_t i = static_cast<uint32_t>(lane_id()); i < args.parts; i += wave_size) {
              const int other = args.largest[place + i];
              largest = other > largest ? other : largest;
            }
            const float scale = quantise.scale_of(
                wave_team().template all_reduce<0>(largest, op::maximum{}), quantise.factor);
            if (own.part == 0 && begin == own.run.begin && lane == 0)
              args.scales[row] = scale;
          }
          output* const y = args.y + stream.offset[1];
#pragma unroll
          for (int i = 0; i < slots; ++i)
            if (owns(i)) {
              auto values = values_of(i);
#pragma unroll
              for (int e = 0; e < chunk; ++e)
                values[e] = quantise(values[e]);
              store_chunk(y + (first + int64_t{team_size} * i) * chunk, convert<output>(values));
            }
          if (has_tail)
            y[tail_column] = convert<output>(quantise(tail_value));
        }
      }
    }
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
