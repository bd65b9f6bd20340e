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

  WAVETILE_HD constexpr uint32_t sign_bit() const { return 1u << (exponent + mantissa); }
  /// First magnitude code that is not a finite number.
  WAVETILE_HD constexpr uint32_t first_special() const {
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

/// fp32 to `Format`, round to nearest even, without branches. A NaN stays a NaN: for IEEE formats
/// with its sign and upper payload bits and the quiet bit set, as the conversion instructions of
/// CPUs and GPUs do.
template <small_float_format Format>
WAVETILE_HD constexpr uint32_t encode_small(float value) {
  const uint32_t bits = float_bits(value);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const uint32_t sign = (bits >> 31) << (Format.exponent + Format.mantissa);

  // value = significand * 2^(exponent - 23). fp32 denormals and 0 get a wrong leading one here, and
  // are still far below half of every format's least denormal
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const uint32_t significand = (magnitude & 0x007FFFFFu) | 0x00800000u;
  constexpr int least = 1 - Format.bias;
  const int target = exponent < least ? least : exponent;
  const int exact_shift = 23 - Format.mantissa + (target - exponent);
  const int shift = exact_shift > 25 ? 25 : exact_shift; // from 25 on nothing is left
  const uint32_t last = (significand >> shift) & 1u;
  const uint32_t quotient = (significand + (1u << (shift - 1)) - 1u + last) >> shift;

  // the leading one of the quotient, and a carry out of rounding, add to the exponent field
  uint32_t code = (static_cast<uint32_t>(target - least) << Format.mantissa) + quotient;
  constexpr uint32_t largest =
      Format.first_special() - (Format.on_overflow == overflow::saturate ? 1u : 0u);
  code = code > largest ? largest : code;

  const bool nan = magnitude > 0x7F800000u;
  if constexpr (Format.specials == special_codes::minus_zero)
    return nan ? Format.sign_bit() : (code == 0 ? 0u : sign | code);
  if constexpr (Format.specials == special_codes::top_code)
    return sign | (nan ? Format.first_special() : code);
  const uint32_t payload = (magnitude & 0x007FFFFFu) >> (23 - Format.mantissa);
  const uint32_t quiet = Format.first_special() | (1u << (Format.mantissa - 1)) | payload;
  return sign | (nan ? quiet : code);
}

/// `Format` to fp32, exact, without branches. A NaN becomes quiet and keeps its sign and payload
/// where the format has them.
template <small_float_format Format>
WAVETILE_HD constexpr float decode_small(uint32_t code) {
  const uint32_t sign = ((code >> (Format.exponent + Format.mantissa)) & 1u) << 31;
  const uint32_t magnitude = code & (Format.sign_bit() - 1u);
  // normal numbers: the fields move, the bias changes. Denormals: an integer times their unit, a
  // normal fp32 number
  constexpr uint32_t rebias = static_cast<uint32_t>(127 - Format.bias) << 23;
  constexpr float unit =
      bit_cast<float>(static_cast<uint32_t>(127 + 1 - Format.bias - Format.mantissa) << 23);
  const uint32_t normal = (magnitude << (23 - Format.mantissa)) + rebias;
  const uint32_t denormal = float_bits(static_cast<float>(static_cast<int>(magnitude)) * unit);
  uint32_t result = magnitude < (1u << Format.mantissa) ? denormal : normal;
  if constexpr (Format.specials == special_codes::minus_zero)
    result = code == Format.sign_bit() ? 0x7FC00000u : result;
  if constexpr (Format.specials == special_codes::top_code)
    result = magnitude >= Format.first_special() ? 0x7FC00000u : result;
  if constexpr (Format.specials == special_codes::ieee) {
    const uint32_t payload = (magnitude - Format.first_special()) << (23 - Format.mantissa);
    const uint32_t special = 0x7F800000u | payload | (payload != 0 ? 0x00400000u : 0u);
    result = magnitude >= Format.first_special() ? special : result;
  }
  const bool positive_nan =
      Format.specials == special_codes::minus_zero && code == Format.sign_bit();
  return float_from_bits(positive_nan ? result : sign | result);
}

} // namespace wavetile::detail
