/// \file
/// How the attention kernels are cut.
#pragma once

#include <wavetile/arch/targets.hpp>
#include <wavetile/kernels/attention/heads.hpp>

#if WAVETILE_CUDA
#include <wavetile/kernels/attention/cuda/config.hpp>
#else

namespace wavetile {

/// One cut of the kernel. A template argument.
struct attention_config {
  int waves = 4;       ///< of a workgroup, each with `wave_rows` rows of queries
  int keys = 64;       ///< keys of one step
  int occupancy = 2;   ///< waves of a SIMD that the registers must leave room for
  int reads_ahead = 4; ///< LDS reads in flight before their matrix instructions
  attention_head head;
  /// Each wave takes a part of the keys of a step, for the same rows, instead of rows of its own.
  bool shares_keys = false;

  static constexpr int wave_rows = 32; ///< columns of the matrix instruction
  constexpr int rows_of_wave() const { return wave_rows; }
  constexpr int rows() const { return shares_keys ? wave_rows : waves * wave_rows; }
  constexpr int keys_of_wave() const { return shares_keys ? keys / waves : keys; }
  constexpr int threads() const { return waves * targets::gfx942.wave_size; }
  constexpr int register_limit() const { return 512 / occupancy; }
  /// K as it is, V transposed in rows of at least 128 bytes, both of 16-bit elements.
  constexpr int64_t lds_bytes() const {
    return int64_t{keys} * head.qk * 2 +
           int64_t{(head.v + 31) / 32 * 32} * (keys > 64 ? 2 * keys : 128);
  }
  constexpr int64_t dynamic_lds_bytes() const { return 0; } ///< of `lds_bytes`
  friend constexpr bool operator==(const attention_config&, const attention_config&) = default;
};

namespace kernels {

/// Cuts of each head, the first for most problems, the second for caches and few rows.
constexpr int attention_cuts(attention_form form) {
  return form == attention_form::prefill ? 1 : 2;
}

/// The cut for a head. Up to 128 elements two workgroups or more share a CU, each with 64 keys in
/// LDS at a time, so that one computes while the other loads or waits; larger heads take most
/// registers. Cut 1: the few rows of a decode step are those of one wave, so its waves take a
/// quarter of 128 keys each. Not for larger heads, of which LDS does not hold so many, nor for 80
/// elements, where a wave loads from two pages at a time: too many scalar registers.
constexpr attention_config attention_config_of(attention_head head,
                                               attention_form form = attention_form::prefill,
                                               int cut = 0) {
  const bool large = head.qk > 128;
  const bool narrow = head.qk <= 64;
  if (cut == 1 && !large && head.qk % 32 == 0)
    return {4, 128, narrow ? 2 : 1, 4, head, true};
  // where the pages lie takes scalar registers, which three waves a SIMD leave too few of
  const bool three = narrow && form == attention_form::prefill;
  return {4, large ? 32 : 64, large ? 1 : three ? 3 : 2, narrow ? 2 : 4, head};
}

/// Which of them a problem takes whose tiles have no more than so many rows to do.
constexpr int attention_cut_for(attention_form form, int64_t rows) {
  return form != attention_form::prefill && rows <= attention_config::wave_rows ? 1 : 0;
}

} // namespace kernels

} // namespace wavetile

#endif
