/// \file
/// What a reduction or scan does with two values.
///
/// A functor of one's own needs only `T operator()(T a, T b) const` and to be associative;
/// it need not be commutative: lower lanes are always the left operand, and it sees no value but
/// those that lanes passed in and its own results.
#pragma once

#include <wavetile/core/convert.hpp>
#include <wavetile/core/math.hpp>

namespace wavetile {

/// A value and where it stands: what argmin and argmax reduce.
template <class T, class Index = int32_t>
struct indexed {
  T value;
  Index index;
};

namespace op {

/// a + b. Integers wrap; formats below fp32 are added in fp32 and rounded to nearest even at each
/// step, so convert to fp32 first where that matters.
struct plus {
  template <class T>
  WAVETILE_HD constexpr T operator()(T a, T b) const;
};

/// a * b, as `plus`.
struct multiply {
  template <class T>
  WAVETILE_HD constexpr T operator()(T a, T b) const;
};

/// The smaller of two; NaN if one of them is NaN.
struct minimum {
  template <class T>
  WAVETILE_HD constexpr T operator()(T a, T b) const;
};

/// The larger of two; NaN if one of them is NaN.
struct maximum {
  template <class T>
  WAVETILE_HD constexpr T operator()(T a, T b) const;
};

/// Of two `indexed` the one with the smaller value; of equal values (and +0 equals -0) the one with
/// the lower index; a NaN before every number, and of two NaNs the one with the lower index.
struct arg_minimum {
  template <class T, class Index>
  WAVETILE_HD constexpr indexed<T, Index> operator()(indexed<T, Index> a,
                                                     indexed<T, Index> b) const;
};

/// Of two `indexed` the one with the larger value; ties and NaNs as `arg_minimum`.
struct arg_maximum {
  template <class T, class Index>
  WAVETILE_HD constexpr indexed<T, Index> operator()(indexed<T, Index> a,
                                                     indexed<T, Index> b) const;
};

} // namespace op

namespace detail {

template <class T>
inline constexpr bool is_small_float_v = [] {
  if constexpr (numeric<T>)
    return numeric_traits<T>::is_float && sizeof(T) <= 2;
  else
    return false;
}();

/// The unsigned type in which a signed one wraps without undefined behaviour.
template <class T>
using wrapping_t = conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// A number that orders like `value` and is not a small float.
template <class T>
WAVETILE_HD constexpr auto comparable(T value) {
  if constexpr (is_small_float_v<T>)
    return convert<float>(value);
  else
    return value;
}

template <class T>
WAVETILE_HD constexpr bool is_nan_value(T value) {
  if constexpr (is_any_of_v<T, float, double>)
    return is_nan(value);
  else
    return false;
}

/// Whether `a` comes before `b` when the one with the larger (else the smaller) value is sought.
template <bool Larger, class T, class Index>
WAVETILE_HD constexpr bool precedes(const indexed<T, Index>& a, const indexed<T, Index>& b) {
  const auto x = comparable(a.value);
  const auto y = comparable(b.value);
  const bool x_nan = is_nan_value(x);
  const bool y_nan = is_nan_value(y);
  if (x_nan || y_nan)
    return x_nan && (!y_nan || a.index < b.index);
  if (x == y)
    return a.index < b.index;
  return Larger ? y < x : x < y;
}

} // namespace detail

template <class T>
WAVETILE_HD constexpr T op::plus::operator()(T a, T b) const {
  if constexpr (detail::is_small_float_v<T>)
    return convert<T>(convert<float>(a) + convert<float>(b));
  else if constexpr (detail::is_integer_v<T>)
    return static_cast<T>(static_cast<detail::wrapping_t<T>>(a) +
                          static_cast<detail::wrapping_t<T>>(b));
  else
    return a + b;
}

template <class T>
WAVETILE_HD constexpr T op::multiply::operator()(T a, T b) const {
  if constexpr (detail::is_small_float_v<T>)
    return convert<T>(convert<float>(a) * convert<float>(b));
  else if constexpr (detail::is_integer_v<T>)
    return static_cast<T>(static_cast<detail::wrapping_t<T>>(a) *
                          static_cast<detail::wrapping_t<T>>(b));
  else
    return a * b;
}

template <class T>
WAVETILE_HD constexpr T op::minimum::operator()(T a, T b) const {
  if constexpr (detail::is_small_float_v<T>)
    return convert<T>(wavetile::minimum(convert<float>(a), convert<float>(b)));
  else
    return wavetile::minimum(a, b);
}

template <class T>
WAVETILE_HD constexpr T op::maximum::operator()(T a, T b) const {
  if constexpr (detail::is_small_float_v<T>)
    return convert<T>(wavetile::maximum(convert<float>(a), convert<float>(b)));
  else
    return wavetile::maximum(a, b);
}

template <class T, class Index>
WAVETILE_HD constexpr indexed<T, Index> op::arg_minimum::operator()(indexed<T, Index> a,
                                                                    indexed<T, Index> b) const {
  return detail::precedes<false>(b, a) ? b : a;
}

template <class T, class Index>
WAVETILE_HD constexpr indexed<T, Index> op::arg_maximum::operator()(indexed<T, Index> a,
                                                                    indexed<T, Index> b) const {
  return detail::precedes<true>(b, a) ? b : a;
}

} // namespace wavetile
