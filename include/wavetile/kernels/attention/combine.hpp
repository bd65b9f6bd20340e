/// \file
/// Results of the parts of a query's keys, put together.
#pragma once

#include <wavetile/core/math.hpp>
#include <wavetile/core/vec.hpp>
#include <wavetile/kernels/attention/problem.hpp>
#include <wavetile/kernels/attention/scores.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// o = sum over parts of 2^(l[p] - max l) o[p] / sum over parts of 2^(l[p] - max l), parts in
/// order, so that the result is always the same bit for bit. A wave takes a row, a lane its
/// elements lane, lane + wave_size, …; parts that saw no key count nothing, whatever they hold.
template <class Types, int Elements>
WAVETILE_KERNEL __attribute__((amdgpu_flat_work_group_size(256, 256))) void
attention_combine(attention_arguments<Types> args) {
  if constexpr (device_pass_supported) {
    constexpr int slots = (Elements + wave_size - 1) / wave_size;
    const attention_parts& parts = args.parts;
    const int64_t row = (args.first_group + __builtin_amdgcn_workgroup_id_x()) * 4 + wave_id();
    if (row >= parts.row_count)
      return;
    const int lane = lane_id();
    float largest = hidden_exponent;
    for (int64_t p = 0; p < parts.parts; ++p)
      largest = maximum<nan_rule::ignore>(largest, parts.logs[p * parts.row_count + row]);
    float sum = 0, values[slots] = {};
    for (int64_t p = 0; p < parts.parts; ++p) {
      const int64_t from = p * parts.row_count + row;
      const float log = parts.logs[from];
      if (float_bits(log) == 0xFF800000u) // minus infinity: no key
        continue;
      const float weight = exp2(log - largest);
      sum += weight;
#pragma unroll
      for (int i = 0; i < slots; ++i)
        if (lane + wave_size * i < Elements)
          values[i] = fma(weight, parts.values[from * Elements + lane + wave_size * i], values[i]);
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
