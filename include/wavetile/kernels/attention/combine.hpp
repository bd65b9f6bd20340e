/// \file
/// Results of the parts of a query's keys, put together.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/kernels/attention/problem.hpp>
#include <wavetile/kernels/attention/scores.hpp>
#include <wavetile/wave/broadcast.hpp>
#include <wavetile/wave/lane.hpp>
#include <wavetile/wave/shuffle.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// Rows of a workgroup, a wave each.
inline constexpr int attention_combine_rows = attention_wave_rows;

/// o = sum over parts of 2^(l[p] - max l) o[p] / sum over parts of 2^(l[p] - max l), parts in
/// order, so that the result is always the same bit for bit. A wave takes a row, a lane its
/// elements lane, lane + wave_size, …; parts that saw no key count nothing, whatever they hold.
template <class Types, int Elements>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(attention_combine_rows* wave_size) void attention_combine(
    attention_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    constexpr int slots = (Elements + wave_size - 1) / wave_size;
    const attention_parts& parts = args.parts;
    const int64_t row =
        (args.first_group + __builtin_amdgcn_workgroup_id_x()) * attention_combine_rows + wave_id();
    if (row >= parts.row_count)
      return;
    const int lane = lane_id();
    const int count = static_cast<int>(parts.parts);
    int element[slots];
#pragma unroll
    for (int i = 0; i < slots; ++i)
      element[i] = lane + wave_size * i < Elements ? lane + wave_size * i : Elements - 1;
    constexpr int ahead = 4; // parts whose values are on their way while others are added
    float next[ahead][slots];
    const auto load = [&](int first) {
#pragma unroll
      for (int j = 0; j < ahead; ++j) {
        const int64_t p = first + j < count ? first + j : count - 1;
#pragma unroll
        for (int i = 0; i < slots; ++i)
          next[j][i] = parts.values[(p * parts.row_count + row) * Elements + element[i]];
      }
    };
    load(0);
    // lane p has the logarithm of part p
    static_assert(most_attention_parts <= wave_size);
    float log = float_from_bits(0xFF800000u); // minus infinity: no key
    if (lane < count)
      log = parts.logs[lane * parts.row_count + row];
    float largest = maximum<nan_rule::ignore>(log, hidden_exponent);
#pragma unroll
    for (int i = 1; i < wave_size; i *= 2)
      largest = maximum<nan_rule::ignore>(largest, wave::shuffle(largest, lane ^ i));
    const float weight = exp2(log - largest);
    float sum = 0, values[slots] = {};
    for (int p = 0; p < count; p += ahead) {
      float now[ahead][slots];
      __builtin_memcpy(now, next, sizeof now);
      load(p + ahead);
#pragma unroll
      for (int j = 0; j < ahead; ++j) {
        if (p + j >= count || float_bits(wave::broadcast(log, p + j)) == 0xFF800000u)
          continue;
        const float own = wave::broadcast(weight, p + j);
        sum += own;
#pragma unroll
        for (int i = 0; i < slots; ++i)
          values[i] = fma(own, now[j][i], values[i]);
      }
    }
    const float factor = sum == 0.0f ? 0.0f : reciprocal(sum);
    auto* to = args.result_of(row);
#pragma unroll
    for (int i = 0; i < slots; ++i)
      if (lane + wave_size * i < Elements)
        to[lane + wave_size * i] = convert<typename Types::output>(values[i] * factor);
    if (args.lse != nullptr && lane == 0)
      *args.lse_of(row) =
          select(sum == 0.0f, float_from_bits(0xFF800000u), (largest + log2(sum)) * ln_2);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
