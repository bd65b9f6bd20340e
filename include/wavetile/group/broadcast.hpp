/// \file
/// One work-item's value for the whole workgroup.
#pragma once

#include <wavetile/group/detail/wave_slots.hpp>
#include <wavetile/group/workgroup.hpp>
#include <wavetile/wave/broadcast.hpp>

#if WAVETILE_GPU

namespace wavetile::group {

/// Gives every work-item the value of one of them, bit for bit; any trivially copyable type.
///
/// All work-items must call it. LDS: T in whole dwords (at least 16 bytes); unused when there is
/// one wave. Barriers: one (none for one wave); before `memory` is used again, put another.
template <class T, int BlockSize = runtime_size>
class broadcast {
  using slots = detail::wave_slots<detail::dword_count<T>, 1>;

public:
  using storage = typename slots::storage;

  /// The `value` of work-item `source`, which must be the same in all work-items.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static T
  from(const T& value, int source, storage& memory,
       place where = detail::default_place<BlockSize>()) {
    const detail::wave_place<BlockSize> at(where);
    if (at.waves > 1) {
      const slots exchange(memory);
      if (where.thread == source)
        exchange.write(0, value);
      barrier();
      return exchange.template read<T>(0);
    }
    return wave::broadcast(value, source);
  }
};

} // namespace wavetile::group

#endif
