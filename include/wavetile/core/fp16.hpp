/// \file
/// IEEE binary16.
#pragma once

#include <wavetile/core/detail/small_float.hpp>

namespace wavetile {

/// fp16: 1 sign, 5 exponent, 10 mantissa bits; largest 65504, least denormal 2^-24.
///
/// A storage type: arithmetic is done in fp32. Conversion from fp32 rounds to nearest even,
/// overflows to infinity and keeps NaNs; conversion to fp32 is exact and quiets NaNs. Both give the
/// same bits on host and device (v_cvt_f16_f32, v_cvt_f32_f16), denormals included; an NVIDIA GPU
/// makes all NaNs one.
struct fp16 {
  uint16_t bits;

  fp16() = default;
  WAVETILE_HD explicit constexpr fp16(float value) : bits(encode(value)) {}
  WAVETILE_HD explicit constexpr operator float() const { return decode(bits); }

  /// The number with this code.
  WAVETILE_HD static constexpr fp16 from_bits(uint16_t code) {
    fp16 result{};
    result.bits = code;
    return result;
  }

private:
  WAVETILE_HD WAVETILE_FORCE_INLINE static constexpr uint16_t encode(float value) {
#if WAVETILE_AMDGCN
    if (!__builtin_is_constant_evaluated()) {
      return __builtin_bit_cast(uint16_t, static_cast<_Float16>(value));
    }
#elif WAVETILE_PTX
    if (!__builtin_is_constant_evaluated()) {
      uint16_t code;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(code) : "f"(value));
      return code;
    }
#endif
    return static_cast<uint16_t>(detail::encode_small<detail::fp16_format>(value));
  }
  WAVETILE_HD WAVETILE_FORCE_INLINE static constexpr float decode(uint16_t code) {
#if WAVETILE_AMDGCN
    if (!__builtin_is_constant_evaluated()) {
      return static_cast<float>(__builtin_bit_cast(_Float16, code));
    }
#elif WAVETILE_PTX
    if (!__builtin_is_constant_evaluated()) {
      float value;
      asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(code));
      return value;
    }
#endif
    return detail::decode_small<detail::fp16_format>(code);
  }
};

/// Compares as numbers: +0 equals -0, a NaN equals nothing.
WAVETILE_HD constexpr bool operator==(fp16 a, fp16 b) {
  const uint32_t any = a.bits | b.bits;
  const bool both_zero = (any & 0x7FFFu) == 0;
  const bool a_nan = (a.bits & 0x7FFFu) > 0x7C00u;
  return both_zero || (a.bits == b.bits && !a_nan);
}

} // namespace wavetile
