// Number formats of the matrix instructions, and their published arithmetic, in integers: the
// oracle the executor is compared with. It shares nothing with the executor.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace wavesim::test {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

enum class NumberClass { finite, infinite, nan };

/// (-1)^negative · significand · 2^(exponent - fraction). The exponent of a denormal is its
/// format's least, that of a zero -126.
struct Number {
  NumberClass kind = NumberClass::finite;
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = -126, fraction = 0;

  double value() const {
    if (kind == NumberClass::nan)
      return std::nan("");
    const double size = kind == NumberClass::infinite
                            ? HUGE_VAL
                            : std::ldexp(static_cast<double>(significand), exponent - fraction);
    return negative ? -size : size;
  }
};

struct NumberFormat {
  unsigned bits;
  int exponent_bits, fraction, bias;
  bool fnuz; ///< no infinities, no negative zero, 0x80 is NaN
};

inline NumberFormat number_format(const std::string& type) {
  if (type == "f64")
    return {64, 11, 52, 1023, false};
  if (type == "f32" || type == "xf32")
    return {32, 8, 23, 127, false};
  if (type == "f16")
    return {16, 5, 10, 15, false};
  if (type == "bf16")
    return {16, 8, 7, 127, false};
  if (type == "fp8")
    return {8, 4, 3, 8, true};
  return {8, 5, 2, 16, true}; // bf8
}

inline Number decode_number(const std::string& type, std::uint64_t code) {
  const NumberFormat f = number_format(type);
  Number x;
  x.fraction = f.fraction;
  x.negative = code >> (f.bits - 1) & 1;
  const std::uint64_t mantissa = code & ((std::uint64_t{1} << f.fraction) - 1);
  const int field = static_cast<int>(code >> f.fraction & ((1u << f.exponent_bits) - 1));
  if (f.fnuz && code == 0x80) {
    x.kind = NumberClass::nan;
    return x;
  }
  if (!f.fnuz && field == (1 << f.exponent_bits) - 1) {
    x.kind = mantissa ? NumberClass::nan : NumberClass::infinite;
    return x;
  }
  x.significand = field ? mantissa | std::uint64_t{1} << f.fraction : mantissa;
  if (type == "xf32") { // cut to 10 fraction bits
    x.significand >>= 13;
    x.fraction = 10;
  }
  if (x.significand)
    x.exponent = std::max(field, 1) - f.bias;
  return x;
}

/// x · 2^shift, rounded down.
inline Int128 shift_down(Int128 x, int shift) {
  if (shift >= 0)
    return x << shift;
  return shift <= -126 ? (x < 0 ? -1 : 0) : x >> -shift;
}

/// x · 2^exponent as f32, to nearest even.
inline std::uint32_t round_to_f32(Int128 x, int exponent) {
  if (x == 0)
    return 0;
  const std::uint32_t sign = x < 0 ? 0x80000000u : 0;
  auto size = static_cast<Uint128>(x < 0 ? -x : x);
  int top = 0; // position of the leading bit
  while (size >> top > 1)
    ++top;
  const int lowest = std::max(top + exponent - 23, -149); // exponent of the result's last bit
  const int drop = lowest - exponent;
  if (drop > 0) {
    if (drop > 120)
      return sign;
    const auto half = static_cast<Uint128>(1) << (drop - 1);
    const auto rest = size & (2 * half - 1);
    size >>= drop;
    if (rest > half || (rest == half && (size & 1)))
      ++size;
  } else {
    size <<= -drop;
  }
  int last = lowest;
  if (size >> 24)
    size >>= 1, ++last;
  if (size < 0x800000)
    return sign | static_cast<std::uint32_t>(size); // denormal
  const int field = last + 150;
  if (field >= 255)
    return sign | 0x7f800000u;
  return sign | static_cast<std::uint32_t>(field) << 23 |
         (static_cast<std::uint32_t>(size) & 0x7fffffu);
}

inline constexpr std::uint32_t matrix_nan = 0x7fc00000u;

/// One group of products added to C; see the executor's description of the published order.
inline std::uint32_t fused_group(const Number* a, const Number* b, unsigned count,
                                 std::uint32_t c_bits, bool halves) {
  const Number c = decode_number("f32", c_bits);
  bool nan = c.kind == NumberClass::nan, infinite[2] = {}, huge[2] = {};
  if (c.kind == NumberClass::infinite)
    infinite[c.negative] = true;
  struct Part {
    int top = -100000;
    Int128 sum = 0; // units of 2^(top - 24)
  } part[2];
  for (int pass = 0; pass < 2; ++pass)
    for (unsigned k = 0; k < count; ++k) {
      const Number &x = a[k], &y = b[k];
      const bool negative = x.negative != y.negative;
      if (x.kind != NumberClass::finite || y.kind != NumberClass::finite) {
        const bool zero = (x.kind == NumberClass::finite && !x.significand) ||
                          (y.kind == NumberClass::finite && !y.significand);
        if (x.kind == NumberClass::nan || y.kind == NumberClass::nan || zero)
          nan = true;
        else
          infinite[negative] = true;
        continue;
      }
      Part& p = part[halves ? k % 2 : 0];
      const int exponent = x.exponent + y.exponent;
      const Int128 product = Int128{x.significand} * y.significand;
      const int fraction = x.fraction + y.fraction;
      if (pass == 0) {
        p.top = std::max(p.top, exponent);
        // product · 2^(exponent - fraction) >= 2^128
        const int above = 128 - exponent + fraction;
        if (product && (above <= 0 || (above < 100 && product >> above != 0)))
          huge[negative] = true;
      } else {
        const Int128 size = shift_down(product, 24 - fraction + exponent - p.top);
        p.sum += negative ? -size : size;
      }
    }
  if (nan || (infinite[0] && infinite[1]))
    return matrix_nan;
  for (const bool* kind : {infinite, huge}) {
    if (kind[0] && kind[1])
      return matrix_nan;
    if (kind[0] || kind[1])
      return kind[1] ? 0xff800000u : 0x7f800000u;
  }
  int top = part[0].top;
  Int128 sum = part[0].sum;
  if (halves) {
    top = std::max(top, part[1].top);
    sum = shift_down(part[0].sum, part[0].top - top) + shift_down(part[1].sum, part[1].top - top);
  }
  const int m = std::max(top, c.exponent);
  const Int128 s = shift_down(sum, 7 + top - m);
  Int128 addend = Int128{c.significand} * (c.negative ? -2 : 2); // 24 fraction bits
  addend = halves && c.exponent < m - 25 ? 0 : shift_down(addend, c.exponent - m);
  return round_to_f32(s + addend * 128, m - 31);
}

/// One output element of a matrix instruction with float inputs, C and D as bits of their type.
inline std::uint64_t matrix_element(const std::string& type_a, const std::string& type_b,
                                    const std::vector<std::uint64_t>& a,
                                    const std::vector<std::uint64_t>& b, std::uint64_t c) {
  const std::size_t depth = a.size();
  if (type_a == "i8") {
    std::uint32_t sum = static_cast<std::uint32_t>(c);
    for (std::size_t k = 0; k < depth; ++k)
      sum += static_cast<std::uint32_t>(static_cast<std::int8_t>(a[k]) *
                                        static_cast<std::int8_t>(b[k]));
    return sum;
  }
  if (type_a == "f64") {
    double sum = std::bit_cast<double>(c);
    for (std::size_t k = 0; k < depth; ++k)
      sum = std::fma(std::bit_cast<double>(a[k]), std::bit_cast<double>(b[k]), sum);
    return std::bit_cast<std::uint64_t>(sum);
  }
  if (type_a == "f32") {
    const auto f = [](std::uint64_t x) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(x));
    };
    float sum = f(c);
    for (std::size_t k = 0; k < depth; ++k)
      sum = std::fma(f(a[k]), f(b[k]), sum);
    return std::bit_cast<std::uint32_t>(sum);
  }
  const bool narrow = number_format(type_a).bits == 8;
  const std::size_t group = std::min<std::size_t>(depth, type_a == "xf32" ? 4 : narrow ? 16 : 8);
  std::vector<Number> x, y;
  for (std::size_t k = 0; k < depth; ++k) {
    x.push_back(decode_number(type_a, a[k]));
    y.push_back(decode_number(type_b, b[k]));
  }
  auto sum = static_cast<std::uint32_t>(c);
  for (std::size_t k = 0; k < depth; k += group)
    sum = fused_group(&x[k], &y[k], static_cast<unsigned>(group), sum, narrow);
  return sum;
}

} // namespace wavesim::test
