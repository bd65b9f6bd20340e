// f16 arithmetic in integers: what the packed instructions are compared with.
#pragma once

#include <bit>
#include <cstdint>
#include <random>

namespace wavesim::test {

/// 32 random bits a call.
class Random {
public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

private:
  std::mt19937 engine_;
};

__extension__ typedef __int128 FixedPoint; ///< units of 2^-48

inline constexpr std::uint16_t half_infinity = 0x7c00;
inline bool half_is_nan(unsigned h) {
  return (h & 0x7fff) > half_infinity;
}
inline bool half_is_infinite(unsigned h) {
  return (h & 0x7fff) == half_infinity;
}

/// A finite f16 in units of 2^-24.
inline std::int64_t half_units(unsigned h) {
  const int field = h >> 10 & 31;
  std::int64_t size = field ? std::int64_t{1024 | (h & 1023)} << (field - 1) : h & 1023;
  return h & 0x8000 ? -size : size;
}

inline double half_value(unsigned h) {
  if (half_is_nan(h))
    return std::bit_cast<double>(0x7ff8000000000000);
  if (half_is_infinite(h))
    return h & 0x8000 ? -1.0 / 0.0 : 1.0 / 0.0;
  return static_cast<double>(half_units(h)) * 0x1p-24;
}

/// Rounds to f16; `mode` as MODE's field: 0 nearest even, 1 up, 2 down, 3 to zero. `zero_sign` is
/// the sign of an exact zero.
inline std::uint16_t round_to_half(FixedPoint x, unsigned mode, bool zero_sign) {
  if (x == 0)
    return zero_sign ? 0x8000 : 0;
  const bool negative = x < 0;
  FixedPoint size = negative ? -x : x;
  int top = 0;
  while (size >> top > 1)
    ++top;
  const int lowest = top - 10 > 24 ? top - 10 : 24; // bit of the result's last place; 24 is 2^-24
  const FixedPoint unit = FixedPoint{1} << lowest, rest = size % unit;
  FixedPoint kept = size / unit;
  const bool up = mode == 0   ? rest > unit / 2 || (rest == unit / 2 && (kept & 1))
                  : mode == 1 ? rest != 0 && !negative
                  : mode == 2 ? rest != 0 && negative
                              : false;
  if (up)
    ++kept;
  int last = lowest;
  if (kept >> 11)
    kept >>= 1, ++last;
  const std::uint16_t sign = negative ? 0x8000 : 0;
  if (kept < 1024)
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(kept));
  const int field = last - 24 + 1;
  if (field >= 31) { // overflow: infinity, or the largest number when rounding points inward
    const bool inward = mode == 3 || (mode == 1 && negative) || (mode == 2 && !negative);
    return sign | static_cast<std::uint16_t>(inward ? 0x7bff : half_infinity);
  }
  return static_cast<std::uint16_t>(sign | static_cast<unsigned>(field) << 10 |
                                    (static_cast<unsigned>(kept) & 1023));
}

/// The first NaN among the sources, quieted, or 0.
template <class... H>
std::uint16_t first_half_nan(H... h) {
  std::uint16_t found = 0;
  ((found = !found && half_is_nan(h) ? static_cast<std::uint16_t>(h | 0x200) : found), ...);
  return found;
}

/// a·b + c, rounded once.
inline std::uint16_t half_fma(unsigned a, unsigned b, unsigned c, unsigned mode) {
  if (const auto nan = first_half_nan(a, b, c))
    return nan;
  const unsigned sign = (a ^ b) & 0x8000;
  const bool infinite = half_is_infinite(a) || half_is_infinite(b);
  if (infinite) {
    const bool zero = (a & 0x7fff) == 0 || (b & 0x7fff) == 0;
    const bool opposite = half_is_infinite(c) && (c & 0x8000) != sign;
    return zero || opposite ? 0xfe00 : static_cast<std::uint16_t>(sign | half_infinity);
  }
  if (half_is_infinite(c))
    return static_cast<std::uint16_t>(c);
  const FixedPoint product = FixedPoint{half_units(a)} * half_units(b);
  const FixedPoint addend = FixedPoint{half_units(c)} << 24;
  // An exact zero sum: −0 only if both addends are −0, or they cancel while rounding down.
  const bool product_minus = product == 0 ? sign != 0 : product < 0;
  const bool addend_minus = (c & 0x8000) != 0;
  const bool zero_sign = product_minus == addend_minus ? product_minus : mode == 2;
  return round_to_half(product + addend, mode, zero_sign);
}

inline std::uint16_t half_add(unsigned a, unsigned b, unsigned mode) {
  return half_fma(a, 0x3c00, b, mode);
}
inline std::uint16_t half_mul(unsigned a, unsigned b, unsigned mode) {
  if (const auto nan = first_half_nan(a, b))
    return nan;
  return half_fma(a, b, (a ^ b) & 0x8000, mode); // the product's own sign of zero
}

} // namespace wavesim::test
