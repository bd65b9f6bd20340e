/// \file
/// The form in which a value crosses lanes during a reduction or scan.
///
/// A DPP move folds into the operation that follows only where that is one plain instruction. The
/// maximum of two floats is not: NaNs must win, and the compiler quiets signalling ones first. So
/// floats of up to 32 bits are reduced as 32-bit integers that order like them, with every NaN at
/// the winning end: v_max_i32 with DPP, one instruction a step. Eight instructions before and after
/// instead of three a step.
#pragma once

#include <wavetile/wave/detail/dpp.hpp>
#include <wavetile/wave/operations.hpp>

#if WAVETILE_GPU

namespace wavetile::detail {

/// One v_cmp, or the test on bits where the compiler would fold that away.
WAVETILE_DEVICE WAVETILE_FORCE_INLINE bool is_nan_lane(float value) {
#if WAVETILE_FINITE_MATH
  return is_nan(value);
#else
  return unordered(value, value);
#endif
}

/// Order-preserving integer of a float; `NanBits` replaces every NaN.
template <uint32_t NanBits>
WAVETILE_DEVICE WAVETILE_FORCE_INLINE int32_t order_key(float value) {
  const int32_t word = static_cast<int32_t>(is_nan_lane(value) ? NanBits : float_bits(value));
  return word ^ ((word >> 31) & 0x7FFFFFFF);
}

WAVETILE_DEVICE WAVETILE_FORCE_INLINE float from_order_key(int32_t key) {
  return float_from_bits(static_cast<uint32_t>(key ^ ((key >> 31) & 0x7FFFFFFF)));
}

inline constexpr uint32_t highest_nan = 0x7FC00000u; ///< its key is above that of +inf
inline constexpr uint32_t lowest_nan = 0xFFC00000u;  ///< its key is below that of -inf

// What happens to two carriers. `total`: defined for any bits; `exchangeable`: swapped operands
// give the same bits (but for the payload of a NaN); `identity`: for integers, where the compiler
// can fold a move that leaves it in lanes without a source.
struct add_words {
  static constexpr bool total = true, exchangeable = true, has_identity = true;
  static constexpr uint32_t identity = 0;
  WAVETILE_DEVICE uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct multiply_words {
  static constexpr bool total = true, exchangeable = true, has_identity = true;
  static constexpr uint32_t identity = 1;
  WAVETILE_DEVICE uint32_t operator()(uint32_t a, uint32_t b) const { return a * b; }
};
template <class Word>
struct lower_word {
  static constexpr bool total = true, exchangeable = true, has_identity = true;
  static constexpr Word identity = numeric_traits<Word>::highest();
  WAVETILE_DEVICE Word operator()(Word a, Word b) const { return a < b ? a : b; }
};
template <class Word>
struct higher_word {
  static constexpr bool total = true, exchangeable = true, has_identity = true;
  static constexpr Word identity = numeric_traits<Word>::lowest();
  WAVETILE_DEVICE Word operator()(Word a, Word b) const { return a < b ? b : a; }
};

template <class T>
inline constexpr bool is_word_integer_v = [] {
  if constexpr (is_integer_v<T>)
    return sizeof(T) <= 4;
  else
    return false;
}();

/// The dword that orders like an integer of up to 32 bits.
template <class T>
using order_word_t = conditional_t<(static_cast<T>(-1) < static_cast<T>(0)), int32_t, uint32_t>;

/// The lower index among the larger (else the smaller) keys.
template <bool Larger, class Key, class Index>
struct pick_indexed {
  static constexpr bool total = true, exchangeable = true, has_identity = false;
  using value = indexed<Key, Index>;
  using key_word = order_word_t<Key>;
  using index_word = order_word_t<Index>;
  using on_keys = conditional_t<Larger, higher_word<key_word>, lower_word<key_word>>;
  using on_indices = lower_word<index_word>;
  WAVETILE_DEVICE value operator()(const value& a, const value& b) const {
    const bool second = Larger ? a.value < b.value : b.value < a.value;
    return second || (a.value == b.value && b.index < a.index) ? b : a;
  }
};

/// Where key and index are dwords at most, all lanes can first agree on the key and then on the
/// lowest index among its holders: two instructions a step, where the pair as one value takes six.
template <class Operation>
inline constexpr bool in_two_rounds_v = false;
template <bool Larger, class Key, class Index>
inline constexpr bool in_two_rounds_v<pick_indexed<Larger, Key, Index>> =
    is_word_integer_v<Key>&& is_word_integer_v<Index>;

/// A functor the library knows nothing about.
template <class T, class Op>
struct opaque_operation {
  static constexpr bool total = false, exchangeable = false, has_identity = false;
  Op op;
  WAVETILE_DEVICE T operator()(const T& a, const T& b) const { return op(a, b); }
};

/// One of the library's own functors on values that need no other form. The minimum or maximum of
/// +0 and -0 may be the first operand, so these two are not exchangeable.
template <class T, class Op, bool Exchangeable>
struct plain_operation {
  static constexpr bool total = true, exchangeable = Exchangeable, has_identity = false;
  WAVETILE_DEVICE T operator()(const T& a, const T& b) const { return Op{}(a, b); }
};

/// Form of a value of type T during a reduction by Op: `type`, `operation`, and both conversions.
template <class T, class Op>
struct carrier {
  using type = T;
  using operation = opaque_operation<T, Op>;
  WAVETILE_DEVICE static operation make(Op op) { return {op}; }
  WAVETILE_DEVICE static T encode(const T& value) { return value; }
  WAVETILE_DEVICE static T decode(const T& value) { return value; }
};

template <class T, class Operation>
struct plain_carrier {
  using type = T;
  using operation = Operation;
  template <class Op>
  WAVETILE_DEVICE static operation make(Op) {
    return {};
  }
  WAVETILE_DEVICE static T encode(const T& value) { return value; }
  WAVETILE_DEVICE static T decode(const T& value) { return value; }
};

/// Integers of up to 32 bits as one dword.
template <class T, class Word, class Operation>
struct word_carrier {
  using type = Word;
  using operation = Operation;
  template <class Op>
  WAVETILE_DEVICE static operation make(Op) {
    return {};
  }
  WAVETILE_DEVICE static Word encode(T value) { return static_cast<Word>(value); }
  WAVETILE_DEVICE static T decode(Word word) { return static_cast<T>(word); }
};

template <class T, uint32_t NanBits, class Operation>
struct float_key_carrier {
  using type = int32_t;
  using operation = Operation;
  template <class Op>
  WAVETILE_DEVICE static operation make(Op) {
    return {};
  }
  WAVETILE_DEVICE static int32_t encode(T value) {
    return order_key<NanBits>(convert<float>(value));
  }
  WAVETILE_DEVICE static T decode(int32_t key) { return convert<T>(from_order_key(key)); }
};

template <class T>
inline constexpr bool is_word_float_v = is_same_v<T, float> || is_small_float_v<T>;

template <class T>
requires is_word_integer_v<T>
struct carrier<T, op::plus> : word_carrier<T, uint32_t, add_words> {
};
template <class T>
requires is_word_integer_v<T>
struct carrier<T, op::multiply> : word_carrier<T, uint32_t, multiply_words> {
};
template <class T>
requires is_word_integer_v<T>
struct carrier<T, op::minimum> : word_carrier<T, order_word_t<T>, lower_word<order_word_t<T>>> {
};
template <class T>
requires is_word_integer_v<T>
struct carrier<T, op::maximum> : word_carrier<T, order_word_t<T>, higher_word<order_word_t<T>>> {
};

template <class T>
requires is_word_float_v<T>
struct carrier<T, op::minimum> : float_key_carrier<T, lowest_nan, lower_word<int32_t>> {
};
template <class T>
requires is_word_float_v<T>
struct carrier<T, op::maximum> : float_key_carrier<T, highest_nan, higher_word<int32_t>> {
};

template <class T>
requires(numeric<T> && !is_word_integer_v<T>) struct carrier<T, op::plus>
    : plain_carrier<T, plain_operation<T, op::plus, true>> {
};
template <class T>
requires(numeric<T> && !is_word_integer_v<T>) struct carrier<T, op::multiply>
    : plain_carrier<T, plain_operation<T, op::multiply, true>> {
};
template <class T>
requires(numeric<T> && sizeof(T) == 8) struct carrier<T, op::minimum>
    : plain_carrier<T, plain_operation<T, op::minimum, is_integer_v<T>>> {
};
template <class T>
requires(numeric<T> && sizeof(T) == 8) struct carrier<T, op::maximum>
    : plain_carrier<T, plain_operation<T, op::maximum, is_integer_v<T>>> {
};

/// argmin and argmax: the value as an ordered word where it has at most 32 bits (-0 becomes +0 and
/// NaNs become one NaN, as they count as equal), else as it is.
template <class T, class Index, bool Larger>
struct indexed_carrier {
  static constexpr bool by_key = is_word_float_v<T>;
  using key = conditional_t<by_key, int32_t, T>;
  using type = indexed<key, Index>;
  using operation = conditional_t<
      by_key || is_integer_v<T>, pick_indexed<Larger, key, Index>,
      plain_operation<type, conditional_t<Larger, op::arg_maximum, op::arg_minimum>, true>>;
  template <class Op>
  WAVETILE_DEVICE static operation make(Op) {
    return {};
  }
  WAVETILE_DEVICE static type encode(const indexed<T, Index>& from) {
    if constexpr (by_key) {
      const int32_t ordered =
          order_key < Larger ? highest_nan : lowest_nan > (convert<float>(from.value));
      return {ordered == -1 ? 0 : ordered, from.index}; // -1 is the key of -0
    } else {
      return from;
    }
  }
  WAVETILE_DEVICE static indexed<T, Index> decode(const type& from) {
    if constexpr (by_key)
      return {convert<T>(from_order_key(from.value)), from.index};
    else
      return from;
  }
};
template <class T, class Index>
requires numeric<T>
struct carrier<indexed<T, Index>, op::arg_minimum> : indexed_carrier<T, Index, false> {
};
template <class T, class Index>
requires numeric<T>
struct carrier<indexed<T, Index>, op::arg_maximum> : indexed_carrier<T, Index, true> {
};

} // namespace wavetile::detail

#endif
