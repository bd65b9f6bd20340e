/// \file
/// Reductions over the last axis, and over everything.
#pragma once

#include <wavetile/kernels/reduce/problem.hpp>
#include <wavetile/kernels/rows/row_stream.hpp>
#include <wavetile/kernels/rows/team.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// The values a lane has combined so far.
template <class Types>
class reduce_chains {
public:
  using value = typename Types::value;

  WAVETILE_DEVICE
  WAVETILE_FORCE_INLINE explicit reduce_chains(const typename Types::reduction& reduction)
      : reduction_(reduction) {
#pragma unroll
    for (int i = 0; i < Types::chains; ++i)
      chain_[i] = reduction.identity();
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void add(typename Types::input element, int64_t index,
                                                 int place) {
    value& chain = chain_[Types::chains == 1 ? 0 : place];
    chain = reduction_.operation()(chain, reduction_.enter(element, index));
  }

  /// The lane's chunks of a run and its column of the tail; indices start at `first_index`.
  template <int AtOnce>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  add_run(const typename Types::input* row, const row_run<Types::chunk>& run, uint32_t lane,
          uint32_t team, int64_t first_index) {
    constexpr int chunk = Types::chunk;
    for (int64_t first = run.begin + lane; first < run.end; first += int64_t{team} * AtOnce) {
      chunk_batch<typename Types::input, chunk, AtOnce> raw;
      raw.load(row, first, team, run.end);
#pragma unroll
      for (int i = 0; i < AtOnce; ++i) {
        const int64_t number = first + int64_t{team} * i;
        if (number >= run.end)
          continue;
        const auto elements = raw.chunk(i);
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          add(elements[e], first_index + number * chunk + e, e);
      }
    }
    const int64_t column = run.tail_column + lane;
    if (lane < run.tail)
      add(row[column], first_index + column, 0);
  }

  /// All of them as one.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE value join() const {
    value joined[Types::chains];
#pragma unroll
    for (int i = 0; i < Types::chains; ++i)
      joined[i] = chain_[i];
#pragma unroll
    for (int step = 1; step < Types::chains; step *= 2)
#pragma unroll
      for (int i = 0; i + step < Types::chains; i += 2 * step)
        joined[i] = reduction_.operation()(joined[i], joined[i + step]);
    return joined[0];
  }

private:
  const typename Types::reduction& reduction_;
  value chain_[Types::chains];
};

/// 2^lanes_log2 lanes of a wave for each row.
template <class Types, reduce_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void reduce_row_lanes(reduce_row_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    const lanes_team team(1u << args.lanes_log2);
    const int64_t thread = int64_t{workgroup_id()} * Config.threads() + thread_id();
    const int64_t row = args.first_row + (thread >> args.lanes_log2);
    const bool active = row < args.rows;
    int64_t offset[2];
    args.map.locate(active ? row : 0, offset);
    reduce_chains<Types> chains(args.reduction);
    const auto run = row_run<Types::chunk>::all(active ? args.columns : 0);
    chains.template add_run<Config.at_once>(args.x + offset[0], run, team.lane(), team.size(), 0);
    const auto result = team.template all_reduce<0>(chains.join(), args.reduction.operation());
    if (active && team.lane() == 0)
      args.y[offset[1]] = args.reduction.leave(result, args.count);
  } else {
    refuse_to_run();
  }
}

/// A workgroup for each row.
template <class Types, reduce_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void reduce_row_workgroup(
    reduce_row_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using group_reduce = group::reduce<typename Types::value, Config.threads()>;
    WAVETILE_SHARED typename group_reduce::storage memory;
    const auto thread = static_cast<uint32_t>(thread_id());
    int64_t offset[2];
    args.map.locate(args.first_row + workgroup_id(), offset);
    reduce_chains<Types> chains(args.reduction);
    chains.template add_run<Config.at_once>(
        args.x + offset[0], row_run<Types::chunk>::all(args.columns), thread, Config.threads(), 0);
    const auto result = group_reduce::to_first(chains.join(), args.reduction.operation(), memory);
    if (thread == 0)
      args.y[offset[1]] = args.reduction.leave(result, args.count);
  } else {
    refuse_to_run();
  }
}

/// First step: workgroup g combines units g, g + group_stride, … of rows x parts into partials[g].
template <class Types, reduce_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void reduce_row_parts(reduce_row_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using group_reduce = group::reduce<typename Types::value, Config.threads()>;
    WAVETILE_SHARED typename group_reduce::storage memory;
    const auto thread = static_cast<uint32_t>(thread_id());
    reduce_chains<Types> chains(args.reduction);
    for (int64_t unit = workgroup_id(); unit < args.units; unit += args.group_stride) {
      const int64_t row = args.parts.quotient(unit);
      const auto part = static_cast<uint32_t>(unit - row * args.parts.divisor());
      const auto parts = static_cast<uint32_t>(args.parts.divisor());
      int64_t offset[2];
      args.map.locate(row, offset);
      chains.template add_run<Config.at_once>(
          args.x + offset[0],
          row_run<Types::chunk>::part(args.columns, args.part_chunks, part, parts), thread,
          Config.threads(), args.running_index ? row * args.columns : 0);
    }
    const auto result = group_reduce::to_first(chains.join(), args.reduction.operation(), memory);
    if (thread == 0 && args.finish)
      args.y[0] = args.reduction.leave(result, args.count);
    else if (thread == 0)
      args.partials[workgroup_id()] = result;
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
