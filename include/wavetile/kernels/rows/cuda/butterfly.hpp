/// \file
/// Reductions over the lanes of a wave by exchanges, of which NVIDIA GPUs have one an instruction.
#pragma once

#include <wavetile/wave/shuffle.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// All lanes of a wave, as `wave_team`; `Op` must be commutative, so that all get the same bits.
class butterfly_team {
public:
  template <int Line, class T, class Op>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE T all_reduce(T value, Op op) const {
    value = op(value, wave::shuffle_xor<1>(value));
    value = op(value, wave::shuffle_xor<2>(value));
    value = op(value, wave::shuffle_xor<4>(value));
    value = op(value, wave::shuffle_xor<8>(value));
    return op(value, wave::shuffle_xor<16>(value));
  }
};

} // namespace wavetile::kernels

#endif
