/// \file
/// How the attention kernels are cut.
#pragma once

#include <wavetile/arch/targets.hpp>
#include <wavetile/core/math.hpp>
#include <wavetile/kernels/attention/heads.hpp>
#include <wavetile/kernels/softmax/config.hpp>

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
  /// Each wave takes all keys for the same rows, but of V a part of the elements.
  bool shares_elements = false;
  /// Two groups of waves, one of each to a SIMD, are half a step apart: one multiplies while the
  /// other does softmax and brings K (the second group) or V (the first). Tiles are in LDS twice.
  bool alternates = false;

  static constexpr int wave_rows = 32; ///< columns of the matrix instruction
  constexpr int rows_of_wave() const { return wave_rows; }
  constexpr bool shares_rows() const { return shares_keys || shares_elements; }
  constexpr int rows() const { return shares_rows() ? wave_rows : waves * wave_rows; }
  /// How often a tile's scores are computed.
  constexpr int score_copies() const { return shares_elements ? waves : 1; }
  /// Groups of 32 elements of the output that a wave has.
  constexpr int output_parts() const {
    const int all = (head.v + 31) / 32;
    return shares_elements ? (all + waves - 1) / waves : all;
  }
  constexpr int keys_of_wave() const { return shares_keys ? keys / waves : keys; }
  constexpr int threads() const { return waves * targets::gfx942.wave_size; }
  constexpr int register_limit() const { return 512 / occupancy; }
  /// K as it is, V transposed in rows of at least 128 bytes, both of 16-bit elements.
  constexpr int64_t lds_bytes() const {
    return (int64_t{keys} * head.qk * 2 +
            int64_t{(head.v + 31) / 32 * 32} * (keys > 64 ? 2 * keys : 128)) *
           buffers();
  }
  constexpr int buffers() const { return alternates ? 2 : 1; }             ///< of a step's tiles
  constexpr int64_t dynamic_lds_bytes() const { return 0; }                ///< of `lds_bytes`
  constexpr int64_t workgroups(int64_t tiles, int) const { return tiles; } ///< for so many tiles
  constexpr const char* tiles_text() const { return ", each a tile of "; } ///< for `describe`
  constexpr const char* waves_text() const {                               ///< so, too
    return alternates ? " waves that alternate, " : " waves, ";
  }
  friend constexpr bool operator==(const attention_config&, const attention_config&) = default;
};

namespace kernels {

/// Cuts of each head, the second for whole tiles of 256 rows of arrays, of caches for few rows.
constexpr int attention_cuts(attention_form) {
  return 2;
}

/// Whether a workgroup of this cut can take parts of the keys one after the other, with the results
/// of workgroups that take one each and a second kernel: not here.
constexpr bool attention_takes_parts_in_turn(const attention_config&) {
  return false;
}

/// Whether a head has a kernel whose waves alternate.
constexpr bool attention_alternates(attention_head head) {
  return head.qk == 128 && head.v == 128;
}

/// The cut for a head. Up to 128 elements two workgroups or more share a CU, each with 64 keys in
/// LDS at a time, so that one computes while the other loads or waits; larger heads take most
/// registers. Cut 1 of heads of 128: two groups of waves share a CU by turns. Cut 1 over a cache:
/// the few rows of a decode step are those of one wave, so its waves take a quarter of 128 keys
/// each; of larger heads, of which LDS does not hold so many, a quarter of V's elements. Not of 80
/// elements, where a wave loads from two pages at a time: too many scalar registers. Elements of a
/// mask by array are on their way while scores are computed, up to half a register for each key of
/// a step: narrow heads then have two waves a SIMD rather than three, heads of 128 with an additive
/// mask 32 keys a step.
constexpr attention_config attention_config_of(attention_head head,
                                               attention_form form = attention_form::prefill,
                                               int cut = 0, mask_kind mask = mask_kind::none) {
  const bool large = head.qk > 128;
  const bool narrow = head.qk <= 64;
  const bool masked = mask != mask_kind::none;
  if (form == attention_form::prefill) {
    if (cut == 1 && attention_alternates(head) && !masked)
      return {8, 64, 2, 4, head, false, false, true};
  } else if (cut == 1 && large) {
    return {4, 32, 1, 4, head, false, true};
  } else if (cut == 1 && head.qk % 32 == 0) {
    return {4, 128, narrow ? 2 : 1, 4, head, true};
  }
  if (head.qk == 128 && mask == mask_kind::additive)
    return {4, 32, 2, 4, head};
  // where the pages lie takes scalar registers, which three waves a SIMD leave too few of
  const bool three = narrow && form == attention_form::prefill && !masked;
  return {4, large ? 32 : 64, large ? 1 : three ? 3 : 2, three ? 2 : 4, head};
}

/// What decides between the cuts of a head.
struct attention_cut_facts {
  attention_form form = attention_form::prefill;
  int64_t rows = 0;  ///< of queries, that tiles are made of …
  int64_t outer = 0; ///< … for each batch and head
  int compute_units = 0;
};

/// Over a cache cut 1 if the rows are those of one wave. Of arrays cut 1 if each CU has a tile of
/// 256 rows: with fewer, tiles of 128 spread over more of them.
constexpr int attention_cut_for(const attention_cut_facts& facts) {
  if (facts.form != attention_form::prefill)
    return facts.rows <= attention_config::wave_rows ? 1 : 0;
  return divide_up(facts.rows, int64_t{256}) >=
                 divide_up(int64_t{facts.compute_units}, facts.outer < 1 ? int64_t{1} : facts.outer)
             ? 1
             : 0;
}
/// Where independent waves are asked for.
constexpr int attention_independent_cut(const attention_cut_facts&) {
  return 0;
}

} // namespace kernels

} // namespace wavetile

#endif
