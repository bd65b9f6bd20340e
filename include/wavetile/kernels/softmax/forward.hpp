/// \file
/// Softmax and log-softmax of rows that fit in registers: each element is read once and written
/// once.
#pragma once

#include <wavetile/kernels/rows/finite_bf16.hpp>
#include <wavetile/kernels/rows/team.hpp>
#include <wavetile/kernels/softmax/forward_math.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// One row, or with a lanes team one row a team; `active` is false for teams beyond the last row.
template <class Types, softmax_config Config, class Team>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
softmax_of_row(const softmax_arguments<Types>& args, const Team& team, int64_t row, bool active) {
  constexpr int chunk = Types::chunk;
  constexpr int slots = Config.slots;
  constexpr bool is_log = Types::form == softmax_form::log_softmax;
  using mask = typename Types::mask;
  constexpr bool has_mask = mask::kind != mask_kind::none;
  // Long rows of 16-bit elements stay as they were read, and are converted each time they are used.
  constexpr bool keeps_input = slots * chunk > 64;

  const auto columns = static_cast<uint32_t>(args.columns);
  const row_share<chunk> share(team.lane(), team.size(), columns);
  int64_t offset[3];
  args.map.locate(active ? row : 0, offset);
  uint32_t visible = active ? columns : 0;
  const row_prefix written = active ? share.all : row_prefix{0, 0};
  if ((args.flags & causal_flag) != 0 && active)
    visible = static_cast<uint32_t>(args.causal.visible(row, args.columns));
  const row_prefix read = share.first(visible);
  const int reach = share.reach(visible);

  // Without a mask array only the causal mask hides single elements of what is read; chunks beyond
  // it hold what enters as -infinity, if the scale is not 0. Long rows have no registers for that.
  constexpr bool fills = !has_mask && !keeps_input;
  const bool cut_short = (args.flags & causal_flag) != 0 || (float_bits(args.sign) << 1) == 0;
  row_tile<typename Types::input, chunk, slots> x;
  if constexpr (fills)
    x.load_or(args.x + offset[0], share, read,
              convert<typename Types::input>(args.sign < 0 ? -minus_infinity() : minus_infinity()));
  else
    x.load(args.x + offset[0], share, read);
  row_tile<typename Types::mask_element, chunk, has_mask ? slots : 1> hide;
  if constexpr (has_mask)
    hide.load(args.mask + offset[2], share, read);

  bool any_kept = false;
  const auto enter_chunk = [&](int k) {
    const auto raw = x.chunk(k);
    vec<typename Types::mask_element, chunk> bias{};
    if constexpr (has_mask)
      bias = hide.chunk(k);
    vec<float, chunk> values;
    if constexpr (!fills) {
#pragma unroll
      for (int e = 0; e < chunk; ++e) {
        const bool shown = share.step(k, e) < reach && keeps<mask>(bias[e]);
        any_kept = any_kept || (has_mask && shown);
        values[e] = enter<mask>(convert<float>(raw[e]), bias[e], args.sign, shown);
      }
    } else {
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[e] = convert<float>(raw[e]) * args.sign;
      if (cut_short) {
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          values[e] = share.step(k, e) < reach ? values[e] : minus_infinity();
      }
    }
    return values;
  };
  typename Types::mask_element tail_bias{};
  if constexpr (has_mask)
    tail_bias = hide.tail();
  const bool tail_shown = share.lane < read.tail && keeps<mask>(tail_bias);
  any_kept = has_mask && tail_shown;
  const float tail = enter<mask>(convert<float>(x.tail()), tail_bias, args.sign, tail_shown);

  // what entered, later its exponential
  vec<float, chunk> held[keeps_input ? 1 : slots];
  float largest = larger_number{}(maximum_start(), tail);
  for_slots<slots>(share, [&](int k) {
    const auto values = enter_chunk(k);
#pragma unroll
    for (int e = 0; e < chunk; ++e)
      largest = larger_number{}(largest, values[e]);
    if constexpr (!keeps_input)
      held[k] = values;
  });

  row_result<Types::form> result;
  result.scale = args.scale;
  result.exponent_scale = args.scale * log2_e;
  result.maximum = team.template all_reduce<0>(largest, larger_number{});

  float sums[chunk] = {};
  for_slots<slots>(share, [&](int k) {
    vec<float, chunk> values;
    if constexpr (keeps_input)
      values = enter_chunk(k);
    else
      values = held[k];
#pragma unroll
    for (int e = 0; e < chunk; ++e) {
      values[e] = exponential(values[e], result.maximum, result.exponent_scale);
      sums[e] += values[e];
    }
    if constexpr (!keeps_input && !is_log)
      held[k] = values;
  });
  const float tail_exponential = exponential(tail, result.maximum, result.exponent_scale);
  sums[0] += tail_exponential;
#pragma unroll
  for (int step = chunk / 2; step > 0; step /= 2)
#pragma unroll
    for (int e = 0; e < step; ++e)
      sums[e] += sums[e + step];

  result.finish(team.template all_reduce<1>(sums[0], op::plus{}), [&] {
    if constexpr (has_mask)
      return team.template all_reduce<2>(any_kept ? 1 : 0, op::maximum{}) != 0;
    else
      return visible != 0;
  });

  // A NaN among the elements makes the sum, and so every result, a NaN. Then all become one that
  // rounding to bf16 keeps, and rounding need not ask for NaNs, two instructions an element.
  using output = typename Types::output;
  constexpr bool asks_once = wavetile::detail::is_same_v<storage_t<output>, bf16> && !keeps_input;
  if constexpr (asks_once) {
    const bool spoilt = is_nan(result.last);
    if (wave::any(spoilt)) {
      const float quiet = float_from_bits(0x7FC00000u);
#pragma unroll
      for (int k = 0; k < slots; ++k)
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          held[k][e] = spoilt ? quiet : held[k][e];
      result.last = spoilt ? quiet : result.last;
    }
  }

  store_row<slots>(
      args.y + offset[1], share, written,
      [&](int k) {
        vec<float, chunk> values;
        if constexpr (keeps_input)
          values = enter_chunk(k);
        else
          values = held[k];
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          values[e] = keeps_input || is_log ? result(values[e]) : result.of_exponential(values[e]);
        if constexpr (asks_once)
          return to_bf16_finite<output>(values);
        else
          return values;
      },
      [&] { return is_log ? result(tail) : result.of_exponential(tail_exponential); });
}

/// Rows of up to 64 chunks: `args.lanes` lanes a row, a wave 64 / lanes rows.
template <class Types, softmax_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_short_rows(softmax_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    const lanes_team team(1u << args.lanes_log2);
    const int64_t thread = int64_t{workgroup_id()} * Config.threads() + thread_id();
    const int64_t row = args.first_row + (thread >> args.lanes_log2);
    softmax_of_row<Types, Config>(args, team, row, row < args.rows);
  } else {
    refuse_to_run();
  }
}

/// Rows that a wave holds.
template <class Types, softmax_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_wave_rows(softmax_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    const int64_t row = args.first_row + int64_t{workgroup_id()} * Config.waves + wave_id();
    if (row < args.rows)
      softmax_of_row<Types, Config>(args, wave_team(), row, true);
  } else {
    refuse_to_run();
  }
}

/// Rows that a workgroup holds.
template <class Types, softmax_config Config>
WAVETILE_KERNEL
WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_workgroup(softmax_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team = workgroup_team<Config.waves>;
    WAVETILE_SHARED typename team::storage memory;
    softmax_of_row<Types, Config>(args, team(memory), args.first_row + workgroup_id(), true);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
