// 32- and 64-bit float arithmetic: add, multiply, fused multiply-add, min/max, rounding, parts.
#include "exec/float_parts.hpp"
#include "exec/lanewise.hpp"
#include "isa/names.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

template <class T>
T fused(T a, T b, T c) {
  if constexpr (std::is_same_v<T, float>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
}

template <class T>
void common(OpTable& t, const char* type) {
  const auto name = [type](const char* stem) { return lasting_name(stem, type); };
  t.add(lane_op<[](T a, T b) { return a + b; }, lane_nan_first>(name("v_add_")));
  t.add(lane_op<[](T a, T b) { return a * b; }, lane_nan_first>(name("v_mul_")));
  t.add(lane_op<fused<T>, lane_nan_first>(name("v_fma_")));
  t.add(lane_op<fused<T>, lane_nan_first>(name("v_fmac_"), Unit::valu, op_reads_dst));
  t.add(lane_op<[](T a, T b, ModeBits m) { return minimum(a, b, m.ieee()); }>(name("v_min_")));
  t.add(lane_op<[](T a, T b, ModeBits m) { return maximum(a, b, m.ieee()); }>(name("v_max_")));
  t.add(lane_op<[](T a, i32 e) { return first_nan(scaled(a, e), a); }>(name("v_ldexp_")));
  t.add(lane_op<floor_of<T>, lane_nan_first>(name("v_floor_")));
  t.add(lane_op<ceil_of<T>, lane_nan_first>(name("v_ceil_")));
  t.add(lane_op<trunc_of<T>, lane_nan_first>(name("v_trunc_")));
  t.add(lane_op<even_of<T>, lane_nan_first>(name("v_rndne_")));
  t.add(lane_op<fraction<T>, lane_nan_first>(name("v_fract_")));
  t.add(lane_op<significand<T>>(name("v_frexp_mant_")));
  t.add(lane_op<binary_exponent<T>>(name("v_frexp_exp_i32_")));
}

void single(OpTable& t) {
  t.add(lane_op<[](float a, float b) { return a - b; }, lane_nan_first>("v_sub_f32"));
  t.add(lane_op<[](float a, float b) { return b - a; }, lane_nan_first>("v_subrev_f32"));
  t.add(lane_op<fused<float>, lane_nan_first>("v_fmamk_f32"));
  t.add(lane_op<fused<float>, lane_nan_first>("v_fmaak_f32"));
  // 0 times anything is 0.
  t.add(lane_op<[](float a, float b) {
    return is_zero(a) || is_zero(b) ? 0.0f : first_nan(a * b, a, b);
  }>("v_mul_legacy_f32"));
  t.add(lane_op<[](float a, float b, float c, ModeBits m) {
    return minimum(minimum(a, b, m.ieee()), c, m.ieee());
  }>("v_min3_f32"));
  t.add(lane_op<[](float a, float b, float c, ModeBits m) {
    return maximum(maximum(a, b, m.ieee()), c, m.ieee());
  }>("v_max3_f32"));
  t.add(lane_op<[](float a, float b, float c, ModeBits m) { return median(a, b, c, m.ieee()); }>(
      "v_med3_f32"));
}

/// The axis of largest magnitude: z before y before x when they tie.
struct MajorAxis {
  bool z, y;
  MajorAxis(float a, float b, float c)
      : z(std::fabs(c) >= std::fabs(a) && std::fabs(c) >= std::fabs(b)),
        y(std::fabs(b) >= std::fabs(a)) {}
};

void cube(OpTable& t) {
  t.add(lane_op<[](float x, float y, float z) {
    const MajorAxis m(x, y, z);
    return m.z ? (z < 0 ? 5.0f : 4.0f) : m.y ? (y < 0 ? 3.0f : 2.0f) : x < 0 ? 1.0f : 0.0f;
  }>("v_cubeid_f32"));
  t.add(lane_op<[](float x, float y, float z) {
    const MajorAxis m(x, y, z);
    return m.z ? (z < 0 ? -x : x) : m.y ? x : x < 0 ? z : -z;
  }>("v_cubesc_f32"));
  t.add(lane_op<[](float x, float y, float z) {
    const MajorAxis m(x, y, z);
    return m.z ? -y : m.y ? (y < 0 ? -z : z) : -y;
  }>("v_cubetc_f32"));
  t.add(lane_op<[](float x, float y, float z) {
    const MajorAxis m(x, y, z);
    return 2 * (m.z ? z : m.y ? y : x);
  }>("v_cubema_f32"));
}

} // namespace

void register_valu_float(OpTable& t) {
  common<float>(t, "f32");
  common<double>(t, "f64");
  single(t);
  cube(t);
}

} // namespace wavesim::WAVESIM_SIMD_NS
