/// \file
/// What a wave reads or writes with one LDS instruction.
#pragma once

#include <wavetile/arch/lds_service.hpp>

namespace wavetile {

/// An element of a tile.
struct coordinate {
  int row;
  int column;
};

/// A lane that is switched off.
inline constexpr coordinate inactive_lane{-1, -1};

/// One LDS instruction of one wave: for every lane the first element it touches. The instruction
/// moves the bytes from there on, inside one row. Two-address instructions have a second element.
///
/// Made by `lds_read`, `lds_write`, `lds_read2`, `lds_write2` from any constexpr function of the
/// lane:
///
///     // 16-row fragment, 8 elements of 2 bytes a lane
///     constexpr auto fragment = lds_read(16, [](int lane) {
///       return coordinate{lane % 16, lane / 16 * 8};
///     });
struct lds_access {
  static constexpr int lanes = 64;

  lds_op op;
  coordinate first[lanes];
  coordinate second[lanes]; ///< of two-address instructions
};

namespace detail {

template <class Map>
constexpr lds_access make_access(lds_op op, const Map& map) {
  lds_access result{op, {}, {}};
  for (int lane = 0; lane < lds_access::lanes; ++lane)
    result.first[lane] = map(lane);
  return result;
}

template <class Map>
constexpr lds_access make_access2(lds_op op, const Map& map) {
  lds_access result{op, {}, {}};
  for (int lane = 0; lane < lds_access::lanes; ++lane) {
    result.first[lane] = map(lane, 0);
    result.second[lane] = map(lane, 1);
  }
  return result;
}

} // namespace detail

/// A read of `bytes` (1, 2, 4, 8, 12, 16) per lane from `map(lane)`. Another number does not
/// compile, here and below; one that is known at run time only ends the program.
template <class Map>
constexpr lds_access lds_read(int bytes, const Map& map) {
  return detail::make_access(read_of(bytes), map);
}

/// A write of `bytes` (1, 2, 4, 8, 12, 16) per lane to `map(lane)`.
template <class Map>
constexpr lds_access lds_write(int bytes, const Map& map) {
  return detail::make_access(write_of(bytes), map);
}

/// A two-address read (ds_read2_b32, ds_read2_b64, or their st64 forms) of `bytes` (4 or 8) each
/// from `map(lane, 0)` and `map(lane, 1)`.
template <class Map>
constexpr lds_access lds_read2(int bytes, const Map& map) {
  return detail::make_access2(read2_of(bytes), map);
}

/// A two-address write of `bytes` (4 or 8) each to `map(lane, 0)` and `map(lane, 1)`.
template <class Map>
constexpr lds_access lds_write2(int bytes, const Map& map) {
  return detail::make_access2(write2_of(bytes), map);
}

} // namespace wavetile
