/// \file
/// A tile of typed elements in LDS.
#pragma once

#include <wavetile/core/vec.hpp>
#include <wavetile/lds/layout.hpp>

namespace wavetile {

/// LDS that one workgroup can have on gfx942; larger tiles are refused unless told otherwise.
inline constexpr int default_lds_limit = 65536;

namespace detail {

#if WAVETILE_AMDGCN
// Words in LDS by width. The explicit address space makes every access a ds_ instruction, also at
// -O0; a generic pointer would become flat_ wherever its origin is lost.
template <int Bytes>
using lds_word = __attribute__((address_space(3))) word_t<Bytes>;

template <int Bytes>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE lds_word<Bytes>* lds_words(unsigned char* base, int offset) {
  using byte = __attribute__((address_space(3))) unsigned char;
  return (lds_word<Bytes>*)((byte*)base + offset);
}
#endif

} // namespace detail

/// A `Where.rows` x `Where.columns` tile of `T` in LDS, laid out by `Where`. It is a pointer: the
/// caller places the storage and may alias it with that of tiles whose lifetimes do not overlap
/// (a barrier between). Reads and writes of any lane in any order; synchronising them is the
/// caller's business.
///
///     WAVETILE_SHARED tile_a::storage memory;
///     tile_a a(memory);
///     a.write_vec(row, column, load_vec<8>(p));   // ds_write_b128 for 2-byte T
///     group::barrier();
///     auto fragment = a.read_vec<8>(lane % 16, lane / 16 * 8);  // ds_read_b128
///
/// One element is one ds_read or ds_write of its size. A vec of 2, 4, 8 or 16 bytes is one
/// instruction of that width, 32 bytes are two of 16; its address must be a multiple of its
/// alignment and it must lie in one chunk of a swizzled layout, which `bank_conflicts(...).legal`
/// proves. The compiler may join two b32 or b64 accesses of a lane into a read2 or write2
/// instruction, whose clocks are the sum.
template <class T, layout Where, int MaxBytes = default_lds_limit>
class tile {
  static_assert(Where.valid(), "wavetile::tile: the layout does not map elements one-to-one");
  static_assert(Where.element_bytes == sizeof(T),
                "wavetile::tile: the layout was made for elements of another size");
  static_assert(MaxBytes != 65536 || Where.bytes() <= 65536,
                "wavetile::tile: the tile is larger than the 65536 bytes of LDS that a workgroup "
                "can have on gfx942");
  static_assert(Where.bytes() <= MaxBytes,
                "wavetile::tile: the tile is larger than its limit MaxBytes");

public:
  using element_type = T;
  static constexpr layout where = Where;
  static constexpr int rows = Where.rows;
  static constexpr int columns = Where.columns;

  /// LDS of one tile; declare it WAVETILE_SHARED, or place it in a union or struct that is.
  struct alignas(16) storage {
    unsigned char bytes[Where.bytes()];
  };

  tile() = default;
  WAVETILE_HD explicit tile(storage& memory) : base_(memory.bytes) {}
  /// From any LDS pointer to `sizeof(storage)` bytes, aligned to 16.
  WAVETILE_HD explicit tile(void* memory) : base_(static_cast<unsigned char*>(memory)) {}

  /// Byte offset of an element in the storage.
  WAVETILE_HD static constexpr int offset(int row, int column) { return Where.offset(row, column); }

  WAVETILE_HD WAVETILE_FORCE_INLINE T read(int row, int column) const {
    return read_vec<1>(row, column)[0];
  }
  WAVETILE_HD WAVETILE_FORCE_INLINE void write(int row, int column, T value) const {
    write_vec(row, column, vec<T, 1>{{value}});
  }

  /// `N` elements of one row.
  template <int N>
  WAVETILE_HD WAVETILE_FORCE_INLINE vec<T, N> read_vec(int row, int column) const {
    return read_at<N>(Where.offset(row, column));
  }
  template <int N>
  WAVETILE_HD WAVETILE_FORCE_INLINE void write_vec(int row, int column,
                                                   const vec<T, N>& value) const {
    write_at(Where.offset(row, column), value);
  }

  /// The same by byte offset, for addresses computed once and stepped.
  template <int N>
  WAVETILE_HD WAVETILE_FORCE_INLINE vec<T, N> read_at(int byte_offset) const {
    using V = vec<T, N>;
#if WAVETILE_AMDGCN
    const auto* from = detail::lds_words<detail::word_bytes<V>>(base_, byte_offset);
    detail::words_of<V> loaded;
    for (int i = 0; i < detail::word_count<V>; ++i)
      loaded.word[i] = from[i];
    return detail::bit_cast<V>(loaded);
#elif WAVETILE_PTX
    return load_vec<N>(reinterpret_cast<const T*>(base_ + byte_offset));
#else
    V value;
    __builtin_memcpy(&value, __builtin_assume_aligned(base_ + byte_offset, alignof(V)), sizeof(V));
    return value;
#endif
  }
  template <int N>
  WAVETILE_HD WAVETILE_FORCE_INLINE void write_at(int byte_offset, const vec<T, N>& value) const {
    using V = vec<T, N>;
#if WAVETILE_AMDGCN
    auto* to = detail::lds_words<detail::word_bytes<V>>(base_, byte_offset);
    const auto stored = detail::bit_cast<detail::words_of<V>>(value);
    for (int i = 0; i < detail::word_count<V>; ++i)
      to[i] = stored.word[i];
#elif WAVETILE_PTX
    store_vec(reinterpret_cast<T*>(base_ + byte_offset), value);
#else
    __builtin_memcpy(__builtin_assume_aligned(base_ + byte_offset, alignof(V)), &value, sizeof(V));
#endif
  }

  /// The storage, as bytes.
  WAVETILE_HD unsigned char* data() const {
    return base_;
  }

private:
  unsigned char* base_;
};

/// The LDS of a kernel that holds several tiles: `Members` is a struct of their storages (stages as
/// arrays, aliases as unions). Checks the sum; declare one `WAVETILE_SHARED lds_storage<Members>`.
template <class Members, int MaxBytes = default_lds_limit>
struct alignas(16) lds_storage : Members {
  static_assert(MaxBytes != 65536 || sizeof(Members) <= 65536,
                "wavetile::lds_storage: the members need more than the 65536 bytes of LDS that a "
                "workgroup can have on gfx942");
  static_assert(sizeof(Members) <= static_cast<size_t>(MaxBytes),
                "wavetile::lds_storage: the members need more than MaxBytes");
};

} // namespace wavetile
