/// \file
/// Reductions over the lanes of a wave.
///
/// Instructions, per reduction of one dword, for integers and fp32 sums (each step is one
/// instruction whose DPP operand needs two wait states, which other work can fill):
///
///     Width         2    4    8    16    32                     64
///     reduce        1    2    3    4     5                      6
///     all_reduce    1    2    3    4     4 + ds_swizzle + 1     6 + v_readlane
///
/// fp32, fp16, bf16 and fp8 minimum and maximum add eight instructions around the steps to become
/// integers and back. argmin and argmax with values and indices of up to 32 bits take two such
/// reductions and a select. 64-bit values take two moves and the operation a step. Functors of
/// one's own take a move with its copy and the operation a step.
/// tests/wave/instruction_count_test.cpp holds the compiler to these counts.
///
/// The order is fixed: a balanced tree over neighbours, ((0 1)(2 3))((4 5)(6 7))…, lower lanes
/// left.
#pragma once

#include <wavetile/wave/broadcast.hpp>
#include <wavetile/wave/scan.hpp>

#if WAVETILE_GPU

namespace wavetile {
namespace detail {

/// Combines with the lane at `Control`, which lies below; meaningful in lanes that have one.
template <int Control, class C, class Operation>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE C reduce_step(const C& value, const Operation& operation) {
  if constexpr (Operation::total)
    return operation(dpp_move<Control>(value), value);
  else
    return operation(dpp_move_or<Control>(value, value), value);
}

template <int Width, class C, class Operation>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE C all_reduce_lanes(C value, const Operation& operation);

/// The last lane of each group of `Width` holds the result, the others nothing of use.
template <int Width, class C, class Operation>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE C reduce_lanes(C value, const Operation& operation) {
  if constexpr (in_two_rounds_v<Operation>)
    return all_reduce_lanes<Width>(value, operation);
  if constexpr (Width >= 2)
    value = reduce_step<dpp::row_shr(1)>(value, operation);
  if constexpr (Width >= 4)
    value = reduce_step<dpp::row_shr(2)>(value, operation);
  if constexpr (Width >= 8)
    value = reduce_step<dpp::row_shr(4)>(value, operation);
  if constexpr (Width >= 16)
    value = reduce_step<dpp::row_shr(8)>(value, operation);
  if constexpr (Width >= 32)
    value = reduce_step<dpp::row_bcast_15>(value, operation);
  if constexpr (Width >= 64)
    value = reduce_step<dpp::row_bcast_31>(value, operation);
  return value;
}

/// First the key, then the lowest index of those that have it.
template <int Width, class C, class Operation>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE C pick_in_two_rounds(const C& value, const Operation&) {
  using key_word = typename Operation::key_word;
  using index_word = typename Operation::index_word;
  const key_word key = value.value;
  const key_word best = all_reduce_lanes<Width>(key, typename Operation::on_keys{});
  const index_word index = key == best ? index_word{value.index} : Operation::on_indices::identity;
  const index_word lowest = all_reduce_lanes<Width>(index, typename Operation::on_indices{});
  return {static_cast<decltype(value.value)>(best), static_cast<decltype(value.index)>(lowest)};
}

/// Every lane of each group of `Width` holds the result.
template <int Width, class C, class Operation>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE C all_reduce_lanes(C value, const Operation& operation) {
  if constexpr (in_two_rounds_v<Operation> && Width > 1) {
    return pick_in_two_rounds<Width>(value, operation);
  } else if constexpr (Width == wave_size || !Operation::exchangeable) {
    return wave::broadcast<Width, Width - 1>(reduce_lanes<Width>(value, operation));
  } else {
    // After each step the lanes of a pair, quad, … agree, so mirrors do as exclusive-ors.
    if constexpr (Width >= 2)
      value = operation(dpp_move<dpp::quad_perm(1, 0, 3, 2)>(value), value);
    if constexpr (Width >= 4)
      value = operation(dpp_move<dpp::quad_perm(2, 3, 0, 1)>(value), value);
    if constexpr (Width >= 8)
      value = operation(dpp_move<dpp::row_half_mirror>(value), value);
    if constexpr (Width >= 16)
      value = operation(dpp_move<dpp::row_mirror>(value), value);
    if constexpr (Width >= 32)
      value = operation(wave::shuffle_xor<16>(value), value);
    return value;
  }
}

} // namespace detail

namespace wave {

/// value(0) op value(1) op … over each group of `Width` consecutive lanes. The group's last lane
/// holds the result; what the others return has no meaning. All lanes of the group must take part.
/// `op` must be associative.
template <int Width = wave_size, class T, class Op = op::plus>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T reduce(const T& value, Op op = {}) {
  detail::check_width<Width>();
  using carrier = detail::carrier<T, Op>;
  return carrier::decode(detail::reduce_lanes<Width>(carrier::encode(value), carrier::make(op)));
}

/// As `reduce`, and every lane of the group holds the result: the same bits, but that for groups
/// smaller than a wave the payload of a NaN may differ between lanes. Over the whole wave the
/// result lies in scalar registers.
template <int Width = wave_size, class T, class Op = op::plus>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T all_reduce(const T& value, Op op = {}) {
  detail::check_width<Width>();
  using carrier = detail::carrier<T, Op>;
  return carrier::decode(
      detail::all_reduce_lanes<Width>(carrier::encode(value), carrier::make(op)));
}

/// As `all_reduce` over a wave of which only the lanes 0 … active - 1 take part, 1 <= active <=
/// wave_size, the same in all of them: the last wave of a workgroup whose size is no multiple of
/// the wave. Missing lanes are not read. Costs a scan and a v_readlane.
template <class T, class Op = op::plus>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T all_reduce_active(const T& value, int active, Op op = {}) {
  using carrier = detail::carrier<T, Op>;
  const auto sums = detail::scan_lanes<wave_size>(carrier::encode(value), carrier::make(op));
  return carrier::decode(broadcast(sums, active - 1));
}

} // namespace wave
} // namespace wavetile

#endif
