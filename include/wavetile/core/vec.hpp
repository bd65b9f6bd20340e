/// \file
/// Fixed-size vectors: what one lane moves in one memory access.
#pragma once

#include <wavetile/core/convert.hpp>

namespace wavetile {

namespace detail {

/// Alignment of a vector: the power of two that divides its size, 16 bytes at most.
constexpr size_t vec_alignment(size_t bytes) {
  const size_t lowest_bit = bytes & (~bytes + 1);
  return lowest_bit > 16 ? 16 : lowest_bit;
}

// may_alias: these words stand for elements of any type
typedef uint8_t word1 __attribute__((may_alias));
typedef uint16_t word2 __attribute__((may_alias));
typedef uint32_t word4 __attribute__((may_alias));
#if WAVETILE_CUDA
using word8 = uint2;
using word16 = uint4;
#else
typedef uint32_t word8 __attribute__((vector_size(8), may_alias));
typedef uint32_t word16 __attribute__((vector_size(16), may_alias));
#endif

/// The integer type that one access of `Bytes` bytes moves.
template <int Bytes>
struct word_of;
template <>
struct word_of<1> {
  using type = word1;
};
template <>
struct word_of<2> {
  using type = word2;
};
template <>
struct word_of<4> {
  using type = word4;
};
template <>
struct word_of<8> {
  using type = word8;
};
template <>
struct word_of<16> {
  using type = word16;
};
template <int Bytes>
using word_t = typename word_of<Bytes>::type;

template <int WordBytes, int Count>
struct words {
  word_t<WordBytes> word[Count];
};

} // namespace detail

/// `N` elements of type `T`, aligned so that one access of up to 16 bytes moves it. An aggregate:
/// `vec<float, 4> v{{1, 2, 3, 4}}`; `v[i]` with an index known after unrolling stays in registers.
template <class T, int N>
struct alignas(detail::vec_alignment(sizeof(T) * N)) vec {
  static_assert(N > 0, "a vec has at least one element");
  using element_type = T;
  static constexpr int size = N;

  T data[N];

  WAVETILE_HD constexpr T& operator[](int i) { return data[i]; }
  WAVETILE_HD constexpr const T& operator[](int i) const { return data[i]; }
};

/// All elements equal to `value`.
template <int N, class T>
WAVETILE_HD constexpr vec<T, N> make_vec(T value) {
  vec<T, N> result{};
  for (int i = 0; i < N; ++i)
    result.data[i] = value;
  return result;
}

/// Number of `T` in one 16-byte access.
template <class T>
inline constexpr int vec_width = static_cast<int>(16 / sizeof(T));

namespace detail {

// On a device a vec travels as integers of its alignment: the optimiser splits plain struct copies
// into elements and does not always join them again.
template <class V>
inline constexpr int word_bytes = static_cast<int>(alignof(V));
template <class V>
inline constexpr int word_count = static_cast<int>(sizeof(V) / alignof(V));
template <class V>
using words_of = words<word_bytes<V>, word_count<V>>;

} // namespace detail

/// The `N` elements at `pointer`, which must be aligned to `alignof(vec<T, N>)`. Accesses of up to
/// 16 bytes: `load_vec<8>(const fp16*)` is one global_load_dwordx4.
template <int N, class T>
WAVETILE_HD WAVETILE_FORCE_INLINE vec<detail::remove_cv_t<T>, N> load_vec(const T* pointer) {
  using V = vec<detail::remove_cv_t<T>, N>;
#if WAVETILE_DEVICE_PASS
  const auto* from = reinterpret_cast<const detail::word_t<detail::word_bytes<V>>*>(pointer);
  detail::words_of<V> loaded;
  for (int i = 0; i < detail::word_count<V>; ++i)
    loaded.word[i] = from[i];
  return detail::bit_cast<V>(loaded);
#else
  V value;
  __builtin_memcpy(&value, __builtin_assume_aligned(pointer, alignof(V)), sizeof(V));
  return value;
#endif
}

/// Stores to `pointer`, which must be aligned to `alignof(vec<T, N>)`.
template <class T, int N>
WAVETILE_HD WAVETILE_FORCE_INLINE void store_vec(T* pointer, const vec<T, N>& value) {
  using V = vec<T, N>;
#if WAVETILE_DEVICE_PASS
  auto* to = reinterpret_cast<detail::word_t<detail::word_bytes<V>>*>(pointer);
  const auto stored = detail::bit_cast<detail::words_of<V>>(value);
  for (int i = 0; i < detail::word_count<V>; ++i)
    to[i] = stored.word[i];
#else
  __builtin_memcpy(__builtin_assume_aligned(pointer, alignof(V)), &value, sizeof(V));
#endif
}

/// The `N` elements at `pointer`, aligned to one element only; one access an element.
template <int N, class T>
WAVETILE_HD WAVETILE_FORCE_INLINE vec<detail::remove_cv_t<T>, N>
load_vec_unaligned(const T* pointer) {
  vec<detail::remove_cv_t<T>, N> result;
  for (int i = 0; i < N; ++i)
    result.data[i] = pointer[i];
  return result;
}

/// Stores to `pointer`, aligned to one element only; one access an element.
template <class T, int N>
WAVETILE_HD WAVETILE_FORCE_INLINE void store_vec_unaligned(T* pointer, const vec<T, N>& value) {
  for (int i = 0; i < N; ++i)
    pointer[i] = value.data[i];
}

/// True when `pointer` is a multiple of `alignment` (a power of two).
template <class T>
WAVETILE_HD bool is_aligned(const T* pointer, size_t alignment) {
  return (reinterpret_cast<uintptr_t>(pointer) & (alignment - 1)) == 0;
}

/// Element by element `convert<To>`; pairs share an instruction where the device has one.
template <numeric To, numeric From, int N>
WAVETILE_HD WAVETILE_FORCE_INLINE constexpr vec<To, N> convert(const vec<From, N>& from) {
  vec<To, N> result{};
  if constexpr (detail::is_same_v<From, float> && N % 2 == 0 &&
                detail::is_same_v<storage_t<To>, bf16>) {
    for (int i = 0; i < N; i += 2) {
      const uint32_t pair = pack_bf16(from.data[i], from.data[i + 1]);
      result.data[i] = detail::bit_cast<To>(static_cast<uint16_t>(pair));
      result.data[i + 1] = detail::bit_cast<To>(static_cast<uint16_t>(pair >> 16));
    }
    return result;
  }
#if WAVETILE_PTX
  if constexpr (detail::is_same_v<From, float> && N % 2 == 0 &&
                detail::is_same_v<storage_t<To>, fp16>) {
    if (!__builtin_is_constant_evaluated()) {
      for (int i = 0; i < N; i += 2) {
        uint32_t pair;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(from.data[i + 1]), "f"(from.data[i]));
        result.data[i] = detail::bit_cast<To>(static_cast<uint16_t>(pair));
        result.data[i + 1] = detail::bit_cast<To>(static_cast<uint16_t>(pair >> 16));
      }
      return result;
    }
  }
#endif
#if WAVETILE_DETAIL_FNUZ_INSTRUCTIONS
  using to = storage_t<To>;
  using from_type = storage_t<From>;
  if constexpr (detail::is_same_v<From, float> && N % 4 == 0 &&
                detail::is_any_of_v<to, fp8_e4m3_fnuz, fp8_e5m2_fnuz>) {
    if (!__builtin_is_constant_evaluated()) {
      detail::words<4, N / 4> packed;
      for (int i = 0; i < N / 4; ++i)
        packed.word[i] = detail::encode_fnuz_quad<to::format>(from.data + 4 * i);
      return detail::bit_cast<vec<To, N>>(packed);
    }
  }
  if constexpr (detail::is_same_v<To, float> && N % 4 == 0 &&
                detail::is_any_of_v<from_type, fp8_e4m3_fnuz, fp8_e5m2_fnuz>) {
    if (!__builtin_is_constant_evaluated()) {
      const auto packed = detail::bit_cast<detail::words<4, N / 4>>(from);
      for (int i = 0; i < N / 4; ++i)
        detail::decode_fnuz_quad<from_type::format>(packed.word[i], result.data + 4 * i);
      return result;
    }
  }
#endif
  for (int i = 0; i < N; ++i)
    result.data[i] = convert<To>(from.data[i]);
  return result;
}

} // namespace wavetile
