// Dot products of VOP3P: packed elements of two sources, added to a third.
#include "exec/saturate.hpp"
#include "exec/vop3p.hpp"
#include "machine/fault.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// Element i of a register of packed integers.
template <class T, unsigned Bits>
T element(u32 x, unsigned i) {
  const T top = static_cast<T>(x << (32 - Bits - Bits * i));
  return top >> (32 - Bits); // sign- or zero-extended by T
}

/// Exact sum; 64 bits hold it for every width.
template <class T, unsigned Bits>
auto integer_dot(u32 a, u32 b, u32 c) {
  using Wide = std::conditional_t<std::is_signed_v<T>, i64, u64>;
  Wide sum = static_cast<T>(c);
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < 32 / Bits; ++i)
    sum += Wide{element<T, Bits>(a, i)} * Wide{element<T, Bits>(b, i)};
  return sum;
}

template <class T, unsigned Bits>
void execute_integer(Wave& w, const Op& indexed) {
  with_gpr_index(w, indexed, [&](const Op& op) {
    if (op.neg_lo | op.neg_hi)
      stop(w, op, "negation on an integer dot product");
    const u64 exec = w.exec();
    if (exec == 0)
      return;
    Row space[3], result;
    const u32* src[3];
    for (unsigned i = 0; i < 3; ++i) // OP_SEL means halves only where elements are halves
      src[i] = Bits == 16 && i < 2 ? packed_source(w, op, i, false, false, space[i])
                                   : source_row(w, op.src[i], space[i]);
    const bool saturate = op.clamp;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto sum = integer_dot<T, Bits>(src[0][lane], src[1][lane], src[2][lane]);
      result.lane[lane] = static_cast<u32>(saturate ? saturated<T>(sum) : static_cast<T>(sum));
    }
    store_row(w.v[op.dst], result, exec);
  });
}

/// One product after the other added in f32, the low halves' first. MODE is not looked at:
/// denormals are flushed on both sides, rounding is to nearest even. AMD does not publish whether
/// the hardware rounds between the additions; this is the order of its pseudo-code.
void execute_half(Wave& w, const Op& indexed) {
  with_gpr_index(w, indexed, [&](const Op& op) {
    if (op.neg_hi & 4)
      stop(w, op, "neg_hi on the accumulator of v_dot2_f32_f16");
    const u64 exec = w.exec();
    if (exec == 0)
      return;
    Row space[3], result;
    const u32* a = packed_source(w, op, 0, true, true, space[0]);
    const u32* b = packed_source(w, op, 1, true, true, space[1]);
    const u32* c = source_row(w, op.src[2], space[2]);
    const u32 flip = (op.neg_lo & 4u) << 29;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const auto half = [](u32 x) {
        return static_cast<float>(from_bits<f16>(static_cast<u16>(x)));
      };
      const float addend = flushed(from_bits<float>(c[lane] ^ flip));
      const float first = flushed(__builtin_fmaf(half(a[lane]), half(b[lane]), addend));
      float r = flushed(__builtin_fmaf(half(a[lane] >> 16), half(b[lane] >> 16), first));
      if (op.clamp)
        r = clamped(r, ModeBits{w.mode});
      result.lane[lane] = as_bits(r);
    }
    store_row(w.v[op.dst], result, exec);
  });
}

OpInfo dot_op(const char* mnemonic, Handler handler, Type elements, Type sum) {
  OpInfo info;
  info.mnemonic = mnemonic;
  info.handler = handler;
  info.unit = Unit::valu;
  info.dst = info.src[2] = sum;
  info.src[0] = info.src[1] = elements;
  return info;
}

} // namespace

void register_vop3p_dot(OpTable& t) {
  t.add(dot_op("v_dot2_f32_f16", execute_half, Type::v2f16, Type::f32));
  t.add(dot_op("v_dot2_i32_i16", execute_integer<i32, 16>, Type::v2i16, Type::i32));
  t.add(dot_op("v_dot2_u32_u16", execute_integer<u32, 16>, Type::v2u16, Type::u32));
  t.add(dot_op("v_dot4_i32_i8", execute_integer<i32, 8>, Type::b32, Type::i32));
  t.add(dot_op("v_dot4_u32_u8", execute_integer<u32, 8>, Type::b32, Type::u32));
  t.add(dot_op("v_dot8_i32_i4", execute_integer<i32, 4>, Type::b32, Type::i32));
  t.add(dot_op("v_dot8_u32_u4", execute_integer<u32, 4>, Type::b32, Type::u32));
}

} // namespace wavesim::WAVESIM_SIMD_NS
