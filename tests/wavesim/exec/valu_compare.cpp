// v_cmp, v_cmpx and the class tests.
#include "exec/lanewise.hpp"
#include "isa/names.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

template <auto F>
void both(OpTable& t, const char* test, const char* type) {
  t.add(lane_op<F, lane_compare>(lasting_name("v_cmp_", test, type)));
  t.add(lane_op<F, lane_compare | lane_writes_exec>(lasting_name("v_cmpx_", test, type)));
}

template <class T>
void ordered(OpTable& t, const char* type) {
  both<[](T a, T b) { return a < b; }>(t, "lt_", type);
  both<[](T a, T b) { return a == b; }>(t, "eq_", type);
  both<[](T a, T b) { return a <= b; }>(t, "le_", type);
  both<[](T a, T b) { return a > b; }>(t, "gt_", type);
  both<[](T a, T b) { return a >= b; }>(t, "ge_", type);
}

template <class T>
void integers(OpTable& t, const char* type) {
  ordered<T>(t, type);
  both<[](T a, T b) { return a != b; }>(t, "ne_", type);
  both<[](T, T) { return false; }>(t, "f_", type);
  both<[](T, T) { return true; }>(t, "t_", type);
}

// The n… forms are true for unordered operands too.
template <class T>
void floats(OpTable& t, const char* type) {
  ordered<T>(t, type);
  both<[](T a, T b) { return a < b || a > b; }>(t, "lg_", type);
  both<[](T a, T b) { return !is_nan(a) && !is_nan(b); }>(t, "o_", type);
  both<[](T a, T b) { return is_nan(a) || is_nan(b); }>(t, "u_", type);
  both<[](T a, T b) { return !(a >= b); }>(t, "nge_", type);
  both<[](T a, T b) { return !(a < b || a > b); }>(t, "nlg_", type);
  both<[](T a, T b) { return !(a > b); }>(t, "ngt_", type);
  both<[](T a, T b) { return !(a <= b); }>(t, "nle_", type);
  both<[](T a, T b) { return !(a == b); }>(t, "neq_", type);
  both<[](T a, T b) { return !(a < b); }>(t, "nlt_", type);
  both<[](T, T) { return false; }>(t, "f_", type);
  both<[](T, T) { return true; }>(t, "tru_", type);
}

/// Bit of the class mask that describes `x`: 0 signaling and 1 quiet NaN, 2 −∞, 3 −normal,
/// 4 −denormal, 5 −0, 6 +0, 7 +denormal, 8 +normal, 9 +∞.
template <class T>
unsigned class_bit(T x) {
  const bool negative = sign_of(x);
  const unsigned nan = is_signaling(x) ? 0 : 1;
  const unsigned infinite = negative ? 2 : 9, normal = negative ? 3 : 8;
  const unsigned denormal = negative ? 4 : 7, zero = negative ? 5 : 6;
  return is_nan(x)        ? nan
         : is_infinity(x) ? infinite
         : is_zero(x)     ? zero
         : is_denormal(x) ? denormal
                          : normal;
}

template <class T>
void classes(OpTable& t, const char* type) {
  constexpr auto test = [](T x, u32 mask) { return (mask >> class_bit(x) & 1) != 0; };
  t.add(lane_op<test, lane_compare | lane_any_mode>(lasting_name("v_cmp_", "class_", type)));
  t.add(lane_op<test, lane_compare | lane_any_mode | lane_writes_exec>(
      lasting_name("v_cmpx_", "class_", type)));
}

} // namespace

void register_valu_compare(OpTable& t) {
  integers<i16>(t, "i16");
  integers<u16>(t, "u16");
  integers<i32>(t, "i32");
  integers<u32>(t, "u32");
  integers<i64>(t, "i64");
  integers<u64>(t, "u64");
  floats<f16>(t, "f16");
  floats<float>(t, "f32");
  floats<double>(t, "f64");
  classes<f16>(t, "f16");
  classes<float>(t, "f32");
  classes<double>(t, "f64");
}

} // namespace wavesim::WAVESIM_SIMD_NS
