// Scalar adds, multiplies, min/max, compares and the SOPK forms.
#include "exec/scalar_op.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

constexpr auto add_carry = [](u32 a, u32 b, u32 carry, Wave& w) {
  const u64 sum = u64{a} + b + carry;
  w.scc = static_cast<u32>(sum >> 32);
  return static_cast<u32>(sum);
};

constexpr auto subtract_borrow = [](u32 a, u32 b, u32 borrow, Wave& w) {
  w.scc = u64{a} < u64{b} + borrow;
  return a - b - borrow;
};

constexpr auto add_signed = [](u32 a, u32 b, Wave& w) {
  i32 r;
  w.scc = __builtin_add_overflow(static_cast<i32>(a), static_cast<i32>(b), &r);
  return static_cast<u32>(r);
};

template <unsigned Shift>
u32 shift_add(u32 a, u32 b, Wave& w) {
  const u64 sum = (u64{a} << Shift) + b;
  w.scc = sum >> 32 != 0;
  return static_cast<u32>(sum);
}

void add(OpTable& t) {
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return add_carry(a, b, 0, w); }>("s_add_u32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return add_carry(a, b, w.scc, w); }>("s_addc_u32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return subtract_borrow(a, b, 0, w); }>("s_sub_u32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return subtract_borrow(a, b, w.scc, w); }>(
      "s_subb_u32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return add_signed(a, b, w); }>("s_add_i32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) {
    i32 r;
    w.scc = __builtin_sub_overflow(static_cast<i32>(a), static_cast<i32>(b), &r);
    return static_cast<u32>(r);
  }>("s_sub_i32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return shift_add<1>(a, b, w); }>("s_lshl1_add_u32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return shift_add<2>(a, b, w); }>("s_lshl2_add_u32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return shift_add<3>(a, b, w); }>("s_lshl3_add_u32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return shift_add<4>(a, b, w); }>("s_lshl4_add_u32"));
}

void multiply(OpTable& t) {
  t.add(scalar_op<[](u32 a, u32 b) { return a * b; }>("s_mul_i32"));
  t.add(scalar_op<[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }>("s_mul_hi_u32"));
  t.add(scalar_op<[](i32 a, i32 b) { return static_cast<u32>(i64{a} * b >> 32); }>("s_mul_hi_i32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) {
    const u32 d = a - b;
    const u32 r = static_cast<i32>(d) < 0 ? 0 - d : d;
    w.scc = r != 0;
    return r;
  }>("s_absdiff_i32"));
  t.add(scalar_op<[](u32 a, Wave& w) {
    const u32 r = static_cast<i32>(a) < 0 ? 0 - a : a;
    w.scc = r != 0;
    return r;
  }>("s_abs_i32"));
}

// SCC: the first source was taken; max takes it on ties too.
void min_max(OpTable& t) {
  t.add(scalar_op<[](i32 a, i32 b, Wave& w) { return w.scc = a < b, w.scc ? a : b; }>("s_min_i32"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return w.scc = a < b, w.scc ? a : b; }>("s_min_u32"));
  t.add(
      scalar_op<[](i32 a, i32 b, Wave& w) { return w.scc = a >= b, w.scc ? a : b; }>("s_max_i32"));
  t.add(
      scalar_op<[](u32 a, u32 b, Wave& w) { return w.scc = a >= b, w.scc ? a : b; }>("s_max_u32"));
}

void compare(OpTable& t) {
  t.add(scalar_op<[](i32 a, i32 b) { return a == b; }>("s_cmp_eq_i32"));
  t.add(scalar_op<[](i32 a, i32 b) { return a != b; }>("s_cmp_lg_i32"));
  t.add(scalar_op<[](i32 a, i32 b) { return a > b; }>("s_cmp_gt_i32"));
  t.add(scalar_op<[](i32 a, i32 b) { return a >= b; }>("s_cmp_ge_i32"));
  t.add(scalar_op<[](i32 a, i32 b) { return a < b; }>("s_cmp_lt_i32"));
  t.add(scalar_op<[](i32 a, i32 b) { return a <= b; }>("s_cmp_le_i32"));
  t.add(scalar_op<[](u32 a, u32 b) { return a == b; }>("s_cmp_eq_u32"));
  t.add(scalar_op<[](u32 a, u32 b) { return a != b; }>("s_cmp_lg_u32"));
  t.add(scalar_op<[](u32 a, u32 b) { return a > b; }>("s_cmp_gt_u32"));
  t.add(scalar_op<[](u32 a, u32 b) { return a >= b; }>("s_cmp_ge_u32"));
  t.add(scalar_op<[](u32 a, u32 b) { return a < b; }>("s_cmp_lt_u32"));
  t.add(scalar_op<[](u32 a, u32 b) { return a <= b; }>("s_cmp_le_u32"));
  t.add(scalar_op<[](u64 a, u64 b) { return a == b; }>("s_cmp_eq_u64"));
  t.add(scalar_op<[](u64 a, u64 b) { return a != b; }>("s_cmp_lg_u64"));
  t.add(scalar_op<[](u32 a, u32 b) { return (a >> (b & 31) & 1) == 0; }>("s_bitcmp0_b32"));
  t.add(scalar_op<[](u32 a, u32 b) { return (a >> (b & 31) & 1) == 1; }>("s_bitcmp1_b32"));
  t.add(scalar_op<[](u64 a, u32 b) { return (a >> (b & 63) & 1) == 0; }>("s_bitcmp0_b64"));
  t.add(scalar_op<[](u64 a, u32 b) { return (a >> (b & 63) & 1) == 1; }>("s_bitcmp1_b64"));
}

template <auto F>
void compare_signed(Wave& w, const Op& op) {
  w.scc = F(static_cast<i32>(w.s[op.dst]), op.imm);
}
template <auto F>
void compare_unsigned(Wave& w, const Op& op) {
  w.scc = F(w.s[op.dst], static_cast<u32>(op.imm) & 0xffff);
}

void immediate(OpTable& t) {
  const auto k = [&t](const char* mnemonic, Handler handler) {
    t.add(scalar_op(mnemonic, handler, Unit::salu, 0, Type::b32, Type::b32));
  };
  k("s_movk_i32", [](Wave& w, const Op& op) { w.s[op.dst] = static_cast<u32>(op.imm); });
  k("s_cmovk_i32", [](Wave& w, const Op& op) {
    if (w.scc)
      w.s[op.dst] = static_cast<u32>(op.imm);
  });
  k("s_addk_i32", [](Wave& w, const Op& op) {
    w.s[op.dst] = add_signed(w.s[op.dst], static_cast<u32>(op.imm), w);
  });
  k("s_mulk_i32", [](Wave& w, const Op& op) { w.s[op.dst] *= static_cast<u32>(op.imm); });
  k("s_cmpk_eq_i32", compare_signed<[](i32 a, i32 b) { return a == b; }>);
  k("s_cmpk_lg_i32", compare_signed<[](i32 a, i32 b) { return a != b; }>);
  k("s_cmpk_gt_i32", compare_signed<[](i32 a, i32 b) { return a > b; }>);
  k("s_cmpk_ge_i32", compare_signed<[](i32 a, i32 b) { return a >= b; }>);
  k("s_cmpk_lt_i32", compare_signed<[](i32 a, i32 b) { return a < b; }>);
  k("s_cmpk_le_i32", compare_signed<[](i32 a, i32 b) { return a <= b; }>);
  k("s_cmpk_eq_u32", compare_unsigned<[](u32 a, u32 b) { return a == b; }>);
  k("s_cmpk_lg_u32", compare_unsigned<[](u32 a, u32 b) { return a != b; }>);
  k("s_cmpk_gt_u32", compare_unsigned<[](u32 a, u32 b) { return a > b; }>);
  k("s_cmpk_ge_u32", compare_unsigned<[](u32 a, u32 b) { return a >= b; }>);
  k("s_cmpk_lt_u32", compare_unsigned<[](u32 a, u32 b) { return a < b; }>);
  k("s_cmpk_le_u32", compare_unsigned<[](u32 a, u32 b) { return a <= b; }>);
}

} // namespace

void register_salu_arithmetic(OpTable& table) {
  add(table);
  multiply(table);
  min_max(table);
  compare(table);
  immediate(table);
}

} // namespace wavesim::WAVESIM_SIMD_NS
