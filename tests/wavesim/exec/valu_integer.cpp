// 32- and 64-bit integer arithmetic.
#include "exec/lanewise.hpp"
#include "exec/saturate.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

u32 product_high(u32 a, u32 b) {
  return static_cast<u32>(u64{a} * b >> 32);
}
i32 product_high_signed(i32 a, i32 b) {
  return static_cast<i32>(i64{a} * b >> 32);
}
i64 product_24(u32 a, u32 b) {
  return i64{signed_24(a)} * signed_24(b);
}
u64 unsigned_product_24(u32 a, u32 b) {
  return u64{low_24(a)} * low_24(b);
}

void add(OpTable& t) {
  t.add(lane_op<[](u32 a, u32 b) { return a + b; }, 0, saturated_add>("v_add_u32"));
  t.add(lane_op<[](u32 a, u32 b) { return a - b; }, 0, saturated_subtract>("v_sub_u32"));
  t.add(lane_op<[](u32 a, u32 b) { return b - a; }, 0,
                [](u32 a, u32 b) { return saturated_subtract(b, a); }>("v_subrev_u32"));
  t.add(lane_op<[](i32 a, i32 b) {
    return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b));
  },
                0, [](i32 a, i32 b) { return saturated<i32>(i64{a} + b); }>("v_add_i32"));
  t.add(lane_op<[](i32 a, i32 b) {
    return static_cast<i32>(static_cast<u32>(a) - static_cast<u32>(b));
  },
                0, [](i32 a, i32 b) { return saturated<i32>(i64{a} - b); }>("v_sub_i32"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>("v_lshl_add_u32"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>("v_add_lshl_u32"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"));
  // Shifts by more than 4 act as 0.
  t.add(lane_op<[](u64 a, u32 b, u64 c) { return (a << ((b & 63) > 4 ? 0 : b & 7)) + c; }>(
      "v_lshl_add_u64"));
}

WithMask<u32> add_carry(u32 a, u32 b, u32 carry) {
  const u32 sum = a + b, all = sum + carry;
  return {all, sum < a || all < sum};
}
WithMask<u32> subtract_borrow(u32 a, u32 b, u32 borrow) {
  const u32 rest = a - b;
  return {rest - borrow, a < b || rest < borrow};
}
/// The borrow or carry still leaves when the value saturates.
WithMask<u32> saturated_carry(WithMask<u32> r, u32 limit) {
  return {r.bit ? limit : r.value, r.bit};
}

void carry(OpTable& t) {
  t.add(lane_op<[](u32 a, u32 b) { return add_carry(a, b, 0); }, 0,
                [](u32 a, u32 b) { return saturated_carry(add_carry(a, b, 0), ~0u); }>(
      "v_add_co_u32"));
  t.add(lane_op<[](u32 a, u32 b) { return subtract_borrow(a, b, 0); }, 0,
                [](u32 a, u32 b) { return saturated_carry(subtract_borrow(a, b, 0), 0); }>(
      "v_sub_co_u32"));
  t.add(lane_op<[](u32 a, u32 b) { return subtract_borrow(b, a, 0); }, 0,
                [](u32 a, u32 b) { return saturated_carry(subtract_borrow(b, a, 0), 0); }>(
      "v_subrev_co_u32"));
  t.add(lane_op<[](u32 a, u32 b, LaneMask c) { return add_carry(a, b, c.bits & 1); }, 0,
                [](u32 a, u32 b, LaneMask c) {
                  return saturated_carry(add_carry(a, b, c.bits & 1), ~0u);
                }>("v_addc_co_u32"));
  t.add(lane_op<[](u32 a, u32 b, LaneMask c) { return subtract_borrow(a, b, c.bits & 1); }, 0,
                [](u32 a, u32 b, LaneMask c) {
                  return saturated_carry(subtract_borrow(a, b, c.bits & 1), 0);
                }>("v_subb_co_u32"));
  t.add(lane_op<[](u32 a, u32 b, LaneMask c) { return subtract_borrow(b, a, c.bits & 1); }, 0,
                [](u32 a, u32 b, LaneMask c) {
                  return saturated_carry(subtract_borrow(b, a, c.bits & 1), 0);
                }>("v_subbrev_co_u32"));
}

void multiply(OpTable& t) {
  t.add(lane_op<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_u32"));
  t.add(lane_op<product_high>("v_mul_hi_u32"));
  t.add(lane_op<product_high_signed>("v_mul_hi_i32"));
  t.add(lane_op<[](u32 a, u32 b) { return static_cast<u32>(product_24(a, b)); }>("v_mul_i32_i24"));
  t.add(lane_op<[](u32 a, u32 b) { return static_cast<u32>(product_24(a, b) >> 32); }>(
      "v_mul_hi_i32_i24"));
  t.add(lane_op<[](u32 a, u32 b) { return static_cast<u32>(unsigned_product_24(a, b)); }, 0,
                [](u32 a, u32 b) { return saturated<u32>(unsigned_product_24(a, b)); }>(
      "v_mul_u32_u24"));
  t.add(lane_op<[](u32 a, u32 b) { return static_cast<u32>(unsigned_product_24(a, b) >> 32); }>(
      "v_mul_hi_u32_u24"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return static_cast<u32>(product_24(a, b)) + c; }, 0,
                [](u32 a, u32 b, u32 c) {
                  return static_cast<u32>(saturated<i32>(product_24(a, b) + static_cast<i32>(c)));
                }>("v_mad_i32_i24"));
  t.add(
      lane_op<[](u32 a, u32 b, u32 c) { return static_cast<u32>(unsigned_product_24(a, b)) + c; },
              0, [](u32 a, u32 b, u32 c) { return saturated<u32>(unsigned_product_24(a, b) + c); }>(
          "v_mad_u32_u24"));
  t.add(lane_op<[](u16 a, u16 b, u32 c) { return u32{a} * b + c; }, 0,
                [](u16 a, u16 b, u32 c) { return saturated_add(u32{a} * b, c); }>("v_mad_u32_u16"));
  t.add(lane_op<[](i16 a, i16 b, i32 c) {
    return static_cast<i32>(static_cast<u32>(a * b) + static_cast<u32>(c));
  },
                0, [](i16 a, i16 b, i32 c) { return saturated<i32>(i64{a * b} + c); }>(
      "v_mad_i32_i16"));
  t.add(lane_op<[](u32 a, u32 b, u64 c) {
    const u64 sum = u64{a} * b + c;
    return WithMask<u64>{sum, sum < c};
  },
                0,
                [](u32 a, u32 b, u64 c) {
                  const u64 sum = u64{a} * b + c;
                  return WithMask<u64>{sum < c ? ~u64{0} : sum, sum < c};
                }>("v_mad_u64_u32"));
  // The scalar bit is bit 64 of the full sum: its sign.
  t.add(lane_op<[](i32 a, i32 b, i64 c) {
    const i64 p = i64{a} * b, sum = static_cast<i64>(static_cast<u64>(p) + static_cast<u64>(c));
    const i64 overflow = (p ^ sum) & (c ^ sum);
    return WithMask<i64>{sum, (sum ^ overflow) < 0};
  },
                0,
                [](i32 a, i32 b, i64 c) {
                  const i64 p = i64{a} * b,
                            sum = static_cast<i64>(static_cast<u64>(p) + static_cast<u64>(c));
                  const i64 overflow = (p ^ sum) & (c ^ sum);
                  const i64 limit = std::numeric_limits<i64>::max() ^ (c >> 63);
                  return WithMask<i64>{overflow < 0 ? limit : sum, (sum ^ overflow) < 0};
                }>("v_mad_i64_i32"));
}

template <class T>
void min_max(OpTable& t, const char* (&&names)[5]) {
  t.add(lane_op<[](T a, T b) { return lower(a, b); }>(names[0]));
  t.add(lane_op<[](T a, T b) { return higher(a, b); }>(names[1]));
  t.add(lane_op<[](T a, T b, T c) { return lower(lower(a, b), c); }>(names[2]));
  t.add(lane_op<[](T a, T b, T c) { return higher(higher(a, b), c); }>(names[3]));
  t.add(lane_op<[](T a, T b, T c) { return middle(a, b, c); }>(names[4]));
}

} // namespace

void register_valu_integer(OpTable& t) {
  add(t);
  carry(t);
  multiply(t);
  min_max<i32>(t, {"v_min_i32", "v_max_i32", "v_min3_i32", "v_max3_i32", "v_med3_i32"});
  min_max<u32>(t, {"v_min_u32", "v_max_u32", "v_min3_u32", "v_max3_u32", "v_med3_u32"});
}

} // namespace wavesim::WAVESIM_SIMD_NS
