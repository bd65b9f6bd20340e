// v_fma_mix: a fused multiply-add in f32 whose sources are each an f32 or one half of a register
// (OP_SEL_HI says half, OP_SEL which); NEG_LO negates and NEG_HI takes the absolute value first.
// The lo and hi forms convert the f32 result to f16 and write one half of the destination.
#include "exec/vop3p.hpp"
#include "isa/encoding.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

enum class Result { f32, low_half, high_half };

void mix_source(const Wave& w, const Op& op, unsigned i, ModeBits mode, Row& to) {
  const bool is_half = op.op_sel_hi >> i & 1;
  Row space;
  Source source = op.src[i];
  if (is_half && source.kind == Source::Kind::constant)
    source.value = inline_constant(op.words[1] >> (9 * i) & 0x1ff, Type::f16);
  const u32* from = source_row(w, source, space);
  const unsigned shift = op.op_sel >> i & 1 ? 16 : 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    u32 x = from[lane];
    if (is_half) {
      const f16 h = from_bits<f16>(static_cast<u16>(x >> shift));
      x = as_bits(static_cast<float>(mode.flush_inputs_f64() ? flushed(h) : h));
    } else if (mode.flush_inputs_f32()) {
      x = as_bits(flushed(from_bits<float>(x)));
    }
    to.lane[lane] = x;
  }
  const u32 keep = op.neg_hi >> i & 1 ? 0x7fffffffu : ~0u, flip = (op.neg_lo >> i & 1u) << 31;
  for (unsigned lane = 0; lane < lanes; ++lane)
    to.lane[lane] = (to.lane[lane] & keep) ^ flip;
}

template <Result Kind>
void execute_mix(Wave& w, const Op& indexed) {
  with_gpr_index(w, indexed, [&](const Op& op) {
    const u64 exec = w.exec();
    if (exec == 0)
      return;
    const ModeBits mode{w.mode};
    Row src[3], result;
    for (unsigned i = 0; i < 3; ++i)
      mix_source(w, op, i, mode, src[i]);
    {
      const RoundingScope rounding(mode.round_f32());
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto x = [&](unsigned i) { return from_bits<float>(src[i].lane[lane]); };
        float r = first_nan(__builtin_fmaf(x(0), x(1), x(2)), x(0), x(1), x(2));
        r = mode.flush_results_f32() ? flushed(r) : r;
        result.lane[lane] = as_bits(op.clamp ? clamped(r, mode) : r);
      }
    }
    if constexpr (Kind != Result::f32) {
      const RoundingScope rounding(mode.round_f64());
      const u32* old = w.v[op.dst];
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const float wide = from_bits<float>(result.lane[lane]);
        f16 h = static_cast<f16>(wide);
        if (mode.fp16_overflow() && is_infinity(h) && !is_infinity(wide))
          h = from_bits<f16>(static_cast<u16>(as_bits(h) - 1));
        const u32 bits = as_bits(mode.flush_results_f64() ? flushed(h) : h);
        result.lane[lane] = Kind == Result::low_half ? (old[lane] & 0xffff0000) | bits
                                                     : (old[lane] & 0xffff) | bits << 16;
      }
    }
    store_row(w.v[op.dst], result, exec);
  });
}

OpInfo mix_op(const char* mnemonic, Handler handler, Type dst, std::uint32_t flags) {
  OpInfo info;
  info.mnemonic = mnemonic;
  info.handler = handler;
  info.unit = Unit::valu;
  info.dst = dst;
  for (unsigned i = 0; i < 3; ++i)
    info.src[i] = Type::f32;
  info.flags = op_float | op_mode_f32 | flags;
  return info;
}

} // namespace

void register_vop3p_mix(OpTable& t) {
  t.add(mix_op("v_fma_mix_f32", execute_mix<Result::f32>, Type::f32, 0));
  t.add(mix_op("v_fma_mixlo_f16", execute_mix<Result::low_half>, Type::f16,
               op_mode_f64 | op_keeps_high));
  t.add(mix_op("v_fma_mixhi_f16", execute_mix<Result::high_half>, Type::f16,
               op_mode_f64 | op_keeps_high));
}

} // namespace wavesim::WAVESIM_SIMD_NS
