/// \file
/// The few type traits the device layers use, without a standard header (hipRTC has none).
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile::detail {

template <class A, class B>
inline constexpr bool is_same_v = false;
template <class A>
inline constexpr bool is_same_v<A, A> = true;

template <class T, class... Us>
inline constexpr bool is_any_of_v = (is_same_v<T, Us> || ...);

template <class T>
struct remove_cv {
  using type = T;
};
template <class T>
struct remove_cv<const T> {
  using type = T;
};
template <class T>
struct remove_cv<volatile T> {
  using type = T;
};
template <class T>
struct remove_cv<const volatile T> {
  using type = T;
};
template <class T>
using remove_cv_t = typename remove_cv<T>::type;

template <class T>
inline constexpr bool is_const_v = false;
template <class T>
inline constexpr bool is_const_v<const T> = true;

template <class T>
struct remove_reference {
  using type = T;
};
template <class T>
struct remove_reference<T&> {
  using type = T;
};
template <class T>
struct remove_reference<T&&> {
  using type = T;
};
template <class T>
using remove_reference_t = typename remove_reference<T>::type;
template <class T>
using remove_cvref_t = remove_cv_t<remove_reference_t<T>>;

template <bool Condition, class Then, class Else>
struct conditional {
  using type = Then;
};
template <class Then, class Else>
struct conditional<false, Then, Else> {
  using type = Else;
};
template <bool Condition, class Then, class Else>
using conditional_t = typename conditional<Condition, Then, Else>::type;

/// Stops deduction of a function parameter from its argument.
template <class T>
struct type_identity {
  using type = T;
};
template <class T>
using type_identity_t = typename type_identity<T>::type;

template <class T>
inline constexpr bool is_trivially_copyable_v = __is_trivially_copyable(T);

template <class T>
inline constexpr bool is_integer_v = is_any_of_v<remove_cv_t<T>, int8_t, int16_t, int32_t, int64_t,
                                                 uint8_t, uint16_t, uint32_t, uint64_t>;

/// For static_assert in branches that must not be instantiated.
template <class...>
inline constexpr bool always_false_v = false;

} // namespace wavetile::detail
