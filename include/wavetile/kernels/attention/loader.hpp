/// \file
/// K and V from global memory to LDS.
#pragma once

#include <wavetile/kernels/attention/tiles.hpp>

#if WAVETILE_HIP

namespace wavetile::kernels {

/// 16 bytes as a load returns them.
using chunk16 = uint32_t __attribute__((ext_vector_type(4)));

/// A run of rows in global memory, of which what lies beyond the last reads as zeros: a buffer
/// descriptor, whose bounds the hardware checks. Offsets are of one vector register only.
struct row_window {
#if WAVETILE_AMDGCN
  __amdgpu_buffer_rsrc_t descriptor;
#endif

  /// `bytes` from `start` on; the same in all lanes.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_window(const void* start, int bytes) {
#if WAVETILE_AMDGCN
    constexpr int raw_buffer = 0x00020000; // data format 32: no stride, no swizzle (gfx9)
    descriptor = __builtin_amdgcn_make_buffer_rsrc(const_cast<void*>(start), 0, bytes, raw_buffer);
#else
    (void)start, (void)bytes;
#endif
  }
  /// The rows around a key: of one array, so there is nothing to find.
  template <int Span, class Place>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE const char* block_of(const Place&, int) const {
    return nullptr;
  }
  /// The chunk `offset` bytes from the start.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE chunk16 load(const char*, int, int offset) const {
#if WAVETILE_AMDGCN
    return __builtin_amdgcn_raw_buffer_load_b128(descriptor, offset, 0, 0);
#else
    (void)offset;
    return {};
#endif
  }
};

/// One array, K or V, of one head of one batch.
struct row_source {
  /// Beyond every window: a thread without a unit loads too, because a branch around a load would
  /// have to wait for it.
  static constexpr int nowhere = 0x7FFFFFF0;
  const char* data;  ///< of the first row
  int64_t row_bytes; ///< from one row to the next
  int rows;
  int width_bytes; ///< of a row

  /// Offset in a window of an element of a key.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int offset_of(int key, int element) const {
    return key * static_cast<int>(row_bytes) + 2 * element;
  }
  /// There is nothing to look up.
  struct place {};
  template <int Span>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE place look_up(int, int) const {
    return {};
  }
  /// At most `count` rows from `first` on, none behind the last. Steps between rows are limited so
  /// that they fit.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_window from(int first, int count) const {
    const int left = rows - first < count ? rows - first : count;
    return {data + first * row_bytes,
            left > 0 ? (left - 1) * static_cast<int>(row_bytes) + width_bytes : 0};
  }
};

/// Numbers that no kernel changes while it runs: read by scalar loads where the address is uniform.
#if WAVETILE_AMDGCN
using constant_numbers = const __attribute__((address_space(4))) int32_t*;
#else
using constant_numbers = const int32_t*;
#endif

/// One array, K or V, of one head in a cache, with or without pages. A page holds 2^`page_shift` >=
/// 16 rows of every head; `pages` lists those of a sequence in order. Numbers of pages that do not
/// exist are clamped. Loads have no branch around them, which would have to wait for them: lanes
/// whose row is beyond the last read one that exists.
struct page_source {
  static constexpr int nowhere = 0;     ///< a thread without a unit reads what another does
  static constexpr int block_rows = 16; ///< of one page, for all sizes of pages
  const char* data;                     ///< of the head's first row in page 0
  constant_numbers pages;               ///< of the sequence; without pages any one number
  int64_t page_bytes;                   ///< from one page to the next
  int row_bytes;                        ///< from one row to the next
  int rows;
  int page_shift;
  int last_page;

  /// Offset in a block of an element of a key.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int offset_of(int key, int element) const {
    return key % block_rows * row_bytes + 2 * element;
  }
  /// First row of block `i` of a step, or of the last block that there is.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int block_start(int first, int i) const {
    const int start = first + block_rows * i, last = (rows - 1) / block_rows * block_rows;
    return start < last ? start : last;
  }

  /// What the list says about one block of a step, or two that follow each other: those that the
  /// lanes of a wave load from at a time. Uniform.
  struct place {
    int block;
    int page[2];
  };
  /// Starts the scalar loads for the wave's keys of a step, of which the first is `key`; also
  /// behind the last. They are in `Span` blocks.
  template <int Span>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE place look_up(int first, int key) const {
    static_assert(Span == 1 || Span == 2);
    place result{key / block_rows, {}};
    result.page[0] = pages[block_start(first, result.block) >> page_shift];
    result.page[1] = Span == 1 ? -1 : pages[block_start(first, result.block + 1) >> page_shift];
    return result;
  }

  /// The rows of a step.
  struct window {
    const page_source& source;
    int first;
    int left; ///< rows from the step's first on

    /// Uniform.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE const char* start_of(int block, int listed) const {
      const int64_t page = listed < 0 ? 0 : listed < source.last_page ? listed : source.last_page;
      const int row =
          source.block_start(first, block) & static_cast<int>((1u << source.page_shift) - 1);
      return source.data + page * source.page_bytes + int64_t{row} * source.row_bytes;
    }
    /// The block of a key of the step.
    template <int Span>
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE const char* block_of(const place& where, int key) const {
      const char* const one = start_of(where.block, where.page[0]);
      if constexpr (Span == 1)
        return one;
      const char* const next = start_of(where.block + 1, where.page[1]);
      return key / block_rows == where.block ? one : next;
    }
    /// The chunk `offset` bytes from the start of a key's block; of keys beyond the last anything.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE chunk16 load(const char* own, int key, int offset) const {
      chunk16 result;
      __builtin_memcpy(&result, own + static_cast<uint32_t>(key < left ? offset : 0),
                       sizeof result); // 16 bytes at element alignment
      return result;
    }
  };
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE window from(int first, int) const {
    return {*this, first, rows - first};
  }
};

/// Bytes of two dwords, by the number of each (gfx9's v_perm_b32).
WAVETILE_DEVICE WAVETILE_FORCE_INLINE uint32_t permute_bytes(uint32_t high, uint32_t low,
                                                             uint32_t bytes) {
#if WAVETILE_AMDGCN
  return __builtin_amdgcn_perm(high, low, bytes);
#else
  return high ^ low ^ bytes;
#endif
}

/// Writes a unit of V, eight elements of four rows, transposed.
template <class Tiles>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE void write_transposed(typename Tiles::value_tile value,
                                                            const value_unit& unit,
                                                            const chunk16 (&rows)[4]) {
  using T = typename Tiles::element;
  for (int e = 0; e < 8; ++e) {
    // halves e of four rows, two to a dword
    const uint32_t half = e % 2 == 0 ? 0x05040100u : 0x07060302u;
    const vec<uint32_t, 2> four{{permute_bytes(rows[1][e / 2], rows[0][e / 2], half),
                                 permute_bytes(rows[3][e / 2], rows[2][e / 2], half)}};
    value.write_vec(unit.element + e, unit.key, wavetile::detail::bit_cast<vec<T, 4>>(four));
  }
}

/// Brings the tiles of a step: loads to registers, later from there to LDS.
template <class T, attention_config Config, class Source = row_source>
class tile_loader {
  using tiles = attention_tiles<T, Config>;
  static constexpr int key_loads = tiles::keys_per_thread;
  static constexpr int value_loads = tiles::values_per_thread;
  static constexpr bool all_bring_keys = tiles::key_units % Config.threads() == 0;

  /// Blocks of 16 keys that a wave loads from at a time, the first of them from lane 0.
  static constexpr int key_span = wave_size / chunk_group(tiles::key_chunks) > 16 ? 2 : 1;
  static constexpr int value_span = 2;
  static_assert(wave_size / chunk_group(tiles::key_chunks) <= 32 &&
                tiles::value_unit_of(wave_size - 1).key == 28);

  Source key_source_, value_source_;
  typename Source::place key_place_[key_loads]; ///< of the step that is loaded next
  typename Source::place value_place_[value_loads];
  int thread_;
  int key_offset_[key_loads];
  int value_offset_[value_loads][4];
  chunk16 key_[key_loads];
  chunk16 value_[value_loads][4];

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool brings_key(int i) const {
    return all_bring_keys || thread_ + i * Config.threads() < tiles::key_units;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool brings_value(int i) const {
    const int unit = thread_ + i * Config.threads();
    return unit < tiles::value_units && tiles::value_unit_of(unit).element < Config.head.v;
  }

public:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE tile_loader(const Source& key, const Source& value,
                                                    int thread)
      : key_source_(key), value_source_(value), thread_(thread) {
    for (int i = 0; i < key_loads; ++i) {
      const key_unit unit = tiles::key_unit_of(thread + i * Config.threads());
      key_offset_[i] = brings_key(i) ? key.offset_of(unit.key, unit.element) : Source::nowhere;
    }
    for (int i = 0; i < value_loads; ++i) {
      const value_unit unit = tiles::value_unit_of(thread + i * Config.threads());
      for (int j = 0; j < 4; ++j)
        value_offset_[i][j] =
            brings_value(i) ? value.offset_of(unit.key + j, unit.element) : Source::nowhere;
    }
  }

  /// Finds out where the keys from `first` on lie, for the next `load`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void look_up(int first) {
    for (int i = 0; i < key_loads; ++i)
      key_place_[i] = key_source_.template look_up<key_span>(
          first, of_first_lane(tiles::key_unit_of(thread_ + i * Config.threads()).key));
    for (int i = 0; i < value_loads; ++i)
      value_place_[i] = value_source_.template look_up<value_span>(
          first, of_first_lane(tiles::value_unit_of(thread_ + i * Config.threads()).key));
  }

  /// Starts the loads of the tiles that begin with key `first`, which was looked up. In a cache it
  /// must exist; of an array nothing is loaded behind the last.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(int first) {
    const auto keys = key_source_.from(first, Config.keys);
    for (int i = 0; i < key_loads; ++i) {
      const int key = tiles::key_unit_of(thread_ + i * Config.threads()).key;
      key_[i] =
          keys.load(keys.template block_of<key_span>(key_place_[i], key), key, key_offset_[i]);
    }
    const auto values = value_source_.from(first, Config.keys);
    for (int i = 0; i < value_loads; ++i) {
      const int key = tiles::value_unit_of(thread_ + i * Config.threads()).key;
      const char* const block = values.template block_of<value_span>(value_place_[i], key);
      for (int j = 0; j < 4; ++j)
        value_[i][j] = values.load(block, key + j, value_offset_[i][j]);
    }
  }

  /// Writes what was loaded from key `first` on, V transposed. Rows of V beyond the last become
  /// zeros; those of K may be anything, their scores are hidden.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store(int first, typename tiles::key_tile key,
                                                   typename tiles::value_tile value) {
    for (int i = 0; i < key_loads; ++i)
      if (brings_key(i)) {
        const key_unit unit = tiles::key_unit_of(thread_ + i * Config.threads());
        key.write_vec(unit.key, unit.element, wavetile::detail::bit_cast<vec<T, 8>>(key_[i]));
      }
    const int left = value_source_.rows - first;
    for (int i = 0; i < value_loads; ++i)
      if (brings_value(i)) {
        const value_unit unit = tiles::value_unit_of(thread_ + i * Config.threads());
        chunk16(&rows)[4] = value_[i];
        if (left < Config.keys)
          for (int j = 0; j < 4; ++j)
            if (unit.key + j >= left)
              rows[j] = chunk16{};
        write_transposed<tiles>(value, unit, rows);
      }
  }

private:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static int of_first_lane(int value) {
#if WAVETILE_AMDGCN
    return __builtin_amdgcn_readfirstlane(value);
#else
    return value;
#endif
  }
};

} // namespace wavetile::kernels

#endif
