// Packed f16.
#include "exec/vop3p_halves.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// a·b + c with one rounding under the current rounding mode. The product is exact in float; the
/// sum is rounded to odd there (its error is computed as well), which leaves f16 the only rounding.
f16 fused_half(f16 a, f16 b, f16 c) {
  const float p = static_cast<float>(a) * static_cast<float>(b), q = static_cast<float>(c);
  const float s = p + q;
  const bool p_larger = magnitude(p) >= magnitude(q);
  const float large = p_larger ? p : q, small = p_larger ? q : p;
  const float error = small - (s - large);
  const u32 bits = as_bits(s);
  const bool fix = error != 0 && !(bits & 1) && magnitude(s) < float_layout<float>::infinity;
  const u32 odd = (error > 0) == (s > 0) ? bits + 1 : bits - 1;
  return static_cast<f16>(from_bits<float>(fix ? odd : bits));
}

} // namespace

void register_vop3p_half(OpTable& t) {
  t.add(half_op<[](f16 a, f16 b) -> f16 { return first_nan(static_cast<f16>(a + b), a, b); }>(
      "v_pk_add_f16"));
  t.add(half_op<[](f16 a, f16 b) -> f16 { return first_nan(static_cast<f16>(a * b), a, b); }>(
      "v_pk_mul_f16"));
  t.add(half_op<[](f16 a, f16 b, f16 c) -> f16 { return first_nan(fused_half(a, b, c), a, b, c); }>(
      "v_pk_fma_f16"));
  t.add(half_op<[](f16 a, f16 b, ModeBits m) -> f16 { return minimum(a, b, m.ieee()); }>(
      "v_pk_min_f16"));
  t.add(half_op<[](f16 a, f16 b, ModeBits m) -> f16 { return maximum(a, b, m.ieee()); }>(
      "v_pk_max_f16"));
}

} // namespace wavesim::WAVESIM_SIMD_NS
