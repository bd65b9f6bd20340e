/// \file
/// Barriers between the turns of waves that share SIMDs.
#pragma once

#include <wavetile/matrix/waits.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels::detail {

/// A barrier of the workgroup that waits for nothing else: what others may rely on is what each
/// wave has waited for before.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void end_turn() {
#if WAVETILE_AMDGCN
  wavetile::detail::in_place([] { __builtin_amdgcn_s_barrier(); });
#endif
}

} // namespace wavetile::kernels::detail

#endif
