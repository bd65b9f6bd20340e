/// \file
/// Which workgroup does which part of an attention problem.
#pragma once

#include <wavetile/kernels/rows/divider.hpp>

namespace wavetile::kernels {

/// The order in which workgroups take tiles. A kernel argument.
///
/// Tiles are numbered so that those of one head follow each other. Workgroups go to the XCDs of a
/// device in turn (workgroup i to XCD i mod xcds), so each XCD gets a run of consecutive tiles: all
/// tiles of a head, which read the same K and V, then share one L2, but for the few heads at the
/// ends of the runs. With an unknown number of XCDs (0, taken as 1) tiles go in order of workgroup.
struct xcd_runs {
  divider xcds;
  int64_t least = 0; ///< tiles of each run …
  int64_t extra = 0; ///< … and one more for the first of them

  xcd_runs() = default;
  constexpr xcd_runs(int64_t tiles, int xcd_count) : xcds(xcd_count < 1 ? 1 : xcd_count) {
    least = tiles / xcds.divisor();
    extra = tiles % xcds.divisor();
  }

  /// A one-to-one map of 0 … tiles - 1 onto itself.
  WAVETILE_HD constexpr int64_t tile_of(int64_t group) const {
    const int64_t run = xcds.remainder(group);
    return run * least + (run < extra ? run : extra) + xcds.quotient(group);
  }
};

/// What a workgroup works on.
struct attention_tile {
  int64_t batch;
  int64_t head; ///< group of query heads that share a tile's rows
  int64_t tile; ///< number of the tile of rows within it
};

/// Batches x heads x tiles of rows; the last tile first, as under a causal mask it is the longest.
struct attention_order {
  xcd_runs runs;
  divider tiles;
  divider heads;

  attention_order() = default;
  constexpr attention_order(int64_t batch_count, int64_t head_count, int64_t tile_count,
                            int xcd_count)
      : runs(batch_count * head_count * tile_count, xcd_count), tiles(tile_count),
        heads(head_count) {}

  WAVETILE_HD constexpr attention_tile of(int64_t group) const {
    const int64_t number = runs.tile_of(group);
    const int64_t row = tiles.quotient(number);
    const int64_t batch = heads.quotient(row);
    return {batch, row - batch * heads.divisor(),
            tiles.divisor() - 1 - (number - row * tiles.divisor())};
  }
};

} // namespace wavetile::kernels
