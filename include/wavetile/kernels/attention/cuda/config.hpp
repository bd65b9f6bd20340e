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

  static constexpr bool alternates = false; ///< see the other targets' configs

  constexpr int rows_of_wave() const { return 16 * row_tiles; }
  constexpr int rows() const { return shares_rows ? rows_of_wave() : waves * rows_of_wave(); }
  constexpr int keys_of_wave() const { return keys; } ///< of a step that the wave takes part in
  constexpr int score_copies() const { return 1; }    ///< how often a tile's scores are computed
  constexpr int threads() const { return waves * 32; }
  constexpr int register_limit() const {
    const int most = 65536 / (threads() * occupancy) / 8 * 8;
    return most < 255 ? most : 255;
  }

  /// Bytes from one row in LDS to the next: rows of 64 bytes or a multiple of 128 are swizzled, all
  /// others padded to an odd number of 16 bytes.
  static constexpr int pitch(int elements) {
    const int chunks = elements / 8;
    return 16 * (chunks % 8 == 0 || chunks == 4 ? chunks : chunks | 1);
  }
  /// The queries, K and V of each stage, and scores that waves share.
  constexpr int64_t lds_bytes() const {
    const int qk = pitch(head.qk), v = pitch(head.v), most = qk > v ? qk : v;
    return int64_t{rows()} * qk + int64_t{stages} * keys * (shares_rows ? most : qk + v) +
           (shares_rows ? int64_t{4} * rows() * keys : 0);
  }
  constexpr int64_t dynamic_lds_bytes() const { return lds_bytes(); } ///< all of it

  friend constexpr bool operator==(const attention_config&, const attention_config&) = default;
};

namespace kernels {

/// Cuts of each head. Over a cache there are two, as few rows would leave most waves idle.
constexpr int attention_cuts(attention_form form) {
  return form == attention_form::cache ? 2 : 1;
}

/// The cut for a head; over a cache, cut 1 has 16 rows that all waves share. All cuts of a head
/// have the same number of keys a step: the result of a query does not depend on the cut. A
/// multiprocessor has 65,536 registers, so that four waves of two workgroups can have 255 each.
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
  if (head.qk <= 128) {
    // two row tiles share what is read of K and V: 384 against 345 TFLOP/s with 128 elements, on an
    // H200; their queries leave too few registers there
    result.row_tiles = 2;
    result.keeps_queries = head.qk <= 64;
  }
  return result;
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
};

/// Cut 1 over a cache with no more rows than those that all waves share.
constexpr int attention_cut_for(const attention_cut_facts& facts) {
  return facts.form == attention_form::cache && facts.rows <= 16 ? 1 : 0;
}

} // namespace kernels

} // namespace wavetile

// nvcc 13.0 names the type of a template argument by its mangled name in the host's stubs
using _ZN8wavetile16attention_configE = wavetile::attention_config;

#endif
