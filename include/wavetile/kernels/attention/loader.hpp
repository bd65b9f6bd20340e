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
  /// Where the rows around a key lie: all in one window.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE const char* block_of(int) const {
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
  template <int Keys>
  struct places {};
  template <int Keys>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE places<Keys> look_up(int) const {
    return {};
  }
  /// At most `Keys` rows from `first` on. Steps between rows are limited so that they fit.
  template <int Keys>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE row_window from(int first, const places<Keys>&) const {
    const int left = rows - first < Keys ? rows - first : Keys;
    return {data + first * row_bytes, (left - 1) * static_cast<int>(row_bytes) + width_bytes};
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

  /// What the list says about the blocks of a step.
  template <int Keys>
  struct places {
    int page[Keys / block_rows];
  };
  /// Starts the scalar loads for a step; also behind the last key.
  template <int Keys>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE places<Keys> look_up(int first) const {
    places<Keys> result;
#pragma unroll
    for (int i = 0; i < Keys / block_rows; ++i)
      result.page[i] = pages[block_start(first, i) >> page_shift];
    return result;
  }

  /// The rows of a step.
  template <int Blocks>
  struct window {
    const char* block[Blocks]; ///< uniform
    int left;                  ///< rows from the step's first on

    /// The block of a key of the step.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE const char* block_of(int key) const {
#if WAVETILE_AMDGCN
      asm volatile("" : "+v"(key)); // or a loop keeps the comparisons in scalar registers
#endif
      const char* own = block[0];
#pragma unroll
      for (int i = 1; i < Blocks; ++i)
        own = key >= block_rows * i ? block[i] : own;
      return own;
    }
    /// The chunk `offset` bytes from the start of a key's block; of keys beyond the last anything.
    WAVETILE_DEVICE WAVETILE_FORCE_INLINE chunk16 load(const char* own, int key, int offset) const {
      chunk16 result;
      __builtin_memcpy(&result, own + (key < left ? offset : 0),
                       sizeof result); // 16 bytes at element alignment
      return result;
    }
  };
  template <int Keys>
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE window<Keys / block_rows>
  from(int first, const places<Keys>& where) const {
    window<Keys / block_rows> result;
    result.left = rows - first;
#pragma unroll
    for (int i = 0; i < Keys / block_rows; ++i) {
      const int listed = where.page[i];
      const int64_t page = listed < 0 ? 0 : listed < last_page ? listed : last_page;
      const int row = block_start(first, i) & static_cast<int>((1u << page_shift) - 1);
      result.block[i] = data + page * page_bytes + int64_t{row} * row_bytes;
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

  using places = typename Source::template places<Config.keys>;

  Source key_source_, value_source_;
  places where_; ///< of the step that is loaded next
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
      key_offset_[i] = brings_key(i) ? key.offset_of(unit.key, unit.element) : Source::nowhere;
    }
    const value_unit unit = tiles::value_unit_of(thread);
    for (int i = 0; i < 4; ++i)
      value_offset_[i] =
          brings_value() ? value.offset_of(unit.key + i, unit.element) : Source::nowhere;
  }

  /// Finds out where the keys from `first` on lie, for the next `load`.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void look_up(int first) {
    where_ = key_source_.template look_up<Config.keys>(first);
  }

  /// Starts the loads of the tiles that begin with key `first`, one that exists and was looked up.
  WAVETILE_DEVICE WAVETILE_FORCE_INLINE void load(int first) {
    const auto key = key_source_.from(first, where_);
    for (int i = 0; i < key_loads; ++i) {
      const key_unit unit = tiles::key_unit_of(thread_ + i * Config.threads());
      key_[i] = key.load(key.block_of(unit.key), unit.key, key_offset_[i]);
    }
    const auto value = value_source_.from(first, where_);
    const value_unit unit = tiles::value_unit_of(thread_);
    const char* const block = value.block_of(unit.key);
    for (int i = 0; i < 4; ++i)
      value_[i] = value.load(block, unit.key + i, value_offset_[i]);
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
    if (brings_value()) {
      const value_unit unit = tiles::value_unit_of(thread_);
      if (const int left = value_source_.rows - first; left < Config.keys)
        for (int i = 0; i < 4; ++i)
          if (unit.key + i >= left)
            value_[i] = chunk16{};
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
