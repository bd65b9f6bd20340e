/// \file
/// Synchronisation of a workgroup.
#pragma once

#include <wavetile/arch/instructions.hpp>

#if WAVETILE_GPU

namespace wavetile::group {

/// Waits until all work-items of the workgroup have arrived; what each of them wrote to LDS or
/// global memory before is then visible to the others. Every work-item must arrive: mask the tail
/// of a workgroup, never return early. Waits for LDS operations in flight; global loads in flight
/// stay so. In a workgroup of one wave no s_barrier is emitted.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void barrier() {
  instruction::barrier();
}

} // namespace wavetile::group

#endif
