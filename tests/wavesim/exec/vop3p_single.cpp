// Packed f32 and the packed move: each half of the result takes either dword of each source.
#include "exec/vop3p.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

/// Rows per source: what the low and the high result use.
struct PairRows {
  const u32* src[3][2];
  u32* dst[2];
};
using PairLoop = void (*)(const PairRows&);

template <auto F, unsigned Sources>
void pair_loop(const PairRows& rows) {
  const PairRows r = rows;
#pragma clang loop vectorize(assume_safety)
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const auto result = [&](unsigned h) {
      const auto x = [&](unsigned i) { return from_bits<float>(r.src[i][h][lane]); };
      if constexpr (Sources == 3)
        return as_bits(first_nan(F(x(0), x(1), x(2)), x(0), x(1), x(2)));
      else
        return as_bits(first_nan(F(x(0), x(1), 0.0f), x(0), x(1)));
    };
    const u32 low = result(0), high = result(1); // before either is stored
    r.dst[0][lane] = low;
    r.dst[1][lane] = high;
  }
}

float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
float product(float a, float b, float) {
  return a * b;
}
float sum(float a, float b, float) {
  return a + b;
}

void flush_single(const u32* from, u32* to) {
  for (unsigned lane = 0; lane < lanes; ++lane)
    to[lane] = as_bits(flushed(from_bits<float>(from[lane])));
}

/// Dword `dword` of source i for result half `half`, negated as asked, flushed as MODE asks.
const u32* pair_source(const Wave& w, const Op& op, unsigned i, unsigned half, bool flush,
                       Row& space) {
  const unsigned dword = (half ? op.op_sel_hi : op.op_sel) >> i & 1;
  const u32* from = source_row(w, op.src[i], space, dword);
  if ((half ? op.neg_hi : op.neg_lo) >> i & 1) {
    for (unsigned lane = 0; lane < lanes; ++lane)
      space.lane[lane] = from[lane] ^ 0x80000000u;
    from = space;
  }
  if (flush) {
    flush_single(from, space);
    from = space;
  }
  return from;
}

template <auto F, unsigned Sources>
void execute_pair(Wave& w, const Op& indexed) {
  with_gpr_index(w, indexed, [&](const Op& op) {
    const u64 exec = w.exec();
    if (exec == 0)
      return;
    const ModeBits mode{w.mode};
    Row space[Sources][2], low, high;
    PairRows r;
    for (unsigned i = 0; i < Sources; ++i)
      for (unsigned half = 0; half < 2; ++half)
        r.src[i][half] = pair_source(w, op, i, half, mode.flush_inputs_f32(), space[i][half]);
    const bool in_place = exec == all_lanes;
    r.dst[0] = in_place ? w.v[op.dst] : low.lane;
    r.dst[1] = in_place ? w.v[op.dst + 1] : high.lane;
    {
      const RoundingScope rounding(mode.round_f32());
      pair_loop<F, Sources>(r);
    }
    for (u32* row : r.dst) {
      if (mode.flush_results_f32())
        flush_single(row, row);
      if (op.clamp)
        for (unsigned lane = 0; lane < lanes; ++lane)
          row[lane] = as_bits(clamped(from_bits<float>(row[lane]), mode));
    }
    if (!in_place) {
      store_row(w.v[op.dst], low, exec);
      store_row(w.v[op.dst + 1], high, exec);
    }
  });
}

/// Only OP_SEL counts: it picks the dword of source 0 for the low result, of source 1 for the high.
void execute_move(Wave& w, const Op& indexed) {
  with_gpr_index(w, indexed, [&](const Op& op) {
    Row space[2], low, high;
    copy_row(low, source_row(w, op.src[0], space[0], op.op_sel & 1));
    copy_row(high, source_row(w, op.src[1], space[1], op.op_sel >> 1 & 1));
    store_row(w.v[op.dst], low, w.exec());
    store_row(w.v[op.dst + 1], high, w.exec());
  });
}

OpInfo pair_op(const char* mnemonic, Handler handler, unsigned sources, Type type,
               std::uint32_t flags) {
  OpInfo info;
  info.mnemonic = mnemonic;
  info.handler = handler;
  info.unit = Unit::valu;
  info.dst = type;
  for (unsigned i = 0; i < sources; ++i)
    info.src[i] = type;
  info.flags = flags;
  return info;
}

} // namespace

void register_vop3p_single(OpTable& t) {
  constexpr std::uint32_t flags = op_float | op_mode_f32;
  t.add(pair_op("v_pk_fma_f32", execute_pair<fused, 3>, 3, Type::v2f32, flags));
  t.add(pair_op("v_pk_mul_f32", execute_pair<product, 2>, 2, Type::v2f32, flags));
  t.add(pair_op("v_pk_add_f32", execute_pair<sum, 2>, 2, Type::v2f32, flags));
  t.add(pair_op("v_pk_mov_b32", execute_move, 2, Type::v2f32, 0));
}

} // namespace wavesim::WAVESIM_SIMD_NS
