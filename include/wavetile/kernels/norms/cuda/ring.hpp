/// \file
/// RMSNorm and LayerNorm of long rows by clusters of workgroups that take them in turn.
#pragma once

#include <wavetile/kernels/norms/arithmetic.hpp>
#include <wavetile/kernels/norms/cuda/next_parameters.hpp>
#include <wavetile/kernels/norms/stream.hpp>
#include <wavetile/kernels/rows/cuda/cluster_ring.hpp>
#include <wavetile/kernels/rows/cuda/sum_of_chains.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// Whether there are kernels of clusters for these types: with a residual h takes the place of x.
template <class Types>
inline constexpr bool may_be_clustered =
    Types::scaling == norm_scaling::none &&
    (!Types::has_residual || (sizeof(typename Types::input) == sizeof(typename Types::held) &&
                              sizeof(typename Types::residual) == sizeof(typename Types::held)));

/// Statistics of several parts of a row, one a lane, `own` or none; the same in all lanes. rms has
/// only squares; for layer they are count, mean, and squares of differences from it: the squares
/// of all are those of the parts, from their own means, and of those means' differences.
template <norm_kind Kind>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float4 all_statistics(const float4& one, bool own) {
  const butterfly_team wave;
  const float given = own ? one.z : 0.0f;
  float4 all{0, 0, 0, 0};
  if constexpr (Kind == norm_kind::rms) {
    all.z = wave.template all_reduce<0>(given, op::plus{});
  } else {
    const float own_count = own ? one.x : 0.0f, own_mean = own ? one.y : 0.0f;
    all.x = wave.template all_reduce<0>(own_count, op::plus{});
    const float sum = wave.template all_reduce<0>(own_count * own_mean, op::plus{});
    all.y = all.x > 0 ? sum * reciprocal(all.x) : 0.0f;
    const float distance = own_mean - all.y;
    all.z = wave.template all_reduce<0>(fma(own_count * distance, distance, given), op::plus{});
  }
  return all;
}

/// What a wave does with its parts of rows; see `run_ring`. Weight and bias stay in registers where
/// there is room; a residual is loaded a row ahead.
template <class Types, int Steps, bool Wide>
class norm_ring_row {
  using input = typename Types::input;
  using output = typename Types::output;
  using held = typename Types::held;
  static constexpr norm_kind kind = Types::kind;
  static constexpr int chunk = Types::chunk;
  using part_type = ring_part<input, chunk, Steps, Wide>;
  static constexpr int at_once = part_type::at_once;
  static constexpr bool holds = ring_holds_values(kind, sizeof(input), part_type::ring);
  static constexpr bool kept =
      Wide && ring_keeps_parameters(kind, chunk, sizeof(input), part_type::ring,
                                    Types::parameter_bytes, Types::has_residual);
  /// Else loaded as results are written: beside a residual there is no room for both.
  static constexpr bool ahead = kept || !Types::has_residual || !Types::has_bias;

public:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE norm_ring_row(const norm_arguments<Types>& args,
                                                      const part_type& part, const ring_rows& given)
      : args_(args), rows_(given.rows), teams_(given.teams) {
    if constexpr (kept)
#pragma unroll
      for (int step = 0; step < Steps; ++step)
        load_parameters(part, step);
    load_residual(part, given.team);
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE const input* address(int64_t row) const {
    return args_.x + offset(row, 0);
  }

  template <class Wait>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float4 measure(const part_type& part, int64_t row, int slot,
                                                       Wait wait) {
    held* sum = nullptr;
    float last = 0; // on its way while the part is
    if constexpr (Types::has_residual) {
      sum = args_.sum + offset(row, 3);
      if (part.has_tail())
        last = convert<float>(
            convert<held>(convert<float>(address(row)[part.tail_column()]) +
                          convert<float>((args_.residual + offset(row, 2))[part.tail_column()])));
    } else if (part.has_tail()) {
      last = convert<float>(address(row)[part.tail_column()]);
    }
    wait();
    if constexpr (Types::has_residual)
      if (part.has_tail())
        sum[part.tail_column()] = convert<held>(last);
    vec<float, chunk> values[holds ? Steps : 1][at_once];
    float sums[chunk] = {};
    sums[0] = kind == norm_kind::layer ? last : last * last;
#pragma unroll
    for (int step = 0; step < Steps; ++step) {
      auto& now = values[holds ? step : 0];
      if (part.whole(step))
        read_step<true>(part, sum, slot, step, now);
      else
        read_step<false>(part, sum, slot, step, now);
#pragma unroll
      for (int i = 0; i < at_once; ++i)
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          sums[e] =
              kind == norm_kind::layer ? sums[e] + now[i][e] : fma(now[i][e], now[i][e], sums[e]);
    }
    const butterfly_team wave;
    const float first = wave.template all_reduce<0>(sum_of_chains(sums), op::plus{});
    float4 statistics{0, 0, first, 0};
    if constexpr (kind == norm_kind::layer) {
      statistics.x = static_cast<float>(part.elements());
      statistics.y = part.elements() > 0 ? first * reciprocal(statistics.x) : 0.0f;
      const float distance = part.has_tail() ? last - statistics.y : 0.0f;
      float squares[chunk] = {};
      squares[0] = distance * distance;
#pragma unroll
      for (int step = 0; step < Steps; ++step) {
        auto& now = values[holds ? step : 0];
        if (!holds)
          reread_step(part, slot, step, now);
        if (part.whole(step))
          add_squares<true>(part, step, statistics.y, now, squares);
        else
          add_squares<false>(part, step, statistics.y, now, squares);
      }
      statistics.z = wave.template all_reduce<0>(sum_of_chains(squares), op::plus{});
    }
    if constexpr (Types::has_residual) {
      instruction::order_before_copies();
      if (row + teams_ < rows_)
        load_residual(part, row + teams_);
    }
    return statistics;
  }

  template <class Total>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(const part_type& part, int64_t row, int slot,
                                                   Total total) {
    output* const y = args_.y + offset(row, 1);
    float last = 0;
    if (part.has_tail()) {
      if constexpr (Types::has_residual)
        last = convert<float>((args_.sum + offset(row, 3))[part.tail_column()]);
      else
        last = convert<float>(address(row)[part.tail_column()]);
    }
    if constexpr (!kept)
      load_parameters(part, 0);
    const float4 all = total();
    norm_statistics statistics;
    statistics.mean = all.y;
    statistics.finish(all.z, args_.per_column, args_.epsilon);
#pragma unroll
    for (int step = 0; step < Steps; ++step) {
      if (!kept && step > 0)
        load_parameters(part, step);
      if (part.whole(step))
        write_step<true>(part, y, slot, step, statistics);
      else
        write_step<false>(part, y, slot, step, statistics);
    }
    if (part.has_tail())
      y[part.tail_column()] = convert<output>(statistics.template operator()<kind>(
          last, weight_type(args_.weight).at(part.tail_column()),
          bias_type(args_.bias).at(part.tail_column())));
  }

private:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int64_t offset(int64_t row, int operand) const {
    int64_t all[4];
    args_.map.locate(row, all);
    return all[operand];
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_parameters(const part_type& part, int step) {
    const int place = kept ? step : 0;
    weights_[place] = weight_type(args_.weight);
    biases_[place] = bias_type(args_.bias);
    weights_[place].load(part, step);
    biases_[place].load(part, step);
  }

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load_residual(const part_type& part, int64_t row) {
    if constexpr (Types::has_residual) {
      const auto* const from = args_.residual + offset(row, 2);
#pragma unroll
      for (int step = 0; step < Steps; ++step) {
        residuals_[step] = residual_type(from);
        residuals_[step].load(part, step);
      }
    }
  }

  /// The chunks of a step as fp32, zeros for those that the lane does not own. Sums are formed,
  /// kept and written.
  template <bool Whole>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void read_step(const part_type& part, held* sum, int slot,
                                                       int step,
                                                       vec<float, chunk> (&values)[at_once]) const {
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const bool owned = Whole || part.owns(step, i);
      values[i] = convert<float>(part.chunk(slot, step, i));
      if constexpr (Types::has_residual) {
        const auto added = residuals_[step].chunk(i);
#pragma unroll
        for (int e = 0; e < chunk; ++e)
          values[i][e] += added[e];
        const vec<held, chunk> h = convert<held>(values[i]);
        values[i] = convert<float>(h);
        if (owned) {
          part.put(slot, step, i, h);
          store_chunk_at<Wide>(sum + part.column(step, i), h);
        }
      }
      if (!owned)
        values[i] = spread<chunk>(0.0f);
    }
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  reread_step(const part_type& part, int slot, int step,
              vec<float, chunk> (&values)[at_once]) const {
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      values[i] = convert<float>(part.template chunk<held>(slot, step, i));
  }
  template <bool Whole>
  static WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  add_squares(const part_type& part, int step, float mean,
              const vec<float, chunk> (&values)[at_once], float (&squares)[chunk]) {
#pragma unroll
    for (int i = 0; i < at_once; ++i)
      if (Whole || part.owns(step, i))
#pragma unroll
        for (int e = 0; e < chunk; ++e) {
          const float d = values[i][e] - mean;
          squares[e] = fma(d, d, squares[e]);
        }
  }

  template <bool Whole>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write_step(const part_type& part, output* y, int slot,
                                                        int step,
                                                        const norm_statistics& statistics) const {
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const auto raw = part.template chunk<held>(slot, step, i);
      vec<float, chunk> weight{}, bias{}, values;
      if constexpr (ahead) {
        weight = weights_[kept ? step : 0].chunk(i);
        bias = biases_[kept ? step : 0].chunk(i);
      } else if (Whole || part.owns(step, i)) {
        weight = weight_type(args_.weight).chunk_of(part, step, i);
        bias = bias_type(args_.bias).chunk_of(part, step, i);
      }
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[e] =
            statistics.template operator()<kind>(convert<float>(raw[e]), weight[e], bias[e]);
      if (Whole || part.owns(step, i))
        store_chunk_at<Wide>(y + part.column(step, i), convert<output>(values));
    }
  }

  using weight_type =
      next_parameters<typename Types::weight, chunk, at_once, Types::has_weight, 1, Wide, ahead>;
  using bias_type =
      next_parameters<typename Types::bias, chunk, at_once, Types::has_bias, 0, Wide, ahead>;
  using residual_type =
      next_parameters<typename Types::residual, chunk, at_once, Types::has_residual, 0, Wide, true>;

  const norm_arguments<Types>& args_;
  int64_t rows_, teams_;
  weight_type weights_[kept ? Steps : 1];
  bias_type biases_[kept ? Steps : 1];
  residual_type residuals_[Steps];
};

template <class Types, int Steps, bool Memory, bool Wide>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void norm_ring_rows(const norm_arguments<Types>& args,
                                                          unsigned char* memory) {
  using part_type = ring_part<typename Types::input, Types::chunk, Steps, Wide>;
  const ring_rows given = rows_in_turn(args.rows, args.parts);
  run_ring<typename Types::input, Types::chunk, Steps, Memory, Wide>(
      memory, args.columns, args.part_chunks, given, args.partials,
      [&](const part_type& part) { return norm_ring_row<Types, Steps, Wide>(args, part, given); },
      [](const float4& one, bool own) { return all_statistics<Types::kind>(one, own); });
}

/// Clusters of `args.parts` workgroups, or as many through `Memory`, `args.partials`, each of which
/// has a part of every row of the cluster in LDS and keeps its statistics: the sum of squares, for
/// layer of differences from the mean of a wave's elements. Dynamic LDS as `row_ring::lds_bytes`
/// has it. With a residual h takes the place of x, so that they must be of one size.
template <class Types, int Steps, bool Memory>
WAVETILE_KERNEL WAVETILE_WORKGROUPS((row_ring{Steps, Memory}.threads()),
                                    1) void norm_ring(norm_arguments<Types> args) {
  if constexpr (has_clusters) {
    extern WAVETILE_SHARED __align__(16) unsigned char ring_memory[];
    bool wide = rows_are_wide(args.map, 0, args.x) && rows_are_wide(args.map, 1, args.y) &&
                are_wide(args.weight, args.bias); // null where there are none
    if constexpr (Types::has_residual)
      wide =
          wide && rows_are_wide(args.map, 2, args.residual) && rows_are_wide(args.map, 3, args.sum);
    if (wide)
      norm_ring_rows<Types, Steps, Memory, true>(args, ring_memory);
    else
      norm_ring_rows<Types, Steps, Memory, false>(args, ring_memory);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
