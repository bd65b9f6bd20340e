/// \file
/// Encoding and decoding of floating-point formats of at most 16 bits in integer arithmetic: the
/// definition that host code and constant expressions use and that device instructions must match.
#pragma once

#include <wavetile/core/bits.hpp>

namespace wavetile::detail {

/// How a format spends its special codes.
enum class special_codes : uint8_t {
  ieee,      ///< top exponent: mantissa 0 is an infinity, else NaN
  top_code,  ///< no infinity; all ones is NaN, in both signs (OCP e4m3)
  minus_zero ///< no infinity, no -0; the code of -0 is the only NaN (FNUZ)
};

/// What happens to finite values too large for the format, and to infinities.
enum class overflow : uint8_t {
  to_infinity, ///< as IEEE
  saturate     ///< the largest finite value of that sign, infinities too
};

/// A format of 1 sign, `exponent` and `mantissa` bits.
struct small_float_format {
  int exponent;
  int mantissa;
  int bias;
  special_codes specials;
  overflow on_overflow;

  constexpr uint32_t sign_bit() const { return 1u << (exponent + mantissa); }
  /// First magnitude code that is not a finite number.
  constexpr uint32_t first_special() const {
    const uint32_t top = ((1u << exponent) - 1u) << mantissa;
    switch (specials) {
    case special_codes::ieee:
      return top;
    case special_codes::top_code:
      return sign_bit() - 1u;
    case special_codes::minus_zero:
      break;
    }
    return sign_bit();
  }
};

inline constexpr small_float_format fp16_format{5, 10, 15, special_codes::ieee,
                                                overflow::to_infinity};

/// fp32 to `Format`, round to nearest even. A NaN stays a NaN: for IEEE formats with its sign and
/// upper payload bits and the quiet bit set, as the conversion instructions of CPUs and GPUs do.
template <small_float_format Format>
WAVETILE_HD constexpr uint32_t encode_small(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const uint32_t sign = (bits >> 31) != 0 ? Format.sign_bit() : 0u;
  if (magnitude > 0x7F800000u) {
    if constexpr (Format.specials == special_codes::minus_zero)
      return Format.sign_bit();
    if constexpr (Format.specials == special_codes::top_code)
      return sign | (Format.sign_bit() - 1u);
    return sign | Format.first_special() | (1u << (Format.mantissa - 1)) |
           ((magnitude & 0x007FFFFFu) >> (23 - Format.mantissa));
  }
  // significand * 2^(exponent - 23), where a denormal has the exponent of the least normal
  const int field = static_cast<int>(magnitude >> 23);
  const int exponent = field == 0 ? -126 : field - 127;
  const uint32_t significand = (magnitude & 0x007FFFFFu) | (field == 0 ? 0u : 0x00800000u);
  const int least = 1 - Format.bias;
  const int target = exponent < least ? least : exponent;
  const int shift = 23 - Format.mantissa + (target - exponent);
  uint32_t quotient = 0;
  if (shift <= 24) { // further right, less than half of the least denormal is left
    quotient = significand >> shift;
    const uint32_t rest = significand & ((1u << shift) - 1u);
    const uint32_t half = 1u << (shift - 1);
    quotient += (rest > half || (rest == half && (quotient & 1u) != 0)) ? 1u : 0u;
  }
  // the leading one of the quotient, and a carry out of rounding, add to the exponent field
  uint32_t code = (static_cast<uint32_t>(target - least) << Format.mantissa) + quotient;
  if (code >= Format.first_special())
    code = Format.first_special() - (Format.on_overflow == overflow::saturate ? 1u : 0u);
  if (Format.specials == special_codes::minus_zero && code == 0)
    return 0;
  return sign | code;
}

/// `Format` to fp32, exact. A NaN keeps its sign and payload where the format has them.
template <small_float_format Format>
WAVETILE_HD constexpr float decode_small(uint32_t code) {
  const uint32_t sign = (code & Format.sign_bit()) != 0 ? 0x80000000u : 0u;
  const uint32_t magnitude = code & (Format.sign_bit() - 1u);
  if constexpr (Format.specials == special_codes::minus_zero) {
    if (code == Format.sign_bit())
      return float_from_bits(0x7FC00000u);
  } else if (magnitude >= Format.first_special()) {
    if constexpr (Format.specials == special_codes::top_code)
      return float_from_bits(sign | 0x7FC00000u);
    const uint32_t payload = (magnitude - Format.first_special()) << (23 - Format.mantissa);
    return float_from_bits(sign | 0x7F800000u | payload | (payload != 0 ? 0x00400000u : 0u));
  }
  const int field = static_cast<int>(magnitude >> Format.mantissa);
  if (field != 0) {
    const uint32_t shifted =
        (magnitude << (23 - Format.mantissa)) + (static_cast<uint32_t>(127 - Format.bias) << 23);
    return float_from_bits(sign | shifted);
  }
  if (magnitude == 0)
    return float_from_bits(sign);
  // denormal: magnitude * 2^(1 - bias - mantissa), normalised
  const int top = 31 - leading_zeros(magnitude);
  const uint32_t exponent = static_cast<uint32_t>(127 + 1 - Format.bias - Format.mantissa + top);
  return float_from_bits(sign | (exponent << 23) | ((magnitude << (23 - top)) & 0x007FFFFFu));
}

} // namespace wavetile::detail
