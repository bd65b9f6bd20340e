/// \file
/// The way of a tile's sums from the registers of matrix instructions to rows, on NVIDIA GPUs.
#pragma once

#include <wavetile/core/vec.hpp>
#include <wavetile/kernels/matmul/cuda/config.hpp>

#if WAVETILE_CUDA

namespace wavetile::kernels {

/// Slabs of `Rows` x `Columns` sums of a warp in LDS, of a tile that `Warps` warps share and whose
/// `Stages` slots have `StageBytes`. Rows are padded so that writes of pairs and reads of 16 bytes
/// are free of conflicts.
template <class Element, int Rows, int Columns, int Warps, int Stages, int StageBytes>
struct tile_slabs {
  static constexpr int rows = Rows;
  static constexpr int run = sizeof(Element) == 8 ? 4 : 8; ///< elements a lane stores
  static constexpr int runs = Columns / run;               ///< of a row
  static constexpr int pitch = Columns + 8;
  static constexpr int bytes = Rows * pitch * static_cast<int>(sizeof(Element));
  static_assert(bytes * Warps <= Stages * StageBytes && bytes % 16 == 0);
  /// They lie in the last slot where that is large enough, and the next tile's copies go to others.
  static constexpr bool overlaps = bytes * Warps <= StageBytes;
  static constexpr int place = overlaps ? (Stages - 1) * StageBytes : 0;

  /// `run` elements of a row. Lanes 4 to 7 of eight read their second half first: eight lanes then
  /// read from all banks.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static vec<Element, run> read_run(const Element* from,
                                                                          int lane) {
    constexpr int half = run / 2;
    const bool swapped = (lane & 4) != 0;
    const auto first = load_vec<half>(from + (swapped ? half : 0));
    const auto second = load_vec<half>(from + (swapped ? 0 : half));
    vec<Element, run> result;
    for (int i = 0; i < half; ++i) {
      result[i] = swapped ? second[i] : first[i];
      result[half + i] = swapped ? first[i] : second[i];
    }
    return result;
  }
};

} // namespace wavetile::kernels

#endif
