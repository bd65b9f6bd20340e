/// \file
/// Softmax and log-softmax of rows that do not fit in registers: two readings of the input.
#pragma once

#include <wavetile/kernels/rows/row_stream.hpp>
#include <wavetile/kernels/rows/team.hpp>
#include <wavetile/kernels/softmax/forward_math.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// Maximum of some elements of a row, the sum of exp(scale (element - maximum)), and whether a mask
/// shows any of them. Combined with others of its row it gives that of all their elements.
struct running_softmax {
  float maximum = maximum_start();
  float sum = 0;
  bool any_kept = false;

  template <int N>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void add(const vec<float, N>& values,
                                                 float exponent_scale) {
    float largest = maximum;
#pragma unroll
    for (int i = 0; i < N; ++i)
      largest = larger_number{}(largest, values[i]);
    sum *= exponential(maximum, largest, exponent_scale);
    maximum = largest;
    float added = exponential(values[0], largest, exponent_scale);
#pragma unroll
    for (int i = 1; i < N; ++i)
      added += exponential(values[i], largest, exponent_scale);
    sum += added;
  }

  /// Over the lanes of a team.
  template <class Team>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void reduce(const Team& team, float exponent_scale) {
    const float largest = team.template all_reduce<0>(maximum, larger_number{});
    sum *= exponential(maximum, largest, exponent_scale);
    maximum = largest;
    sum = team.template all_reduce<1>(sum, op::plus{});
  }
};

/// One row of a forward problem, as the loops over its chunks see it.
template <class Types, int AtOnce>
struct forward_stream {
  using input = typename Types::input;
  using mask = typename Types::mask;
  using mask_element = typename Types::mask_element;
  static constexpr int chunk = Types::chunk;
  static constexpr bool has_mask = mask::kind != mask_kind::none;

  const input* x;
  typename Types::output* y;
  const mask_element* bias;
  int64_t visible; ///< columns before this one are not hidden by a causal mask
  float sign;
  float scale;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE forward_stream(const softmax_arguments<Types>& args,
                                                       int64_t row)
      : sign(args.sign), scale(args.scale) {
    int64_t offset[3];
    args.map.locate(row, offset);
    x = args.x + offset[0];
    y = args.y + offset[1];
    bias = args.mask + (has_mask ? offset[2] : 0);
    visible =
        (args.flags & causal_flag) != 0 ? args.causal.visible(row, args.columns) : args.columns;
  }

  /// Calls `each(values, column)` for every chunk that a lane has of a run, and `last(value,
  /// column)` for its column of the tail, as far as they start before column `limit`. What a causal
  /// mask hides is not read. `kept` becomes true when a mask shows an element.
  template <class Each, class Last>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read(const row_run<chunk>& run, int64_t limit,
                                                  uint32_t lane, uint32_t team, bool& kept,
                                                  Each each, Last last) const {
    const auto chunks_before = [&](int64_t column) {
      const int64_t chunks = (column + chunk - 1) / chunk;
      return chunks < run.end ? chunks : run.end;
    };
    const int64_t end = chunks_before(limit);
    const int64_t read_end = chunks_before(visible);
    for (int64_t first = run.begin + lane; first < end; first += int64_t{team} * AtOnce) {
      chunk_batch<input, chunk, AtOnce> raw;
      raw.load(x, first, team, read_end);
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
        const auto elements = raw.chunk(i);
        vec<mask_element, chunk> biases{};
        if constexpr (has_mask)
          biases = hide.chunk(i);
        vec<float, chunk> values;
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          values[e] = enter_at(elements[e], biases[e], e < shown_here, kept);
        each(values, number * chunk);
      }
    }
    const int64_t column = run.tail_column + lane;
    if (lane < run.tail && column < limit) {
      const bool shown = column < visible;
      input element{};
      mask_element hide{};
      if (shown) {
        element = x[column];
        if constexpr (has_mask)
          hide = bias[column];
      }
      last(enter_at(element, hide, shown, kept), column);
    }
  }

  /// The statistics of a lane's part of a run.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE running_softmax measure(const row_run<chunk>& run,
                                                                uint32_t lane,
                                                                uint32_t team) const {
    running_softmax seen;
    const float exponent_scale = scale * log2_e;
    read(
        run, visible, lane, team, seen.any_kept,
        [&](const vec<float, chunk>& values, int64_t) { seen.add(values, exponent_scale); },
        [&](float value, int64_t) { seen.add(vec<float, 1>{{value}}, exponent_scale); });
    return seen;
  }

  /// The results of a lane's part of a run.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(const row_run<chunk>& run, uint32_t lane,
                                                   uint32_t team,
                                                   const row_result<Types::form>& result) const {
    using output = typename Types::output;
    bool ignored = false;
    read(
        run, run.tail_column + run.tail, lane, team, ignored,
        [&](vec<float, chunk> values, int64_t column) {
#pragma unroll
          for (int e = 0; e < chunk; ++e)
            values[e] = result(values[e]);
          store_chunk(y + column, convert<output>(values));
        },
        [&](float value, int64_t column) { y[column] = convert<output>(result(value)); });
  }

private:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float enter_at(input element, mask_element hide,
                                                       bool visible_here, bool& kept) const {
    const bool shown = visible_here && keeps<mask>(hide);
    kept = kept || (has_mask && shown);
    return enter<mask>(convert<float>(element), hide, sign, shown);
  }
};

/// A workgroup for each row.
template <class Types, softmax_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_stream(softmax_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team_type = workgroup_team<Config.waves>;
    using stream_type = forward_stream<Types, Config.slots>;
    WAVETILE_SHARED typename team_type::storage memory;
    const team_type team(memory);
    const stream_type row(args, args.first_row + workgroup_id());
    const auto run = row_run<Types::chunk>::all(args.columns);
    running_softmax seen = row.measure(run, team.lane(), team.size());
    row_result<Types::form> result;
    result.scale = args.scale;
    result.exponent_scale = args.scale * log2_e;
    seen.reduce(team, result.exponent_scale);
    result.maximum = seen.maximum;
    result.finish(seen.sum, [&] {
      if constexpr (stream_type::has_mask)
        return team.template all_reduce<2>(seen.any_kept ? 1 : 0, op::maximum{}) != 0;
      else
        return row.visible != 0;
    });
    row.write(run, team.lane(), team.size(), result);
  } else {
    refuse_to_run();
  }
}

/// First launch of a split problem: workgroup (row, part) writes the maximum and the sum of its
/// part; the sum is -0 where masks hide the whole part.
template <class Types, softmax_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_split_measure(
    softmax_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team_type = workgroup_team<Config.waves>;
    using stream_type = forward_stream<Types, Config.slots>;
    WAVETILE_SHARED typename team_type::storage memory;
    const team_type team(memory);
    const uint32_t row_of_launch = workgroup_id() / args.parts;
    const uint32_t part = workgroup_id() - row_of_launch * args.parts;
    const int64_t row_number = args.first_row + row_of_launch;
    const stream_type row(args, row_number);
    running_softmax seen =
        row.measure(row_run<Types::chunk>::part(args.columns, args.part_chunks, part, args.parts),
                    team.lane(), team.size());
    seen.reduce(team, args.scale * log2_e);
    bool any_kept = row.visible != 0;
    if constexpr (stream_type::has_mask)
      any_kept = team.template all_reduce<2>(seen.any_kept ? 1 : 0, op::maximum{}) != 0;
    if (team.lane() == 0)
      args.partials[row_number * args.parts + part] =
          vec<float, 2>{{seen.maximum, any_kept ? seen.sum : -0.0f}};
  } else {
    refuse_to_run();
  }
}

/// Second launch of a split problem: every wave combines the row's parts in the same order, then
/// the workgroup writes the results of its own part.
template <class Types, softmax_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_split_write(softmax_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using stream_type = forward_stream<Types, Config.slots>;
    const uint32_t row_of_launch = workgroup_id() / args.parts;
    const uint32_t part = workgroup_id() - row_of_launch * args.parts;
    const int64_t row_number = args.first_row + row_of_launch;
    const float exponent_scale = args.scale * log2_e;
    running_softmax seen;
    for (uint32_t i = static_cast<uint32_t>(lane_id()); i < args.parts; i += wave_size) {
      const vec<float, 2> other = args.partials[row_number * args.parts + i];
      const float largest = larger_number{}(seen.maximum, other[0]);
      seen.sum = seen.sum * exponential(seen.maximum, largest, exponent_scale) +
                 other[1] * exponential(other[0], largest, exponent_scale);
      seen.maximum = largest;
      seen.any_kept = seen.any_kept || float_bits(other[1]) != 0x80000000u;
    }
    seen.reduce(wave_team(), exponent_scale);
    row_result<Types::form> result;
    result.scale = args.scale;
    result.exponent_scale = exponent_scale;
    result.maximum = seen.maximum;
    result.finish(seen.sum, [&] { return wave::any(seen.any_kept); });
    const stream_type row(args, row_number);
    row.write(row_run<Types::chunk>::part(args.columns, args.part_chunks, part, args.parts),
              static_cast<uint32_t>(thread_id()), Config.threads(), result);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
