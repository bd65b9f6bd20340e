/// \file
/// Barriers between the turns of waves that share SIMDs, and waits for LDS apart from them.
#pragma once

#include <wavetile/arch/device_target.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels::detail {

/// Waits until at most `Left` of the wave's LDS operations, which end in order, are in flight;
/// memory instructions stay on their side of it. s_waitcnt lgkmcnt.
template <int Left>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_lds() {
  static_assert(Left >= 0 && Left < 16);
#if WAVETILE_AMDGCN
  __builtin_amdgcn_sched_barrier(0);
  asm volatile("" ::: "memory");
  __builtin_amdgcn_s_waitcnt(0xC07F | Left << 8); // vmcnt and expcnt: any
  asm volatile("" ::: "memory");
  __builtin_amdgcn_sched_barrier(0);
#endif
}

/// A barrier of the workgroup that waits for nothing else: what others may rely on is what each
/// wave has waited for before.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void end_turn() {
#if WAVETILE_AMDGCN
  __builtin_amdgcn_sched_barrier(0);
  asm volatile("" ::: "memory");
  __builtin_amdgcn_s_barrier();
  asm volatile("" ::: "memory");
  __builtin_amdgcn_sched_barrier(0);
#endif
}

} // namespace wavetile::kernels::detail

#endif
