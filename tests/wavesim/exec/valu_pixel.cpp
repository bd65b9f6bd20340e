// Sums of absolute differences and averages of packed bytes.
#include "exec/gpr_index.hpp"
#include "exec/lanewise.hpp"
#include "exec/saturate.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

u32 distance(u32 a, u32 b) {
  return a > b ? a - b : b - a;
}
u32 byte_of(u32 x, u32 i) {
  return x >> 8 * i & 0xff;
}

u32 byte_differences(u32 a, u32 b) {
  return distance(byte_of(a, 0), byte_of(b, 0)) + distance(byte_of(a, 1), byte_of(b, 1)) +
         distance(byte_of(a, 2), byte_of(b, 2)) + distance(byte_of(a, 3), byte_of(b, 3));
}
/// Bytes where the reference `b` is 0 do not count.
u32 masked_differences(u32 a, u32 b) {
  u32 sum = 0;
  for (u32 i = 0; i < 4; ++i)
    sum += byte_of(b, i) ? distance(byte_of(a, i), byte_of(b, i)) : 0;
  return sum;
}

/// Four sums over `a` shifted by 0 to 3 bytes, 16 bits each.
template <auto Differences>
u64 sliding(u64 a, u32 b, u64 c) {
  u64 r = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 sum =
        Differences(static_cast<u32>(a >> 8 * i), b) + static_cast<u32>(c >> 16 * i & 0xffff);
    r |= u64{sum & 0xffff} << 16 * i;
  }
  return r;
}
/// The same with each sum limited to 16 bits.
template <auto Differences>
u64 sliding_saturated(u64 a, u32 b, u64 c) {
  u64 r = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 sum =
        Differences(static_cast<u32>(a >> 8 * i), b) + static_cast<u32>(c >> 16 * i & 0xffff);
    r |= u64{saturated<u16>(sum)} << 16 * i;
  }
  return r;
}

template <auto F>
void add_sum(OpTable& t, const char* mnemonic) {
  t.add(lane_op<[](u32 a, u32 b, u32 c) { return F(a, b) + c; }, 0,
                [](u32 a, u32 b, u32 c) { return saturated_add(F(a, b), c); }>(mnemonic));
}

/// Four 32-bit sums: source 0 is 64 bits, source 2 and the destination are 128 bits wide.
void masked_sums(Wave& w, const Op& plain_op) {
  IndexedOp indexed{plain_op};
  if (w.gpr_index)
    indexed = apply_gpr_index(w, plain_op);
  const Op& op = indexed.op;
  if (indexed.drop_result)
    return;
  Row space[7], result[4];
  const u32* a[2] = {source_row(w, op.src[0], space[0], 0), source_row(w, op.src[0], space[1], 1)};
  const u32* b = source_row(w, op.src[1], space[2]);
  const u32* c[4];
  for (unsigned i = 0; i < 4; ++i)
    c[i] = source_row(w, op.src[2], space[3 + i], i);
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const u64 wide = a[0][lane] | u64{a[1][lane]} << 32;
      const u32 sum = masked_differences(static_cast<u32>(wide >> 8 * i), b[lane]);
      result[i].lane[lane] = op.clamp ? saturated_add(sum, c[i][lane]) : sum + c[i][lane];
    }
  for (unsigned i = 0; i < 4; ++i)
    store_row(w.v[op.dst + i], result[i], w.exec());
}

} // namespace

void register_valu_pixel(OpTable& t) {
  add_sum<byte_differences>(t, "v_sad_u8");
  add_sum<[](u32 a, u32 b) { return byte_differences(a, b) << 16; }>(t, "v_sad_hi_u8");
  add_sum<[](u32 a, u32 b) {
    return distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16);
  }>(t, "v_sad_u16");
  add_sum<distance>(t, "v_sad_u32");
  add_sum<masked_differences>(t, "v_msad_u8");
  t.add(lane_op<sliding<byte_differences>, 0, sliding_saturated<byte_differences>>(
      "v_qsad_pk_u16_u8"));
  t.add(lane_op<sliding<masked_differences>, 0, sliding_saturated<masked_differences>>(
      "v_mqsad_pk_u16_u8"));
  // Average of bytes; bit 0 of each byte of the third source rounds halves up.
  t.add(lane_op<[](u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (u32 i = 0; i < 4; ++i)
      r |= (byte_of(a, i) + byte_of(b, i) + (byte_of(c, i) & 1)) >> 1 << 8 * i;
    return r;
  }>("v_lerp_u8"));
  OpInfo info;
  info.mnemonic = "v_mqsad_u32_u8";
  info.handler = masked_sums;
  info.unit = Unit::valu;
  info.dst = Type::b128;
  info.src[0] = Type::u64;
  info.src[1] = Type::u32;
  info.src[2] = Type::b128;
  t.add(info);
}

} // namespace wavesim::WAVESIM_SIMD_NS
