/// \file
/// Prefix reductions over the lanes of a wave.
///
/// Lanes must take part from the first of the wave on without a gap (all lanes, or those of a
/// partial last wave of a workgroup); those that are missing are not read. The functor need only be
/// associative. Counts below are per dword of the value and step, with log2(Width) steps, whose DPP
/// moves each need two wait states that other work can fill: integers of up to 32 bits, and floats
/// of up to 32 bits under minimum and maximum, one instruction (Width 16 and above), as fp32 sums
/// from the second step on; their first step two; others one move, the operation, one v_cndmask.
#pragma once

#include <wavetile/wave/detail/carrier.hpp>
#include <wavetile/wave/shuffle.hpp>

#if WAVETILE_GPU

namespace wavetile {
namespace detail {

/// Sums of fp32, which one instruction of the target adds in the lanes that are reached.
template <class C, class Operation>
inline constexpr bool adds_where_reached_v = false;
template <>
inline constexpr bool adds_where_reached_v<float, plain_operation<float, op::plus, true>> = true;

/// Every lane that has a source lane at `Control` combines with it; `Reached` has those lanes of
/// groups of `Space`. `First`: the value may come from a matrix instruction.
template <int Control, int RowMask, int Space, bool First, uint64_t Reached, class C,
          class Operation>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE C scan_step(const C& value, const Operation& operation) {
  if constexpr (Operation::has_identity && Space >= 16) {
    constexpr C identity = Operation::identity;
    return operation(dpp_move_or<Control, RowMask>(value, C{identity}), value);
  } else if constexpr (adds_where_reached_v<C, Operation> && Space >= 16 && !First) {
    return instruction::dpp_add_where_reached<Control, RowMask>(value);
  } else if constexpr (Operation::total) {
    return select_lanes(Reached, operation(dpp_move<Control>(value), value), value);
  } else { // the functor meets no bits that are not a value
    return select_lanes(Reached, operation(dpp_move_or<Control>(value, value), value), value);
  }
}

/// The first `Width` of every `Space` lanes get their scan; the others anything, if there are more.
template <int Width, int Space = Width, class C, class Operation>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE C scan_lanes(C value, const Operation& operation) {
  constexpr int row = Space < 16 ? Space : 16;
  if constexpr (Width >= 2)
    value = scan_step<dpp::row_shr(1), 0xF, Space, true, lanes_from(row, 1)>(value, operation);
  if constexpr (Width >= 4)
    value = scan_step<dpp::row_shr(2), 0xF, Space, false, lanes_from(row, 2)>(value, operation);
  if constexpr (Width >= 8)
    value = scan_step<dpp::row_shr(4), 0xF, Space, false, lanes_from(row, 4)>(value, operation);
  if constexpr (Width >= 16)
    value = scan_step<dpp::row_shr(8), 0xF, Space, false, lanes_from(row, 8)>(value, operation);
  if constexpr (Width >= 32)
    value = scan_step<dpp::row_bcast_15, 0xA, Space, false, lanes_from(32, 16)>(value, operation);
  if constexpr (Width >= 64)
    value = scan_step<dpp::row_bcast_31, 0xC, Space, false, lanes_from(64, 32)>(value, operation);
  if constexpr (adds_where_reached_v<C, Operation> && Space >= 16 && Width >= 4)
    value = instruction::after_dpp_add(value);
  return value;
}

} // namespace detail

namespace wave {

/// Lane i of each group of `Width` consecutive lanes gets value(0) op … op value(i) of its group.
template <int Width = wave_size, class T, class Op = op::plus>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T inclusive_scan(const T& value, Op op = {}) {
  detail::check_width<Width>();
  using carrier = detail::carrier<T, Op>;
  return carrier::decode(detail::scan_lanes<Width>(carrier::encode(value), carrier::make(op)));
}

/// Lane i of each group of `Width` consecutive lanes gets
/// initial op value(0) op … op value(i - 1) of its group; its first lane gets `initial`.
template <int Width = wave_size, class T, class Op = op::plus>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T exclusive_scan(const T& value,
                                                       const detail::type_identity_t<T>& initial,
                                                       Op op = {}) {
  using carrier = detail::carrier<T, Op>;
  const auto operation = carrier::make(op);
  const auto first = carrier::encode(initial);
  if constexpr (Width == 1) {
    return initial;
  } else {
    const auto sums = detail::scan_lanes<Width>(carrier::encode(value), operation);
    const auto before = shuffle_up<1, Width>(sums);
    return carrier::decode(
        detail::select_lanes(detail::lanes_from(Width, 1), operation(first, before), first));
  }
}

} // namespace wave
} // namespace wavetile

#endif
