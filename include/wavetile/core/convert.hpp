/// \file
/// One conversion function between all element types.
#pragma once

#include <wavetile/core/hip_types.hpp>

namespace wavetile {

namespace detail {

/// Integer or fp64 to an fp32 from which any float of at most 22 significant bits is reached
/// by one more rounding without error: excess bits are cut off, and their presence is kept in the
/// last bit ("round to odd").
WAVETILE_HD constexpr float narrow_to_odd(double value) {
  const uint64_t bits = bit_cast<uint64_t>(value);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63) << 31;
  const uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFFull;
  if (magnitude > 0x7FF0000000000000ull) // NaN: upper payload bits, quiet
    return float_from_bits(sign | 0x7FC00000u |
                           static_cast<uint32_t>((magnitude >> 29) & 0x3FFFFFu));
  if (magnitude == 0x7FF0000000000000ull)
    return float_from_bits(sign | 0x7F800000u);
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent > 127)
    return float_from_bits(sign | 0x7F7FFFFFu);
  if (exponent < -126) // below every format this serves but bf16's denormals, which share fp32's
  {
    if (magnitude == 0)
      return float_from_bits(sign);
    const int shift = 29 + (-126 - exponent);
    if (shift > 53 || exponent == -1023)
      return float_from_bits(sign | 1u);
    const uint64_t significand = (magnitude & 0x000FFFFFFFFFFFFFull) | 0x0010000000000000ull;
    const bool inexact = (significand & ((1ull << shift) - 1ull)) != 0;
    return float_from_bits(sign | static_cast<uint32_t>(significand >> shift) |
                           (inexact ? 1u : 0u));
  }
  const uint32_t upper = static_cast<uint32_t>((magnitude - (896ull << 52)) >> 29);
  return float_from_bits(sign | upper | ((magnitude & 0x1FFFFFFFull) != 0 ? 1u : 0u));
}

WAVETILE_HD constexpr float narrow_to_odd(uint64_t magnitude, bool negative) {
  int shift = 0;
  uint64_t rest = magnitude;
  while (rest >= (1ull << 24)) {
    rest >>= 1;
    ++shift;
  }
  const bool inexact = (rest << shift) != magnitude;
  float result = static_cast<float>(static_cast<uint32_t>(rest) | (inexact ? 1u : 0u));
  for (; shift > 0; --shift)
    result *= 2.0f;
  return negative ? -result : result;
}

/// Float to integer: nearest even, saturating, NaN to 0.
template <class To, class From>
WAVETILE_HD constexpr To round_to_integer(From value) {
  using traits = numeric_traits<To>;
  if (is_nan(value))
    return To{0};
  constexpr From limit = static_cast<From>(uint64_t{1} << (traits::digits - 1)) * From{2};
  if (value >= limit)
    return traits::highest();
  if (value <= (traits::lowest() < To{0} ? -limit : From{0}))
    return traits::lowest();
  To whole = static_cast<To>(value); // toward zero; |value| < limit
  const From rest = value - static_cast<From>(whole);
  const bool odd = (whole & 1) != 0;
  if (rest > From(0.5) || (rest == From(0.5) && odd))
    return whole == traits::highest() ? whole : static_cast<To>(whole + 1);
  if (rest < From(-0.5) || (rest == From(-0.5) && odd))
    return whole == traits::lowest() ? whole : static_cast<To>(whole - 1);
  return whole;
}

} // namespace detail

/// `value` as a `To`, correctly rounded once.
///
/// - Between floats: nearest even, as each type documents (fp8 saturates, the others overflow to
///   infinity; NaN stays NaN). fp64 and integers go to small formats without double rounding.
/// - Float to integer: nearest even, saturating, NaN to 0.
/// - Integer to integer: saturating.
/// - Between an OCP and an FNUZ fp8 type there is none: use `ocp_to_fnuz` or `fnuz_to_ocp`, which
///   keep track of the scale.
/// HIP's own types are accepted on both sides.
template <numeric To, numeric From>
WAVETILE_HD constexpr To convert(From value) {
  using to = storage_t<To>;
  using from = storage_t<From>;
  using to_traits = numeric_traits<to>;
  using from_traits = numeric_traits<from>;
  if constexpr (detail::is_same_v<To, From>) {
    return value;
  } else if constexpr (!detail::is_same_v<To, to>) {
    return detail::bit_cast<To>(convert<to>(value));
  } else if constexpr (!detail::is_same_v<From, from>) {
    return convert<To>(detail::bit_cast<from>(value));
  } else if constexpr (from_traits::is_float && sizeof(From) <= 2) {
    constexpr bool fp8_pair = sizeof(From) == 1 && to_traits::is_float && sizeof(To) == 1;
    if constexpr (fp8_pair)
      static_assert(detail::is_fnuz(From::format) == detail::is_fnuz(To::format),
                    "an OCP and an FNUZ fp8 number of the same bits differ by a factor of two: use "
                    "ocp_to_fnuz or fnuz_to_ocp, which return the scale");
    return convert<To>(static_cast<float>(value));
  } else if constexpr (to_traits::is_float && sizeof(To) <= 2) {
    if constexpr (detail::is_same_v<From, float>)
      return To(value);
    else if constexpr (detail::is_same_v<From, double>)
      return To(detail::narrow_to_odd(value));
    else {
      const bool negative = value < From{0};
      const uint64_t bits = static_cast<uint64_t>(value);
      return To(detail::narrow_to_odd(negative ? uint64_t{0} - bits : bits, negative));
    }
  } else if constexpr (to_traits::is_float) { // fp32 or fp64 from fp32, fp64 or an integer
    return static_cast<To>(value);
  } else if constexpr (from_traits::is_float) {
    return detail::round_to_integer<To>(value);
  } else {
    constexpr bool from_signed = from_traits::is_signed;
    if constexpr (from_signed) {
      if (value < From{0}) {
        if constexpr (!to_traits::is_signed)
          return To{0};
        else
          return static_cast<int64_t>(value) < static_cast<int64_t>(to_traits::lowest())
                     ? to_traits::lowest()
                     : static_cast<To>(value);
      }
    }
    return static_cast<uint64_t>(value) > static_cast<uint64_t>(to_traits::highest())
               ? to_traits::highest()
               : static_cast<To>(value);
  }
}

} // namespace wavetile
