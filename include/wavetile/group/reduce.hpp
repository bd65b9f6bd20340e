/// \file
/// Reductions over a workgroup.
#pragma once

#include <wavetile/group/detail/wave_slots.hpp>
#include <wavetile/group/workgroup.hpp>
#include <wavetile/wave/reduce.hpp>

#if WAVETILE_GPU

namespace wavetile::group {

/// value(0) op value(1) op … over the work-items of a workgroup, in a fixed order: a balanced tree
/// in each wave, then over the waves, lower numbers left. Any workgroup of 1 to 1024 work-items;
/// work-items that a partial last wave lacks are not read. `op` must be associative.
///
///     using sum = group::reduce<float, 256>;
///     WAVETILE_SHARED sum::storage memory;
///     const float total = sum::to_all(x, op::plus{}, memory);
///
/// All work-items must call it. LDS: one slot of T, in whole dwords, per wave (256 work-items and
/// float: 16 bytes, at least 16); unused when there is one wave. Barriers: one (none for one wave),
/// between the waves' writes and reads; before `memory` is used again for anything, put another.
/// With `BlockSize` = `runtime_size` the size comes from the launch and the LDS is that of the
/// largest workgroup.
///
/// Instructions a wave beyond those of `wave::reduce`, for a dword and whole waves: one ds_write,
/// one ds_read, log2(waves) steps and one v_readlane. LDS accesses are free of bank conflicts.
template <class T, int BlockSize = runtime_size>
class reduce {
  using slots = detail::wave_slots<detail::slot_dwords<T>, detail::max_waves<BlockSize>>;

public:
  using storage = typename slots::storage;

  /// The result in every work-item, bit for bit the same in all; in scalar registers when there is
  /// no partial wave.
  template <class Op>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static T
  to_all(const T& value, Op op, storage& memory, place where = detail::default_place<BlockSize>()) {
    return run<true>(value, op, memory, where);
  }

  /// The result in work-item 0 (in fact in all of the first wave); what the others return has no
  /// meaning. Spares the other waves the last step.
  template <class Op>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static T
  to_first(const T& value, Op op, storage& memory,
           place where = detail::default_place<BlockSize>()) {
    return run<false>(value, op, memory, where);
  }

private:
  template <bool All, class Op>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static T run(const T& value, Op op, storage& memory,
                                                     place where) {
    using carrier = detail::carrier<T, Op>;
    using C = typename carrier::type;
    const auto operation = carrier::make(op);
    const detail::wave_place<BlockSize> at(where);

    C own = carrier::encode(value);
    own = at.whole ? detail::reduce_lanes<wave_size>(own, operation)
                   : detail::scan_lanes<wave_size>(own, operation);
    if (at.waves > 1) {
      const slots exchange(memory);
      if (lane_id() == at.last_lane)
        exchange.write(at.wave, own);
      barrier();
      if (All || at.wave == 0)
        own = combine<All, C>(exchange, at, operation);
    } else {
      own = wave::broadcast(own, at.last_lane);
    }
    return carrier::decode(own);
  }

  /// The waves' results as one. The first wave is whole, and all are when none is partial.
  template <bool All, class C, class Operation>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static C combine(const slots& exchange,
                                                         const detail::wave_place<BlockSize>& at,
                                                         const Operation& operation) {
    if (!All || at.whole)
      return in_parallel<C>(exchange, at.waves, operation);
    C total = exchange.template read<C>(0);
    for (int w = 1; w < at.waves; ++w)
      total = operation(total, exchange.template read<C>(w));
    return total;
  }

  /// Lane w takes the slot of wave w.
  template <class C, class Operation>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static C in_parallel(const slots& exchange, int waves,
                                                             const Operation& operation) {
    constexpr int width = detail::power_of_two_from(detail::max_waves<BlockSize>);
    const int slot = lane_id() % width;
    const C own = exchange.template read<C>(slot < waves ? slot : waves - 1);
    if constexpr (BlockSize != runtime_size && width == detail::max_waves<BlockSize>)
      return wave::broadcast(detail::reduce_lanes<width>(own, operation), width - 1);
    else // lanes past the last wave repeat it, above the lane that is read
      return wave::broadcast(detail::scan_lanes<width>(own, operation), waves - 1);
  }
};

} // namespace wavetile::group

#endif
