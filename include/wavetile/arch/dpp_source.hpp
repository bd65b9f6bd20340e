/// \file
/// Which lane a DPP control reads.
///
/// A row is 16 lanes. Controls and their meaning: AMD CDNA3 instruction set manual, DPP_CTRL;
/// row_newbcast exists from gfx90a on.
#pragma once

#include <wavetile/config.hpp>

namespace wavetile {

namespace dpp {
/// Lane i of each quad reads lane a, b, c, d for i = 0, 1, 2, 3.
constexpr int quad_perm(int a, int b, int c, int d) {
  return a | b << 2 | c << 4 | d << 6;
}
/// Lane i reads lane i + n of its row.
constexpr int row_shl(int n) {
  return 0x100 + n;
}
/// Lane i reads lane i - n of its row.
constexpr int row_shr(int n) {
  return 0x110 + n;
}
/// Lane i reads lane (i - n) mod 16 of its row.
constexpr int row_ror(int n) {
  return 0x120 + n;
}
inline constexpr int wave_shl_1 = 0x130;      ///< lane i reads lane i + 1 of the wave
inline constexpr int wave_shr_1 = 0x138;      ///< lane i reads lane i - 1 of the wave
inline constexpr int row_mirror = 0x140;      ///< lane i reads lane 15 - i of its row
inline constexpr int row_half_mirror = 0x141; ///< lane i reads lane 7 - i of its half row
inline constexpr int row_bcast_15 = 0x142; ///< lanes of a row read the last lane of the row before
inline constexpr int row_bcast_31 = 0x143; ///< lanes 32-63 read lane 31
/// All lanes of a row read its lane n.
constexpr int row_newbcast(int n) {
  return 0x150 + n;
}
} // namespace dpp

/// The lane that lane `lane` reads under `control`, -1 where there is none below; a lane past the
/// end of the wave is for the caller to refuse.
WAVETILE_HD constexpr int dpp_source(int control, int lane) {
  const int row = lane & ~15, place = lane & 15, n = control & 15;
  if (control < 0x100)
    return (lane & ~3) + (control >> 2 * (lane & 3) & 3);
  if (control < 0x110)
    return place + n < 16 ? lane + n : -1;
  if (control < 0x120)
    return place >= n ? lane - n : -1;
  if (control < 0x130)
    return row + ((place - n) & 15);
  switch (control) {
  case dpp::wave_shl_1:
    return lane + 1;
  case dpp::wave_shr_1:
    return lane - 1;
  case dpp::row_mirror:
    return row + 15 - place;
  case dpp::row_half_mirror:
    return lane ^ 7;
  case dpp::row_bcast_15:
    return row - 1;
  case dpp::row_bcast_31:
    return lane < 32 ? -1 : 31;
  default:
    return row + n;
  }
}

/// The distance under exclusive-or when `control` is one, else -1.
constexpr int dpp_xor_mask(int control) {
  const int mask = dpp_source(control, 0);
  for (int lane = 0; lane < 64; ++lane)
    if (dpp_source(control, lane) != (lane ^ mask))
      return -1;
  return mask;
}

} // namespace wavetile
