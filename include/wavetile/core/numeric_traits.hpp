/// \file
/// What the library knows about each element type.
#pragma once

#include <wavetile/core/bf16.hpp>
#include <wavetile/core/data_type.hpp>
#include <wavetile/core/fp16.hpp>
#include <wavetile/core/fp8.hpp>
#include <wavetile/core/type_traits.hpp>

namespace wavetile {

/// Properties of an element type. Every specialisation has
/// - `storage`: the library's own type with these bits (`fp16` for `__half`, `T` for our own);
/// - `accumulator`: the type arithmetic is done in (fp64 for fp64, fp32 for every smaller float,
///   int32 for integers up to 32 bits, int64 for int64);
/// - `type`: its `data_type`; `is_float`, `has_infinity`, `has_nan`;
/// - `digits`: significant bits, the implicit one included (floats), value bits (integers);
/// - `lowest()`, `highest()`: least and largest finite value.
/// Types it knows: double, float, fp16, bf16, the four fp8, 8- to 64-bit integers; with HIP also
/// its own half, bf16 and fp8 types (core/hip_types.hpp).
template <class T>
struct numeric_traits {
  static constexpr bool known = false;
};

namespace detail {

template <class T, class Accumulator, data_type Type, int Digits, bool Infinity>
struct float_traits {
  static constexpr bool known = true;
  using storage = T;
  using accumulator = Accumulator;
  static constexpr data_type type = Type;
  static constexpr bool is_float = true;
  static constexpr bool has_infinity = Infinity;
  static constexpr bool has_nan = true;
  static constexpr int digits = Digits;
};

template <class T, uint32_t Highest, uint32_t Lowest, data_type Type, int Digits, bool Infinity>
struct small_float_traits : float_traits<T, float, Type, Digits, Infinity> {
  WAVETILE_HD static constexpr T lowest() {
    return T::from_bits(static_cast<decltype(T::bits)>(Lowest));
  }
  WAVETILE_HD static constexpr T highest() {
    return T::from_bits(static_cast<decltype(T::bits)>(Highest));
  }
};

template <class T, data_type Type>
struct integer_traits {
  static constexpr bool known = true;
  static constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);
  using storage = T;
  using accumulator = conditional_t<sizeof(T) == 8, T,
                                    conditional_t<is_signed || sizeof(T) < 4, int32_t, uint32_t>>;
  static constexpr data_type type = Type;
  static constexpr bool is_float = false;
  static constexpr bool has_infinity = false;
  static constexpr bool has_nan = false;
  static constexpr int digits = static_cast<int>(sizeof(T)) * 8 - (is_signed ? 1 : 0);
  WAVETILE_HD static constexpr T highest() { return static_cast<T>(~uint64_t{0} >> (64 - digits)); }
  WAVETILE_HD static constexpr T lowest() {
    return is_signed ? static_cast<T>(-highest() - 1) : static_cast<T>(0);
  }
};

} // namespace detail

template <>
struct numeric_traits<double> : detail::float_traits<double, double, data_type::fp64, 53, true> {
  WAVETILE_HD static constexpr double lowest() { return -__DBL_MAX__; }
  WAVETILE_HD static constexpr double highest() { return __DBL_MAX__; }
};
template <>
struct numeric_traits<float> : detail::float_traits<float, float, data_type::fp32, 24, true> {
  WAVETILE_HD static constexpr float lowest() { return -__FLT_MAX__; }
  WAVETILE_HD static constexpr float highest() { return __FLT_MAX__; }
};
template <>
struct numeric_traits<fp16>
    : detail::small_float_traits<fp16, 0x7BFF, 0xFBFF, data_type::fp16, 11, true> {};
template <>
struct numeric_traits<bf16>
    : detail::small_float_traits<bf16, 0x7F7F, 0xFF7F, data_type::bf16, 8, true> {};
template <>
struct numeric_traits<fp8_e4m3_fnuz>
    : detail::small_float_traits<fp8_e4m3_fnuz, 0x7F, 0xFF, data_type::fp8_e4m3_fnuz, 4, false> {};
template <>
struct numeric_traits<fp8_e5m2_fnuz>
    : detail::small_float_traits<fp8_e5m2_fnuz, 0x7F, 0xFF, data_type::fp8_e5m2_fnuz, 3, false> {};
template <>
struct numeric_traits<fp8_e4m3_ocp>
    : detail::small_float_traits<fp8_e4m3_ocp, 0x7E, 0xFE, data_type::fp8_e4m3_ocp, 4, false> {};
template <>
struct numeric_traits<fp8_e5m2_ocp>
    : detail::small_float_traits<fp8_e5m2_ocp, 0x7B, 0xFB, data_type::fp8_e5m2_ocp, 3, true> {};
template <>
struct numeric_traits<int8_t> : detail::integer_traits<int8_t, data_type::int8> {};
template <>
struct numeric_traits<int16_t> : detail::integer_traits<int16_t, data_type::int16> {};
template <>
struct numeric_traits<int32_t> : detail::integer_traits<int32_t, data_type::int32> {};
template <>
struct numeric_traits<int64_t> : detail::integer_traits<int64_t, data_type::int64> {};
template <>
struct numeric_traits<uint8_t> : detail::integer_traits<uint8_t, data_type::uint8> {};
template <>
struct numeric_traits<uint16_t> : detail::integer_traits<uint16_t, data_type::uint16> {};
template <>
struct numeric_traits<uint32_t> : detail::integer_traits<uint32_t, data_type::uint32> {};
template <>
struct numeric_traits<uint64_t> : detail::integer_traits<uint64_t, data_type::uint64> {};

/// The library's own type for the bits of `T`; kernels are instantiated with it alone.
template <class T>
using storage_t = typename numeric_traits<detail::remove_cv_t<T>>::storage;

/// The type that sums and products of `T` are formed in.
template <class T>
using accumulator_t = typename numeric_traits<detail::remove_cv_t<T>>::accumulator;

/// A type `numeric_traits` knows.
template <class T>
concept numeric = numeric_traits<detail::remove_cv_t<T>>::known;

} // namespace wavetile
