/// \file
/// Where a wave reads its fragments in an LDS tile.
#pragma once

#include <wavetile/kernels/matmul/tiles.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// LDS offsets of the `Count` fragments of a wave, at each depth, in as few registers as the layout
/// allows: fragments whose rows are swizzled alike share one and differ by a constant, which goes
/// into the instruction.
template <class Operand, int Waves, int Count, int Instruction>
class fragment_places {
  using reader = typename Operand::reader;
  using tile_type = typename Operand::tile_type;
  static constexpr int depths = Operand::depth / reader::depth;

  WAVETILE_HD static constexpr int offset(int lane, int first_row, int fragment, int depth) {
    const coordinate at = reader::place(lane, Operand::lds_row(first_row + fragment * Instruction),
                                        depth * reader::depth);
    return tile_type::offset(at.row, at.column);
  }
  /// Whether fragments x and y are a constant apart, for all lanes and waves.
  static constexpr bool share(int x, int y) {
    for (int wave = 0; wave < Waves; ++wave) {
      const int first = wave * Count * Instruction;
      const int apart = offset(0, 0, y, 0) - offset(0, 0, x, 0);
      for (int lane = 0; lane < matmul_wave_size; ++lane)
        if (offset(lane, first, y, 0) - offset(lane, first, x, 0) != apart)
          return false;
    }
    return true;
  }
  struct table {
    int base[Count]; ///< which fragment's register it uses
    int apart[Count];
  };
  static constexpr table places = [] {
    table result{};
    for (int y = 0; y < Count; ++y) {
      result.base[y] = y;
      int x = 0;
      while (!(result.base[x] == x && share(x, y)))
        ++x;
      result.base[y] = x;
      result.apart[y] = offset(0, 0, y, 0) - offset(0, 0, x, 0);
    }
    return result;
  }();

public:
  /// `first_row`: row of the wave's first fragment in the operand's tile.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE explicit fragment_places(int first_row) {
    const int lane = lane_id();
#pragma unroll
    for (int s = 0; s < depths; ++s)
#pragma unroll
      for (int i = 0; i < Count; ++i)
        if (places.base[i] == i)
          place_[s][i] = offset(lane, first_row, i, s);
  }

  /// Fragment `i` at depth `s`. One ds_read_b128.
  template <class Tile>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE typename reader::pack read(Tile from, int i, int s) const {
    return reader::split(
        from.template read_at<reader::elements>(place_[s][places.base[i]] + places.apart[i]));
  }

private:
  int place_[depths][Count];
};

} // namespace wavetile::kernels

#endif
