// Dot products of VOP2, which accumulate into the destination, and the packed multiply-add there.
#include "exec/lanewise.hpp"
#include "exec/saturate.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// Element i of a register of packed signed integers.
template <unsigned Bits>
i32 element(u32 x, unsigned i) {
  return static_cast<i32>(x << (32 - Bits - Bits * i)) >> (32 - Bits);
}
template <unsigned Bits>
i64 dot(u32 a, u32 b) {
  i64 sum = 0;
#pragma clang loop unroll(full)
  for (unsigned i = 0; i < 32 / Bits; ++i)
    sum += i64{element<Bits>(a, i) * element<Bits>(b, i)};
  return sum;
}

template <unsigned Bits>
void add_dot(OpTable& t, const char* mnemonic) {
  t.add(lane_op<[](u32 a, u32 b, i32 c) { return static_cast<i32>(dot<Bits>(a, b) + c); }, 0,
                [](u32 a, u32 b, i32 c) { return saturated<i32>(dot<Bits>(a, b) + c); }>(
      mnemonic, Unit::valu, op_reads_dst));
}

f16 low_half(u32 x) {
  return from_bits<f16>(static_cast<u16>(x));
}
f16 high_half(u32 x) {
  return from_bits<f16>(static_cast<u16>(x >> 16));
}

/// One element after the other in f32; denormals are flushed on both sides, MODE is not looked at.
float dot_half(u32 a, u32 b, float c) {
  const auto part = [](f16 x) { return static_cast<float>(flushed(x)); };
  const float first = __builtin_fmaf(part(low_half(a)), part(low_half(b)), flushed(c));
  return flushed(__builtin_fmaf(part(high_half(a)), part(high_half(b)), flushed(first)));
}

u32 packed_fma(u32 a, u32 b, u32 c) {
  const f16 low = first_nan(fma_half(low_half(a), low_half(b), low_half(c)), low_half(a),
                            low_half(b), low_half(c));
  const f16 high = first_nan(fma_half(high_half(a), high_half(b), high_half(c)), high_half(a),
                             high_half(b), high_half(c));
  return as_bits(low) | u32{as_bits(high)} << 16;
}

} // namespace

void register_valu_dot(OpTable& t) {
  add_dot<16>(t, "v_dot2c_i32_i16");
  add_dot<8>(t, "v_dot4c_i32_i8");
  add_dot<4>(t, "v_dot8c_i32_i4");
  t.add(lane_op<dot_half, lane_any_mode>("v_dot2c_f32_f16", Unit::valu, op_reads_dst));
  t.add(lane_op<packed_fma>("v_pk_fmac_f16", Unit::valu, op_reads_dst));
}

} // namespace wavesim::WAVESIM_SIMD_NS
