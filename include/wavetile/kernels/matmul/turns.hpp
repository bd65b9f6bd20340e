/// \file
/// Barriers between the turns of waves that share SIMDs, and waits for LDS and for the matrix cores
/// apart from them.
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

/// Puts as many wait states behind the matrix instructions before it as the longest of them need
/// before anything reads their result: 18 (fp64, before a memory instruction) or 19. The compiler
/// counts them too, but LLVM 22 overlooks paths through taken branches.
template <class Fragment, int Count>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void wait_for_matrix(Fragment (&results)[Count]) {
#if WAVETILE_AMDGCN
  __builtin_amdgcn_sched_barrier(0);
  for (int i = 0; i < Count; ++i)
    asm volatile("" : "+v"(results[i].registers)); // in order with the next
  asm volatile("s_nop 15\n\ts_nop 2" : "+v"(results[0].registers));
  __builtin_amdgcn_sched_barrier(0);
#else
  (void)results;
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
