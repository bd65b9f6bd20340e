/// \file
/// Tiles brought from global memory straight to LDS by all work-items of a workgroup.
#pragma once

#include <wavetile/group/copy.hpp>
#include <wavetile/wave/lane.hpp>

#if WAVETILE_GPU

namespace wavetile::group {

/// Copies a `Tile::rows` x `Tile::columns` piece of a matrix into an LDS tile without registers in
/// between (global_load_lds_dword; gfx942 has none wider than 4 bytes [LLVM]): a quarter of the
/// bytes of an instruction of `tile_copy`, and no ds_write. Worth it where registers are short and
/// loads are not.
///
/// Such a load writes the dwords of a wave to LDS one after the other, free of bank conflicts; lane
/// l of a wave therefore fetches whatever element has its place there: any layout whose rows are
/// whole dwords will do, swizzled or padded. A tile that does not lie wholly inside the matrix, and
/// every tile on targets without such loads, comes through registers instead, with `fill` outside.
///
/// A load is one vector instruction or two where rows are not padded, the tile is a whole number of
/// loads of all work-items, and the swizzle repeats from one load to the next; else its lanes'
/// places are made anew.
///
/// Elements of up to 4 bytes; data pointer, row stride and first column multiples of 4 bytes. The
/// workgroup has `BlockSize` work-items, whole waves, and all of them call. Nothing has arrived
/// before each wave has called `wait`, and then a barrier:
///
///     using copier = group::direct_copy<tile_a, 256>;
///     copier::start(matrix, row, column, a);
///     …                                        // other work
///     copier::wait();
///     group::barrier();
template <class Tile, int BlockSize>
class direct_copy {
  using T = typename Tile::element_type;
  static constexpr int bytes = static_cast<int>(sizeof(T));
  static constexpr layout where = Tile::where;
  static_assert(bytes <= 4, "wavetile::group::direct_copy: elements have at most 4 bytes");
  static_assert(Tile::columns * bytes % 4 == 0 && where.pitch % 4 == 0 &&
                    (where.chunk == 0 || where.chunk % 4 == 0),
                "wavetile::group::direct_copy: rows and chunks of the layout are whole dwords");
  static_assert(BlockSize % wave_size == 0, "wavetile::group::direct_copy: whole waves");
  static constexpr int width = 4 / bytes; ///< elements of a dword
  static constexpr int dwords = where.bytes() / 4;
  /// Each load of each lane has a place.
  static constexpr bool whole = where.pitch == Tile::columns * bytes && dwords % BlockSize == 0;
  /// And each of a lane's is so many rows below the one before, in the same column: one address.
  static constexpr int row_step = BlockSize * 4 / where.pitch;
  static constexpr bool repeats = [] {
    bool result = whole && BlockSize * 4 % where.pitch == 0;
    for (int row = 0; row + row_step < Tile::rows; ++row)
      result = result && where.swizzle(row) == where.swizzle(row + row_step);
    return result;
  }();

public:
  /// Loads of one work-item, of tiles inside the matrix.
  static constexpr int loads = (dwords + BlockSize - 1) / BlockSize;

  /// First element of the tile's dword number `dword`; `inactive_lane` where there is none.
  WAVETILE_HD static constexpr coordinate place(int dword) {
    constexpr layout at = Tile::where; // of its own: HIP keeps static members in device memory
    const int row = dword * 4 / at.pitch;
    const int column = (dword * 4 % at.pitch ^ at.swizzle(row) * at.chunk) / bytes;
    if (whole || (row < Tile::rows && column < Tile::columns))
      return {row, column};
    return {-1, -1};
  }

  /// Starts to load the tile whose first element is (`row`, `column`) of `from`; both are >= 0 and
  /// the same in all work-items.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void start(const view<const T, 2>& from, int64_t row,
                                                          int64_t column, Tile to, T fill = {}) {
#if WAVETILE_AMDGCN
    if constexpr (device_target.has_direct_to_lds(4)) {
      if (row + Tile::rows <= from.extent[0] && column + Tile::columns <= from.extent[1]) {
        using global = __attribute__((address_space(1))) void;
        using local = __attribute__((address_space(3))) void;
        const int thread = thread_id();
        const T* const corner = &from.data[row * from.stride[0] + column];
        const coordinate own = repeats ? place(thread) : coordinate{0, 0};
        const T* const source = &corner[own.row * from.stride[0] + own.column];
#pragma unroll
        for (int i = 0; i < loads; ++i) {
          const int first = (wave_id() * wave_size + i * BlockSize) * 4; // of the wave's bytes
          const auto load = [&](const T* element) {
            __builtin_amdgcn_global_load_lds(
                (global*)element, (local*)wavetile::detail::lds_words<4>(to.data(), first), 4, 0,
                0);
          };
          if constexpr (repeats) {
            load(&source[i * row_step * from.stride[0]]);
          } else {
            const coordinate at = place(thread + i * BlockSize);
            if (whole || at.row >= 0)
              load(&corner[at.row * from.stride[0] + at.column]);
          }
        }
        return;
      }
    }
#endif
    tile_copy<Tile, BlockSize, width>::copy(from, row, column, to, fill);
  }

  /// Waits until what the calling wave has started is in LDS.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static void wait() {
#if WAVETILE_AMDGCN
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
#endif
  }
};

} // namespace wavetile::group

#endif
