/// \file
/// Prefix reductions over a workgroup.
#pragma once

#include <wavetile/group/detail/wave_slots.hpp>
#include <wavetile/group/workgroup.hpp>
#include <wavetile/wave/broadcast.hpp>
#include <wavetile/wave/scan.hpp>

#if WAVETILE_GPU

namespace wavetile::group {

/// A work-item's prefix, and the reduction of all values of the workgroup (without an initial one),
/// the same in every work-item.
template <class T>
struct scan_result {
  T prefix;
  T total;
};

/// Prefix reductions over the work-items of a workgroup, in order of their number. Any workgroup of
/// 1 to 1024 work-items; `op` must be associative. What is not used of the result costs nothing.
///
///     using sums = group::scan<int, 256>;
///     WAVETILE_SHARED sums::storage memory;
///     const auto [offset, total] = sums::exclusive(count, 0, op::plus{}, memory);
///
/// All work-items must call it. LDS, barriers and `runtime_size` as `group::reduce`.
template <class T, int BlockSize = runtime_size>
class scan {
  using slots = detail::wave_slots<detail::slot_dwords<T>, detail::max_waves<BlockSize>>;

public:
  using storage = typename slots::storage;

  /// prefix = value(0) op … op value(own number).
  template <class Op>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static scan_result<T>
  inclusive(const T& value, Op op, storage& memory,
            place where = detail::default_place<BlockSize>()) {
    using carrier = detail::carrier<T, Op>;
    const auto operation = carrier::make(op);
    const detail::wave_place<BlockSize> at(where);
    const auto own = detail::scan_lanes<wave_size>(carrier::encode(value), operation);
    const auto waves = exchange(own, operation, memory, at);
    const auto prefix = at.wave == 0 ? own : operation(waves.prefix, own);
    return {carrier::decode(prefix), carrier::decode(waves.total)};
  }

  /// prefix = initial op value(0) op … op value(own number - 1); work-item 0 gets `initial`.
  template <class Op>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static scan_result<T>
  exclusive(const T& value, const detail::type_identity_t<T>& initial, Op op, storage& memory,
            place where = detail::default_place<BlockSize>()) {
    using carrier = detail::carrier<T, Op>;
    const auto operation = carrier::make(op);
    const detail::wave_place<BlockSize> at(where);
    const auto own = detail::scan_lanes<wave_size>(carrier::encode(value), operation);
    const auto waves = exchange(own, operation, memory, at);
    auto start = carrier::encode(initial);
    if (at.wave != 0)
      start = operation(start, waves.prefix);
    const auto before = wave::shuffle_up<1>(own);
    const auto prefix =
        detail::select_lanes(detail::lanes_from(wave_size, 1), operation(start, before), start);
    return {carrier::decode(prefix), carrier::decode(waves.total)};
  }

private:
  /// `prefix`: all waves before the calling one (of no meaning in the first); `total`: all waves.
  template <class C, class Operation>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static scan_result<C>
  exchange(const C& own, const Operation& operation, storage& memory,
           const detail::wave_place<BlockSize>& at) {
    if (at.waves > 1) {
      const slots between(memory);
      if (lane_id() == at.last_lane)
        between.write(at.wave, own);
      barrier();
      return at.whole ? in_parallel<C>(between, operation, at)
                      : one_by_one<C>(between, operation, at);
    }
    return {own, wave::broadcast(own, at.last_lane)};
  }

  template <class C, class Operation>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static scan_result<C>
  in_parallel(const slots& between, const Operation& operation,
              const detail::wave_place<BlockSize>& at) {
    constexpr int width = detail::power_of_two_from(detail::max_waves<BlockSize>);
    const int slot = lane_id() % width;
    const C sums = detail::scan_lanes<width, (width > 16 ? width : 16)>(
        between.template read<C>(slot < at.waves ? slot : at.waves - 1), operation);
    const int previous = at.wave == 0 ? 0 : at.wave - 1;
    return {wave::broadcast(sums, previous), wave::broadcast(sums, at.waves - 1)};
  }

  template <class C, class Operation>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static scan_result<C>
  one_by_one(const slots& between, const Operation& operation,
             const detail::wave_place<BlockSize>& at) {
    C total = between.template read<C>(0);
    C prefix = total;
    for (int w = 1; w < at.waves; ++w) {
      if (w == at.wave)
        prefix = total;
      total = operation(total, between.template read<C>(w));
    }
    return {prefix, total};
  }
};

} // namespace wavetile::group

#endif
