// Moves, logic, shifts, bit fields, counts, byte permutes.
#include "exec/lanewise.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// v_mov_b32 without modifiers: a copy of a row.
void move_row(Wave& w, const Op& op) {
  if (w.gpr_index) [[unlikely]]
    return run_modified(w, op);
  Row space;
  const u32* from = source_row(w, op.src[0], space);
  const u64 exec = w.exec();
  if (exec == all_lanes) [[likely]]
    copy_row(w.v[op.dst], from);
  else
    store_row(w.v[op.dst], from, exec);
}

/// The same for the modifier path (the vectoriser would call memcpy).
constexpr LaneLoops move_loops = [] {
  LaneLoops l;
  l.usual = [](const LaneRows& r) { copy_row(r.dst[0], r.src[0]); };
  l.float_bits = true;
  return l;
}();

/// v_cndmask_b32 without modifiers, whatever its operands are.
[[gnu::noinline]] void select_any(Wave& w, const Op& op) {
  if (w.gpr_index) [[unlikely]]
    return run_modified(w, op);
  Row space[2], mask, chosen;
  const u32* const a = source_row(w, op.src[0], space[0]);
  const u32* const b = source_row(w, op.src[1], space[1]);
  spread_mask(mask, scalar64(w, op.src[2]));
  for (unsigned i = 0; i < lanes; ++i)
    chosen.lane[i] = (a[i] & ~mask.lane[i]) | (b[i] & mask.lane[i]);
  store_row(w.v[op.dst], chosen, w.exec());
}

/// Sorting networks have hardly anything else, so registers are chosen from directly.
void select_row(Wave& w, const Op& op) {
#ifdef __AVX512F__
  using Kind = Source::Kind;
  if (op.src[0].kind == Kind::vgpr && op.src[1].kind == Kind::vgpr &&
      op.src[2].kind == Kind::sgpr && w.gpr_index == 0) [[likely]] {
    const u64 exec = w.exec(), select = w.s64(op.src[2].reg);
    const u32 *const a = w.v[op.src[0].reg], *const b = w.v[op.src[1].reg];
    u32* const to = w.v[op.dst];
    for (unsigned i = 0; i < lanes; i += 16) {
      const __m512i x = _mm512_mask_mov_epi32(
          _mm512_load_si512(a + i), static_cast<__mmask16>(select >> i), _mm512_load_si512(b + i));
      _mm512_store_si512(to + i, exec == all_lanes ? x
                                                   : blended(_mm512_load_si512(to + i),
                                                             static_cast<__mmask16>(exec >> i), x));
    }
    return;
  }
#endif
  select_any(w, op);
}

void move(OpTable& t) {
  // Float modifiers work on the moves and the select.
  OpInfo mov = lane_op<[](u32 a) { return a; }, lane_float_bits>("v_mov_b32");
  mov.plain = move_row;
  mov.body = &move_loops;
  t.add(mov);
  t.add(lane_op<[](u64 a) { return a; }, lane_float_bits>("v_mov_b64"));
  OpInfo select =
      lane_op<[](u32 a, u32 b, LaneMask m) { return m ? b : a; }, lane_float_bits>("v_cndmask_b32");
  select.plain = select_row;
  t.add(select);
}

void logic(OpTable& t) {
  t.add(lane_op<[](u32 a, u32 b) { return a & b; }>("v_and_b32"));
  t.add(lane_op<[](u32 a, u32 b) { return a | b; }>("v_or_b32"));
  t.add(lane_op<[](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"));
  t.add(lane_op<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"));
  t.add(lane_op<[](u32 a) { return ~a; }>("v_not_b32"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>("v_bfi_b32"));
}

void shift(OpTable& t) {
  t.add(lane_op<[](u32 a, u32 b) { return b << (a & 31); }>("v_lshlrev_b32"));
  t.add(lane_op<[](u32 a, u32 b) { return b >> (a & 31); }>("v_lshrrev_b32"));
  t.add(lane_op<[](u32 a, i32 b) { return b >> (a & 31); }>("v_ashrrev_i32"));
  t.add(lane_op<[](u32 a, u64 b) { return b << (a & 63); }>("v_lshlrev_b64"));
  t.add(lane_op<[](u32 a, u64 b) { return b >> (a & 63); }>("v_lshrrev_b64"));
  t.add(lane_op<[](u32 a, i64 b) { return b >> (a & 63); }>("v_ashrrev_i64"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return a << (b & 31) | c; }>("v_lshl_or_b32"));
  t.add(
      lane_op<[](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} << 32 | b) >> (c & 31)); }>(
          "v_alignbit_b32"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) {
    return static_cast<u32>((u64{a} << 32 | b) >> 8 * (c & 3));
  }>("v_alignbyte_b32"));
}

void fields(OpTable& t) {
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return a >> (b & 31) & ((1u << (c & 31)) - 1); }>(
      "v_bfe_u32"));
  t.add(lane_op<[](i32 a, u32 b, u32 c) {
    // Shifting up in 64 bits keeps the sign bits that a field past bit 31 takes in.
    const u32 width = c & 31;
    const i64 x = i64{a >> (b & 31)};
    const u32 spare = 64 - width;
    const i64 field = static_cast<i64>(static_cast<u64>(x) << (spare & 63)) >> (spare & 63);
    return width ? static_cast<i32>(field) : 0;
  }>("v_bfe_i32"));
  t.add(lane_op<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>("v_bfm_b32"));
}

/// Byte `sel` of {a, b}: 0–7 a byte (b is the low dword), 8–11 a sign spread, 12 zero, above ones.
u32 permuted_byte(u32 a, u32 b, u32 sel) {
  const u32 plain = (sel & 4 ? a : b) >> 8 * (sel & 3) & 0xff;
  const u32 sign = (sel & 2 ? a : b) >> (sel & 1 ? 31 : 15) & 1 ? 0xffu : 0;
  const u32 special = sel < 12 ? sign : sel == 12 ? 0 : 0xffu;
  return sel < 8 ? plain : special;
}

i32 leading_sign_bits(i32 a) {
  const u32 x = static_cast<u32>(a < 0 ? ~a : a);
  return x ? std::countl_zero(x) : -1;
}

void counts(OpTable& t) {
  t.add(lane_op<[](u32 a) { return __builtin_bitreverse32(a); }>("v_bfrev_b32"));
  t.add(
      lane_op<[](u32 a) { return a ? static_cast<u32>(std::countl_zero(a)) : ~0u; }>("v_ffbh_u32"));
  t.add(
      lane_op<[](u32 a) { return a ? static_cast<u32>(std::countr_zero(a)) : ~0u; }>("v_ffbl_b32"));
  t.add(lane_op<leading_sign_bits>("v_ffbh_i32"));
  t.add(lane_op<[](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; }>(
      "v_bcnt_u32_b32"));
  // Bits of the mask that belong to lower lanes; the pair covers 64 bits.
  t.add(lane_op<[](u32 a, u32 b, LaneIndex i) {
    const u32 below = i.value < 32 ? (1u << (i.value & 31)) - 1 : ~0u;
    return static_cast<u32>(std::popcount(a & below)) + b;
  }>("v_mbcnt_lo_u32_b32"));
  t.add(lane_op<[](u32 a, u32 b, LaneIndex i) {
    const u32 below = i.value < 32 ? 0 : (1u << (i.value & 31)) - 1;
    return static_cast<u32>(std::popcount(a & below)) + b;
  }>("v_mbcnt_hi_u32_b32"));
  t.add(lane_op<[](u32 a, u32 b, u32 c) {
    return permuted_byte(a, b, c & 0xff) | permuted_byte(a, b, c >> 8 & 0xff) << 8 |
           permuted_byte(a, b, c >> 16 & 0xff) << 16 | permuted_byte(a, b, c >> 24) << 24;
  }>("v_perm_b32"));
}

} // namespace

void register_valu_bits(OpTable& t) {
  move(t);
  logic(t);
  shift(t);
  fields(t);
  counts(t);
}

} // namespace wavesim::WAVESIM_SIMD_NS
