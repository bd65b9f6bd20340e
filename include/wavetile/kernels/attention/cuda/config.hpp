/// \file
/// How the attention kernels are cut for NVIDIA GPUs. Included by kernels/attention/config.hpp.
#pragma once

#include <wavetile/config.hpp>
#include <wavetile/kernels/attention/heads.hpp>
#include <wavetile/kernels/softmax/config.hpp>

#if WAVETILE_CUDA

namespace wavetile {

/// One cut of the kernel. A template argument.
struct attention_config {
  int waves = 4;            ///< of a workgroup
  bool shares_rows = false; ///< by all waves, which then share each step: `keys` / 16 waves
  int row_tiles = 1;        ///< of a wave, 16 rows of queries each
  int keys = 64;            ///< of one step
  /// Steps whose K and V are in LDS or on their way; where waves share rows: tiles of K or V, an
  /// odd number.
  int stages = 2;
  int occupancy = 2;         ///< workgroups of a multiprocessor that the registers leave room for
  bool keeps_queries = true; ///< in registers; else they are read from LDS in each step
  attention_head head;
  /// Warpgroups that multiply by `wgmma`, 64 rows each, in code for sm_90a; 0: waves multiply.
  int warpgroups = 0;
  int copying_waves = 0; ///< of `waves` the last, which have no rows

  static constexpr bool alternates = false; ///< see the other targets' configs

  /// Of a wave, or a warpgroup, which goes over the keys by itself.
  constexpr int rows_of_wave() const { return warpgroups > 0 ? 64 : 16 * row_tiles; }
  constexpr int rows() const {
    return rows_of_wave() * (shares_rows ? 1 : warpgroups > 0 ? warpgroups : waves - copying_waves);
  }
  constexpr int keys_of_wave() const { return keys; } ///< of a step that the wave takes part in
  constexpr int score_copies() const { return 1; }    ///< how often a tile's scores are computed
  constexpr int threads() const { return waves * 32; }
  constexpr int register_limit() const {
    if (warpgroups > 0)
      return multiplying_registers();
    const int most = 65536 / (threads() * occupancy) / 8 * 8;
    return most < 255 ? most : 255;
  }

  /// Of lanes that copy beside warpgroups that multiply, and what leaves those of them.
  constexpr int copying_registers() const { return warpgroups > 2 ? 32 : 40; }
  constexpr int multiplying_registers() const {
    const int all = 65536 / threads() / 8 * 8 * (warpgroups + 1);
    return (all - copying_registers()) / (warpgroups == 0 ? 1 : warpgroups) / 8 * 8;
  }
  /// Tiles whose queries are in LDS or on their way, with warpgroups: LDS that is left has another.
  constexpr int query_slots() const { return head.qk <= 64 ? 2 : 1; }
  constexpr int barrier_bytes() const { return 16 * (query_slots() + 2 * stages); }

  /// Bytes from one row in LDS to the next: rows of 64 bytes or a multiple of 128 are swizzled, all
  /// others padded to an odd number of 16 bytes.
  static constexpr int pitch(int elements) {
    const int chunks = elements / 8;
    return 16 * (chunks % 8 == 0 || chunks == 4 ? chunks : chunks | 1);
  }
  /// The queries, K and V of each stage, and scores that waves share or barriers of warpgroups.
  constexpr int64_t lds_bytes() const {
    if (warpgroups > 0)
      return int64_t{2} * query_slots() * rows() * head.qk +
             int64_t{2} * stages * keys * (head.qk + head.v) + barrier_bytes();
    const int qk = pitch(head.qk), v = pitch(head.v), most = qk > v ? qk : v;
    return int64_t{rows()} * qk + int64_t{stages} * keys * (shares_rows ? most : qk + v) +
           (shares_rows ? int64_t{4} * rows() * keys : 0);
  }
  constexpr int64_t dynamic_lds_bytes() const { return lds_bytes(); } ///< all of it
  /// Workgroups for so many tiles: all, or those that a device runs at a time take them by turns.
  constexpr int64_t workgroups(int64_t tiles, int compute_units) const {
    const int64_t at_a_time = int64_t{compute_units} * occupancy;
    return warpgroups > 0 && at_a_time > 0 && at_a_time < tiles ? at_a_time : tiles;
  }
  /// What its workgroups and waves do, for `describe`.
  constexpr const char* tiles_text() const {
    return warpgroups > 0 ? ", in turn tiles of " : ", each a tile of ";
  }
  constexpr const char* waves_text() const {
    return warpgroups > 0 ? " waves, the last four of which copy, " : " waves, ";
  }

  friend constexpr bool operator==(const attention_config&, const attention_config&) = default;
};

namespace kernels {

/// Cuts of each head. Over a cache the second is for few rows, which would leave most waves idle;
/// of arrays it is for devices with `wgmma`.
constexpr int attention_cuts(attention_form) {
  return 2;
}

/// Whether a head has a cut with warpgroups.
constexpr bool attention_has_warpgroups(attention_head head) {
  return head == attention_head{64, 64} || head == attention_head{128, 128};
}

/// The cut for a head; over a cache, cut 1 has 16 rows that all waves share. Both have the same
/// number of keys a step: the result of a query does not depend on which it is. Of arrays cut 1 is
/// that with warpgroups, of heads that have one. A multiprocessor has 65,536 registers, so that
/// four waves of two workgroups can have 255 each.
constexpr attention_config attention_config_of(attention_head head,
                                               attention_form form = attention_form::prefill,
                                               int cut = 0, mask_kind = mask_kind::none) {
  attention_config result;
  result.head = head;
  result.keys = head.qk > 128 ? 32 : 64;
  if (form == attention_form::cache) {
    if (cut == 1) {
      result.shares_rows = true;
      result.waves = result.keys / 16;
      // few bytes a step: more steps on their way
      result.stages = head.qk <= 64 ? 5 : 3;
      result.occupancy = 4;
      result.keeps_queries = false;
    }
    return result;
  }
  if (cut == 1 && attention_has_warpgroups(head)) {
    // of heads of 64 a third warpgroup fills the time that two leave the matrix units; more steps
    // on their way: H200, TFLOP/s of full attention over 8192 keys, heads of 128: 604 with three,
    // 560 with two; 64: 460 with three warpgroups, 422 with two
    result.warpgroups = head.qk <= 64 ? 3 : 2;
    result.copying_waves = 4;
    result.waves = 4 * result.warpgroups + 4;
    result.keys = 128;
    result.stages = 3;
    result.occupancy = 1;
    return result;
  }
  if (head.qk <= 128) {
    // two row tiles share what is read of K and V: 384 against 345 TFLOP/s with 128 elements, on an
    // H200; their queries leave too few registers there
    result.row_tiles = 2;
    result.keeps_queries = head.qk <= 64;
  }
  return result;
}

/// A cut with warpgroups for code without `wgmma`: as many rows and lanes, not more LDS.
constexpr attention_config without_warpgroups(attention_config config) {
  config.copying_waves = config.waves - config.rows() / 16;
  config.warpgroups = 0;
  config.keys = 64;
  config.stages = 2;
  config.keeps_queries = false;
  return config;
}

/// Whether a workgroup of this cut can take parts of the keys one after the other, with the results
/// of workgroups that take one each and a second kernel: where all waves share the rows.
constexpr bool attention_takes_parts_in_turn(const attention_config& config) {
  return config.shares_rows;
}

/// Whether a head has a kernel whose waves alternate: not here.
constexpr bool attention_alternates(attention_head) {
  return false;
}

/// What decides between the cuts of a head.
struct attention_cut_facts {
  attention_form form = attention_form::prefill;
  int64_t rows = 0; ///< of queries, that tiles are made of
  int64_t outer = 0;
  int compute_units = 0;
  bool warpgroups = false; ///< the device runs code for sm_90a or sm_90
};

/// Cut 1 over a cache with no more rows than those that all waves share, and of arrays where there
/// is code for it: whatever the extents, so that bits of a query do not depend on its neighbours.
constexpr int attention_cut_for(const attention_cut_facts& facts) {
  if (facts.form == attention_form::prefill)
    return facts.warpgroups ? 1 : 0;
  return facts.rows <= 16 ? 1 : 0;
}
/// Where independent waves are asked for: there are no others.
constexpr int attention_independent_cut(const attention_cut_facts& facts) {
  return attention_cut_for(facts);
}

} // namespace kernels

} // namespace wavetile

// nvcc 13.0 names the type of a template argument by its mangled name in the host's stubs
using _ZN8wavetile16attention_configE = wavetile::attention_config;

#endif
