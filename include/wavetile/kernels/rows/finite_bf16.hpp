/// \file
/// Results to bf16 where it is known that none is a NaN which rounding would spoil.
#pragma once

#include <wavetile/core/bits.hpp>
#include <wavetile/core/vec.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// To nearest even; for numbers, and for NaNs whose lower 16 bits are not all ones, as are those
/// that arithmetic makes (0x7FC00000) or hands on from bf16 operands. Two instructions an element
/// less than a conversion that asks for NaNs.
template <class Bf16, int N>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<Bf16, N> to_bf16_finite(const vec<float, N>& values) {
  static_assert(N % 2 == 0);
  vec<uint32_t, N / 2> words;
#pragma unroll
  for (int i = 0; i < N; i += 2)
    words[i / 2] = pack_bf16<bf16_rounding::nearest_even_finite>(values[i], values[i + 1]);
  return wavetile::detail::bit_cast<vec<Bf16, N>>(words);
}

} // namespace wavetile::kernels

#endif
