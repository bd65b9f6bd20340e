/// \file
/// Reductions of the segments of a vector.
#pragma once

#include <wavetile/kernels/reduce/rows.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// Arguments of `reduce_segments`.
template <class Types, class Offset>
struct reduce_segment_arguments {
  const typename Types::input* x;
  const Offset* offsets; ///< [segments + 1]
  typename Types::output* y;
  typename Types::reduction reduction;
  int64_t elements; ///< of x; what an offset says beyond is not read
  int64_t segments;
  int64_t first_segment; ///< of this launch
  uint32_t lanes_log2;   ///< lanes of a segment, log2; unused by workgroups
};

/// The elements of a segment, whatever the offsets hold.
template <class Types, class Offset>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
find_segment(const reduce_segment_arguments<Types, Offset>& args, int64_t segment, int64_t& begin,
             int64_t& length) {
  const auto from = static_cast<int64_t>(args.offsets[segment]);
  const auto to = static_cast<int64_t>(args.offsets[segment + 1]);
  begin = from < 0 ? 0 : (from < args.elements ? from : args.elements);
  const int64_t end = to < args.elements ? to : args.elements;
  length = end > begin ? end - begin : 0;
}

/// 2^lanes_log2 lanes of a wave for each segment.
template <class Types, class Offset, reduce_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void reduce_segment_lanes(
    reduce_segment_arguments<Types, Offset> args) {
  if constexpr (device_pass_supported) {
    const lanes_team team(1u << args.lanes_log2);
    const int64_t thread = int64_t{workgroup_id()} * Config.threads() + thread_id();
    const int64_t segment = args.first_segment + (thread >> args.lanes_log2);
    const bool active = segment < args.segments;
    int64_t begin = 0, length = 0;
    if (active)
      find_segment(args, segment, begin, length);
    reduce_chains<Types> chains(args.reduction);
    chains.template add_run<Config.at_once>(args.x + begin, row_run<Types::chunk>::all(length),
                                            team.lane(), team.size(), 0);
    const auto result = team.template all_reduce<0>(chains.join(), args.reduction.operation());
    if (active && team.lane() == 0)
      args.y[segment] = args.reduction.leave(result, length);
  } else {
    refuse_to_run();
  }
}

/// A workgroup for each segment.
template <class Types, class Offset, reduce_config Config>
WAVETILE_KERNEL WAVETILE_WORKGROUP_SIZE(Config.threads()) void reduce_segment_workgroup(
    reduce_segment_arguments<Types, Offset> args) {
  if constexpr (device_pass_supported) {
    using group_reduce = group::reduce<typename Types::value, Config.threads()>;
    WAVETILE_SHARED typename group_reduce::storage memory;
    const auto thread = static_cast<uint32_t>(thread_id());
    const int64_t segment = args.first_segment + workgroup_id();
    int64_t begin, length;
    find_segment(args, segment, begin, length);
    reduce_chains<Types> chains(args.reduction);
    chains.template add_run<Config.at_once>(args.x + begin, row_run<Types::chunk>::all(length),
                                            thread, Config.threads(), 0);
    const auto result = group_reduce::to_first(chains.join(), args.reduction.operation(), memory);
    if (thread == 0)
      args.y[segment] = args.reduction.leave(result, length);
  } else {
    refuse_to_run();
  }
}

} // namespace wavetile::kernels

#endif
