/// \file
/// The four 8-bit floating-point formats, as four types.
#pragma once

#include <wavetile/core/data_type.hpp>
#include <wavetile/core/detail/small_float.hpp>

namespace wavetile {

/// Layout of an 8-bit float. OCP is the format of the Open Compute Project's OFP8 specification;
/// FNUZ ("finite, no negative zero": one zero, one NaN, no infinity, bias one larger) is what
/// gfx942 computes with. Same bits, different numbers: the largest e4m3 is 448 in OCP and 240 in
/// FNUZ.
enum class fp8_format : uint8_t { e4m3_fnuz, e5m2_fnuz, e4m3_ocp, e5m2_ocp };

namespace detail {

/// Bit layout of each format; the numbers agree with LLVM's APFloat semantics of the same names.
constexpr small_float_format layout_of(fp8_format format) {
  switch (format) {
  case fp8_format::e4m3_fnuz:
    return {4, 3, 8, special_codes::minus_zero, overflow::saturate};
  case fp8_format::e5m2_fnuz:
    return {5, 2, 16, special_codes::minus_zero, overflow::saturate};
  case fp8_format::e4m3_ocp:
    return {4, 3, 7, special_codes::top_code, overflow::saturate};
  case fp8_format::e5m2_ocp:
    break;
  }
  return {5, 2, 15, special_codes::ieee, overflow::saturate};
}

constexpr bool is_fnuz(fp8_format format) {
  return format == fp8_format::e4m3_fnuz || format == fp8_format::e5m2_fnuz;
}

// gfx942 converts FNUZ formats in hardware. gfx950 has instructions of the same names for OCP.
#if WAVETILE_AMDGCN && defined(__gfx942__)
#define WAVETILE_DETAIL_FNUZ_INSTRUCTIONS 1

/// Bounds `value` to the largest finite magnitude: the instruction makes NaN of what is larger.
/// A NaN itself must pass, and v_med3_f32 would drop it.
template <fp8_format Format>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE float clamp_fnuz(float value) {
  constexpr float largest = decode_small<layout_of(Format)>(0x7F);
  const float bounded = __builtin_amdgcn_fmed3f(value, largest, -largest);
  return select(is_nan(value), value, bounded);
}

/// Two codes, `low` in the lower byte, in the upper or lower half of a dword; the other half is
/// that of `rest`.
template <fp8_format Format, bool Upper>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t encode_fnuz_pair(float low, float high,
                                                                uint32_t rest) {
  const float l = clamp_fnuz<Format>(low);
  const float h = clamp_fnuz<Format>(high);
  const int other = static_cast<int>(rest);
  if constexpr (Format == fp8_format::e4m3_fnuz)
    return static_cast<uint32_t>(__builtin_amdgcn_cvt_pk_fp8_f32(l, h, other, Upper));
  else
    return static_cast<uint32_t>(__builtin_amdgcn_cvt_pk_bf8_f32(l, h, other, Upper));
}

/// Four codes in a dword, the first in the lowest byte.
template <fp8_format Format>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t encode_fnuz_quad(const float* value) {
  // both halves are overwritten, so any register that dies here may be the first `rest`
  const uint32_t dying = bit_cast<uint32_t>(value[0]);
  const uint32_t lower = encode_fnuz_pair<Format, false>(value[0], value[1], dying);
  return encode_fnuz_pair<Format, true>(value[2], value[3], lower);
}

template <fp8_format Format>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void decode_fnuz_quad(uint32_t codes, float* value) {
  const int word = static_cast<int>(codes);
  if constexpr (Format == fp8_format::e4m3_fnuz) {
    const auto lower = __builtin_amdgcn_cvt_pk_f32_fp8(word, false);
    const auto upper = __builtin_amdgcn_cvt_pk_f32_fp8(word, true);
    value[0] = lower[0], value[1] = lower[1], value[2] = upper[0], value[3] = upper[1];
  } else {
    const auto lower = __builtin_amdgcn_cvt_pk_f32_bf8(word, false);
    const auto upper = __builtin_amdgcn_cvt_pk_f32_bf8(word, true);
    value[0] = lower[0], value[1] = lower[1], value[2] = upper[0], value[3] = upper[1];
  }
}
#else
#define WAVETILE_DETAIL_FNUZ_INSTRUCTIONS 0
#endif

} // namespace detail

/// One 8-bit float. A storage type: no arithmetic, no conversion to another format but through the
/// named functions below or through fp32.
///
/// From fp32: round to nearest even; what is too large, infinities included, becomes the largest
/// finite value of its sign; a NaN becomes a NaN; in FNUZ -0 becomes +0. To fp32: exact. The
/// results have the same bits on host and on every device; on gfx942 FNUZ formats use the
/// conversion instructions.
template <fp8_format Format>
struct basic_fp8 {
  uint8_t bits;

  static constexpr fp8_format format = Format;

  basic_fp8() = default;
  WAVETILE_HD explicit constexpr basic_fp8(float value) : bits(encode(value)) {}
  WAVETILE_HD explicit constexpr operator float() const { return decode(bits); }

  /// The number with this code.
  WAVETILE_HD static constexpr basic_fp8 from_bits(uint8_t code) {
    basic_fp8 result{};
    result.bits = code;
    return result;
  }

private:
  WAVETILE_HD WAVETILE_FORCE_INLINE static constexpr uint8_t encode(float value) {
#if WAVETILE_DETAIL_FNUZ_INSTRUCTIONS
    if constexpr (detail::is_fnuz(Format)) {
      if (!__builtin_is_constant_evaluated())
        return static_cast<uint8_t>(detail::encode_fnuz_pair<Format, false>(value, value, 0u));
    }
#endif
    return static_cast<uint8_t>(detail::encode_small<detail::layout_of(Format)>(value));
  }
  WAVETILE_HD WAVETILE_FORCE_INLINE static constexpr float decode(uint8_t code) {
#if WAVETILE_DETAIL_FNUZ_INSTRUCTIONS
    if constexpr (Format == fp8_format::e4m3_fnuz) {
      if (!__builtin_is_constant_evaluated())
        return __builtin_amdgcn_cvt_f32_fp8(code, 0);
    }
    if constexpr (Format == fp8_format::e5m2_fnuz) {
      if (!__builtin_is_constant_evaluated())
        return __builtin_amdgcn_cvt_f32_bf8(code, 0);
    }
#endif
    return detail::decode_small<detail::layout_of(Format)>(code);
  }
};

using fp8_e4m3_fnuz = basic_fp8<fp8_format::e4m3_fnuz>; ///< bias 8, largest 240, least 2^-10
using fp8_e5m2_fnuz = basic_fp8<fp8_format::e5m2_fnuz>; ///< bias 16, largest 57344, least 2^-17
using fp8_e4m3_ocp = basic_fp8<fp8_format::e4m3_ocp>;   ///< bias 7, largest 448, least 2^-9
using fp8_e5m2_ocp = basic_fp8<fp8_format::e5m2_ocp>;   ///< bias 15, largest 57344, least 2^-16

/// Compares two numbers of one format; a NaN equals nothing.
template <fp8_format Format>
WAVETILE_HD constexpr bool operator==(basic_fp8<Format> a, basic_fp8<Format> b) {
  const float x = static_cast<float>(a);
  const float y = static_cast<float>(b);
  if (is_nan(x) || is_nan(y))
    return false;
  return a.bits == b.bits || ((a.bits | b.bits) & 0x7Fu) == 0;
}

/// A number together with the factor it must be multiplied by: value * scale is meant.
template <class T>
struct scaled {
  T value;
  float scale;
};

/// OCP to FNUZ: the bits stay, the scale doubles (the FNUZ bias is one larger), so that
/// value * scale is unchanged for every finite number. -0 becomes +0, NaN becomes NaN, and an
/// infinity (e5m2) the largest FNUZ number of its sign.
template <fp8_format Format>
requires(!detail::is_fnuz(Format)) WAVETILE_HD
    constexpr auto ocp_to_fnuz(basic_fp8<Format> number, float scale = 1.0f) {
  constexpr fp8_format target =
      Format == fp8_format::e4m3_ocp ? fp8_format::e4m3_fnuz : fp8_format::e5m2_fnuz;
  constexpr uint32_t first_special = detail::layout_of(Format).first_special();
  const uint32_t magnitude = number.bits & 0x7Fu;
  uint32_t code = number.bits;
  if (code == 0x80u)
    code = 0;
  else if (magnitude >= first_special) {
    const bool infinite = Format == fp8_format::e5m2_ocp && magnitude == first_special;
    code = infinite ? (code | 0x7Fu) : 0x80u;
  }
  return scaled<basic_fp8<target>>{basic_fp8<target>::from_bits(static_cast<uint8_t>(code)),
                                   scale * 2.0f};
}

/// FNUZ to OCP: the bits stay, the scale halves. NaN becomes NaN; the one (e4m3: 240) or four
/// (e5m2: 32768 ... 57344) magnitudes whose bits are special in OCP saturate to the largest OCP
/// number; all others keep value * scale.
template <fp8_format Format>
requires(detail::is_fnuz(Format)) WAVETILE_HD
    constexpr auto fnuz_to_ocp(basic_fp8<Format> number, float scale = 1.0f) {
  constexpr fp8_format target =
      Format == fp8_format::e4m3_fnuz ? fp8_format::e4m3_ocp : fp8_format::e5m2_ocp;
  constexpr uint32_t first_special = detail::layout_of(target).first_special();
  uint32_t code = number.bits;
  if (code == 0x80u)
    code = 0x7Fu;
  else if ((code & 0x7Fu) >= first_special)
    code = (code & 0x80u) | (first_special - 1u);
  return scaled<basic_fp8<target>>{basic_fp8<target>::from_bits(static_cast<uint8_t>(code)),
                                   scale * 0.5f};
}

} // namespace wavetile
