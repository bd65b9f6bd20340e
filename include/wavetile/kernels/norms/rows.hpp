/// \file
/// RMSNorm and LayerNorm of rows that fit in registers: each element is read once and written once.
#pragma once

#include <wavetile/kernels/norms/arithmetic.hpp>
#include <wavetile/kernels/rows/reread.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// A lane's weight and bias for all rows of its team.
template <class Types, norm_config Config>
struct row_parameters {
  static constexpr int chunk = Types::chunk;
  static constexpr bool kept = keeps_parameters(Config, chunk, Types::chunk_bytes,
                                                Types::loaded_bytes, Types::parameter_bytes);
  norm_parameters<typename Types::weight, chunk, Config.slots, Types::has_weight, kept, 1> weight;
  norm_parameters<typename Types::bias, chunk, Config.slots, Types::has_bias, kept, 0> bias;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_parameters(const norm_arguments<Types>& args,
                                                       const row_share<chunk>& share)
      : weight(args.weight, share), bias(args.bias, share) {}
};

/// One row, or with a lanes team one row a team; `active` is false for teams beyond the last row.
template <class Types, norm_config Config, class Team>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
norm_of_row(const norm_arguments<Types>& kernel_arguments, const Team& team,
            const row_share<Types::chunk>& whole, row_parameters<Types, Config>& parameters,
            int64_t row, bool active) {
  constexpr int chunk = Types::chunk;
  constexpr int slots = Config.slots;
  constexpr norm_kind kind = Types::kind;
  using held = typename Types::held;

  const norm_arguments<Types> args = reread(kernel_arguments);
  const auto share = whole.afresh();
  int64_t offset[4];
  args.map.locate(active ? row : 0, offset);
  const row_prefix mine = active ? share.all : row_prefix{0, 0};
  const bool has_tail = share.lane < mine.tail;

  row_tile<held, chunk, slots> h;
  if constexpr (Types::has_residual) {
    row_tile<typename Types::input, chunk, slots> x;
    row_tile<typename Types::residual, chunk, slots> residual;
    x.load(args.x + offset[0], share, mine);
    residual.load(args.residual + offset[1], share, mine);
    h.clear();
    held* const to = args.sum + offset[2];
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (share.owns(k, mine)) {
        const auto a = x.chunk(k);
        const auto b = residual.chunk(k);
        vec<held, chunk> sum;
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          sum[e] = convert<held>(convert<float>(a[e]) + convert<float>(b[e]));
        store_chunk(share.at(to, k), sum);
        h.put(k, sum);
      }
    if (has_tail) {
      const held sum = convert<held>(convert<float>(x.tail()) + convert<float>(residual.tail()));
      to[share.tail_column()] = sum;
      h.put_tail(sum);
    }
  } else {
    h.load(args.x + offset[0], share, mine);
  }
  const float tail = convert<float>(h.tail());

  // sum over the row of term(h), whose elements beyond the lane's share count as 0
  const auto lane_sum = [&](auto term) {
    float sums[chunk] = {};
    const auto again = share.afresh();
    for_slots<slots>(again, [&](int k) {
      const auto raw = h.chunk(k);
      const bool owned = again.owns(k, mine);
#if WAVETILE_CUDA // one branch, most often the same in all lanes, in place of a select an element
      if (!owned)
        return;
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        sums[e] += term(convert<float>(raw[e]));
#else
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        sums[e] += owned ? term(convert<float>(raw[e])) : 0.0f;
#endif
    });
    sums[0] += has_tail ? term(tail) : 0.0f;
#pragma unroll
    for (int step = chunk / 2; step > 0; step /= 2)
#pragma unroll
      for (int e = 0; e < step; ++e)
        sums[e] += sums[e + step];
    return sums[0];
  };

  norm_statistics statistics;
  if constexpr (kind == norm_kind::layer)
    statistics.mean = team.template all_reduce<0>(lane_sum([](float v) { return v; }), op::plus{}) *
                      args.per_column;
  const float mean = statistics.mean;
  const float squares = team.template all_reduce<1>(lane_sum([mean](float v) {
                                                      const float d =
                                                          kind == norm_kind::layer ? v - mean : v;
                                                      return d * d;
                                                    }),
                                                    op::plus{});
  statistics.finish(squares, args.per_column, args.epsilon);

  const auto values_of = [&](int k) {
    const auto raw = h.chunk(k);
    const auto weight = parameters.weight.chunk(share, k);
    const auto bias = parameters.bias.chunk(share, k);
    vec<float, chunk> values;
#pragma unroll
    for (int e = 0; e < chunk; ++e)
      values[e] = statistics.template operator()<kind>(convert<float>(raw[e]), weight[e], bias[e]);
    return values;
  };
  float tail_value = 0;
  if (has_tail)
    tail_value = statistics.template operator()<kind>(tail, parameters.weight.tail(share),
                                                      parameters.bias.tail(share));

  norm_quantiser<Types::scaling, typename Types::output> quantise;
  if constexpr (Types::scaling == norm_scaling::given)
    quantise.factor = args.output_factor;
  if constexpr (Types::scaling == norm_scaling::per_row) {
    int largest = magnitude_bits(tail_value);
    const auto again = share.afresh();
#pragma unroll
    for (int k = 0; k < slots; ++k)
      if (again.owns(k, mine)) {
        const auto values = values_of(k);
#pragma unroll
        for (int e = 0; e < chunk; ++e) {
          const int bits = magnitude_bits(values[e]);
          largest = bits > largest ? bits : largest;
        }
      }
    const float scale =
        quantise.scale_of(team.template all_reduce<2>(largest, op::maximum{}), quantise.factor);
    if (share.lane == 0 && active)
      args.scales[row] = scale;
  }

  store_row<slots>(
      args.y + offset[3], share.afresh(), mine,
      [&](int k) {
        auto values = values_of(k);
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          values[e] = quantise(values[e]);
        return values;
      },
      [&] { return quantise(tail_value); });
}

/// Rows of up to 64 chunks: `args.lanes` lanes a row, a wave 64 / lanes rows at a time.
template <class Types, norm_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUPS(
    Config.threads(),
    (norm_groups_for<Types, Config>)) void norm_short_rows(norm_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    const lanes_team team(1u << args.lanes_log2);
    const row_share<Types::chunk> share(team.lane(), team.size(),
                                        static_cast<uint32_t>(args.columns));
    row_parameters<Types, Config> parameters(args, share);
    const int64_t wave = int64_t{workgroup_id()} * Config.waves + wave_id();
    const int64_t own = static_cast<uint32_t>(lane_id()) >> args.lanes_log2;
    for (int64_t first = wave << (wave_size_log2 - args.lanes_log2); first < args.rows;
         first += args.teams)
      norm_of_row<Types, Config>(args, team, share, parameters, first + own,
                                 first + own < args.rows);
  } else {
    refuse_to_run();
  }
}

/// Rows that a wave holds.
template <class Types, norm_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUPS(
    Config.threads(),
    (norm_groups_for<Types, Config>)) void norm_wave_rows(norm_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    const wave_team team;
    const row_share<Types::chunk> share(team.lane(), team.size(),
                                        static_cast<uint32_t>(args.columns));
    row_parameters<Types, Config> parameters(args, share);
    for (int64_t row = int64_t{workgroup_id()} * Config.waves + wave_id(); row < args.rows;
         row += args.teams)
      norm_of_row<Types, Config>(args, team, share, parameters, row, true);
  } else {
    refuse_to_run();
  }
}

/// Rows that a workgroup holds.
template <class Types, norm_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUPS(
    Config.threads(),
    (norm_groups_for<Types, Config>)) void norm_workgroup(norm_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team_type = workgroup_team<Config.waves>;
    // two: what one row's last reduction still reads the next row's first must not write
    WAVETILE_SHARED typename team_type::storage memory[2];
    const row_share<Types::chunk> share(static_cast<uint32_t>(thread_id()), team_type::size(),
                                        static_cast<uint32_t>(args.columns));
    row_parameters<Types, Config> parameters(args, share);
    int turn = 0;
    for (int64_t row = workgroup_id(); row < args.rows; row += args.teams) {
      const team_type team(memory[turn]);
      norm_of_row<Types, Config>(args, team, share, parameters, row, true);
      turn ^= 1;
    }
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
