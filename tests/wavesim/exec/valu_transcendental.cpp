// Reciprocal, square root, exponential, logarithm, sine and cosine. The 32-bit forms flush
// denormals on both sides whatever MODE says, except sine and cosine; the 16-bit forms keep them.
#include "exec/transcendental.hpp"

#include "exec/lanewise.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

float exp_f32(float x) {
  return first_nan(flushed(static_cast<float>(exponential(static_cast<double>(x)))), x);
}
double log_any(double x) { // of a value that is not a denormal double
  const bool usual = x > 0 && !is_infinity(x);
  const double r = logarithm(usual ? x : 1.0);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double invalid = from_bits<double>(float_layout<double>::default_nan);
  return x == 0 ? -infinity : x < 0 ? invalid : is_infinity(x) ? infinity : r;
}
float log_f32(float x) {
  return first_nan(static_cast<float>(log_any(static_cast<double>(flushed(x)))), x);
}
float rcp_f32(float x) {
  return first_nan(flushed(1.0f / flushed(x)), x);
}
float sqrt_f32(float x) {
  return first_nan(__builtin_sqrtf(flushed(x)), x);
}
float rsq_f32(float x) {
  const double y = static_cast<double>(flushed(x));
  return first_nan(static_cast<float>(1.0 / __builtin_sqrt(y)), x);
}

template <class T, u32 Ahead>
T turn(T x) {
  const bool finite = magnitude(x) < float_layout<T>::infinity;
  const double r = sine_of_turns(finite ? static_cast<double>(x) : 0.0, Ahead);
  T y;
  if constexpr (sizeof(T) == 2)
    y = to_half(r);
  else
    y = static_cast<T>(r);
  if (Ahead == 0)
    y = is_zero(x) ? x : y; // sin(−0) = −0
  y = finite ? y : from_bits<T>(float_layout<T>::default_nan);
  return first_nan(y, x);
}

void single(OpTable& t) {
  constexpr unsigned any = lane_any_mode;
  t.add(lane_op<exp_f32, any>("v_exp_f32", Unit::trans));
  t.add(lane_op<exp_f32, any>("v_exp_legacy_f32", Unit::trans));
  t.add(lane_op<log_f32, any>("v_log_f32", Unit::trans));
  t.add(lane_op<log_f32, any>("v_log_legacy_f32", Unit::trans));
  t.add(lane_op<rcp_f32, any>("v_rcp_f32", Unit::trans));
  t.add(lane_op<rcp_f32, any>("v_rcp_iflag_f32", Unit::trans));
  t.add(lane_op<rsq_f32, any>("v_rsq_f32", Unit::trans));
  t.add(lane_op<sqrt_f32, any>("v_sqrt_f32", Unit::trans));
  t.add(lane_op<turn<float, 0>>("v_sin_f32", Unit::trans));
  t.add(lane_op<turn<float, 1>>("v_cos_f32", Unit::trans));
}

void half(OpTable& t) {
  t.add(lane_op<[](f16 x) { return first_nan(to_half(exponential(static_cast<double>(x))), x); }>(
      "v_exp_f16", Unit::trans));
  t.add(lane_op<[](f16 x) { return first_nan(to_half(log_any(static_cast<double>(x))), x); }>(
      "v_log_f16", Unit::trans));
  t.add(
      lane_op<[](f16 x) { return static_cast<f16>(1.0f / static_cast<float>(x)); }, lane_nan_first>(
          "v_rcp_f16", Unit::trans));
  t.add(lane_op<[](f16 x) { return to_half(1.0 / __builtin_sqrt(static_cast<double>(x))); },
                lane_nan_first>("v_rsq_f16", Unit::trans));
  t.add(lane_op<[](f16 x) { return static_cast<f16>(__builtin_sqrtf(static_cast<float>(x))); },
                lane_nan_first>("v_sqrt_f16", Unit::trans));
  t.add(lane_op<turn<f16, 0>>("v_sin_f16", Unit::trans));
  t.add(lane_op<turn<f16, 1>>("v_cos_f16", Unit::trans));
}

// The hardware's estimates carry about 24 correct bits; here they are correctly rounded.
void wide(OpTable& t) {
  t.add(lane_op<[](double x) { return 1.0 / x; }, lane_nan_first>("v_rcp_f64", Unit::trans));
  t.add(lane_op<[](double x) { return 1.0 / __builtin_sqrt(x); }, lane_nan_first>("v_rsq_f64",
                                                                                  Unit::trans));
  t.add(lane_op<[](double x) { return __builtin_sqrt(x); }, lane_nan_first>("v_sqrt_f64",
                                                                            Unit::trans));
}

/// 2/π = 0.b1200 b1199 … b0, most significant word first: word 0 holds bits 1200 … 1137.
constexpr u64 two_over_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000};

/// 53 bits of 2/π starting `shift` bits below the top.
u64 segment(u32 shift) {
  const u32 word = shift / 64, bit = shift % 64;
  constexpr u32 count = sizeof two_over_pi / sizeof two_over_pi[0];
  const u64 first = word < count ? two_over_pi[word] : 0;
  const u64 second = word + 1 < count ? two_over_pi[word + 1] : 0;
  const u64 top = bit ? first << bit | second >> (64 - bit) : first;
  return top >> 11;
}

/// The part of 2/π that argument reduction of `x` needs, number `index` of its 53-bit segments.
double reduction_segment(double x, u32 index) {
  const i32 exponent = exponent_field(x);
  const i32 shift = static_cast<i32>(index & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  const i32 scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return scaled(static_cast<double>(static_cast<i64>(segment(static_cast<u32>(shift)))), scale);
}

} // namespace

void register_valu_transcendental(OpTable& t) {
  single(t);
  half(t);
  wide(t);
  t.add(lane_op<reduction_segment>("v_trig_preop_f64"));
}

} // namespace wavesim::WAVESIM_SIMD_NS
