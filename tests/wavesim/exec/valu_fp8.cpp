// Conversions to and from 8-bit floats. MODE.FP16_OVFL chooses between saturating and NaN.
#include "exec/fp8.hpp"
#include "exec/gpr_index.hpp"
#include "exec/lanewise.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

template <class F>
u16 pack(float a, float b, ModeBits m) {
  return static_cast<u16>(to_fp8<F>(a, m.fp16_overflow()) | to_fp8<F>(b, m.fp16_overflow()) << 8);
}

template <class F>
u64 unpack(u32 a) {
  return as_bits(from_fp8<F>(a & 0xff)) | u64{as_bits(from_fp8<F>(a >> 8 & 0xff))} << 32;
}

/// One byte of the destination (op_sel bits 3:2), the others stay. OMOD and clamp are ignored.
template <class F>
void stochastic(Wave& w, const Op& plain_op) {
  IndexedOp indexed{plain_op};
  if (w.gpr_index)
    indexed = apply_gpr_index(w, plain_op);
  const Op& op = indexed.op;
  if (indexed.drop_result)
    return;
  Row space[2], result;
  const u32* value = source_row(w, op.src[0], space[0]);
  const u32* random = source_row(w, op.src[1], space[1]);
  const u32 keep = op.src[0].abs ? 0x7fffffff : ~0u, flip = op.src[0].neg ? 0x80000000 : 0;
  const u32 shift = 8 * (op.op_sel >> 2 & 3u);
  const bool saturate = ModeBits{w.mode}.fp16_overflow();
  u32* to = w.v[op.dst];
  for (unsigned i = 0; i < lanes; ++i) {
    const float x = from_bits<float>((value[i] & keep) ^ flip);
    result.lane[i] = (to[i] & ~(0xffu << shift)) | to_fp8_stochastic<F>(x, random[i], saturate)
                                                       << shift;
  }
  store_row(to, result, w.exec());
}

template <class F>
OpInfo stochastic_op(const char* mnemonic) {
  OpInfo info;
  info.mnemonic = mnemonic;
  info.handler = stochastic<F>;
  info.unit = Unit::valu;
  info.dst = Type::b32;
  info.src[0] = Type::f32;
  info.src[1] = Type::u32;
  info.flags = op_float;
  return info;
}

} // namespace

void register_valu_fp8(OpTable& t) {
  constexpr unsigned packs = lane_keeps_high | lane_any_mode;
  t.add(lane_op<pack<Fp8>, packs, pack<Fp8>>("v_cvt_pk_fp8_f32"));
  t.add(lane_op<pack<Bf8>, packs, pack<Bf8>>("v_cvt_pk_bf8_f32"));
  t.add(stochastic_op<Fp8>("v_cvt_sr_fp8_f32"));
  t.add(stochastic_op<Bf8>("v_cvt_sr_bf8_f32"));
  t.add(lane_op<[](u32 a) { return from_fp8<Fp8>(a & 0xff); }, lane_any_mode>("v_cvt_f32_fp8"));
  t.add(lane_op<[](u32 a) { return from_fp8<Bf8>(a & 0xff); }, lane_any_mode>("v_cvt_f32_bf8"));
  t.add(lane_op<unpack<Fp8>, lane_any_mode>("v_cvt_pk_f32_fp8"));
  t.add(lane_op<unpack<Bf8>, lane_any_mode>("v_cvt_pk_f32_bf8"));
}

} // namespace wavesim::WAVESIM_SIMD_NS
