/// \file
/// Softmax and log-softmax of long rows by clusters of workgroups that hold them in LDS.
#pragma once

#include <wavetile/kernels/rows/cuda/cluster_part.hpp>
#include <wavetile/kernels/rows/pairs.hpp>
#include <wavetile/kernels/softmax/cuda/add_chunks.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// 16-bit rows: the exponentials of an element, two, take longer than its bytes.
template <class Types>
inline constexpr bool is_light = sizeof(typename Types::input) == 2;

/// The part of workgroup `number` of a row.
template <class Types, int Cut, bool Wide>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
softmax_cluster_part(const softmax_arguments<Types>& args, unsigned char* memory,
                     const typename Types::input* x, typename Types::output* y, uint32_t number) {
  using input = typename Types::input;
  using output = typename Types::output;
  constexpr int chunk = Types::chunk;
  using part_type = cluster_part<input, chunk, Cut, is_light<Types>, Wide>;
  constexpr int at_once = part_type::at_once;
  part_type part(memory, x, args.columns, args.part_chunks, number, args.parts);
  cluster_exchange<part_type::cut.waves> exchange(memory, number, args.parts);
  // the columns after the last whole chunk
  const auto tail = static_cast<uint32_t>(args.columns % chunk);
  const int64_t tail_column = args.columns - tail + thread_id();
  const bool has_tail = number + 1 == args.parts && static_cast<uint32_t>(thread_id()) < tail;

  row_result<Types::form> result;
  result.scale = args.scale;
  result.exponent_scale = args.scale * log2_e;
  running_softmax seen;
  float last = minus_infinity();
  if (has_tail) {
    last = enter<no_mask>(convert<float>(x[tail_column]), 0, args.sign, true);
    seen.add(vec<float, 1>{{last}}, result.exponent_scale);
  }
  const auto measure = [&]<bool Whole>(int step, int slot) {
    vec<float, chunk> values[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const auto raw = part.chunk(slot, i);
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[i][e] = convert<float>(raw[e]) * args.sign;
      if (!Whole && !part.owns(step, i))
        values[i] = spread<chunk>(minus_infinity());
    }
    add_chunks(seen, values, result.exponent_scale);
  };
  part.measure([&](int step, int slot) {
    if (part.whole(step))
      measure.template operator()<true>(step, slot);
    else
      measure.template operator()<false>(step, slot);
  });
  seen.reduce(butterfly_team(), result.exponent_scale);
  exchange.swap(float4{seen.maximum, seen.sum, 0, 0});
  seen = running_softmax{};
  exchange.read([&](const float4& other) {
    const float largest = larger_number{}(seen.maximum, other.x);
    seen.sum = fma(other.y, exponential(other.x, largest, result.exponent_scale),
                   seen.sum * exponential(seen.maximum, largest, result.exponent_scale));
    seen.maximum = largest;
  });
  seen.reduce(butterfly_team(), result.exponent_scale);
  result.maximum = seen.maximum;
  result.finish(seen.sum, [] { return true; });

  const auto write = [&]<bool Whole>(int step, int slot) {
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const auto raw = part.chunk(slot, i);
      vec<float, chunk> values;
#pragma unroll
      for (int e = 0; e < chunk; ++e)
        values[e] = result(convert<float>(raw[e]) * args.sign);
      if (Whole || part.owns(step, i))
        store_chunk_at<Wide>(y + part.column(step, i), convert<output>(values));
    }
  };
  part.write([&](int step, int slot, int) {
    if (part.whole(step))
      write.template operator()<true>(step, slot);
    else
      write.template operator()<false>(step, slot);
  });
  if (has_tail)
    y[tail_column] = convert<output>(result(last));
}

/// A cluster of `args.parts` workgroups for each row: every workgroup reads its part once and keeps
/// the maximum and the sum of exponentials; the results of all are exchanged, and each writes its
/// part. Dynamic LDS as `row_cluster::lds_bytes` has it. An element of a row goes through at most
/// at_once - 1 + 3 additions in a step, three operations for each step of the lane (12 at most, 24
/// of the longest rows), 8 in a wave and 12 in a cluster.
template <class Types, int Cut>
WAVETILE_KERNEL
WAVETILE_WORKGROUPS((row_cluster_cut_of(Cut, is_light<Types>).threads()),
                    (row_cluster_cut_of(Cut, is_light<Types>)
                         .groups)) void softmax_cluster(softmax_arguments<Types> args) {
  if constexpr (has_clusters) {
    extern WAVETILE_SHARED __align__(16) unsigned char cluster_memory[];
    const uint32_t row_of_launch = workgroup_id() / args.parts;
    const uint32_t number = workgroup_id() - row_of_launch * args.parts;
    int64_t offset[3];
    args.map.locate(args.first_row + row_of_launch, offset);
    const auto* const x = args.x + offset[0];
    auto* const y = args.y + offset[1];
    if (are_wide(x, y))
      softmax_cluster_part<Types, Cut, true>(args, cluster_memory, x, y, number);
    else
      softmax_cluster_part<Types, Cut, false>(args, cluster_memory, x, y, number);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
