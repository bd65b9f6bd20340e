/// \file
/// Gradients of softmax and log-softmax for rows that do not fit in registers: two readings.
#pragma once

#include <wavetile/kernels/softmax/backward.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// One row of a backward problem, as the loops over its chunks see it.
template <class Types, int AtOnce>
struct backward_stream {
  using result = typename Types::result;
  using gradient = typename Types::gradient;
  using mask = typename Types::mask;
  using mask_element = typename Types::mask_element;
  static constexpr int chunk = Types::chunk;
  static constexpr bool has_mask = mask::kind != mask_kind::none;

  const result* y;
  const gradient* g;
  typename Types::output* out;
  const mask_element* bias;
  int64_t visible; ///< columns before this one are not hidden by a causal mask

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE
  backward_stream(const softmax_backward_arguments<Types>& args, int64_t row) {
    int64_t offset[4];
    args.map.locate(row, offset);
    y = args.y + offset[0];
    g = args.gradient + offset[1];
    out = args.out + offset[2];
    bias = args.mask + (has_mask ? offset[3] : 0);
    visible =
        (args.flags & causal_flag) != 0 ? args.causal.visible(row, args.columns) : args.columns;
  }

  /// For every chunk a lane has of a run and its column of the tail, as far as they start before
  /// column `limit`: `each(y, gradient, shown, element)` for their elements, then `done(column, n)`
  /// with n = chunk or 1. What a causal mask hides is not read.
  template <class Each, class Done>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read(const row_run<chunk>& run, int64_t limit,
                                                  uint32_t lane, uint32_t team, Each each,
                                                  Done done) const {
    const auto chunks_before = [&](int64_t column) {
      const int64_t chunks = (column + chunk - 1) / chunk;
      return chunks < run.end ? chunks : run.end;
    };
    const int64_t end = chunks_before(limit);
    const int64_t read_end = chunks_before(visible);
    for (int64_t first = run.begin + lane; first < end; first += int64_t{team} * AtOnce) {
      chunk_batch<result, chunk, AtOnce> results;
      results.load(y, first, team, read_end);
      chunk_batch<gradient, chunk, AtOnce> gradients;
      gradients.load(g, first, team, read_end);
      chunk_batch<mask_element, chunk, has_mask ? AtOnce : 1> hide;
      if constexpr (has_mask)
        hide.load(bias, first, team, read_end);
#pragma unroll
      for (int i = 0; i < AtOnce; ++i) {
        const int64_t number = first + int64_t{team} * i;
        if (number >= end)
          continue;
        const int64_t left = visible - number * chunk;
        const int shown_here = left < chunk ? static_cast<int>(left < 0 ? 0 : left) : chunk;
        const auto ys = results.chunk(i);
        const auto gs = gradients.chunk(i);
        vec<mask_element, chunk> biases{};
        if constexpr (has_mask)
          biases = hide.chunk(i);
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          each(convert<float>(ys[e]), convert<float>(gs[e]),
               e < shown_here && keeps<mask>(biases[e]), e);
        done(number * chunk, chunk);
      }
    }
    const int64_t column = run.tail_column + lane;
    if (lane < run.tail && column < limit) {
      bool shown = column < visible;
      result yi{};
      gradient gi{};
      if (shown) {
        yi = y[column];
        gi = g[column];
        if constexpr (has_mask)
          shown = keeps<mask>(bias[column]);
      }
      each(convert<float>(yi), convert<float>(gi), shown, 0);
      done(column, 1);
    }
  }

  /// The sum over a lane's part of a run.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float measure(const row_run<chunk>& run, uint32_t lane,
                                                      uint32_t team) const {
    vec<float, chunk> sums{};
    read(
        run, visible, lane, team,
        [&](float yi, float gi, bool shown, int e) {
          sums[e] += backward_math<Types::form>::summand(yi, gi, shown);
        },
        [](int64_t, int) {});
    return sum_by_halves(sums);
  }

  /// The results of a lane's part of a run.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(const row_run<chunk>& run, uint32_t lane,
                                                   uint32_t team,
                                                   const backward_math<Types::form>& math) const {
    using output = typename Types::output;
    vec<float, chunk> values;
    read(
        run, run.tail_column + run.tail, lane, team,
        [&](float yi, float gi, bool shown, int e) { values[e] = math(yi, gi, shown); },
        [&](int64_t column, int count) {
          if (count == chunk)
            store_chunk(out + column, convert<output>(values));
          else
            out[column] = convert<output>(values[0]);
        });
  }
};

/// A workgroup for each row.
template <class Types, softmax_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_backward_stream(
    softmax_backward_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team_type = workgroup_team<Config.waves>;
    WAVETILE_SHARED typename team_type::storage memory;
    const team_type team(memory);
    const backward_stream<Types, Config.slots> row(args, args.first_row + workgroup_id());
    const auto run = row_run<Types::chunk>::all(args.columns);
    backward_math<Types::form> math{args.scale};
    math.total =
        team.template all_reduce<0>(row.measure(run, team.lane(), team.size()), op::plus{});
    row.write(run, team.lane(), team.size(), math);
  } else {
    refuse_to_run();
  }
}

/// First launch of a split problem: workgroup (row, part) writes the sum of its part.
template <class Types, softmax_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_backward_split_measure(
    softmax_backward_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team_type = workgroup_team<Config.waves>;
    WAVETILE_SHARED typename team_type::storage memory;
    const team_type team(memory);
    const uint32_t row_of_launch = workgroup_id() / args.parts;
    const uint32_t part = workgroup_id() - row_of_launch * args.parts;
    const int64_t row_number = args.first_row + row_of_launch;
    const backward_stream<Types, Config.slots> row(args, row_number);
    const float total = team.template all_reduce<0>(
        row.measure(row_run<Types::chunk>::part(args.columns, args.part_chunks, part, args.parts),
                    team.lane(), team.size()),
        op::plus{});
    if (team.lane() == 0)
      args.partials[row_number * args.parts + part] = vec<float, 2>{{total, 0}};
  } else {
    refuse_to_run();
  }
}

/// Second launch of a split problem: every wave adds the row's parts in the same order, then the
/// workgroup writes the results of its own part.
template <class Types, softmax_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_backward_split_write(
    softmax_backward_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    const uint32_t row_of_launch = workgroup_id() / args.parts;
    const uint32_t part = workgroup_id() - row_of_launch * args.parts;
    const int64_t row_number = args.first_row + row_of_launch;
    float sum = 0;
    for (uint32_t i = static_cast<uint32_t>(lane_id()); i < args.parts; i += wave_size)
      sum += args.partials[row_number * args.parts + i][0];
    backward_math<Types::form> math{args.scale};
    math.total = wave::all_reduce(sum, op::plus{});
    const backward_stream<Types, Config.slots> row(args, row_number);
    row.write(row_run<Types::chunk>::part(args.columns, args.part_chunks, part, args.parts),
              static_cast<uint32_t>(thread_id()), Config.threads(), math);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
