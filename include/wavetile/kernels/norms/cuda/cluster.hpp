/// \file
/// RMSNorm and LayerNorm of long rows by clusters of workgroups that hold them in LDS.
#pragma once

#include <wavetile/kernels/norms/arithmetic.hpp>
#include <wavetile/kernels/norms/cuda/next_parameters.hpp>
#include <wavetile/kernels/norms/stream.hpp>
#include <wavetile/kernels/rows/cuda/cluster_part.hpp>
#include <wavetile/kernels/rows/cuda/sum_of_chains.hpp>
#include <wavetile/kernels/rows/pairs.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// Arguments of `norm_cluster`.
template <class Types>
struct norm_cluster_arguments {
  norm_arguments<Types> all; ///< `parts` and `part_chunks` are of the cluster
  int64_t first_row;         ///< of this launch
};

/// The part of workgroup `number` of a row.
template <class Types, int Cut, bool Wide>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
norm_cluster_part(const norm_arguments<Types>& args, unsigned char* memory,
                  const typename Types::input* x, typename Types::output* y, uint32_t number) {
  using input = typename Types::input;
  using output = typename Types::output;
  constexpr norm_kind kind = Types::kind;
  constexpr int chunk = Types::chunk;
  using part_type = cluster_part<input, chunk, Cut, false, Wide>;
  constexpr int at_once = part_type::at_once;
  part_type part(memory, x, args.columns, args.part_chunks, number, args.parts);
  cluster_exchange<part_type::cut.waves> exchange(memory, number, args.parts);
  const auto tail = static_cast<uint32_t>(args.columns % chunk);
  const int64_t tail_column = args.columns - tail + thread_id();
  const bool has_tail = number + 1 == args.parts && static_cast<uint32_t>(thread_id()) < tail;
  const float last = has_tail ? convert<float>(x[tail_column]) : 0.0f;

  running_variance seen; // rms: only squares
  if (has_tail) {
    if constexpr (kind == norm_kind::layer)
      seen.add(vec<float, 1>{{last}});
    else
      seen.squares = last * last;
  }
  const auto measure = [&]<bool Whole>(int step, int slot) {
    vec<float, chunk> values[at_once];
    float sums[chunk] = {};
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const auto raw = part.chunk(slot, i);
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[i][e] = convert<float>(raw[e]);
      if (!Whole && !part.owns(step, i))
        values[i] = spread<chunk>(0.0f);
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        sums[e] = kind == norm_kind::layer ? sums[e] + values[i][e]
                                           : fma(values[i][e], values[i][e], sums[e]);
    }
    if constexpr (kind == norm_kind::rms) {
      seen.squares += sum_of_chains(sums);
    } else if (const int owned = Whole ? at_once : part.owned(step); owned > 0) {
      const float count = static_cast<float>(owned * chunk);
      const float mean =
          sum_of_chains(sums) * (Whole ? 1.0f / (at_once * chunk) : reciprocal(count));
      float squares[chunk] = {};
#pragma unroll
      for (int i = 0; i < at_once; ++i)
        if (Whole || part.owns(step, i))
#pragma unroll
          for (int e = 0; e < chunk; ++e) {
            const float d = values[i][e] - mean;
            squares[e] = fma(d, d, squares[e]);
          }
      const float before = seen.count;
      seen.count += count;
      const float share = count * reciprocal(seen.count);
      const float distance = mean - seen.mean;
      seen.mean = fma(distance, share, seen.mean);
      seen.squares += fma(distance * distance, before * share, sum_of_chains(squares));
    }
  };
  part.measure([&](int step, int slot) {
    if (part.whole(step))
      measure.template operator()<true>(step, slot);
    else
      measure.template operator()<false>(step, slot);
  });
  // in no more than 32 registers
  constexpr bool ahead = at_once * chunk * Types::parameter_bytes <= 128;
  next_parameters<typename Types::weight, chunk, at_once, Types::has_weight, 1, Wide, ahead>
      weights(args.weight);
  next_parameters<typename Types::bias, chunk, at_once, Types::has_bias, 0, Wide, ahead> biases(
      args.bias);
  if (part.in_use(0)) {
    weights.load(part, part.first_written());
    biases.load(part, part.first_written());
  }

  const butterfly_team wave;
  norm_statistics statistics;
  if constexpr (kind == norm_kind::rms) {
    exchange.swap(float4{wave.template all_reduce<0>(seen.squares, op::plus{}), 0, 0, 0});
    float squares = 0;
    exchange.read([&](const float4& other) { squares += other.x; });
    statistics.finish(wave.template all_reduce<0>(squares, op::plus{}), args.per_column,
                      args.epsilon);
  } else {
    // of the wave: differences from its own mean, and then those of the means from each other
    const float count = wave.template all_reduce<0>(seen.count, op::plus{});
    const float sum = wave.template all_reduce<0>(seen.count * seen.mean, op::plus{});
    const float mean = count > 0 ? sum * reciprocal(count) : 0.0f;
    float distance = seen.mean - mean;
    const float squares =
        wave.template all_reduce<0>(fma(seen.count * distance, distance, seen.squares), op::plus{});
    exchange.swap(float4{count, mean, squares, 0});
    float total = 0;
    exchange.read([&](const float4& other) { total = fma(other.x, other.y, total); });
    statistics.mean = wave.template all_reduce<0>(total, op::plus{}) * args.per_column;
    float all_squares = 0;
    exchange.read([&](const float4& other) {
      distance = other.y - statistics.mean;
      all_squares += fma(other.x * distance, distance, other.z);
    });
    statistics.finish(wave.template all_reduce<0>(all_squares, op::plus{}), args.per_column,
                      args.epsilon);
  }

  const auto write = [&]<bool Whole>(int step, int slot, int next) {
    const auto own_weights = weights;
    const auto own_biases = biases;
    if (next >= 0) {
      weights.load(part, next);
      biases.load(part, next);
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const auto raw = part.chunk(slot, i);
      vec<float, chunk> weight{}, bias{}, values;
      if constexpr (ahead) {
        weight = own_weights.chunk(i);
        bias = own_biases.chunk(i);
      } else if (Whole || part.owns(step, i)) {
        weight = weights.chunk_of(part, step, i);
        bias = biases.chunk_of(part, step, i);
      }
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[e] =
            statistics.template operator()<kind>(convert<float>(raw[e]), weight[e], bias[e]);
      if (Whole || part.owns(step, i))
        store_chunk_at<Wide>(y + part.column(step, i), convert<output>(values));
    }
  };
  part.write([&](int step, int slot, int next) {
    if (part.whole(step))
      write.template operator()<true>(step, slot, next);
    else
      write.template operator()<false>(step, slot, next);
  });
  if (has_tail)
    y[tail_column] = convert<output>(statistics.template operator()<kind>(
        last, weights.at(tail_column), biases.at(tail_column)));
}

/// A cluster of `all.parts` workgroups for each row: every workgroup reads its part once and keeps
/// the statistics; those of all waves are exchanged, and each writes its part. Dynamic LDS as
/// `row_cluster::lds_bytes` has it. For layer the statistics of a step are sums of differences from
/// the step's own mean, combined as `running_variance` combines them.
template <class Types, int Cut>
WAVETILE_KERNEL
WAVETILE_WORKGROUPS((row_cluster_cut_of(Cut, false).threads()),
                    (row_cluster_cut_of(Cut, false)
                         .groups)) void norm_cluster(norm_cluster_arguments<Types> given) {
  if constexpr (has_clusters) {
    extern WAVETILE_SHARED __align__(16) unsigned char cluster_memory[];
    const auto& args = given.all;
    const uint32_t row_of_launch = workgroup_id() / args.parts;
    const uint32_t number = workgroup_id() - row_of_launch * args.parts;
    int64_t offset[4];
    args.map.locate(given.first_row + row_of_launch, offset);
    const auto* const x = args.x + offset[0];
    auto* const y = args.y + offset[1];
    if (are_wide(x, y, args.weight, args.bias)) // null where there are none
      norm_cluster_part<Types, Cut, true>(args, cluster_memory, x, y, number);
    else
      norm_cluster_part<Types, Cut, false>(args, cluster_memory, x, y, number);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
