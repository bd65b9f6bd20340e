// Conversions between integers and floats, and packing ones.
#include "exec/float_parts.hpp"
#include "exec/lanewise.hpp"
#include "exec/saturate.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// Towards zero, out of range saturates, NaN gives 0.
template <class I, class T>
I to_integer(T x) {
  constexpr auto low = static_cast<T>(std::numeric_limits<I>::min());
  constexpr auto past = static_cast<T>(T(std::numeric_limits<I>::max() / 2 + 1) * 2);
  return is_nan(x)   ? I{0}
         : x >= past ? std::numeric_limits<I>::max()
         : x <= low  ? std::numeric_limits<I>::min()
                     : static_cast<I>(x);
}

/// [−1, 1] to [−32767, 32767], to nearest even; NaN gives 0.
i16 to_snorm(double x) {
  const double limited = x > 1 ? 1.0 : x < -1 ? -1.0 : x;
  return is_nan(x) ? i16{0} : static_cast<i16>(__builtin_roundeven(limited * 32767));
}
u16 to_unorm(double x) {
  const double limited = x > 1 ? 1.0 : x > 0 ? x : 0.0;
  return is_nan(x) ? u16{0} : static_cast<u16>(__builtin_roundeven(limited * 65535));
}

u32 packed(u16 low, u16 high) {
  return low | u32{high} << 16;
}
u32 packed(i16 low, i16 high) {
  return packed(static_cast<u16>(low), static_cast<u16>(high));
}

/// Float to f16 towards zero.
f16 truncated_half(float x) {
  const float a = std::fabs(x);
  const float cut = a < 0x1p-14f ? __builtin_truncf(x * 0x1p24f) * 0x1p-24f
                                 : from_bits<float>(as_bits(x) & ~0x1fffu);
  const float finite = a >= 65536 && !is_infinity(x) ? with_sign(65504.0f, sign_of(x)) : cut;
  return static_cast<f16>(is_nan(x) ? x : finite);
}

/// Exact in every rounding mode. (What AVX2 code makes of a plain cast gives −0 when rounding
/// down.)
double exact(u32 x) {
  const double shifted = from_bits<double>(0x4330000000000000 | x); // 2^52 + x
  return x ? shifted - 0x1p52 : 0.0;
}

void integers(OpTable& t) {
  // The clamp bit of float-to-integer conversions only concerns exceptions.
  constexpr auto i32_f32 = to_integer<i32, float>;
  constexpr auto u32_f32 = to_integer<u32, float>;
  constexpr auto i32_f64 = to_integer<i32, double>;
  constexpr auto u32_f64 = to_integer<u32, double>;
  constexpr auto i16_f16 = [](f16 a) { return to_integer<i16>(static_cast<float>(a)); };
  constexpr auto u16_f16 = [](f16 a) { return to_integer<u16>(static_cast<float>(a)); };
  constexpr auto up_half = [](float a) { return to_integer<i32>(__builtin_floorf(a + 0.5f)); };
  constexpr auto down = [](float a) { return to_integer<i32>(__builtin_floorf(a)); };
  t.add(lane_op<i32_f32, 0, i32_f32>("v_cvt_i32_f32"));
  t.add(lane_op<u32_f32, 0, u32_f32>("v_cvt_u32_f32"));
  t.add(lane_op<i32_f64, 0, i32_f64>("v_cvt_i32_f64"));
  t.add(lane_op<u32_f64, 0, u32_f64>("v_cvt_u32_f64"));
  t.add(lane_op<i16_f16, 0, i16_f16>("v_cvt_i16_f16"));
  t.add(lane_op<u16_f16, 0, u16_f16>("v_cvt_u16_f16"));
  t.add(lane_op<up_half, lane_any_mode, up_half>("v_cvt_rpi_i32_f32"));
  t.add(lane_op<down, lane_any_mode, down>("v_cvt_flr_i32_f32"));
  t.add(lane_op<[](i32 a) { return static_cast<float>(a); }>("v_cvt_f32_i32"));
  // By way of double, which holds the value exactly: one rounding at every SIMD level.
  t.add(lane_op<[](u32 a) { return static_cast<float>(exact(a)); }>("v_cvt_f32_u32"));
  t.add(lane_op<[](i32 a) { return static_cast<double>(a); }>("v_cvt_f64_i32"));
  t.add(lane_op<exact>("v_cvt_f64_u32"));
  t.add(lane_op<[](i16 a) { return static_cast<f16>(static_cast<float>(a)); }>("v_cvt_f16_i16"));
  t.add(lane_op<[](u16 a) { return static_cast<f16>(static_cast<float>(a)); }>("v_cvt_f16_u16"));
  t.add(lane_op<[](u32 a) { return static_cast<float>(static_cast<i32>(a & 0xff)); }>(
      "v_cvt_f32_ubyte0"));
  t.add(lane_op<[](u32 a) { return static_cast<float>(static_cast<i32>(a >> 8 & 0xff)); }>(
      "v_cvt_f32_ubyte1"));
  t.add(lane_op<[](u32 a) { return static_cast<float>(static_cast<i32>(a >> 16 & 0xff)); }>(
      "v_cvt_f32_ubyte2"));
  t.add(lane_op<[](u32 a) { return static_cast<float>(static_cast<i32>(a >> 24)); }>(
      "v_cvt_f32_ubyte3"));
  // A signed nibble in sixteenths.
  t.add(
      lane_op<[](u32 a) { return static_cast<float>(static_cast<i32>(a << 28) >> 28) * 0.0625f; }>(
          "v_cvt_off_f32_i4"));
}

void floats(OpTable& t) {
  t.add(lane_op<[](float a) { return static_cast<f16>(a); }>("v_cvt_f16_f32"));
  t.add(lane_op<[](f16 a) { return static_cast<float>(a); }>("v_cvt_f32_f16"));
  t.add(lane_op<[](double a) { return static_cast<float>(a); }>("v_cvt_f32_f64"));
  t.add(lane_op<[](float a) { return static_cast<double>(a); }>("v_cvt_f64_f32"));
}

/// Byte `index` of `into` replaced by the float, towards zero and saturated. (The manual does not
/// say how it rounds; the other float-to-integer conversions truncate.)
u32 with_byte(float x, u32 index, u32 into) {
  const u32 shift = 8 * (index & 3);
  return (into & ~(0xffu << shift)) | u32{to_integer<u8>(x)} << shift;
}

void packing(OpTable& t) {
  t.add(lane_op<[](f16 a) { return to_snorm(static_cast<double>(a)); }>("v_cvt_norm_i16_f16"));
  t.add(lane_op<[](f16 a) { return to_unorm(static_cast<double>(a)); }>("v_cvt_norm_u16_f16"));
  t.add(lane_op<[](float a, float b) {
    return packed(to_snorm(static_cast<double>(a)), to_snorm(static_cast<double>(b)));
  }>("v_cvt_pknorm_i16_f32"));
  t.add(lane_op<[](float a, float b) {
    return packed(to_unorm(static_cast<double>(a)), to_unorm(static_cast<double>(b)));
  }>("v_cvt_pknorm_u16_f32"));
  t.add(lane_op<[](f16 a, f16 b) {
    return packed(to_snorm(static_cast<double>(a)), to_snorm(static_cast<double>(b)));
  }>("v_cvt_pknorm_i16_f16"));
  t.add(lane_op<[](f16 a, f16 b) {
    return packed(to_unorm(static_cast<double>(a)), to_unorm(static_cast<double>(b)));
  }>("v_cvt_pknorm_u16_f16"));
  t.add(lane_op<[](float a, float b, ModeBits m) {
    const f16 low = truncated_half(a), high = truncated_half(b);
    const bool flush = m.flush_results_f64();
    return packed(as_bits(flush ? flushed(low) : low), as_bits(flush ? flushed(high) : high));
  }>("v_cvt_pkrtz_f16_f32"));
  t.add(lane_op<[](u32 a, u32 b) { return packed(saturated<u16>(a), saturated<u16>(b)); }>(
      "v_cvt_pk_u16_u32"));
  t.add(lane_op<[](i32 a, i32 b) { return packed(saturated<i16>(a), saturated<i16>(b)); }>(
      "v_cvt_pk_i16_i32"));
  t.add(lane_op<with_byte>("v_cvt_pk_u8_f32"));
  t.add(lane_op<with_byte>("v_cvt_pkaccum_u8_f32", Unit::valu, op_reads_dst));
}

} // namespace

void register_valu_convert(OpTable& t) {
  integers(t);
  floats(t);
  packing(t);
}

} // namespace wavesim::WAVESIM_SIMD_NS
