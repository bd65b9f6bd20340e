/// \file
/// Results of the parts of a query's keys, put together, on NVIDIA GPUs.
#pragma once

#include <wavetile/core/convert.hpp>
#include <wavetile/core/detail/any_address.hpp>
#include <wavetile/kernels/attention/scores.hpp>
#include <wavetile/wave/lane.hpp>
#include <wavetile/wave/shuffle.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// o = sum over parts of 2^(l[p] - max l) o[p] / sum over parts of 2^(l[p] - max l), in an order
/// that is always the same. A wave takes a row: lanes find the weights of 32 parts at a time, then
/// each sums pairs of elements over the parts, whose loads do not wait for each other. Parts that
/// saw no key count nothing, whatever they hold.
template <class Types, int Elements>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(256) void attention_combine(
    const __grid_constant__ attention_arguments<Types> args) {
  constexpr int pairs = Elements / 2, slots = (pairs + wave_size - 1) / wave_size;
  const attention_parts& parts = args.parts;
  const int64_t row =
      (args.first_group + instruction::workgroup_x()) * attention_wave_rows + wave_id();
  if (row >= parts.row_count)
    return;
  const int lane = thread_id() % wave_size, count = static_cast<int>(parts.parts);
  const auto log_of = [&](int part) {
    return part < count ? parts.logs[part * parts.row_count + row] : -INFINITY;
  };
  float largest = hidden_exponent;
  for (int first = 0; first < count; first += wave_size)
    largest = maximum<nan_rule::ignore>(largest, log_of(first + lane));
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2)
    largest = maximum<nan_rule::ignore>(largest, __shfl_xor_sync(~0u, largest, distance));
  float sum = 0;
  vec<float, 2> values[slots] = {};
  for (int first = 0; first < count; first += wave_size) {
    const float own = exp2(log_of(first + lane) - largest); // 0 for a part without keys
    const int here = count - first < wave_size ? count - first : wave_size;
#pragma unroll 8
    for (int part = 0; part < here; ++part) {
      const float weight = __shfl_sync(~0u, own, part);
      const float* from = parts.values + ((first + part) * parts.row_count + row) * Elements;
      sum += weight;
#pragma unroll
      for (int i = 0; i < slots; ++i)
        if (const int pair = lane + wave_size * i; pair < pairs) {
          const auto value = load_vec<2>(from + 2 * pair);
          for (int e = 0; e < 2; ++e)
            values[i][e] = weight == 0.0f ? values[i][e] : fma(weight, value[e], values[i][e]);
        }
    }
  }
  const float factor = sum == 0.0f ? 0.0f : reciprocal(sum);
  auto* to = args.result_of(row);
#pragma unroll
  for (int i = 0; i < slots; ++i)
    if (const int pair = lane + wave_size * i; pair < pairs) {
      using output = typename Types::output;
      const vec<output, 2> result{
          {convert<output>(values[i][0] * factor), convert<output>(values[i][1] * factor)}};
      wavetile::detail::store_anywhere(to + 2 * pair, result);
    }
  if (args.lse != nullptr && lane == 0)
    *args.lse_of(row) = sum == 0.0f ? -INFINITY : (largest + log2(sum)) * ln_2;
}

} // namespace wavetile::kernels

#endif
