// Instructions that move values between lanes, between the vector files, or to scalars.
#include "exec/gpr_index.hpp"
#include "exec/lanewise.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// Runs `F` on the op as register indexing makes it.
template <auto F>
void indexed(Wave& w, const Op& op) {
  if (w.gpr_index) [[unlikely]] {
    const IndexedOp i = apply_gpr_index(w, op);
    if (!i.drop_result)
      F(w, i.op);
    return;
  }
  F(w, op);
}

u32 lane_value(const Wave& w, const Source& s, unsigned lane) {
  return s.kind == Source::Kind::vgpr ? w.v[s.reg][lane] : scalar32(w, s);
}

void read_lane(Wave& w, const Op& op) {
  w.s[op.dst] = lane_value(w, op.src[0], scalar32(w, op.src[1]) & 63);
}

void read_first_lane(Wave& w, const Op& op) {
  const u64 exec = w.exec();
  w.s[op.dst] = lane_value(w, op.src[0], exec ? static_cast<unsigned>(std::countr_zero(exec)) : 0);
}

void write_lane(Wave& w, const Op& op) {
  w.v[op.dst][scalar32(w, op.src[1]) & 63] = scalar32(w, op.src[0]);
}

void swap_rows(Wave& w, const Op& op) {
  Row old;
  copy_row(old, w.v[op.dst]);
  store_row(w.v[op.dst], w.v[op.src[0].reg], w.exec());
  store_row(w.v[op.src[0].reg], old, w.exec());
}

/// Between VGPRs and AGPRs (a constant may go to an AGPR).
void move_accumulator(Wave& w, const Op& op) {
  Row space;
  const u32* from = source_row(w, op.src[0], space);
  u32* to = register_row(w, op.dst_agpr, op.dst);
  const u64 exec = w.exec();
  if (exec == all_lanes)
    copy_row(to, from);
  else
    store_row(to, from, exec);
}

OpInfo entry(const char* mnemonic, Handler handler, std::uint32_t flags, Type src0, Type src1) {
  OpInfo info;
  info.mnemonic = mnemonic;
  info.handler = handler;
  info.unit = Unit::valu;
  info.flags = flags;
  info.dst = Type::b32;
  info.src[0] = src0;
  info.src[1] = src1;
  return info;
}

} // namespace

void register_valu_lanes(OpTable& t) {
  constexpr std::uint32_t to_scalar = op_writes_scalar | op_exec_any;
  t.add(entry("v_readlane_b32", indexed<read_lane>, to_scalar, Type::b32, Type::b32));
  t.add(entry("v_readfirstlane_b32", indexed<read_first_lane>, to_scalar, Type::b32, Type::none));
  t.add(entry("v_writelane_b32", indexed<write_lane>, op_exec_any, Type::b32, Type::b32));
  t.add(entry("v_swap_b32", indexed<swap_rows>, 0, Type::b32, Type::none));
  t.add(entry("v_accvgpr_read_b32", move_accumulator, 0, Type::b32, Type::none));
  t.add(entry("v_accvgpr_write_b32", move_accumulator, 0, Type::b32, Type::none));
  t.add(entry("v_accvgpr_mov_b32", move_accumulator, 0, Type::b32, Type::none));
  // v_clrexcp clears exception flags, of which none is ever raised.
  const Handler nothing = [](Wave&, const Op&) {};
  t.add(entry("v_nop", nothing, 0, Type::none, Type::none));
  t.add(entry("v_clrexcp", nothing, 0, Type::none, Type::none));
}

} // namespace wavesim::WAVESIM_SIMD_NS
