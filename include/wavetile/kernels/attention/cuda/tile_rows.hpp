/// \file
/// Whose rows a tile of queries has.
#pragma once

#include <wavetile/kernels/attention/problem.hpp>
#include <wavetile/kernels/attention/sequence.hpp>
#include <wavetile/kernels/attention/visibility.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// The rows of a workgroup's tile.
struct tile_rows {
  int64_t first_head;
  int packed;  ///< query heads whose rows the tile interleaves
  int count;   ///< rows of all tiles of the heads, at least 1
  int queries; ///< of the sequence
  int keys;

  struct place {
    int query;
    int64_t head;
  };
  /// Whose row it is; of rows behind the last that of the last.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE place of(int row) const {
    const int clamped = row < count ? row : count - 1;
    if (packed == 1)
      return {clamped, first_head};
    const int query = clamped / packed;
    return {query, first_head + (clamped - query * packed)};
  }
};

/// What a workgroup works on, and a wave.
struct tile_work {
  int64_t batch;
  int64_t part;
  sequence_rows q;
  sequence_rows kv;
  tile_rows rows;
  int tile_row; ///< first row of the tile
  int wave_row; ///< and of the wave
};

/// Whose work it is: all but the part and the first rows of tile and wave.
template <class Types>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
find_sequences(tile_work& work, const attention_arguments<Types>& args, const attention_tile& own) {
  const attention_extents& extents = args.extents;
  work.batch = own.batch;
  work.q = sequence_of(extents.q_begin, extents.q_length, own.batch, extents.q_rows);
  work.kv = sequence_of(extents.kv_begin, extents.kv_length, own.batch, extents.kv_rows);
  work.rows = {own.head * args.packed, args.packed, work.q.length * args.packed, work.q.length,
               work.kv.length};
}

/// The keys of a workgroup, and those that some and that all queries of a wave see.
struct wave_keys {
  int begin;
  int end;
  key_range any;
  key_range every;
};

} // namespace wavetile::kernels

#endif
