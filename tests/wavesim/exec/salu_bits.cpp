// Scalar moves, logic, shifts, bit fields and counts; the EXEC-saving forms.
#include "exec/scalar_op.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

/// Sets SCC to "result is not zero" and passes the result on.
template <class T>
T tested(T r, Wave& w) {
  w.scc = r != 0;
  return r;
}

void logic(OpTable& t) {
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(a & b, w); }>("s_and_b32"));
  t.add(scalar_op<[](u64 a, u64 b, Wave& w) { return tested(a & b, w); }>("s_and_b64"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(a | b, w); }>("s_or_b32"));
  t.add(scalar_op<[](u64 a, u64 b, Wave& w) { return tested(a | b, w); }>("s_or_b64"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(a ^ b, w); }>("s_xor_b32"));
  t.add(scalar_op<[](u64 a, u64 b, Wave& w) { return tested(a ^ b, w); }>("s_xor_b64"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(a & ~b, w); }>("s_andn2_b32"));
  t.add(scalar_op<[](u64 a, u64 b, Wave& w) { return tested(a & ~b, w); }>("s_andn2_b64"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(a | ~b, w); }>("s_orn2_b32"));
  t.add(scalar_op<[](u64 a, u64 b, Wave& w) { return tested(a | ~b, w); }>("s_orn2_b64"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(~(a & b), w); }>("s_nand_b32"));
  t.add(scalar_op<[](u64 a, u64 b, Wave& w) { return tested(~(a & b), w); }>("s_nand_b64"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(~(a | b), w); }>("s_nor_b32"));
  t.add(scalar_op<[](u64 a, u64 b, Wave& w) { return tested(~(a | b), w); }>("s_nor_b64"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(~(a ^ b), w); }>("s_xnor_b32"));
  t.add(scalar_op<[](u64 a, u64 b, Wave& w) { return tested(~(a ^ b), w); }>("s_xnor_b64"));
  t.add(scalar_op<[](u32 a, Wave& w) { return tested(~a, w); }>("s_not_b32"));
  t.add(scalar_op<[](u64 a, Wave& w) { return tested(~a, w); }>("s_not_b64"));
}

void shift(OpTable& t) {
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(a << (b & 31), w); }>("s_lshl_b32"));
  t.add(scalar_op<[](u64 a, u32 b, Wave& w) { return tested(a << (b & 63), w); }>("s_lshl_b64"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return tested(a >> (b & 31), w); }>("s_lshr_b32"));
  t.add(scalar_op<[](u64 a, u32 b, Wave& w) { return tested(a >> (b & 63), w); }>("s_lshr_b64"));
  t.add(scalar_op<[](i32 a, u32 b, Wave& w) { return tested(a >> (b & 31), w); }>("s_ashr_i32"));
  t.add(scalar_op<[](i64 a, u32 b, Wave& w) { return tested(a >> (b & 63), w); }>("s_ashr_i64"));
}

/// S1: offset in the low bits, width in [22:16]. Fields past the top bit read zeros (or sign bits).
template <class T>
T field(T a, u32 s1, Wave& w) {
  constexpr unsigned size = 8 * sizeof(T);
  using unsigned_type = std::make_unsigned_t<T>;
  const unsigned offset = s1 & (size - 1), width = s1 >> 16 & 0x7f;
  if (width == 0)
    return tested(T{0}, w);
  T x = a >> offset;
  if (width < size) {
    const unsigned spare = size - width;
    x = static_cast<T>(static_cast<unsigned_type>(x) << spare) >> spare;
  }
  return tested(x, w);
}

void fields(OpTable& t) {
  t.add(scalar_op<field<u32>>("s_bfe_u32"));
  t.add(scalar_op<field<i32>>("s_bfe_i32"));
  t.add(scalar_op<field<u64>>("s_bfe_u64"));
  t.add(scalar_op<field<i64>>("s_bfe_i64"));
  t.add(scalar_op<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>("s_bfm_b32"));
  t.add(
      scalar_op<[](u32 a, u32 b) { return ((u64{1} << (a & 63)) - 1) << (b & 63); }>("s_bfm_b64"));
  t.add(scalar_op<[](u32 a) { return static_cast<i32>(static_cast<std::int8_t>(a)); }>(
      "s_sext_i32_i8"));
  t.add(scalar_op<[](u32 a) { return static_cast<i32>(static_cast<std::int16_t>(a)); }>(
      "s_sext_i32_i16"));
  t.add(scalar_op<[](u32 a, u32 b) { return (a & 0xffff) | b << 16; }>("s_pack_ll_b32_b16"));
  t.add(
      scalar_op<[](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }>("s_pack_lh_b32_b16"));
  t.add(scalar_op<[](u32 a, u32 b) { return a >> 16 | (b & 0xffff0000); }>("s_pack_hh_b32_b16"));
  const auto bitset = [&t](const char* mnemonic, Handler handler, Type type) {
    t.add(scalar_op(mnemonic, handler, Unit::salu, op_reads_dst, type, Type::b32));
  };
  bitset(
      "s_bitset0_b32",
      [](Wave& w, const Op& op) { w.s[op.dst] &= ~(1u << (scalar32(w, op.src[0]) & 31)); },
      Type::b32);
  bitset(
      "s_bitset1_b32",
      [](Wave& w, const Op& op) { w.s[op.dst] |= 1u << (scalar32(w, op.src[0]) & 31); }, Type::b32);
  bitset(
      "s_bitset0_b64",
      [](Wave& w, const Op& op) {
        w.set_s64(op.dst, w.s64(op.dst) & ~(u64{1} << (scalar32(w, op.src[0]) & 63)));
      },
      Type::b64);
  bitset(
      "s_bitset1_b64",
      [](Wave& w, const Op& op) {
        w.set_s64(op.dst, w.s64(op.dst) | u64{1} << (scalar32(w, op.src[0]) & 63));
      },
      Type::b64);
}

/// Leading bits equal to the sign; −1 when all are.
template <class T>
i32 sign_run(T a) {
  const auto x = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
  return x == 0 ? -1 : std::countl_zero(x);
}
template <class T>
i32 first_one(T a) {
  return a == 0 ? -1 : std::countr_zero(a);
}
template <class T>
i32 first_one_from_top(T a) {
  return a == 0 ? -1 : std::countl_zero(a);
}
template <class T>
T reversed(T a) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bitreverse64(a);
  else
    return __builtin_bitreverse32(a);
}
template <class T>
i32 ones(T a, Wave& w) {
  return tested(std::popcount(a), w);
}
template <class T>
i32 zeros(T a, Wave& w) {
  return tested(std::popcount(static_cast<T>(~a)), w);
}
/// Each quad with any bit set becomes all ones.
template <class T>
T whole_quads(T a, Wave& w) {
  constexpr T each = static_cast<T>(0x1111111111111111);
  const T any = (a | a >> 1 | a >> 2 | a >> 3) & each;
  return tested(static_cast<T>(any * 15), w);
}
/// Bit i of the result: any bit of quad i.
template <class T>
T quad_mask(T a, Wave& w) {
  T r = 0;
  for (unsigned i = 0; i < 2 * sizeof(T); ++i)
    r |= static_cast<T>((a >> 4 * i & 15) != 0) << i;
  return tested(r, w);
}

void counts(OpTable& t) {
  t.add(scalar_op<reversed<u32>>("s_brev_b32"));
  t.add(scalar_op<reversed<u64>>("s_brev_b64"));
  t.add(scalar_op<ones<u32>>("s_bcnt1_i32_b32"));
  t.add(scalar_op<ones<u64>>("s_bcnt1_i32_b64"));
  t.add(scalar_op<zeros<u32>>("s_bcnt0_i32_b32"));
  t.add(scalar_op<zeros<u64>>("s_bcnt0_i32_b64"));
  t.add(scalar_op<[](u32 a) { return first_one(a); }>("s_ff1_i32_b32"));
  t.add(scalar_op<[](u64 a) { return first_one(a); }>("s_ff1_i32_b64"));
  t.add(scalar_op<[](u32 a) { return first_one(~a); }>("s_ff0_i32_b32"));
  t.add(scalar_op<[](u64 a) { return first_one(~a); }>("s_ff0_i32_b64"));
  t.add(scalar_op<first_one_from_top<u32>>("s_flbit_i32_b32"));
  t.add(scalar_op<first_one_from_top<u64>>("s_flbit_i32_b64"));
  t.add(scalar_op<sign_run<i32>>("s_flbit_i32"));
  t.add(scalar_op<sign_run<i64>>("s_flbit_i32_i64"));
  t.add(scalar_op<whole_quads<u32>>("s_wqm_b32"));
  t.add(scalar_op<whole_quads<u64>>("s_wqm_b64"));
  t.add(scalar_op<quad_mask<u32>>("s_quadmask_b32"));
  t.add(scalar_op<quad_mask<u64>>("s_quadmask_b64"));
  t.add(scalar_op<[](u32 a) {
    const u64 even = _pdep_u64(a, 0x5555555555555555);
    return even | even << 1;
  }>("s_bitreplicate_b64_b32"));
}

void move(OpTable& t) {
  t.add(scalar_op<[](u32 a) { return a; }>("s_mov_b32"));
  t.add(scalar_op<[](u64 a) { return a; }>("s_mov_b64"));
  t.add(scalar_op<[](u32 a, u32 b, Wave& w) { return w.scc ? a : b; }>("s_cselect_b32"));
  t.add(scalar_op<[](u64 a, u64 b, Wave& w) { return w.scc ? a : b; }>("s_cselect_b64"));
  t.add(scalar_op(
      "s_cmov_b32",
      [](Wave& w, const Op& op) {
        if (w.scc)
          w.s[op.dst] = scalar32(w, op.src[0]);
      },
      Unit::salu, op_reads_dst, Type::b32, Type::b32));
  t.add(scalar_op(
      "s_cmov_b64",
      [](Wave& w, const Op& op) {
        if (w.scc)
          w.set_s64(op.dst, scalar64(w, op.src[0]));
      },
      Unit::salu, op_reads_dst, Type::b64, Type::b64));
}

/// d = EXEC; EXEC = F(source, EXEC).
template <auto F>
void save_exec(Wave& w, const Op& op) {
  const u64 source = scalar64(w, op.src[0]), exec = w.exec();
  w.set_s64(op.dst, exec);
  w.set_exec(tested(F(source, exec), w));
}
/// EXEC = d = F(source, EXEC).
template <auto F>
void write_exec(Wave& w, const Op& op) {
  const u64 r = tested(F(scalar64(w, op.src[0]), w.exec()), w);
  w.set_s64(op.dst, r);
  w.set_exec(r);
}

void exec_forms(OpTable& t) {
  const auto add = [&t](const char* mnemonic, Handler handler) {
    t.add(scalar_op(mnemonic, handler, Unit::salu, 0, Type::b64, Type::b64));
  };
  add("s_and_saveexec_b64", save_exec<[](u64 s, u64 e) { return s & e; }>);
  add("s_or_saveexec_b64", save_exec<[](u64 s, u64 e) { return s | e; }>);
  add("s_xor_saveexec_b64", save_exec<[](u64 s, u64 e) { return s ^ e; }>);
  add("s_andn1_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~s & e; }>);
  add("s_andn2_saveexec_b64", save_exec<[](u64 s, u64 e) { return s & ~e; }>);
  add("s_orn1_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~s | e; }>);
  add("s_orn2_saveexec_b64", save_exec<[](u64 s, u64 e) { return s | ~e; }>);
  add("s_nand_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~(s & e); }>);
  add("s_nor_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~(s | e); }>);
  add("s_xnor_saveexec_b64", save_exec<[](u64 s, u64 e) { return ~(s ^ e); }>);
  add("s_andn1_wrexec_b64", write_exec<[](u64 s, u64 e) { return ~s & e; }>);
  add("s_andn2_wrexec_b64", write_exec<[](u64 s, u64 e) { return s & ~e; }>);
}

} // namespace

void register_salu_bits(OpTable& table) {
  logic(table);
  shift(table);
  fields(table);
  counts(table);
  move(table);
  exec_forms(table);
}

} // namespace wavesim::WAVESIM_SIMD_NS
