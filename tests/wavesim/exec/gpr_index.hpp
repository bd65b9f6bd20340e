// VGPR indexing (s_set_gpr_idx_*): while it is on, M0[7:0] is added to the VGPR numbers that
// M0[15:12] selects (source 0, 1, 2, destination).
#pragma once

#include "exec/operands.hpp"

namespace wavesim::WAVESIM_SIMD_NS {

inline constexpr std::uint32_t gpr_index_on = 1u << 31; ///< Wave::gpr_index while it is on

/// A register past the file: reads see v0, writes are dropped.
struct IndexedOp {
  Op op;
  bool drop_result = false;
};

inline IndexedOp apply_gpr_index(const Wave& w, const Op& op) {
  IndexedOp r{op};
  const std::uint32_t m0 = w.s[code_m0], index = m0 & 0xff, enables = m0 >> 12 & 15;
  for (unsigned i = 0; i < 3; ++i) {
    Source& s = r.op.src[i];
    if (s.kind != Source::Kind::vgpr || !(enables >> i & 1))
      continue;
    const unsigned width = op.info ? dwords(op.info->src[i]) : 1;
    s.reg = static_cast<std::uint16_t>(s.reg + index);
    if (s.reg + (width ? width : 1) > 256)
      s.reg = 0;
  }
  if (enables & 8 && op.info && !(op.info->flags & op_writes_scalar)) {
    r.op.dst = static_cast<std::uint16_t>(r.op.dst + index);
    if (r.op.dst + dwords(op.info->dst) > 256) {
      r.op.dst = 0;
      r.drop_result = true;
    }
  }
  return r;
}

} // namespace wavesim::WAVESIM_SIMD_NS
