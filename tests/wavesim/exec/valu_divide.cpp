// The division helpers: scale the operands, final fused multiply-add with the scale taken back, and
// the special cases. Together with v_rcp and fused multiply-adds they give correctly rounded
// quotients, denormal ones included.
#include "exec/float_parts.hpp"
#include "exec/lanewise.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

template <class T>
struct division;
template <>
struct division<float> {
  static constexpr i32 scale = 64, near_overflow = 96, tiny = 23, underflow = -150;
  static bool denormal_quotient(float n, float d) {
    return std::fabs(static_cast<double>(n)) < std::fabs(static_cast<double>(d)) * 0x1p-126;
  }
};
template <>
struct division<double> {
  static constexpr i32 scale = 128, near_overflow = 768, tiny = 53, underflow = -1075;
  static bool denormal_quotient(double n, double d) {
    // |n/d| < 2^-1022, each side scaled so that it is exact wherever the answer can be yes.
    return std::fabs(n) * 0x1p600 < std::fabs(d) * 0x1p-422;
  }
};

/// `x` is the numerator or the denominator, scaled so that no step of the division meets a
/// denormal. The bit asks for the scale to be taken back at the end.
template <class T>
WithMask<T> scale_for_division(T x, T denominator, T numerator) {
  using D = division<T>;
  using L = float_layout<T>;
  constexpr auto up = static_cast<T>(D::scale == 64 ? 0x1p64 : 0x1p128);
  constexpr auto down = 1 / up;
  const i32 difference = exponent_field(numerator) - exponent_field(denominator);
  // Denominators from 2^(bias − 1) on have a denormal reciprocal.
  constexpr auto large =
      static_cast<bits_of<T>>(static_cast<bits_of<T>>(2 * L::bias - 1) << L::mantissa_bits);
  const bool reciprocal = magnitude(denominator) > large && magnitude(denominator) < L::infinity;
  const bool quotient = D::denormal_quotient(numerator, denominator) && !is_infinity(denominator);
  const bool zero = is_zero(numerator) || is_zero(denominator);
  const bool overflow = difference >= D::near_overflow;
  const bool small = is_denormal(denominator);
  const bool tiny = exponent_field(numerator) <= D::tiny;
  const T up_denominator = x == denominator ? x * up : x;
  const T up_numerator = x == numerator ? x * up : x;
  T r = tiny ? x * up : x;
  r = quotient ? up_numerator : r;
  // With a tiny quotient as well, shrinking the denominator alone enlarges the quotient. (The
  // manual prints a scale up here, which would overflow.)
  const T down_denominator = x == denominator ? x * down : x;
  r = reciprocal ? (quotient ? down_denominator : x * down) : r;
  r = small ? x * up : r;
  r = overflow ? up_denominator : r;
  r = zero ? from_bits<T>(L::default_nan) : r;
  const bool take_back = !zero && (overflow || (!small && quotient));
  return {r, take_back};
}

/// fma(a, b, c), times 2^±64 where the mask asks for it, with one rounding. An estimate of 2 or
/// more came from an enlarged denominator and goes up, a smaller one from an enlarged numerator and
/// goes down.
float last_step(float a, float b, float c, LaneMask scaled_up) {
  const double sum =
      sum_to_odd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c));
  const double factor = exponent_field(c) > 127 ? 0x1p64 : 0x1p-64;
  const float scaled = static_cast<float>(sum * factor);
  return first_nan(scaled_up ? scaled : __builtin_fmaf(a, b, c), a, b, c);
}

double last_step(double a, double b, double c, LaneMask scaled_up, ModeBits mode) {
  // The fused sum to odd: its error term is exact when c outweighs a·b, as it does in a division.
  const double sum = __builtin_fma(a, b, c);
  const double error = __builtin_fma(a, b, c - sum);
  const u64 bits = as_bits(sum);
  const bool fix = error != 0 && !(bits & 1) && magnitude(sum) < float_layout<double>::infinity;
  const u64 step = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  const double odd = fix ? from_bits<double>(step) : sum;
  const double factor = exponent_field(c) > 1023 ? 0x1p128 : 0x1p-128;
  // A result just below the normal numbers loses one bit only, too few for the odd bit to decide
  // between nearest neighbours: round c first and see on which side of the middle the rest is.
  const double coarse = c * factor, rest = __builtin_fma(a, b, c - coarse / factor) * 0x1p946;
  const double units = coarse * 0x1p537 * 0x1p537; // of 2^-1074
  const bool uneven = (as_bits(coarse) & 1) != 0;
  const double up = (rest > 0.5) | ((rest == 0.5) & uneven) ? 1.0 : 0.0;
  const double down = (rest < -0.5) | ((rest == -0.5) & uneven) ? 1.0 : 0.0;
  const double nearest = (units + up - down) * 0x1p-537 * 0x1p-537;
  const bool denormal = std::fabs(sum) < 0x1p-894;
  const double to_nearest = denormal ? nearest : sum * factor;
  const double scaled = mode.round_f64() == 0 ? to_nearest : odd * factor;
  return first_nan(scaled_up ? scaled : sum, a, b, c);
}

/// v_div_fmas of lanes none of which has been scaled: a fused multiply-add.
template <class T, Handler Scaled>
void unscaled(Wave& w, const Op& op) {
  constexpr auto fma = [](T a, T b, T c) {
    if constexpr (sizeof(T) == 4)
      return __builtin_fmaf(a, b, c);
    else
      return __builtin_fma(a, b, c);
  };
  if (w.vcc() & w.exec())
    Scaled(w, op);
  else
    plain_handler<fma, lane_nan_first>(w, op);
}

template <class T>
T fix_up(T quotient, T denominator, T numerator, ModeBits mode) {
  using L = float_layout<T>;
  const bool negative = sign_of(denominator) != sign_of(numerator);
  const T infinity = from_bits<T>(L::infinity), invalid = from_bits<T>(L::default_nan);
  const bool n_zero = is_zero(numerator), d_zero = is_zero(denominator);
  const bool n_infinite = is_infinity(numerator), d_infinite = is_infinity(denominator);
  T r = with_sign(quotient, negative);
  if constexpr (sizeof(T) != 2) {
    const unsigned round = sizeof(T) == 4 ? mode.round_f32() : mode.round_f64();
    const bool away = round == (negative ? 2 : 1); // rounding leads away from zero
    const T least = from_bits<T>(away ? 1 : 0);
    const bool underflow =
        exponent_field(numerator) - exponent_field(denominator) < division<T>::underflow;
    r = underflow ? with_sign(least, negative) : r;
    // A quotient this large overflows; on the way there it has become infinite, then NaN.
    const bool overflow = binary_exponent(numerator) - binary_exponent(denominator) > L::bias + 1;
    const bool to_infinity = round == 0 || away;
    const T largest = from_bits<T>(static_cast<bits_of<T>>(L::infinity - (to_infinity ? 0 : 1)));
    r = overflow ? with_sign(largest, negative) : r;
  }
  r = d_infinite || n_zero ? with_sign(T{0}, negative) : r;
  r = d_zero || n_infinite ? with_sign(infinity, negative) : r;
  r = (d_zero && n_zero) || (d_infinite && n_infinite) ? invalid : r;
  r = is_nan(denominator) ? quieted(denominator) : r;
  return is_nan(numerator) ? quieted(numerator) : r;
}

} // namespace

void register_valu_divide(OpTable& t) {
  t.add(lane_op<scale_for_division<float>>("v_div_scale_f32"));
  t.add(lane_op<scale_for_division<double>>("v_div_scale_f64"));
  constexpr auto step_f32 = [](float a, float b, float c, LaneMask m) {
    return last_step(a, b, c, m);
  };
  constexpr auto step_f64 = [](double a, double b, double c, LaneMask m, ModeBits mode) {
    return last_step(a, b, c, m, mode);
  };
  OpInfo single = lane_op<step_f32>("v_div_fmas_f32");
  single.plain = unscaled<float, plain_handler<step_f32, 0>>;
  t.add(single);
  OpInfo wide = lane_op<step_f64>("v_div_fmas_f64");
  wide.plain = unscaled<double, plain_handler<step_f64, 0>>;
  t.add(wide);
  t.add(lane_op<fix_up<float>>("v_div_fixup_f32"));
  t.add(lane_op<fix_up<double>>("v_div_fixup_f64"));
  t.add(lane_op<fix_up<f16>, lane_keeps_high>("v_div_fixup_f16"));
  t.add(lane_op<fix_up<f16>>("v_div_fixup_legacy_f16"));
}

} // namespace wavesim::WAVESIM_SIMD_NS
