/// \file
/// Gradients of softmax and log-softmax.
///
/// With the forward's result y and the gradient g of y, over a row:
///
///     softmax      dx = scale y (g - sum of y g)
///     log_softmax  dx = scale (g - exp(y) sum of g)
///
/// Elements that a mask hides count in no sum and get 0.
#pragma once

#include <wavetile/kernels/rows/row_stream.hpp>
#include <wavetile/kernels/rows/team.hpp>
#include <wavetile/kernels/softmax/forward_math.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// An element's summand and result.
template <softmax_form Form>
struct backward_math {
  float scale;
  float total = 0;

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static float summand(float y, float gradient, bool shown) {
    const float value = Form == softmax_form::softmax_backward ? y * gradient : gradient;
    return shown ? value : 0.0f;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float operator()(float y, float gradient,
                                                         bool shown) const {
    const float value = Form == softmax_form::softmax_backward
                            ? scale * y * (gradient - total)
                            : scale * fma(-exp(y), total, gradient);
    return shown ? value : 0.0f;
  }
};

/// The sum that `sum_of` of rows/pairs.hpp gives, an element an instruction: two an instruction
/// take 5 % more instructions here, in moves that make pairs.
template <int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float sum_by_halves(vec<float, N> values) {
#pragma unroll
  for (int step = N / 2; step > 0; step /= 2)
#pragma unroll
    for (int e = 0; e < step; ++e)
      values[e] += values[e + step];
  return values[0];
}

/// One row, or with a lanes team one row a team; `active` is false for teams beyond the last row.
template <class Types, softmax_config Config, class Team>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
softmax_backward_of_row(const softmax_backward_arguments<Types>& args, const Team& team,
                        int64_t row, bool active) {
  constexpr int chunk = Types::chunk;
  constexpr int slots = Config.slots;
  using mask = typename Types::mask;
  constexpr bool has_mask = mask::kind != mask_kind::none;
  using mask_element = typename Types::mask_element;

  const auto columns = static_cast<uint32_t>(args.columns);
  const row_share<chunk> share(team.lane(), team.size(), columns);
  int64_t offset[4];
  args.map.locate(active ? row : 0, offset);
  uint32_t visible = active ? columns : 0;
  const row_prefix written = active ? share.all : row_prefix{0, 0};
  if ((args.flags & causal_flag) != 0 && active)
    visible = static_cast<uint32_t>(args.causal.visible(row, args.columns));
  const row_prefix read = share.first(visible);
  const int reach = share.reach(visible);

  row_tile<typename Types::result, chunk, slots> y;
  y.load(args.y + offset[0], share, read);
  row_tile<typename Types::gradient, chunk, slots> gradient;
  gradient.load(args.gradient + offset[1], share, read);
  row_tile<mask_element, chunk, has_mask ? slots : 1> hide;
  if constexpr (has_mask)
    hide.load(args.mask + offset[3], share, read);

  backward_math<Types::form> math{args.scale};
  // `body(y, gradient, shown, element)` for the elements of a slot
  const auto for_chunk = [&](int k, auto body) {
    const auto results = y.chunk(k);
    const auto gradients = gradient.chunk(k);
    vec<mask_element, chunk> biases{};
    if constexpr (has_mask)
      biases = hide.chunk(k);
#pragma unroll
    for (int e = 0; e < chunk; ++e)
      body(convert<float>(results[e]), convert<float>(gradients[e]),
           share.step(k, e) < reach && keeps<mask>(biases[e]), e);
  };
  mask_element tail_bias{};
  if constexpr (has_mask)
    tail_bias = hide.tail();
  const bool tail_shown = share.lane < read.tail && keeps<mask>(tail_bias);
  const auto tail_y = convert<float>(y.tail());
  const auto tail_gradient = convert<float>(gradient.tail());

  vec<float, chunk> sums{};
  for_slots<slots>(share, [&](int k) {
    for_chunk(k, [&](float yi, float gi, bool shown, int e) {
      sums[e] += backward_math<Types::form>::summand(yi, gi, shown);
    });
  });
  sums[0] += backward_math<Types::form>::summand(tail_y, tail_gradient, tail_shown);
  math.total = team.template all_reduce<0>(sum_by_halves(sums), op::plus{});

  store_row<slots>(
      args.out + offset[2], share, written,
      [&](int k) {
        vec<float, chunk> values;
        for_chunk(k,
                  [&](float yi, float gi, bool shown, int e) { values[e] = math(yi, gi, shown); });
        return values;
      },
      [&] { return math(tail_y, tail_gradient, tail_shown); });
}

/// Rows of up to 64 chunks: 2^lanes_log2 lanes a row, several rows a wave.
template <class Types, softmax_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_backward_short_rows(
    softmax_backward_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    const lanes_team team(1u << args.lanes_log2);
    const int64_t thread = int64_t{workgroup_id()} * Config.threads() + thread_id();
    const int64_t row = args.first_row + (thread >> args.lanes_log2);
    softmax_backward_of_row<Types, Config>(args, team, row, row < args.rows);
  } else {
    refuse_to_run();
  }
}

/// Rows that a wave holds.
template <class Types, softmax_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_backward_wave_rows(
    softmax_backward_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    const int64_t row = args.first_row + int64_t{workgroup_id()} * Config.waves + wave_id();
    if (row < args.rows)
      softmax_backward_of_row<Types, Config>(args, wave_team(), row, true);
  } else {
    refuse_to_run();
  }
}

/// Rows that a workgroup holds.
template <class Types, softmax_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void softmax_backward_workgroup(
    softmax_backward_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    using team = workgroup_team<Config.waves>;
    WAVETILE_SHARED typename team::storage memory;
    softmax_backward_of_row<Types, Config>(args, team(memory), args.first_row + workgroup_id(),
                                           true);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
