/// \file
/// RMSNorm and LayerNorm of rows that fit in registers: each element is read once and written once.
///
/// On gfx942 kernels whose lanes have up to four slots, but for that of short rows, have others at
/// their side for rows without a tail at even steps that take half of the slots or more: two for
/// each number of slots, the last of which all lanes fill or some. The others are then known to be
/// filled by all lanes, and nothing asks; addresses take 32-bit arithmetic.
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

  template <class Share>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_parameters(const norm_arguments<Types>& args,
                                                       const Share& share)
      : weight(args.weight, share), bias(args.bias, share) {}
};

/// Chooses a constructor of `norm_row`.
struct even_steps {};

/// Where a row starts in each array.
template <class Types>
struct norm_row {
  int64_t number;
  const typename Types::input* x;
  typename Types::output* y;
  const typename Types::residual* residual = nullptr;
  typename Types::held* sum = nullptr;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE norm_row(const norm_arguments<Types>& args, int64_t row)
      : number(row) {
    int64_t offset[4];
    args.map.locate(row, offset);
    x = args.x + offset[0];
    y = args.y + offset[1];
    if constexpr (Types::has_residual) {
      residual = args.residual + offset[2];
      sum = args.sum + offset[3];
    }
  }
  /// Of rows at even steps.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE norm_row(const norm_arguments<Types>& args, int32_t row,
                                                 even_steps)
      : number(row), x(moved(args.x, row, args.step[0])), y(moved(args.y, row, args.step[1])) {
    if constexpr (Types::has_residual) {
      residual = moved(args.residual, row, args.sum_step[0]);
      sum = moved(args.sum, row, args.sum_step[1]);
    }
  }

private:
  template <class T>
  static WAVETILE_DEVICE WAVETILE_FORCE_INLINE T* moved(T* array, int32_t row, int32_t step) {
    using byte = wavetile::detail::conditional_t<wavetile::detail::is_const_v<T>, const char, char>;
    return reinterpret_cast<T*>(reinterpret_cast<byte*>(array) + int64_t{row} * step);
  }
};

/// One row, or with a lanes team one row a team; `active` is false for teams beyond the last row.
template <class Types, norm_config Config, int Exact, bool Full, int Slots, class Team>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
norm_of_row(const norm_arguments<Types>& args, const Team& team,
            row_share<Types::chunk, Exact, Full>& whole,
            row_parameters<Types, Config, Slots>& parameters, const norm_row<Types>& row,
            bool active) {
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

  auto copy = whole.afresh();
  auto& share = Exact != 0 ? whole : copy;
  if constexpr (Exact != 0)
    share.forget();
  const row_prefix mine = active ? share.all : row_prefix{0, 0};
  const bool has_tail = share.owns_tail(mine);

  row_tile<held, chunk, Slots> h;
  if constexpr (Types::has_residual) {
    using input = typename Types::input;
    using residual = typename Types::residual;
    row_tile<input, chunk, Slots> x;
    row_tile<residual, chunk, Slots> added;
    x.load_or(row.x, share, mine, input{});
    added.load_or(row.residual, share, mine, residual{});
    held* const to = row.sum;
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
      h.load_or(row.x, share, mine, held{});
    else
      h.load(row.x, share, mine);
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
    statistics.mean = team.template all_reduce<0>(sum, op::plus{}) * args.per_column;
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
  statistics.finish(team.template all_reduce<1>(squares, op::plus{}), args.per_column,
                    args.epsilon);
#if WAVETILE_AMDGCN
  if constexpr (Full) // weight and bias are converted where they are used: there are no registers
    __builtin_amdgcn_sched_barrier(0);
#endif

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
      args.scales[row.number] = scale;
  }

  if constexpr (Exact != 0)
    share.forget();
  store_row<Slots>(
      row.y, share.afresh(), mine,
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

/// The arguments with `leading` in place of what leads them.
template <class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE norm_arguments<Types>
arguments_with(const norm_arguments<Types>& args,
               const leading_arguments<norm_leading_arguments<Types>>& leading) {
  norm_arguments<Types> all = args;
  static_cast<norm_leading_arguments<Types>&>(all) = leading.get();
  all.x = in_global_memory(all.x);
  all.y = in_global_memory(all.y);
  all.weight = in_global_memory(all.weight);
  return all;
}

/// A team's rows, first the one given, in code for any that the kernel holds.
template <class Types, norm_config Config, class Next>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void norm_of_any_rows(const norm_arguments<Types>& args,
                                                            uint32_t lane, uint32_t team_lanes,
                                                            uint32_t first, Next next_team) {
  row_share<Types::chunk> share(lane, team_lanes, static_cast<uint32_t>(args.columns));
  row_parameters<Types, Config, Config.slots> parameters(args, share);
  for (int64_t row = first; row < args.rows; row += args.teams) {
    const norm_arguments<Types> again = reread(args);
    norm_of_row<Types, Config>(again, next_team(), share, parameters, norm_row<Types>(again, row),
                               true);
  }
}

/// The same for rows of `Slots` slots, `Full` or not, at even steps. The first row is one.
template <class Types, norm_config Config, int Slots, bool Full, class Next>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void norm_of_known_rows(const norm_arguments<Types>& args,
                                                              uint32_t lane, uint32_t team_lanes,
                                                              uint32_t first, Next next_team) {
  leading_arguments<norm_leading_arguments<Types>> leading(args);
  auto known = arguments_with(args, leading);
  row_share<Types::chunk, Slots, Full> share(lane, team_lanes,
                                             static_cast<uint32_t>(known.columns));
  share.forget();
  row_parameters<Types, Config, Slots> parameters(known, share);
  uint32_t row = first;
  do {
    leading.afresh();
    known = arguments_with(args, leading);
    norm_of_row<Types, Config>(known, next_team(), share, parameters,
                               norm_row<Types>(known, static_cast<int32_t>(row), even_steps{}),
                               true);
    row += static_cast<uint32_t>(known.teams);
#if WAVETILE_AMDGCN &&                                                                             \
    defined(__OPTIMIZE__) // not to be turned into additions, which need more before the first row
    asm volatile("" : "+s"(row));
#endif
  } while (row < static_cast<uint32_t>(known.rows));
}

/// A team's rows, by what is known of them.
template <class Types, norm_config Config, int Slots, bool Full, class Next>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void norm_of_rows(const norm_arguments<Types>& args,
                                                        uint32_t lane, uint32_t team_lanes,
                                                        uint32_t first, Next next_team) {
  if constexpr (Slots != 0)
    norm_of_known_rows<Types, Config, Slots, Full>(args, lane, team_lanes, first, next_team);
  else
    norm_of_any_rows<Types, Config>(args, lane, team_lanes, first, next_team);
}

/// Rows of up to 64 chunks: `args.lanes` lanes a row, a wave 64 / lanes rows at a time.
template <class Types, norm_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUPS(
    Config.threads(),
    (norm_groups_for<Types, Config>)) void norm_short_rows(norm_arguments<Types> kernel_arguments) {
  if constexpr (device_pass_supported) {
    const auto& args = kernel_arguments;
    const lanes_team team(1u << args.lanes_log2);
    row_share<Types::chunk> share(team.lane(), team.size(), static_cast<uint32_t>(args.columns));
    row_parameters<Types, Config, Config.slots> parameters(args, share);
    const int64_t wave = int64_t{workgroup_id()} * Config.waves + wave_id();
    const int64_t own = static_cast<uint32_t>(lane_id()) >> args.lanes_log2;
    for (int64_t first = wave << (wave_size_log2 - args.lanes_log2); first < args.rows;
         first += args.teams) {
      const int64_t row = first + own;
      const bool active = row < args.rows;
      const norm_arguments<Types> again = reread(args);
      norm_row<Types> place(again, active ? row : 0);
      norm_of_row<Types, Config>(again, team, share, parameters, place, active);
    }
  } else {
    refuse_to_run();
  }
}

/// Rows that a wave holds. `Slots`, `Full`: see `norm_arguments::exact_slots`; 0: any rows.
template <class Types, norm_config Config, int Slots = 0, bool Full = false>
WAVETILE_KERNEL WAVETILE_WORKGROUPS(
    Config.threads(),
    (norm_groups_for<Types, Config>)) void norm_wave_rows(norm_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    const wave_team team;
    constexpr bool alone = Config.waves == 1;
    static_assert(Slots == 0 || alone, "wavetile: every wave must have a first row");
    const uint32_t lane = alone ? static_cast<uint32_t>(thread_id()) : team.lane();
    const uint32_t first =
        alone ? workgroup_id() : workgroup_id() * Config.waves + static_cast<uint32_t>(wave_id());
    norm_of_rows<Types, Config, Slots, Full>(args, lane, team.size(), first, [&] { return team; });
  } else {
    refuse_to_run();
  }
}

/// Rows that a workgroup holds.
template <class Types, norm_config Config, int Slots = 0, bool Full = false>
WAVETILE_KERNEL WAVETILE_WORKGROUPS(
    Config.threads(),
    (norm_groups_for<Types, Config>)) void norm_workgroup(norm_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team_type = workgroup_team<Config.waves>;
    // two: what one row's last reduction still reads the next row's first must not write
    WAVETILE_SHARED typename team_type::storage memory[2];
    int turn = 1;
    norm_of_rows<Types, Config, Slots, Full>(args, static_cast<uint32_t>(thread_id()),
                                             team_type::size(), workgroup_id(), [&] {
                                               turn ^= 1;
                                               return team_type(memory[turn]);
                                             });
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
