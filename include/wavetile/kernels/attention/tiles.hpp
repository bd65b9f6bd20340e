/// \file
/// K and V in LDS: where the elements lie, who brings them, who reads them.
///
/// K lies as in memory, V transposed, because the matrix instruction wants the keys of V next to
/// each other and gfx942 has no transposing LDS read. Both products read 16 bytes a lane, enough
/// for two instructions. For V that read gives a lane eight consecutive keys, of which the first
/// instruction takes four; so that the scores of K Q^T come out as the operand that goes with it,
/// rows of K are read with bits 2 and 3 of their index exchanged.
#pragma once

#include <wavetile/kernels/attention/config.hpp>
#include <wavetile/lds/choose_layout.hpp>
#include <wavetile/matrix/lds_operand.hpp>

namespace wavetile::kernels {

/// Row of the K tile that a row of the fragment is.
struct exchange_bits_2_and_3 {
  WAVETILE_HD constexpr int operator()(int row) const {
    return (row & ~12) | (row & 4) << 1 | (row & 8) >> 1;
  }
};

/// Row of 16 fp32 results of a lane in K Q^T, as key: eight consecutive keys for each eight
/// elements, those of the upper 32 lanes after those of the lower.
WAVETILE_HD constexpr int key_of_score(int lane, int i) {
  return exchange_bits_2_and_3{}(i % 4 + 4 * (lane / 32) + 8 * (i / 4));
}

/// Largest power of two, at most 8, that divides the number of 16-byte chunks of a row.
constexpr int chunk_group(int chunks) {
  return chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : chunks % 2 == 0 ? 2 : 1;
}

/// A part of the K tile that one lane brings: one chunk of eight elements.
struct key_unit {
  int key;
  int element;
};

/// A part of the V tile that one lane brings: four keys of a chunk of eight elements.
struct value_unit {
  int key;
  int element;
};

/// Byte offsets of the reads of an `lds_operand` in a tile with this layout, from few lane
/// addresses: what depends on the lane and what on the place of the fragment touch different bits
/// of rows and columns, so the swizzle is the exclusive-or of both swizzles. What of the place lies
/// outside the bits that a swizzle changes is an addition, which the instruction's offset takes.
template <layout Where, class Operand>
struct lane_offsets {
  static_assert(Operand::rows == 32 && Operand::bytes == 16);
  int base;

  /// `row` and `k`, where the wave's own part of the tile begins, are multiples of 32.
  WAVETILE_HD explicit constexpr lane_offsets(int lane, int row = 0, int k = 0)
      : base(Where.offset(Operand::place(lane).row + row, Operand::place(lane).column + k)) {}

  /// Of the fragment whose first row is `row`, a multiple of 32, and whose first k is `k`, a
  /// multiple of what a read covers.
  WAVETILE_HD WAVETILE_FORCE_INLINE constexpr int at(int row, int k) const {
    constexpr int swizzled = Where.mask * Where.chunk;
    const int place = (k * Where.element_bytes) ^ (Where.swizzle(row) * Where.chunk);
    return (base ^ (place & swizzled)) + row * Where.pitch + (place & ~swizzled);
  }
};

/// Tiles of one step for 16-bit `T`.
template <class T, attention_config Config>
struct attention_tiles {
  using element = T;
  static constexpr int keys = Config.keys;
  static constexpr int threads = Config.threads();
  static constexpr int key_chunks = Config.head.qk / 8;
  static constexpr int value_chunks = Config.head.v / 8;
  static constexpr int value_rows = (Config.head.v + 31) / 32 * 32; ///< of the transposed tile

  using fragments = product_fragments<shape_32x32<T>, T>;
  using key_operand = lds_operand<typename fragments::a, 2, exchange_bits_2_and_3>;
  using value_operand = lds_operand<typename fragments::a, 2>;

  /// Neighbouring lanes bring neighbouring chunks, up to 128 bytes, then the next key.
  static constexpr int key_units = keys * key_chunks;
  WAVETILE_HD static constexpr key_unit key_unit_of(int unit) {
    constexpr int group = chunk_group(key_chunks);
    return {unit / group % keys, 8 * (unit % group + group * (unit / (group * keys)))};
  }
  /// Eight lanes bring neighbouring chunks (none where the row has fewer), the next eight those of
  /// four keys further: sixteen lanes then write sixteen different halves of 16-byte chunks.
  static constexpr int value_units = keys / 4 * ((value_chunks + 7) / 8 * 8);
  WAVETILE_HD static constexpr value_unit value_unit_of(int unit) {
    const int rest = unit / 16;
    return {4 * (unit / 8 % 2 + rest % (keys / 8) * 2), 8 * (unit % 8 + 8 * (rest / (keys / 8)))};
  }
  static constexpr int keys_per_thread = (key_units + threads - 1) / threads;
  static constexpr int values_per_thread = (value_units + threads - 1) / threads;

  /// The accesses, each at one position: at the others they are the same but for constants.
  static constexpr lds_access key_write = lds_write(16, [](int lane) {
    const key_unit unit = key_unit_of(lane);
    return coordinate{unit.key, unit.element};
  });
  static constexpr lds_access value_write = lds_write(8, [](int lane) {
    const value_unit unit = value_unit_of(lane);
    return unit.element < Config.head.v ? coordinate{unit.element, unit.key} : inactive_lane;
  });

  static constexpr layout_choice key_choice = choose_layout<T, keys, Config.head.qk>(
      targets::gfx942, default_lds_limit, key_operand::access, key_write);
  static constexpr layout_choice value_choice = choose_layout<T, value_rows, keys>(
      targets::gfx942, default_lds_limit, value_operand::access, value_write);
  static_assert(key_choice.conflict_free && value_choice.conflict_free);

  using key_offsets = lane_offsets<key_choice.chosen, key_operand>;
  using value_offsets = lane_offsets<value_choice.chosen, value_operand>;
  using key_tile = tile<T, key_choice.chosen>;
  using value_tile = tile<T, value_choice.chosen>;
  struct storage {
    typename key_tile::storage key;
    typename value_tile::storage value;
  };
  // a SIMD has a quarter of a workgroup's waves
  static_assert(sizeof(storage) * Config.buffers() * 4 * Config.occupancy <= 65536 * Config.waves);
};

} // namespace wavetile::kernels
