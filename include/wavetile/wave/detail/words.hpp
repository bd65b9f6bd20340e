/// \file
/// Values of any type as dwords, which is what crosses lanes.
#pragma once

#include <wavetile/arch/device_target.hpp>
#include <wavetile/core/bits.hpp>
#include <wavetile/core/type_traits.hpp>

#if WAVETILE_GPU

namespace wavetile::detail {

/// Stops compilation for a group of lanes that is not a power of two within a wave.
template <int Width>
WAVETILE_HD constexpr void check_width() {
  static_assert(Width >= 1 && Width <= wave_size && (Width & (Width - 1)) == 0,
                "a group of lanes is a power of two, at most the wave size");
}

template <int Count>
struct dwords {
  static constexpr int count = Count;
  uint32_t word[Count];
};

template <int Count>
struct raw_bytes {
  uint8_t byte[Count];
};

template <class T>
inline constexpr int dword_count = static_cast<int>((sizeof(T) + 3) / 4);

/// The bytes of a value, padded with zeros to whole dwords.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE dwords<dword_count<T>> to_words(const T& value) {
  static_assert(is_trivially_copyable_v<T>, "only trivially copyable types can cross lanes");
  using words = dwords<dword_count<T>>;
  if constexpr (sizeof(T) % 4 == 0) {
    return __builtin_bit_cast(words, value);
  } else if constexpr (sizeof(T) == 2) {
    return {{__builtin_bit_cast(uint16_t, value)}};
  } else if constexpr (sizeof(T) == 1) {
    return {{__builtin_bit_cast(uint8_t, value)}};
  } else {
    const auto bytes = __builtin_bit_cast(raw_bytes<sizeof(T)>, value);
    words result{};
    for (unsigned i = 0; i < sizeof(T); ++i)
      result.word[i / 4] |= static_cast<uint32_t>(bytes.byte[i]) << (i % 4 * 8);
    return result;
  }
}

/// The value whose bytes these are.
template <class T>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T from_words(const dwords<dword_count<T>>& words) {
  if constexpr (sizeof(T) % 4 == 0) {
    return __builtin_bit_cast(T, words);
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, static_cast<uint16_t>(words.word[0]));
  } else if constexpr (sizeof(T) == 1) {
    return __builtin_bit_cast(T, static_cast<uint8_t>(words.word[0]));
  } else {
    raw_bytes<sizeof(T)> bytes;
    for (unsigned i = 0; i < sizeof(T); ++i)
      bytes.byte[i] = static_cast<uint8_t>(words.word[i / 4] >> (i % 4 * 8));
    return __builtin_bit_cast(T, bytes);
  }
}

/// `move(dword) -> dword` on every dword of a value.
template <class T, class Move>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T map_words(const T& value, Move move) {
  auto words = to_words(value);
  for (int i = 0; i < words.count; ++i)
    words.word[i] = move(words.word[i]);
  return from_words<T>(words);
}

/// `move(dword of a, dword of b) -> dword` on every dword of two values.
template <class T, class Move>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE T map_words(const T& a, const T& b, Move move) {
  auto words = to_words(a);
  const auto other = to_words(b);
  for (int i = 0; i < words.count; ++i)
    words.word[i] = move(words.word[i], other.word[i]);
  return from_words<T>(words);
}

} // namespace wavetile::detail

#endif
