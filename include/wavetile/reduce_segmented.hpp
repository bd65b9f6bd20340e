/// \file
/// Reductions of the segments of a vector, on the host side.
#pragma once

#include <wavetile/launch/detail/device_language.hpp>

#include <wavetile/kernels/reduce/segments.hpp>
#include <wavetile/reduce.hpp>

namespace wavetile {

namespace detail {

struct segment_call {
  kernels::operand x, offsets, y;
};

inline status check_segments(const segment_call& call, int64_t most_count) {
  using namespace kernels;
  for (const operand* array : {&call.x, &call.offsets, &call.y})
    if (const status outcome = check_extents(*array); !outcome)
      return outcome;
  if (call.offsets.extent[0] == 0)
    return status::failure(status_code::unsupported_shape, "offsets.extent[0]", 0,
                           ">= 1: one more than there are segments");
  if (call.y.extent[0] != call.offsets.extent[0] - 1)
    return status::failure(status_code::unsupported_shape, "y.extent[0]", call.y.extent[0], "")
        .append(call.offsets.extent[0] - 1)
        .append(", one less than offsets");
  if (call.x.extent[0] > most_count)
    return status::above_limit(status_code::unsupported_shape, "x", call.x.extent[0], most_count,
                               "elements for an index of the type of y");
  if (call.y.empty())
    return {};
  for (const operand* array : {&call.x, &call.offsets, &call.y})
    if (!array->empty())
      if (const status outcome = check_access(*array); !outcome)
        return outcome;
  for (const operand* array : {&call.x, &call.offsets})
    if (!array->empty() && share_memory(call.y, *array))
      return overlap_failure(call.y, *array, "apart");
  return {};
}

template <class Op, class Input, class Output, class Offset>
status reduce_segments(const segment_call& call, const Input* x, const Offset* offsets, Output* y,
                       const Op& operation, hipStream_t stream) {
  using reduction = kernels::reduction<Op, Input, Output>;
  using types = kernels::reduce_types<Input, Output, reduction>;
  using arguments_type = kernels::reduce_segment_arguments<types, Offset>;
  constexpr auto config = reduce_config::for_values(sizeof(typename reduction::value));
  static_assert(is_trivially_copyable_v<typename reduction::value> &&
                    sizeof(typename reduction::value) <= 16,
                "wavetile::reduce_segmented: the values of a reduction are trivially copyable and "
                "have at most 16 bytes");
  int64_t most_count = numeric_traits<int64_t>::highest();
  if constexpr (kernels::is_arg_op<Op>)
    most_count = static_cast<int64_t>(numeric_traits<Output>::highest());
  if (const status outcome = check_segments(call, most_count); !outcome)
    return outcome;
  if (call.y.empty())
    return {};
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome)
    return outcome;
  if (const status outcome = check_device(device); !outcome)
    return outcome;

  arguments_type arguments{};
  arguments.x = x;
  arguments.offsets = offsets;
  arguments.y = y;
  arguments.elements = call.x.extent[0];
  arguments.segments = call.y.extent[0];
  if constexpr (requires { arguments.reduction.own; })
    arguments.reduction.own = operation;
  // by the mean length of a segment: a row's choice, with lanes enough for every tail
  const int64_t mean_chunks = call.x.extent[0] / arguments.segments / types::chunk;
  if (mean_chunks > 512)
    return launch_groups(&kernels::reduce_segment_workgroup<types, Offset, config>,
                         arguments.segments, config.threads(), 1, &arguments_type::first_segment,
                         arguments, stream);
  const int by_length = log2_up(mean_chunks > 1 ? mean_chunks : 1);
  const int by_tail = log2_up(types::chunk);
  const int lanes_log2 =
      by_length > wave_size_log2 ? wave_size_log2 : (by_length > by_tail ? by_length : by_tail);
  arguments.lanes_log2 = static_cast<uint32_t>(lanes_log2);
  const int64_t per_group = config.threads() >> lanes_log2;
  return launch_groups(&kernels::reduce_segment_lanes<types, Offset, config>,
                       divide_up(arguments.segments, per_group), config.threads(), per_group,
                       &arguments_type::first_segment, arguments, stream);
}

} // namespace detail

/// y[s] = the combination of x[offsets[s]], … , x[offsets[s + 1] - 1] for every segment s.
///
/// x: a vector; offsets: int32 or int64, one more than there are segments, not decreasing; y: one
/// result a segment. Operations, element types, accumulation, NaNs and empty segments as `reduce`;
/// indices count from the start of the segment. Elements before the first and after the last offset
/// count in no segment, and offsets outside 0 … n are cut: nothing outside x is read.
///
/// Segments of up to 512 chunks of 16 bytes on average are read by lanes of a wave each, longer
/// ones by a workgroup each. Each element is read once; results are the same bit for bit from run
/// to run. Asynchronous on `stream`, which may be capturing; nothing is allocated, no workspace is
/// needed. Its own kernels rather than rocPRIM's: those report an error that an earlier call left
/// pending, and know neither means nor indices.
///
/// Errors: extents that do not fit each other, null, misaligned or overlapping arrays, strides
/// other than 1, element types without a kernel, device without code. Whatever the error, y is
/// untouched.
template <class Op, class Input, class Offset, class Output>
status reduce_segmented(view<Input, 1> x, view<Offset, 1> offsets, view<Output, 1> y, Op operation,
                        hipStream_t stream = nullptr) {
  using input = kernels::storage_or_self_t<Input>;
  using output = kernels::storage_or_self_t<Output>;
  using offset = kernels::storage_or_self_t<Offset>;
  if constexpr (!kernels::has_reduction<Op, Input, Output>) {
    return kernels::refuse_reduction<Op, Input, Output>();
  } else if constexpr (!detail::is_any_of_v<offset, int32_t, int64_t>) {
    return kernels::unsupported_element("offsets", kernels::type_name<Offset>(), "int32, int64");
  } else {
    detail::segment_call call;
    call.x = kernels::describe("x", x);
    call.offsets = kernels::describe("offsets", offsets);
    call.y = kernels::describe("y", y);
    return detail::reduce_segments(call, reinterpret_cast<const input*>(x.data),
                                   static_cast<const offset*>(offsets.data),
                                   reinterpret_cast<output*>(y.data), operation, stream);
  }
}

} // namespace wavetile
