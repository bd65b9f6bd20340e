// 16-bit float arithmetic. VOP2 and legacy forms clear the upper half of the destination, the forms
// with op_sel leave the other half alone.
#include "exec/float_parts.hpp"
#include "exec/lanewise.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

// Sums and products of two halves are exact enough in float: rounding twice changes nothing there.
f16 add(f16 a, f16 b) {
  return static_cast<f16>(static_cast<float>(a) + static_cast<float>(b));
}
f16 subtract(f16 a, f16 b) {
  return static_cast<f16>(static_cast<float>(a) - static_cast<float>(b));
}
f16 multiply(f16 a, f16 b) {
  return static_cast<f16>(static_cast<float>(a) * static_cast<float>(b));
}

/// Multiply, round, add, round; denormals are flushed at every step.
f16 multiply_add(f16 a, f16 b, f16 c) {
  const f16 p = flushed(multiply(flushed(a), flushed(b)));
  return flushed(add(p, flushed(c)));
}

void arithmetic(OpTable& t) {
  t.add(lane_op<add, lane_nan_first>("v_add_f16"));
  t.add(lane_op<subtract, lane_nan_first>("v_sub_f16"));
  t.add(lane_op<[](f16 a, f16 b) { return subtract(b, a); }, lane_nan_first>("v_subrev_f16"));
  t.add(lane_op<multiply, lane_nan_first>("v_mul_f16"));
  t.add(lane_op<multiply_add, lane_nan_first>("v_mac_f16", Unit::valu, op_reads_dst));
  t.add(lane_op<multiply_add, lane_nan_first>("v_madmk_f16"));
  t.add(lane_op<multiply_add, lane_nan_first>("v_madak_f16"));
  t.add(lane_op<multiply_add, lane_nan_first>("v_mad_legacy_f16"));
  t.add(lane_op<multiply_add, lane_nan_first | lane_keeps_high>("v_mad_f16"));
  t.add(lane_op<fma_half, lane_nan_first>("v_fma_legacy_f16"));
  t.add(lane_op<fma_half, lane_nan_first | lane_keeps_high>("v_fma_f16"));
  t.add(lane_op<[](f16 a, f16 b) { return as_bits(a) | u32{as_bits(b)} << 16; }>("v_pack_b32_f16"));
}

void order(OpTable& t) {
  t.add(lane_op<[](f16 a, f16 b, ModeBits m) { return minimum(a, b, m.ieee()); }>("v_min_f16"));
  t.add(lane_op<[](f16 a, f16 b, ModeBits m) { return maximum(a, b, m.ieee()); }>("v_max_f16"));
  t.add(lane_op<[](f16 a, f16 b, f16 c, ModeBits m) {
    return minimum(minimum(a, b, m.ieee()), c, m.ieee());
  },
                lane_keeps_high>("v_min3_f16"));
  t.add(lane_op<[](f16 a, f16 b, f16 c, ModeBits m) {
    return maximum(maximum(a, b, m.ieee()), c, m.ieee());
  },
                lane_keeps_high>("v_max3_f16"));
  t.add(lane_op<[](f16 a, f16 b, f16 c, ModeBits m) { return median(a, b, c, m.ieee()); },
                lane_keeps_high>("v_med3_f16"));
}

void parts(OpTable& t) {
  t.add(lane_op<floor_of<f16>, lane_nan_first>("v_floor_f16"));
  t.add(lane_op<ceil_of<f16>, lane_nan_first>("v_ceil_f16"));
  t.add(lane_op<trunc_of<f16>, lane_nan_first>("v_trunc_f16"));
  t.add(lane_op<even_of<f16>, lane_nan_first>("v_rndne_f16"));
  t.add(lane_op<fraction<f16>, lane_nan_first>("v_fract_f16"));
  t.add(lane_op<significand<f16>>("v_frexp_mant_f16"));
  t.add(lane_op<[](f16 a) { return static_cast<i16>(binary_exponent(a)); }>("v_frexp_exp_i16_f16"));
  t.add(lane_op<[](f16 a, i16 e) { return first_nan(scaled(a, i32{e}), a); }>("v_ldexp_f16"));
}

} // namespace

void register_valu_half(OpTable& t) {
  arithmetic(t);
  order(t);
  parts(t);
}

} // namespace wavesim::WAVESIM_SIMD_NS
