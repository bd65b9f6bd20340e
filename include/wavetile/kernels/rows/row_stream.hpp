/// \file
/// Rows that are read from memory in a loop: for lengths that no registers hold.
#pragma once

#include <wavetile/kernels/rows/row_tile.hpp>

#if WAVETILE_GPU

namespace wavetile::kernels {

/// A run of whole chunks of a row and, where `tail` is not 0, the columns after the last whole one.
/// Chunks are dealt out as in row_tile.hpp, counted from the start of the run.
template <int Chunk>
struct row_run {
  int64_t begin;       ///< first chunk
  int64_t end;         ///< one past the last chunk
  int64_t tail_column; ///< first column of the tail
  uint32_t tail;       ///< columns of it

  /// The whole of a row.
  static WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_run all(int64_t columns) {
    const int64_t chunks = columns / Chunk;
    return {0, chunks, chunks * Chunk, static_cast<uint32_t>(columns - chunks * Chunk)};
  }

  /// Part `part` of a row cut into runs of `part_chunks` chunks; the last one has the tail.
  static WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_run part(int64_t columns, int64_t part_chunks,
                                                            uint32_t part, uint32_t parts) {
    row_run run = all(columns);
    run.begin = part * part_chunks;
    if (part + 1 < parts) {
      run.end = run.begin + part_chunks;
      run.tail = 0;
    }
    return run;
  }
};

/// `AtOnce` chunks of a lane in flight.
template <class T, int Chunk, int AtOnce>
class chunk_batch {
  static constexpr int words = static_cast<int>(sizeof(vec<T, Chunk>) / 4);
  static_assert(sizeof(vec<T, Chunk>) % 4 == 0);

public:
  /// Reads chunks first, first + team, … of `row` as far as they lie below `end`. What is not read
  /// holds anything.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(const T* row, int64_t first, uint32_t team,
                                                  int64_t end) {
    const T* from = row + first * Chunk;
#pragma unroll
    for (int i = 0; i < AtOnce; ++i) {
      words_[i].make_anything();
      if (first + int64_t{team} * i < end)
        words_[i].load(from + int64_t{team} * (i * Chunk));
    }
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE vec<T, Chunk> chunk(int i) {
    return words_[i].template as<vec<T, Chunk>>();
  }

private:
  chunk_words<words> words_[AtOnce];
};

} // namespace wavetile::kernels

#endif
