/// \file
/// Softmax and log-softmax of long rows by clusters of workgroups that take them in turn.
#pragma once

#include <wavetile/kernels/rows/cuda/cluster_ring.hpp>
#include <wavetile/kernels/softmax/cuda/add_chunks.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// What a wave does with its parts of rows; see `run_ring`.
template <class Types, int Steps, bool Wide>
class softmax_ring_row {
  using input = typename Types::input;
  using output = typename Types::output;
  static constexpr int chunk = Types::chunk;
  using part_type = ring_part<input, chunk, Steps, Wide>;
  static constexpr int at_once = part_type::at_once;

public:
  WAVETILE_DEVICE
  WAVETILE_FORCE_INLINE explicit softmax_ring_row(const softmax_arguments<Types>& args)
      : args_(args) {}

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE const input* address(int64_t row) const {
    int64_t offset[3];
    args_.map.locate(row, offset);
    return args_.x + offset[0];
  }

  template <class Wait>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float4 measure(const part_type& part, int64_t row, int slot,
                                                       Wait wait) const {
    const float scale = args_.scale * log2_e;
    running_softmax seen;
    const float last = tail_of(part, row); // on its way while the part is
    wait();
    if (part.has_tail())
      seen.add(vec<float, 1>{{last}}, scale);
#pragma unroll
    for (int step = 0; step < Steps; ++step)
      if (part.whole(step))
        measure_step<true>(part, slot, step, scale, seen);
      else
        measure_step<false>(part, slot, step, scale, seen);
    seen.reduce(butterfly_team(), scale);
    return {seen.maximum, seen.sum, 0, 0};
  }

  template <class Total>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write(const part_type& part, int64_t row, int slot,
                                                   Total total) const {
    int64_t offset[3];
    args_.map.locate(row, offset);
    output* const y = args_.y + offset[1];
    const float last = tail_of(part, row);
    const float4 statistics = total();
    row_result<Types::form> result;
    result.scale = args_.scale;
    result.exponent_scale = args_.scale * log2_e;
    result.maximum = statistics.x;
    result.finish(statistics.y, [] { return true; });
#pragma unroll
    for (int step = 0; step < Steps; ++step)
      if (part.whole(step))
        write_step<true>(part, y, slot, step, result);
      else
        write_step<false>(part, y, slot, step, result);
    if (part.has_tail())
      y[part.tail_column()] = convert<output>(result(last));
  }

private:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE float tail_of(const part_type& part, int64_t row) const {
    return part.has_tail() ? enter<no_mask>(convert<float>(address(row)[part.tail_column()]), 0,
                                            args_.sign, true)
                           : minus_infinity();
  }

  template <bool Whole>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void measure_step(const part_type& part, int slot, int step,
                                                          float scale,
                                                          running_softmax& seen) const {
    vec<float, chunk> values[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const auto raw = part.chunk(slot, step, i);
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[i][e] = convert<float>(raw[e]) * args_.sign;
      if (!Whole && !part.owns(step, i))
        values[i] = spread<chunk>(minus_infinity());
    }
    add_chunks(seen, values, scale);
  }

  template <bool Whole>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
  write_step(const part_type& part, output* y, int slot, int step,
             const row_result<Types::form>& result) const {
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const auto raw = part.chunk(slot, step, i);
      vec<float, chunk> values;
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[e] = result(convert<float>(raw[e]) * args_.sign);
      if (Whole || part.owns(step, i))
        store_chunk_at<Wide>(y + part.column(step, i), convert<output>(values));
    }
  }

  const softmax_arguments<Types>& args_;
};

template <class Types, int Steps, bool Wide>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void softmax_ring_rows(const softmax_arguments<Types>& args,
                                                             unsigned char* memory) {
  using part_type = ring_part<typename Types::input, Types::chunk, Steps, Wide>;
  const float scale = args.scale * log2_e;
  run_ring<typename Types::input, Types::chunk, Steps, false, Wide>(
      memory, args.columns, args.part_chunks, rows_in_turn(args.rows, args.parts), nullptr,
      [&](const part_type&) { return softmax_ring_row<Types, Steps, Wide>(args); },
      [&](const float4& one, bool own) {
        running_softmax seen;
        if (own) {
          seen.maximum = one.x;
          seen.sum = one.y;
        }
        seen.reduce(butterfly_team(), scale);
        return float4{seen.maximum, seen.sum, 0, 0};
      });
}

/// Clusters of `args.parts` workgroups, each of which has a part of every row of the cluster in LDS
/// and keeps its maximum and sum of exponentials. Dynamic LDS as `row_ring::lds_bytes` has it. An
/// element of a row goes through at most 3 + 3 additions in a step, three operations for each step,
/// 5 in a wave and as many of waves and workgroups.
template <class Types, int Steps>
WAVETILE_KERNEL WAVETILE_WORKGROUPS((row_ring{Steps}.threads()),
                                    1) void softmax_ring(softmax_arguments<Types> args) {
  if constexpr (has_clusters) {
    extern WAVETILE_SHARED __align__(16) unsigned char ring_memory[];
    if (rows_are_wide(args.map, 0, args.x) && rows_are_wide(args.map, 1, args.y))
      softmax_ring_rows<Types, Steps, true>(args, ring_memory);
    else
      softmax_ring_rows<Types, Steps, false>(args, ring_memory);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
