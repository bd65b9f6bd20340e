/// \file
/// One step's operand from global memory to LDS through registers, in single actions that a
/// pipeline places between its matrix instructions.
#pragma once

#include <wavetile/core/view.hpp>
#include <wavetile/kernels/matmul/global_load.hpp>
#include <wavetile/kernels/matmul/scalar.hpp>
#include <wavetile/kernels/matmul/tiles.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

namespace detail {

/// Bytes of `high` and `low` by number: 0-3 of `low`, 4-7 of `high`. v_perm_b32.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t pick_bytes(uint32_t high, uint32_t low,
                                                          uint32_t numbers) {
#if WAVETILE_AMDGCN
  return __builtin_amdgcn_perm(high, low, numbers);
#else
  uint32_t result = 0;
  const uint64_t both = uint64_t{high} << 32 | low;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<uint32_t>(both >> (numbers >> 8 * i & 7) * 8 & 0xFF) << 8 * i;
  return result;
#endif
}

/// `Depth` elements of `ElementBytes` bytes, as words.
template <int ElementBytes, int Depth>
struct k_run {
  using word = wavetile::detail::conditional_t<ElementBytes * Depth == 2, uint16_t, uint32_t>;
  using type = vec<word, ElementBytes * Depth / static_cast<int>(sizeof(word))>;
};

/// Pieces of 8 bytes of rows, one a k, as loaded, to the runs of k of each row: `run[j]` is row j.
template <int ElementBytes, int Depth>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void
transpose_block(const vec<uint32_t, 2> (&in)[Depth],
                typename k_run<ElementBytes, Depth>::type (&run)[8 / ElementBytes]) {
  constexpr uint32_t low_halves = 0x05040100, high_halves = 0x07060302;
  if constexpr (ElementBytes == 1) {
    for (int half = 0; half < 2; ++half) {
      uint32_t pairs[Depth / 2][2]; // of two k, rows 0 and 1, rows 2 and 3 of the half
      for (int pair = 0; pair < Depth / 2; ++pair) {
        pairs[pair][0] = pick_bytes(in[2 * pair + 1][half], in[2 * pair][half], 0x05010400);
        pairs[pair][1] = pick_bytes(in[2 * pair + 1][half], in[2 * pair][half], 0x07030602);
      }
      for (int rows = 0; rows < 2; ++rows) {
        const int j = 4 * half + 2 * rows;
        if constexpr (Depth == 4) {
          run[j][0] = pick_bytes(pairs[1][rows], pairs[0][rows], low_halves);
          run[j + 1][0] = pick_bytes(pairs[1][rows], pairs[0][rows], high_halves);
        } else {
          run[j][0] = static_cast<uint16_t>(pairs[0][rows]);
          run[j + 1][0] = static_cast<uint16_t>(pairs[0][rows] >> 16);
        }
      }
    }
  } else if constexpr (ElementBytes == 2) {
    for (int half = 0; half < 2; ++half)
      for (int pair = 0; pair < Depth / 2; ++pair) {
        const uint32_t even = in[2 * pair][half], odd = in[2 * pair + 1][half];
        run[2 * half][pair] = pick_bytes(odd, even, low_halves);
        run[2 * half + 1][pair] = pick_bytes(odd, even, high_halves);
      }
  } else if constexpr (ElementBytes == 4) {
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < Depth; ++k)
        run[j][k] = in[k][j];
  } else {
    for (int i = 0; i < 2 * Depth; ++i)
      run[0][i] = in[i / 2][i % 2];
  }
}

} // namespace detail

/// A work-item's share of an operand on its way through registers. `load(i)` and `store(i)` are one
/// instruction each. Addresses are computed once, by `start`. Stores are free of bank conflicts but
/// for the last block of a k_strided operand that has fewer rows than a tile, and those no multiple
/// of a block's: there each may take twice its clocks, at most a quarter of all LDS clocks.
template <class T, operand_order Order, fragment_role Role, matmul_config Config>
class staged_copy {
  using operand = operand_tile<T, Order, Role, Config>;
  using tile_type = typename operand::tile_type;
  using pieces = typename operand::pieces;
  using blocks = typename operand::blocks;
  static constexpr bool dense = Order == operand_order::k_contiguous;
  static constexpr int bytes = static_cast<int>(sizeof(T));

public:
  static constexpr int loads = dense ? pieces::count : blocks::depth * blocks::count;
  static constexpr int stores = dense ? pieces::count : blocks::rows * blocks::count;
  /// Loads come before the stores that need them, in groups: a group's loads fill registers that
  /// its stores empty.
  static constexpr int groups = dense ? pieces::count : blocks::count;
  static constexpr int group_loads = loads / groups;
  static constexpr int group_stores = stores / groups;

  /// Whether `load` can address the operand: 32-bit offsets inside a tile, and room for a piece of
  /// 8 bytes of rows.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static bool reaches(const view<const T, 2>& from) {
    if constexpr (dense)
      return from.stride[0] < ((int64_t{1} << 32) - Config.k_bytes) / (operand::rows * bytes);
    else
      return from.extent[0] >= blocks::rows &&
             from.stride[1] <
                 ((int64_t{1} << 32) - operand::rows * bytes) / (operand::depth * bytes);
  }

  /// Prepares to load steps from k on. `row` is inside the operand.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void start(const view<const T, 2>& from, int64_t row,
                                                   int64_t k, int thread) {
    // rows behind the last are replaced by the last: they may hold anything, and are there
    const int64_t left = from.extent[0] - row;
    const int last = static_cast<int>(left < operand::rows ? left : operand::rows) - 1;
    if constexpr (dense) {
      const auto pitch = static_cast<uint32_t>(from.stride[0]) * bytes;
      base_ = detail::uniform(reinterpret_cast<uint64_t>(from.data) +
                              static_cast<uint64_t>((row * from.stride[0] + k) * bytes));
      step_ = Config.k_bytes;
      for (int i = 0; i < loads; ++i) {
        const coordinate at = pieces::place(thread, i);
        const int r = at.row < last ? at.row : last;
        offset_[i] = static_cast<uint32_t>(r) * pitch + static_cast<uint32_t>(at.column * bytes);
      }
      for (int i = 0; i < places; ++i) {
        const coordinate at = pieces::place(thread, i);
        place_[i] = tile_type::offset(at.row, at.column);
      }
    } else {
      // At the edge all blocks move back until the last of them ends with the operand, so that they
      // still lie side by side: the first of them begins in front of the tile, with rows that go to
      // its end, where nothing is. Blocks beyond the edge bring what the last one does. In the
      // first tile, in front of which is nothing, only the last block moves back, over rows that
      // its neighbour brings as well.
      const int most = last + 1 - blocks::rows; // may be negative
      const int back = row != 0 && last + 1 < operand::rows ? -most & (blocks::rows - 1) : 0;
      const auto pitch = static_cast<uint32_t>(from.stride[1]) * bytes;
      constexpr int before = blocks::rows - 1;
      base_ = detail::uniform(reinterpret_cast<uint64_t>(from.data) +
                              static_cast<uint64_t>((row - before + k * from.stride[1]) * bytes));
      step_ = detail::uniform(static_cast<uint64_t>(from.stride[1]) * (operand::depth * bytes));
      for (int i = 0; i < blocks::count; ++i) {
        const coordinate at = blocks::place(thread, i);
        const int r = at.row - back < most ? at.row - back : most;
        offset_[i] =
            static_cast<uint32_t>(at.column) * pitch + static_cast<uint32_t>((r + before) * bytes);
        for (int j = 0; j < blocks::rows; ++j) {
          const int to = r + j < 0 ? r + j + operand::rows : r + j;
          place_[i * blocks::rows + j] = tile_type::offset(operand::lds_row(to), at.column);
        }
      }
      pitch_ = detail::uniform(pitch);
    }
  }

  /// Load `i` of the current step, into registers number `slot` of `Config.steps_ahead`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(int i, int slot) {
    if constexpr (dense)
      piece_[slot][i] = detail::load_words<4>(base_, offset_[i]);
    else
      block_[slot][i / blocks::depth][i % blocks::depth] = detail::load_words<2>(
          base_ + static_cast<uint64_t>(pitch_) * static_cast<uint64_t>(i % blocks::depth),
          offset_[i / blocks::depth]);
  }

  /// Moves on to the next step, or stays when there is none: what is then loaded is not used.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void advance(bool more) {
    base_ += more ? step_ : 0;
    detail::keep_scalar(base_);
  }

  /// Store `i` of what was loaded.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store(int i, tile_type to, int slot) {
    if constexpr (dense) {
      const int at = evenly_apart ? place_[0] + i * apart * tile_type::where.pitch : place_[i];
      to.write_at(at, wavetile::detail::bit_cast<vec<T, pieces::width>>(piece_[slot][i]));
    } else {
      constexpr int n = blocks::rows;
      if (i % n == 0)
        detail::transpose_block<bytes, blocks::depth>(block_[slot][i / n], run_);
      to.write_at(place_[i], wavetile::detail::bit_cast<vec<T, blocks::depth>>(run_[i % n]));
    }
  }

private:
  // pieces of a work-item are rows apart that mostly do not change the swizzle: then one address
  // serves all
  static constexpr int apart = Config.threads() / pieces::in_row;
  static constexpr bool evenly_apart = [] {
    for (int r = 0; r + apart < operand::rows; ++r)
      if (tile_type::where.swizzle(r) != tile_type::where.swizzle(r + apart))
        return false;
    return true;
  }();
  static constexpr int places = !dense ? stores : evenly_apart ? 1 : loads;

  uint64_t base_; ///< of the step's first element; uniform
  uint64_t step_;
  uint32_t pitch_; ///< k_strided: bytes from one k to the next
  uint32_t offset_[dense ? loads : blocks::count];
  int place_[places]; ///< in the LDS tile
  vec<uint32_t, 4> piece_[Config.steps_ahead][dense ? loads : 1];
  vec<uint32_t, 2> block_[Config.steps_ahead][dense ? 1 : blocks::count][blocks::depth];
  typename detail::k_run<bytes, blocks::depth>::type run_[blocks::rows];
};

} // namespace wavetile::kernels

#endif
