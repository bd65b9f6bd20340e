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

  static constexpr int wave_rows = 32; ///< columns of the matrix instruction
  constexpr int rows_of_wave() const { return wave_rows; }
  constexpr int rows() const { return waves * wave_rows; }
  constexpr int threads() const { return waves * targets::gfx942.wave_size; }
  constexpr int register_limit() const { return 512 / occupancy; }
  /// K as it is, V transposed in rows of at least 128 bytes, both of 16-bit elements.
  constexpr int64_t lds_bytes() const {
    return int64_t{keys} * head.qk * 2 + int64_t{(head.v + 31) / 32 * 32} * 128;
  }
  constexpr int64_t dynamic_lds_bytes() const { return 0; } ///< of `lds_bytes`
  friend constexpr bool operator==(const attention_config&, const attention_config&) = default;
};

namespace kernels {

/// Cuts of each head, the first for most problems.
constexpr int attention_cuts(attention_form) {
  return 1;
}

/// The cut for a head, whatever the form and the rows of a tile. Up to 128 elements two workgroups
/// or more share a CU, each with 64 keys in LDS at a time, so that one computes while the other
/// loads or waits; larger heads take most registers.
constexpr attention_config attention_config_of(attention_head head,
                                               attention_form = attention_form::prefill, int = 0) {
  const bool large = head.qk > 128;
  const bool narrow = head.qk <= 64;
  return {4, large ? 32 : 64, large ? 1 : narrow ? 3 : 2, narrow ? 2 : 4, head};
}

/// Which of them a problem takes whose tiles have no more than so many rows to do.
constexpr int attention_cut_for(attention_form, int64_t) {
  return 0;
}

} // namespace kernels

} // namespace wavetile

#endif
