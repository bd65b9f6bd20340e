// What the packed instructions share: operands with op_sel, op_sel_hi, neg_lo and neg_hi applied,
// and what MODE and clamp do to float results.
#pragma once

#include "exec/gpr_index.hpp"
#include "exec/lane_math.hpp"
#include "isa/op_table.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

void register_vop3p_integer(OpTable&);
void register_vop3p_half(OpTable&);
void register_vop3p_single(OpTable&);
void register_vop3p_mix(OpTable&);
void register_vop3p_dot(OpTable&);

/// Calls f(op) with register indexing (s_set_gpr_idx) applied; not at all if the result is dropped.
template <class F>
void with_gpr_index(Wave& w, const Op& op, F&& f) {
  if (!w.gpr_index) [[likely]]
    return f(op);
  const IndexedOp indexed = apply_gpr_index(w, op);
  if (!indexed.drop_result)
    f(indexed.op);
}

/// MODE's rounding for the host's vector unit, while in scope. 0 nearest even, 1 up, 2 down, 3 to
/// zero.
class RoundingScope {
public:
  explicit RoundingScope(unsigned mode) : active_(mode != 0), before_(active_ ? _mm_getcsr() : 0) {
    constexpr unsigned control[4] = {0, 2, 1, 3}; // MXCSR.RC
    if (active_)
      _mm_setcsr((before_ & ~0x6000u) | control[mode & 3] << 13);
  }
  ~RoundingScope() {
    if (active_)
      _mm_setcsr(before_);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

private:
  bool active_;
  unsigned before_;
};

/// Clamp of a float result: to [0, 1]; NaN becomes 0 if MODE.DX10_CLAMP.
template <class T>
constexpr T clamped(T x, ModeBits mode) {
  if (is_nan(x))
    return mode.dx10_clamp() ? T{0} : x;
  return x > T{0} ? (x < T{1} ? x : T{1}) : T{0};
}

inline u32 flushed_halves(u32 x) {
  const u32 low = as_bits(flushed(from_bits<f16>(static_cast<u16>(x))));
  const u32 high = as_bits(flushed(from_bits<f16>(static_cast<u16>(x >> 16))));
  return low | high << 16;
}

/// Source `i` with the low result's element in bits 15:0 and the high result's in bits 31:16.
/// `space` holds it where something had to change. Negation is for f16 only.
inline const u32* packed_source(const Wave& w, const Op& op, unsigned i, bool is_float, bool flush,
                                Row& space) {
  const u32* from = source_row(w, op.src[i], space);
  const bool low_from_high = op.op_sel >> i & 1, high_from_high = op.op_sel_hi >> i & 1;
  const u32 flip =
      is_float ? (op.neg_lo >> i & 1) * 0x8000u | (op.neg_hi >> i & 1) * 0x80000000u : 0;
  if (!low_from_high && high_from_high && !flip && !flush)
    return from;
  const unsigned low_shift = low_from_high ? 16 : 0, high_shift = high_from_high ? 0 : 16;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const u32 x = from[lane];
    space.lane[lane] = ((x >> low_shift & 0xffff) | (x << high_shift & 0xffff0000)) ^ flip;
  }
  if (flush)
    for (unsigned lane = 0; lane < lanes; ++lane)
      space.lane[lane] = flushed_halves(space.lane[lane]);
  return space;
}

} // namespace wavesim::WAVESIM_SIMD_NS
