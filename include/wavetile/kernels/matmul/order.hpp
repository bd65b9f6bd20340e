/// \file
/// In which order workgroups take the tiles of a matrix product, so that those that share an L2
/// share rows of A and columns of B.
///
/// Devices of several dies (XCDs) deal workgroups out to them in turn: workgroup i runs on XCD i
/// mod X, and each XCD has an L2 of its own. In plain order neighbours in the matrix therefore
/// never meet in one L2. Here the workgroups that one XCD has resident at a time are given a block
/// of the matrix that is about as high as it is wide in elements.
#pragma once

#include <wavetile/kernels/rows/divider.hpp>

namespace wavetile::kernels {

/// Undoes the dealing out: `position(i)` are consecutive numbers for workgroups that are resident
/// on one XCD at the same time. A bijection of 0 … total-1 for every total, number of XCDs and
/// number of residents.
///
/// Workgroups of XCD x are those with i mod X = x; its first `resident` form its share of round 0,
/// the next that of round 1, …. A round is X * resident workgroups, the last may be smaller.
struct xcd_order {
  divider xcds, resident;
  int64_t whole;      ///< workgroups in whole rounds
  int64_t last_small; ///< last round: workgroups of an XCD, rounded down
  int64_t last_large; ///< last round: XCDs that have one more

  WAVETILE_HD constexpr int64_t position(int64_t i) const {
    const int64_t own = xcds.quotient(i); // number among those of its XCD
    const int64_t xcd = i - own * xcds.divisor();
    if (i < whole) {
      const int64_t round = resident.quotient(own);
      return (round * xcds.divisor() + xcd) * resident.divisor() + own - round * resident.divisor();
    }
    const int64_t in_round = own - xcds.quotient(whole);
    return whole + xcd * last_small + (xcd < last_large ? xcd : last_large) + in_round;
  }
};

/// `xcds` and `resident` (workgroups that one XCD holds at a time) of at least 1.
constexpr xcd_order make_xcd_order(int64_t total, int xcds, int64_t resident) {
  const int64_t round = xcds * resident;
  const int64_t whole = total / round * round;
  const int64_t rest = total - whole;
  return {divider(xcds), divider(resident), whole, rest / xcds, rest % xcds};
}

/// A path through the tiles of one matrix: in bands of rows of tiles, each band column by column,
/// forth and back in turn, so that consecutive positions form blocks of the band's height also
/// where they turn into the next band. Bands differ by at most one row of tiles.
struct tile_path {
  int64_t high_tiles;          ///< in the bands that have one row of tiles more, which come first
  int64_t rows, columns;       ///< of tiles, across and along the bands
  divider high_band, low_band; ///< tiles of a band
  divider high, low;           ///< rows of tiles of a band
  int64_t high_bands;

  struct place {
    int64_t row, column;
  };
  bool upright; ///< the bands are of columns and run down: rows and columns change places

  WAVETILE_HD constexpr place at(int64_t position) const {
    const bool in_high = position < high_tiles;
    const int64_t p = in_high ? position : position - high_tiles;
    const divider& band_tiles = in_high ? high_band : low_band;
    const divider& height = in_high ? high : low;
    const int64_t band = band_tiles.quotient(p);
    const int64_t in_band = p - band * band_tiles.divisor();
    const int64_t column = height.quotient(in_band);
    const bool back = ((band + (in_high ? 0 : high_bands)) & 1) != 0;
    const int64_t across = (in_high ? 0 : high_bands * high.divisor()) + band * height.divisor() +
                           in_band - column * height.divisor();
    const int64_t along = back ? columns - 1 - column : column;
    return {upright ? along : across, upright ? across : along};
  }
};

/// A path with bands of this height through a grid of `rows` x `columns` tiles; all at least 1.
constexpr tile_path make_tile_path(int64_t rows, int64_t columns, int64_t height,
                                   bool upright = false) {
  const int64_t bands = divide_up(rows, height);
  const int64_t low = rows / bands;
  const int64_t high = low + 1;
  const int64_t high_bands = rows % bands;
  return {high_bands * high * columns,
          rows,
          columns,
          divider(high * columns),
          divider(low * columns),
          divider(high),
          divider(low),
          high_bands,
          upright};
}

/// The height of bands with which blocks of `resident` consecutive tiles need the fewest elements
/// of A and B: a block touches h rows of tiles of `tile_m` and resident / h columns of tiles of
/// `tile_n`, and (h - 1) / h of a column more on average where blocks do not start at the top of
/// one.
constexpr int64_t choose_band_height(int64_t rows, int64_t columns, int64_t resident,
                                     int64_t tile_m, int64_t tile_n) {
  int64_t best = 1, best_cost = 0; // of `best`, times its height
  for (int64_t wanted = 1; wanted <= rows && wanted <= resident; ++wanted) {
    const int64_t bands = divide_up(rows, wanted);
    const int64_t height = divide_up(rows, bands);
    const bool ragged = resident % height != 0 || rows % bands != 0;
    const int64_t width = resident + (ragged ? height - 1 : 0); // times the height
    const int64_t cost =
        height * height * tile_m + (width < columns * height ? width : columns * height) * tile_n;
    if (wanted == 1 || cost * best < best_cost * height) {
      best_cost = cost;
      best = height;
    }
  }
  return best;
}

/// The path for a grid of tiles of which `resident` at most are on one XCD at a time. Bands run
/// along the longer side, so that there are few turns.
constexpr tile_path choose_tile_path(int64_t rows, int64_t columns, int64_t resident,
                                     int64_t tile_m, int64_t tile_n) {
  const bool upright = rows > columns;
  const int64_t across = upright ? columns : rows, along = upright ? rows : columns;
  const int64_t height = choose_band_height(across, along, resident, upright ? tile_n : tile_m,
                                            upright ? tile_m : tile_n);
  return make_tile_path(across, along, height, upright);
}

/// How many of `total` workgroups one XCD has at a time: no more than it gets.
constexpr int64_t resident_of(int64_t total, int xcds, int64_t most) {
  const int64_t share = divide_up(total, int64_t{xcds});
  return share < most ? share : most;
}

} // namespace wavetile::kernels
