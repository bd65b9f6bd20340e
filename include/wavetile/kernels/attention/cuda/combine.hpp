/// \file
/// Results of the parts of a query's keys, put together, on NVIDIA GPUs.
#pragma once

#include <wavetile/core/detail/any_address.hpp>
#include <wavetile/kernels/attention/cuda/part_results.hpp>
#include <wavetile/wave/lane.hpp>
#include <wavetile/wave/shuffle.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// Rows of a workgroup, a wave each: few, as decode steps of one sequence have a few dozen.
inline constexpr int attention_combine_rows = 2;

/// o = sum over parts of 2^(l[p] - max l) o[p] / sum over parts of 2^(l[p] - max l): the parts are
/// added in order, each relative to the largest l so far (`part_weights`). A wave takes a row:
/// lanes find the weights of 32 parts at a time, then each sums pairs of elements over the parts,
/// whose loads do not wait for each other. Parts that saw no key count nothing, whatever they hold.
template <class Types, int Elements>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(attention_combine_rows* wave_size) void attention_combine(
    const __grid_constant__ attention_arguments<Types> args) {
  constexpr int pairs = Elements / 2, slots = (pairs + wave_size - 1) / wave_size;
  const attention_parts& parts = args.parts;
  const int64_t row =
      (args.first_group + instruction::workgroup_x()) * attention_combine_rows + wave_id();
  if (row >= parts.row_count)
    return;
  const int lane = thread_id() % wave_size, count = static_cast<int>(parts.parts);
  const auto log_of = [&](int part) {
    return part < count ? parts.logs[part * parts.row_count + row] : -INFINITY;
  };
  float largest = hidden_exponent; // of all parts before
  float sum = 0;
  vec<float, 2> values[slots] = {};
  for (int first = 0; first < count; first += wave_size) {
    const float log = log_of(first + lane);
    float reached = log; // by this part and those before
#pragma unroll
    for (int distance = 1; distance < wave_size; distance *= 2) {
      const float other = __shfl_up_sync(~0u, reached, static_cast<unsigned>(distance));
      reached = lane >= distance ? larger_log(other, reached) : reached;
    }
    reached = larger_log(largest, reached);
    const float previous = __shfl_up_sync(~0u, reached, 1);
    const part_weights own = weights_of(lane == 0 ? largest : previous, reached, log);
    largest = __shfl_sync(~0u, reached, wave_size - 1);
    const int here = count - first < wave_size ? count - first : wave_size;
    constexpr int batch = slots <= 2 ? 16 : 8;
    for (int next = 0; next < here; next += batch) {
      vec<float, 2> loaded[batch][slots] = {};
#pragma unroll
      for (int j = 0; j < batch; ++j)
#pragma unroll
        for (int i = 0; i < slots; ++i)
          if (const int pair = lane + wave_size * i; pair < pairs && next + j < here)
            loaded[j][i] = load_vec<2>(
                parts.values + ((first + next + j) * parts.row_count + row) * Elements + 2 * pair);
#pragma unroll
      for (int j = 0; j < batch; ++j) {
        // behind the last part: that of a lane without one, as of a part without keys
        const part_weights weights{__shfl_sync(~0u, own.before, next + j),
                                   __shfl_sync(~0u, own.next, next + j)};
        sum = weights.sum(sum, 1.0f);
#pragma unroll
        for (int i = 0; i < slots; ++i)
          for (int e = 0; e < 2; ++e)
            values[i][e] = weights.sum(values[i][e], loaded[j][i][e]);
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
