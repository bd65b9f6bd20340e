// 16-bit integer arithmetic. The VOP2 forms and the legacy ones clear the upper half of the
// destination; the forms with op_sel leave the other half alone.
#include "exec/lanewise.hpp"
#include "exec/saturate.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

u16 wrap(i32 x) {
  return static_cast<u16>(x);
}

void add(OpTable& t) {
  t.add(lane_op<[](u16 a, u16 b) { return wrap(a + b); }, 0,
                [](u16 a, u16 b) { return saturated<u16>(a + b); }>("v_add_u16"));
  t.add(lane_op<[](u16 a, u16 b) { return wrap(a - b); }, 0,
                [](u16 a, u16 b) { return saturated<u16>(a - b); }>("v_sub_u16"));
  t.add(lane_op<[](u16 a, u16 b) { return wrap(b - a); }, 0,
                [](u16 a, u16 b) { return saturated<u16>(b - a); }>("v_subrev_u16"));
  t.add(lane_op<[](i16 a, i16 b) { return static_cast<i16>(a + b); }, lane_keeps_high,
                [](i16 a, i16 b) { return saturated<i16>(a + b); }>("v_add_i16"));
  t.add(lane_op<[](i16 a, i16 b) { return static_cast<i16>(a - b); }, lane_keeps_high,
                [](i16 a, i16 b) { return saturated<i16>(a - b); }>("v_sub_i16"));
  t.add(lane_op<[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }, 0,
                [](u16 a, u16 b) { return saturated<u16>(u32{a} * b); }>("v_mul_lo_u16"));
}

template <unsigned Flags>
void multiply_add(OpTable& t, const char* unsigned_name, const char* signed_name) {
  t.add(lane_op<[](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }, Flags,
                [](u16 a, u16 b, u16 c) { return saturated<u16>(u64{u32{a} * b} + c); }>(
      unsigned_name));
  t.add(lane_op<[](i16 a, i16 b, i16 c) { return static_cast<i16>(i64{a * b} + c); }, Flags,
                [](i16 a, i16 b, i16 c) { return saturated<i16>(i64{a * b} + c); }>(signed_name));
}

void shift(OpTable& t) {
  t.add(
      lane_op<[](u16 a, u16 b) { return static_cast<u16>(u32{b} << (a & 15)); }>("v_lshlrev_b16"));
  t.add(
      lane_op<[](u16 a, u16 b) { return static_cast<u16>(u32{b} >> (a & 15)); }>("v_lshrrev_b16"));
  t.add(
      lane_op<[](u16 a, i16 b) { return static_cast<i16>(i32{b} >> (a & 15)); }>("v_ashrrev_i16"));
}

template <class T>
void min_max(OpTable& t, const char* (&&names)[5]) {
  t.add(lane_op<[](T a, T b) { return lower(a, b); }>(names[0]));
  t.add(lane_op<[](T a, T b) { return higher(a, b); }>(names[1]));
  t.add(lane_op<[](T a, T b, T c) { return lower(lower(a, b), c); }, lane_keeps_high>(names[2]));
  t.add(lane_op<[](T a, T b, T c) { return higher(higher(a, b), c); }, lane_keeps_high>(names[3]));
  t.add(lane_op<[](T a, T b, T c) { return middle(a, b, c); }, lane_keeps_high>(names[4]));
}

u16 saturated_bytes(u32 a) {
  const u32 low = saturated<u8>(i32{static_cast<i16>(a)});
  const u32 high = saturated<u8>(static_cast<i32>(a) >> 16);
  return static_cast<u16>(low | high << 8);
}

} // namespace

void register_valu_halfword(OpTable& t) {
  add(t);
  multiply_add<0>(t, "v_mad_legacy_u16", "v_mad_legacy_i16");
  multiply_add<lane_keeps_high>(t, "v_mad_u16", "v_mad_i16");
  shift(t);
  min_max<i16>(t, {"v_min_i16", "v_max_i16", "v_min3_i16", "v_max3_i16", "v_med3_i16"});
  min_max<u16>(t, {"v_min_u16", "v_max_u16", "v_min3_u16", "v_max3_u16", "v_med3_u16"});
  t.add(lane_op<saturated_bytes>("v_sat_pk_u8_i16"));
}

} // namespace wavesim::WAVESIM_SIMD_NS
