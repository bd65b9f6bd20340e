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
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE int page_of(int) const {
    return 0;
  } // there are none
  /// The chunk `offset` bytes from the start; a key and an element say the same.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE chunk16 load(int, int, int, int offset) const {
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
  static constexpr bool any_offset = true; ///< of a load: beyond the window it reads zeros
  const char* data;                        ///< of the first row
  int64_t row_bytes;                       ///< from one row to the next
  int rows;
  int width_bytes; ///< of a row

  /// At most `count` rows from `first` on. Steps between rows are limited so that they fit.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_window from(int first, int count) const {
    const int left = rows - first < count ? rows - first : count;
    return {data + first * row_bytes, (left - 1) * static_cast<int>(row_bytes) + width_bytes};
  }
};

/// One array, K or V, of one head in a cache, with or without pages. A page holds 2^`page_shift` >=
/// 16 rows of every head; `pages` lists those of a sequence in order. Numbers of pages that do not
/// exist are clamped.
struct page_source {
  static constexpr bool any_offset = false;
  const char* data;     ///< of the head's first row in page 0
  const int32_t* pages; ///< of the sequence; null: the rows follow each other
  int64_t page_bytes;   ///< from one page to the next
  int row_bytes;        ///< from one row to the next
  int rows;
  int page_shift;
  int last_page;
  static constexpr int groups = 4; ///< of 16 rows in a step, at most

  /// The pages of a step: looked up once for the whole wave, by scalar loads.
  struct window {
    const page_source& source;
    int first;
    int page[groups];

    /// The page of a key of the step.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE int page_of(int key) const {
#if WAVETILE_AMDGCN
      asm volatile("" : "+v"(key)); // or a loop keeps the comparisons in scalar registers
#endif
      int own = page[0];
#pragma unroll
      for (int i = 1; i < groups; ++i)
        own = key >= 16 * i ? page[i] : own;
      return own;
    }
    /// The chunk at an element of a key, zeros beyond the last row.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE chunk16 load(int own, int key, int element, int) const {
      const int row = first + key;
      chunk16 result{};
      if (row < source.rows)
        __builtin_memcpy(&result,
                         source.data + own * source.page_bytes +
                             (row & static_cast<int>((1u << source.page_shift) - 1)) *
                                 source.row_bytes +
                             2 * element,
                         sizeof result); // 16 bytes at element alignment
      return result;
    }
  };

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE window from(int first, int count) const {
    window result{*this, first, {}};
#pragma unroll
    for (int i = 0; i < groups; ++i) {
      const int row = first + 16 * i;
      const bool inside = pages != nullptr && 16 * i < count && row < rows;
      if (inside) {
        const int page = pages[row >> page_shift];
        result.page[i] = page < 0 ? 0 : page < last_page ? page : last_page;
      }
    }
    return result;
  }
};

/// Brings the tiles of a step: loads to registers, later from there to LDS.
template <class T, attention_config Config, class Source = row_source>
class tile_loader {
  using tiles = attention_tiles<T, Config>;
  static constexpr int key_loads = tiles::keys_per_thread;
  static constexpr bool all_bring_keys = tiles::key_units % Config.threads() == 0;

  /// Beyond every window: a thread without a unit loads too, because a branch around a load would
  /// have to wait for it.
  static constexpr int nowhere = 0x7FFFFFF0;

  Source key_source_, value_source_;
  int thread_;
  int key_offset_[key_loads];
  int value_offset_[4];
  chunk16 key_[key_loads];
  chunk16 value_[4];

  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool brings_key(int i) const {
    return all_bring_keys || thread_ + i * Config.threads() < tiles::key_units;
  }
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool brings_value() const {
    return thread_ < tiles::value_units && tiles::value_unit_of(thread_).element < Config.head.v;
  }

public:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE tile_loader(const Source& key, const Source& value,
                                                    int thread)
      : key_source_(key), value_source_(value), thread_(thread) {
    for (int i = 0; i < key_loads; ++i) {
      const key_unit unit = tiles::key_unit_of(thread + i * Config.threads());
      key_offset_[i] =
          brings_key(i) ? unit.key * static_cast<int>(key.row_bytes) + 2 * unit.element : nowhere;
    }
    const value_unit unit = tiles::value_unit_of(thread);
    for (int i = 0; i < 4; ++i)
      value_offset_[i] = brings_value()
                             ? (unit.key + i) * static_cast<int>(value.row_bytes) + 2 * unit.element
                             : nowhere;
  }

  /// Starts the loads of the tiles that begin with key `first`, one that exists; what lies beyond
  /// the last is zero.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(int first) {
    const auto key = key_source_.from(first, Config.keys);
    for (int i = 0; i < key_loads; ++i)
      if (Source::any_offset || brings_key(i)) {
        const key_unit unit = tiles::key_unit_of(thread_ + i * Config.threads());
        key_[i] = key.load(key.page_of(unit.key), unit.key, unit.element, key_offset_[i]);
      }
    const auto value = value_source_.from(first, Config.keys);
    if (Source::any_offset || brings_value()) {
      const value_unit unit = tiles::value_unit_of(thread_);
      const int page = value.page_of(unit.key);
      for (int i = 0; i < 4; ++i)
        value_[i] = value.load(page, unit.key + i, unit.element, value_offset_[i]);
    }
  }

  /// Writes what was loaded, V transposed.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void store(typename tiles::key_tile key,
                                                   typename tiles::value_tile value) const {
    for (int i = 0; i < key_loads; ++i)
      if (brings_key(i)) {
        const key_unit unit = tiles::key_unit_of(thread_ + i * Config.threads());
        key.write_vec(unit.key, unit.element, wavetile::detail::bit_cast<vec<T, 8>>(key_[i]));
      }
    if (brings_value()) {
      const value_unit unit = tiles::value_unit_of(thread_);
      for (int e = 0; e < 8; ++e) {
        // halves e of four rows, two to a dword
        const uint32_t half = e % 2 == 0 ? 0x05040100u : 0x07060302u;
        const vec<uint32_t, 2> four{{permute(value_[1][e / 2], value_[0][e / 2], half),
                                     permute(value_[3][e / 2], value_[2][e / 2], half)}};
        value.write_vec(unit.element + e, unit.key, wavetile::detail::bit_cast<vec<T, 4>>(four));
      }
    }
  }

private:
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE static uint32_t permute(uint32_t high, uint32_t low,
                                                                uint32_t bytes) {
#if WAVETILE_AMDGCN
    return __builtin_amdgcn_perm(high, low, bytes);
#else
    return high ^ low ^ bytes;
#endif
  }
};

} // namespace wavetile::kernels

#endif
