/// \file
/// RMSNorm and LayerNorm of rows that fit in registers: each element is read once and written once.
///
/// On gfx942 a kernel whose lanes have up to four slots, but for that of short rows, has, beside
/// code for any rows that it holds, code for rows without a tail at even steps that take half of
/// its slots or more, one for each number of slots: all but the last are then known to be filled by
/// all lanes, and nothing asks.
#pragma once

#include <wavetile/kernels/norms/arithmetic.hpp>
#include <wavetile/kernels/rows/finite_bf16.hpp>
#include <wavetile/kernels/rows/pairs.hpp>
#include <wavetile/kernels/rows/reread.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// A lane's weight and bias for all rows of its team.
template <class Types, norm_config Config, int Slots>
struct row_parameters {
  static constexpr int chunk = Types::chunk;
  static constexpr bool kept = keeps_parameters(Config, chunk, Types::chunk_bytes,
                                                Types::loaded_bytes, Types::parameter_bytes);
  norm_parameters<typename Types::weight, chunk, Slots, Types::has_weight, kept, 1> weight;
  norm_parameters<typename Types::bias, chunk, Slots, Types::has_bias, kept, 0> bias;

  template <int Exact>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_parameters(const norm_arguments<Types>& args,
                                                       const row_share<chunk, Exact>& share)
      : weight(args.weight, share), bias(args.bias, share) {}
};

/// One row, or with a lanes team one row a team; `active` is false for teams beyond the last row.
/// `offset`: of the row in x, y, residual and sum.
template <class Types, norm_config Config, int Exact, int Slots, class Team>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
norm_of_row(const norm_arguments<Types>& args, const Team& team,
            const row_share<Types::chunk, Exact>& whole,
            row_parameters<Types, Config, Slots>& parameters, const int64_t (&offset)[4],
            int64_t row, bool active) {
  constexpr int chunk = Types::chunk;
  constexpr norm_kind kind = Types::kind;
  using held = typename Types::held;
  // Elements become fp32 once and stay so, if they and the parameters leave room for the rest in 64
  // registers; else each time they are used.
  constexpr int room =
      kind == norm_kind::layer && Config.method == norm_method::workgroup ? 144 : 192;
  constexpr bool once = Exact != 0 && Slots * chunk * (4 + Types::parameter_bytes) <= room;
  // What the lane does not own holds zeros, or is left out each time: long rows have no registers
  // for other conditions.
  constexpr bool zeros = Types::has_residual || (!WAVETILE_CUDA && Slots <= 4);

  const auto share = whole.template afresh<true>();
  float per_column = args.per_column, epsilon = args.epsilon;
#if WAVETILE_AMDGCN && defined(__OPTIMIZE__)
  if constexpr (Exact != 0) // else copies of them stay in vector registers from row to row
    asm volatile("" : "+s"(per_column), "+s"(epsilon));
#endif
  const row_prefix mine = active ? share.all : row_prefix{0, 0};
  const bool has_tail = share.owns_tail(mine);

  row_tile<held, chunk, Slots> h;
  if constexpr (Types::has_residual) {
    using input = typename Types::input;
    using residual = typename Types::residual;
    row_tile<input, chunk, Slots> x;
    row_tile<residual, chunk, Slots> added;
    x.load_or(args.x + offset[0], share, mine, input{});
    added.load_or(args.residual + offset[2], share, mine, residual{});
    held* const to = args.sum + offset[3];
    const auto sum_of = [](input a, residual b) {
      return convert<held>(convert<float>(a) + convert<float>(b));
    };
#pragma unroll
    for (int k = 0; k < Slots; ++k) {
      const auto a = x.chunk(k);
      const auto b = added.chunk(k);
      vec<held, chunk> sum;
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        sum[e] = sum_of(a[e], b[e]);
      if (share.owns(k, mine))
        store_chunk(share.at(to, k), sum);
      h.put(k, sum);
    }
    h.put_tail(sum_of(x.tail(), added.tail()));
    if (has_tail)
      to[share.tail_column()] = h.tail();
  } else {
    if constexpr (zeros)
      h.load_or(args.x + offset[0], share, mine, held{});
    else
      h.load(args.x + offset[0], share, mine);
  }
  const float tail = convert<float>(h.tail());
  vec<float, chunk> kept[once ? Slots : 1];
  const auto read = [&](int k, bool owned) {
    const auto raw = h.chunk(k);
    vec<float, chunk> values;
#pragma unroll
    for (int e = 0; e < chunk; ++e)
      values[e] = zeros || owned ? convert<float>(raw[e]) : 0.0f;
    return values;
  };

  // sum over the lane's share of the row
  const auto lane_sum = [&](auto add, float last) {
    vec<float, chunk> sums{};
    const auto again = share.afresh();
    for_slots<Slots>(again, [&](int k) {
      const bool owned = again.owns(k, mine);
#if WAVETILE_CUDA // one branch, most often the same in all lanes, in place of a select an element
      if (!owned)
        return;
#endif
      sums = add(sums, k, owned);
    });
    if constexpr (Exact == 0)
      sums[0] += last;
    return sum_of(sums);
  };

  norm_statistics statistics;
  if constexpr (kind == norm_kind::layer) {
    const float sum = lane_sum(
        [&](vec<float, chunk> sums, int k, bool owned) {
          const auto values = read(k, owned);
          if constexpr (once)
            kept[k] = values;
          return k == 0 ? values : add(sums, values);
        },
        tail);
    statistics.mean = team.template all_reduce<0>(sum, op::plus{}) * per_column;
  }
  // differences from the mean; zero where zeros stand for what the lane does not own
  const auto centre = [&](const vec<float, chunk>& values, bool owned) {
    if constexpr (kind == norm_kind::layer)
      return subtract(values, spread<chunk>(owned ? statistics.mean : 0.0f));
    else
      return values;
  };
  const float tail_centred =
      kind == norm_kind::layer ? tail - (has_tail ? statistics.mean : 0.0f) : tail;
  const float squares = lane_sum(
      [&](vec<float, chunk> sums, int k, bool owned) {
        vec<float, chunk> values;
        if constexpr (once && kind == norm_kind::layer)
          values = kept[k];
        else
          values = read(k, owned);
        values = centre(values, owned);
        if constexpr (once)
          kept[k] = values;
        return k == 0 ? multiply(values, values) : multiply_add(values, values, sums);
      },
      tail_centred * tail_centred);
  statistics.finish(team.template all_reduce<1>(squares, op::plus{}), per_column, epsilon);

  const auto values_of = [&](int k) {
    vec<float, chunk> values;
    if constexpr (once)
      values = kept[k];
    else
      values = centre(read(k, true), true);
    values = multiply(values, spread<chunk>(statistics.factor));
    if constexpr (Types::has_weight && Types::has_bias)
      return multiply_add(values, parameters.weight.chunk(share, k),
                          parameters.bias.chunk(share, k));
    else if constexpr (Types::has_weight)
      return multiply(values, parameters.weight.chunk(share, k));
    else if constexpr (Types::has_bias)
      return add(values, parameters.bias.chunk(share, k));
    else
      return values;
  };
  float tail_value = 0;
  if (has_tail)
    tail_value = fma(tail_centred * statistics.factor, parameters.weight.tail(share),
                     parameters.bias.tail(share));

  norm_quantiser<Types::scaling, typename Types::output> quantise;
  if constexpr (Types::scaling == norm_scaling::given)
    quantise.factor = args.output_factor;
  if constexpr (Types::scaling == norm_scaling::per_row) {
    int largest = magnitude_bits(tail_value);
    const auto again = share.afresh();
#pragma unroll
    for (int k = 0; k < Slots; ++k)
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

  store_row<Slots>(
      args.y + offset[1], share.afresh(), mine,
      [&](int k) {
        auto values = values_of(k);
        if constexpr (Types::scaling != norm_scaling::none)
          values = multiply(values, spread<chunk>(quantise.factor));
        if constexpr (Types::makes_plain_nans)
          return to_bf16_finite<typename Types::output>(values);
        else
          return values;
      },
      [&] { return quantise(tail_value); });
}

/// A team's rows, first the one given; they take `Exact` slots, 0 for what is not known.
template <class Types, norm_config Config, int Exact, class Next>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void norm_of_rows(const norm_arguments<Types>& args,
                                                        const row_share<Types::chunk>& any,
                                                        uint32_t first, Next next_team) {
  constexpr int slots = Exact != 0 ? Exact : Config.slots;
  const auto share = any.template exactly<Exact>();
  row_parameters<Types, Config, slots> parameters(args, share);
  int64_t offset[4];
  if constexpr (Exact != 0) {
    const auto rows = static_cast<uint32_t>(args.rows);
    for (uint32_t row = first; row < rows; row += static_cast<uint32_t>(args.teams)) {
#if WAVETILE_AMDGCN &&                                                                             \
    defined(__OPTIMIZE__) // not to be turned into additions, which need more before the first row
      asm volatile("" : "+s"(row));
#endif
      for (int i = 0; i < 4; ++i)
        offset[i] = int64_t{row} * args.map.stride[i][0];
      norm_of_row<Types, Config, Exact>(args, next_team(), share, parameters, offset, row, true);
    }
  } else {
    for (int64_t row = first; row < args.rows; row += args.teams) {
      const norm_arguments<Types> again = reread(args);
      again.map.locate(row, offset);
      norm_of_row<Types, Config, 0>(again, next_team(), share, parameters, offset, row, true);
    }
  }
}

/// The same by what `args.exact_slots` says.
template <class Types, norm_config Config, class Next, int Slots = Config.slots>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void norm_by_slots(const norm_arguments<Types>& args,
                                                         const row_share<Types::chunk>& share,
                                                         uint32_t first, Next next_team) {
  if constexpr (!norm_slots_known(Config, Slots)) {
    norm_of_rows<Types, Config, 0>(args, share, first, next_team);
  } else {
    if (args.exact_slots == Slots)
      norm_of_rows<Types, Config, Slots>(args, share, first, next_team);
    else
      norm_by_slots<Types, Config, Next, Slots - 1>(args, share, first, next_team);
  }
}

/// Rows of up to 64 chunks: `args.lanes` lanes a row, a wave 64 / lanes rows at a time.
template <class Types, norm_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUPS(
    Config.threads(),
    (norm_groups_for<Types, Config>)) void norm_short_rows(norm_arguments<Types> kernel_arguments) {
  if constexpr (device_pass_supported) {
    const auto& args = kernel_arguments;
    const lanes_team team(1u << args.lanes_log2);
    const row_share<Types::chunk> share(team.lane(), team.size(),
                                        static_cast<uint32_t>(args.columns));
    row_parameters<Types, Config, Config.slots> parameters(args, share);
    const int64_t wave = int64_t{workgroup_id()} * Config.waves + wave_id();
    const int64_t own = static_cast<uint32_t>(lane_id()) >> args.lanes_log2;
    for (int64_t first = wave << (wave_size_log2 - args.lanes_log2); first < args.rows;
         first += args.teams) {
      const int64_t row = first + own;
      const bool active = row < args.rows;
      const norm_arguments<Types> again = reread(args);
      int64_t offset[4];
      again.map.locate(active ? row : 0, offset);
      norm_of_row<Types, Config, 0>(again, team, share, parameters, offset, row, active);
    }
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
    const uint32_t first = Config.waves == 1
                               ? workgroup_id()
                               : workgroup_id() * Config.waves + static_cast<uint32_t>(wave_id());
    norm_by_slots<Types, Config>(args, share, first, [&] { return team; });
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
    int turn = 1;
    norm_by_slots<Types, Config>(args, share, workgroup_id(), [&] {
      turn ^= 1;
      return team_type(memory[turn]);
    });
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
