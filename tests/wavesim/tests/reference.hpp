// Support for instruction tests: interesting operand values, running one instruction over many
// operand tuples at every SIMD level, and comparing with a host formula written for the test.
#pragma once

#include "tests/harness.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace wavesim::test {

using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
using i128 = __int128;

/// A half-precision operand, given by its bits.
struct half {
  u16 bits = 0;
  friend bool operator==(half, half) = default;
};

template <class T>
using raw_t = std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;

template <class T>
raw_t<T> raw(T x) {
  return std::bit_cast<raw_t<T>>(x);
}

template <class T>
bool not_a_number(T x) {
  if constexpr (std::is_same_v<T, half>)
    return (x.bits & 0x7fff) > 0x7c00;
  else if constexpr (std::is_floating_point_v<T>)
    return x != x;
  else
    return false;
}

/// Equal bits, or both NaN.
template <class T>
bool same(T a, T b) {
  return raw(a) == raw(b) || (not_a_number(a) && not_a_number(b));
}

template <class T>
std::vector<T> edges() {
  if constexpr (std::is_same_v<T, float>) {
    std::vector<float> v;
    for (u32 b : {0x0u,        0x1u,        0x2u,        0x400000u,   0x7fffffu,   0x800000u,
                  0x800001u,   0xffffffu,   0x1000000u,  0x33800000u, 0x38000000u, 0x387fc000u,
                  0x38800000u, 0x3f000000u, 0x3effffffu, 0x3f000001u, 0x3f800000u, 0x3f7fffffu,
                  0x3f800001u, 0x3fc00000u, 0x40000000u, 0x40200000u, 0x40490fdbu, 0x42f00000u,
                  0x43000000u, 0x437f0000u, 0x43800000u, 0x46fffe00u, 0x47000000u, 0x477fe000u,
                  0x477ff000u, 0x47800000u, 0x4b000000u, 0x4b800000u, 0x4b800001u, 0x4effffffu,
                  0x4f000000u, 0x4f7fffffu, 0x4f800000u, 0x5f000000u, 0x7e800000u, 0x7e800001u,
                  0x7f000000u, 0x7f7fffffu, 0x7f800000u, 0x7fc00000u, 0x7fc01234u, 0x7f800001u,
                  0x7fa00000u})
      for (u32 sign : {0u, 0x80000000u})
        v.push_back(std::bit_cast<float>(b | sign));
    return v;
  } else if constexpr (std::is_same_v<T, double>) {
    std::vector<double> v;
    for (u64 b : {u64{0},
                  u64{1},
                  u64{0x8000000000000},
                  u64{0xfffffffffffff},
                  u64{0x10000000000000},
                  u64{0x10000000000001},
                  u64{0x3690000000000000},
                  u64{0x380fffffffffffff},
                  u64{0x3810000000000000},
                  u64{0x3fe0000000000000},
                  u64{0x3fdfffffffffffff},
                  u64{0x3ff0000000000000},
                  u64{0x3ff0000000000001},
                  u64{0x3ff8000000000000},
                  u64{0x4004000000000000},
                  u64{0x400921fb54442d18},
                  u64{0x41dfffffffc00000},
                  u64{0x41e0000000000000},
                  u64{0x41efffffffe00000},
                  u64{0x41f0000000000000},
                  u64{0x4330000000000000},
                  u64{0x4340000000000001},
                  u64{0x47efffffe0000000},
                  u64{0x47efffffefffffff},
                  u64{0x47f0000000000000},
                  u64{0x7fd0000000000000},
                  u64{0x7fd0000000000001},
                  u64{0x7fefffffffffffff},
                  u64{0x7ff0000000000000},
                  u64{0x7ff8000000000000},
                  u64{0x7ff8000000001234},
                  u64{0x7ff0000000000001}})
      for (u64 sign : {u64{0}, u64{1} << 63})
        v.push_back(std::bit_cast<double>(b | sign));
    return v;
  } else if constexpr (std::is_same_v<T, half>) {
    std::vector<half> v;
    for (unsigned b :
         {0x0u,    0x1u,    0x2u,    0x200u,  0x3ffu,  0x400u,  0x401u,  0x7ffu,  0x1400u, 0x37ffu,
          0x3800u, 0x3801u, 0x3bffu, 0x3c00u, 0x3c01u, 0x3e00u, 0x4000u, 0x4100u, 0x4248u, 0x63ffu,
          0x6400u, 0x77ffu, 0x7800u, 0x7bffu, 0x7c00u, 0x7e00u, 0x7e12u, 0x7c01u, 0x7d00u})
      for (unsigned sign : {0u, 0x8000u})
        v.push_back(half{static_cast<u16>(b | sign)});
    return v;
  } else {
    std::vector<T> v;
    using U = std::make_unsigned_t<T>;
    constexpr unsigned bits = 8 * sizeof(T);
    for (u64 b : {u64{0},         u64{1},        u64{2},         u64{3},          u64{4},
                  u64{5},         u64{7},        u64{8},         u64{15},         u64{16},
                  u64{17},        u64{31},       u64{32},        u64{33},         u64{63},
                  u64{64},        u64{127},      u64{128},       u64{255},        u64{256},
                  u64{0x7fff},    u64{0x8000},   u64{0xffff},    u64{0x10000},    u64{0x7fffff},
                  u64{0x800000},  u64{0xffffff}, u64{0x1000000}, u64{0x55555555}, u64{0xaaaaaaaa},
                  u64{0x12345678}})
      for (bool flip : {false, true})
        v.push_back(static_cast<T>(static_cast<U>(flip ? ~b : b)));
    v.push_back(static_cast<T>(U{1} << (bits - 1)));
    v.push_back(static_cast<T>((U{1} << (bits - 1)) - 1));
    v.push_back(static_cast<T>((U{1} << (bits - 1)) + 1));
    v.push_back(static_cast<T>(U{0x0123456789abcdef >> (64 - bits)}));
    return v;
  }
}

using engine = std::mt19937_64;

/// Any bit pattern half of the time, else a value of usual size.
template <class T>
T random_value(engine& random) {
  const u64 bits = random();
  if constexpr (std::is_floating_point_v<T>) {
    if (bits & 1)
      return std::bit_cast<T>(static_cast<raw_t<T>>(random()));
    std::uniform_real_distribution<double> exponent(-20, 20), sign(-1, 1);
    return static_cast<T>(std::exp2(exponent(random)) * (sign(random) < 0 ? -1 : 1));
  } else if constexpr (std::is_same_v<T, half>) {
    return half{static_cast<u16>(bits)};
  } else {
    return static_cast<T>(bits >> (random() % (8 * sizeof(T))));
  }
}

/// Tuples of operands: all combinations of edge values (thinned to about `limit`), then random
/// ones.
template <class... A>
std::vector<std::tuple<A...>> operand_tuples(std::size_t limit = 9000, std::size_t randoms = 3000) {
  std::vector<std::tuple<A...>> all;
  engine random(12345);
  const auto values = std::make_tuple(edges<A>()...);
  std::size_t combinations = 1;
  std::apply([&](const auto&... v) { ((combinations *= v.size()), ...); }, values);
  const std::size_t step = combinations / limit + 1;
  for (std::size_t c = 0; c < combinations; c += step) {
    // A random place inside each stride, so that thinning favours no operand.
    std::size_t rest = c + (step > 1 ? random() % step : 0);
    if (rest >= combinations)
      rest = combinations - 1;
    const auto pick = [&rest](const auto& v) {
      const auto x = v[rest % v.size()];
      rest /= v.size();
      return x;
    };
    all.push_back(
        std::apply([&](const auto&... v) { return std::tuple<A...>{pick(v)...}; }, values));
  }
  for (std::size_t i = 0; i < randoms; ++i)
    all.push_back(std::tuple<A...>{random_value<A>(random)...});
  return all;
}

template <class T>
void put(Machine& m, unsigned reg, unsigned lane, T x) {
  if constexpr (sizeof(T) == 8)
    m.set_u64(reg, lane, raw(x));
  else
    m.wave.v[reg][lane] = raw(x); // 16-bit values: the upper half is filled by the caller
}
template <class T>
T get(const Machine& m, unsigned reg, unsigned lane) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(m.u64(reg, lane));
  else
    return std::bit_cast<T>(static_cast<raw_t<T>>(m.wave.v[reg][lane]));
}

/// "$d" becomes the destination (v10 or v[10:11]), "$a" "$b" "$c" the sources at v0, v2, v4.
template <class R, class... A>
std::string with_registers(std::string text) {
  const auto name = [](unsigned reg, std::size_t bytes) {
    return bytes == 8 ? "v[" + std::to_string(reg) + ":" + std::to_string(reg + 1) + "]"
                      : "v" + std::to_string(reg);
  };
  const auto replace = [&text](const std::string& from, const std::string& to) {
    for (std::size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  };
  replace("$d", name(10, sizeof(R)));
  unsigned i = 0;
  (
      [&] {
        replace(std::string("$") + static_cast<char>('a' + i), name(2 * i, sizeof(A)));
        ++i;
      }(),
      ...);
  return text;
}

/// What a 16-bit result does to the upper half of its register.
enum class Upper { zeroed, kept };

struct CheckOptions {
  u32 mode = Machine::default_mode;
  Upper upper = Upper::zeroed;
  bool accumulates = false; ///< the last source is the destination's old value (v_fmac…)
  std::size_t limit = 9000;
};

template <class T>
std::string describe(T x) {
  char text[64];
  if constexpr (std::is_floating_point_v<T>)
    std::snprintf(text, sizeof text, "%a (%#llx)", static_cast<double>(x),
                  static_cast<unsigned long long>(raw(x)));
  else
    std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(raw(x)));
  return text;
}

/// Runs the instruction over many operand tuples, alternating full and partial EXEC, and compares
/// each active lane with `accept(result, operands…)`; inactive lanes must keep their old value.
template <class R, class... A, class Accept>
void check_with(const std::string& text, Accept accept, CheckOptions options = {}) {
  constexpr u32 poison = 0xdeadbeef;
  const auto tuples = operand_tuples<A...>(options.limit);
  for (const Simd level : levels()) {
    SCOPED_TRACE(std::string(name(level)) + ": " + text);
    Machine m(level);
    m.wave.mode = options.mode;
    const Program program(with_registers<R, A...>(text), level);
    ASSERT_FALSE(program.ops().empty());
    engine random(99);
    unsigned failures = 0;
    for (std::size_t base = 0; base < tuples.size(); base += lanes) {
      const u64 exec = base / lanes % 2 ? random() : ~u64{0};
      m.wave.set_exec(exec);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto& t = tuples[std::min(base + lane, tuples.size() - 1)];
        m.wave.v[10][lane] = poison;
        m.wave.v[11][lane] = poison;
        unsigned i = 0;
        std::apply(
            [&](auto... x) {
              (
                  [&] {
                    const bool last = i + 1 == sizeof...(A) && options.accumulates;
                    const unsigned reg = last ? 10 : 2 * i;
                    put(m, reg, lane, x);
                    if (sizeof(x) == 2 && !last)
                      m.wave.v[reg][lane] |= 0xabcd0000;
                    ++i;
                  }(),
                  ...);
            },
            t);
      }
      std::vector<std::pair<u32, u32>> before(lanes);
      for (unsigned lane = 0; lane < lanes; ++lane)
        before[lane] = {m.wave.v[10][lane], m.wave.v[11][lane]};
      m.run(program);
      for (unsigned lane = 0; lane < lanes && failures < 8; ++lane) {
        const auto& t = tuples[std::min(base + lane, tuples.size() - 1)];
        if (!(exec >> lane & 1)) {
          if (m.wave.v[10][lane] != before[lane].first ||
              m.wave.v[11][lane] != before[lane].second) {
            ADD_FAILURE() << "inactive lane " << lane << " changed";
            ++failures;
          }
          continue;
        }
        const R got = get<R>(m, 10, lane);
        const bool good = std::apply([&](auto... x) { return accept(got, x...); }, t);
        const u32 high = m.wave.v[10][lane] & 0xffff0000;
        const u32 expected_high =
            options.upper == Upper::kept ? before[lane].first & 0xffff0000 : 0;
        const bool good_high = sizeof(R) != 2 || high == expected_high;
        if (good && good_high)
          continue;
        ++failures;
        std::string operands;
        std::apply([&](auto... x) { ((operands += " " + describe(x)), ...); }, t);
        ADD_FAILURE() << (good ? "upper half of the result" : "result") << " " << describe(got)
                      << (good ? " upper " + describe(high) : "") << " for" << operands
                      << " in lane " << lane;
      }
    }
  }
}

/// The same with one expected value, NaNs taken as equal.
template <class R, class... A, class F>
void check(const std::string& text, F reference, CheckOptions options = {}) {
  check_with<R, A...>(
      text,
      [&](R got, A... x) {
        const R want = reference(x...);
        if (same(got, want))
          return true;
        ADD_FAILURE() << "expected " << describe(want);
        return false;
      },
      options);
}

/// Instructions whose result is a lane mask in VCC: inactive lanes give 0.
template <class... A, class F>
void check_mask(const std::string& text, F reference, CheckOptions options = {}) {
  const auto tuples = operand_tuples<A...>(options.limit);
  for (const Simd level : levels()) {
    SCOPED_TRACE(std::string(name(level)) + ": " + text);
    Machine m(level);
    m.wave.mode = options.mode;
    const Program program(with_registers<u32, A...>(text), level);
    ASSERT_FALSE(program.ops().empty());
    engine random(7);
    unsigned failures = 0;
    for (std::size_t base = 0; base < tuples.size() && failures < 8; base += lanes) {
      const u64 exec = base / lanes % 2 ? random() : ~u64{0};
      m.wave.set_exec(exec);
      m.wave.set_vcc(random());
      u64 want = 0;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto& t = tuples[std::min(base + lane, tuples.size() - 1)];
        unsigned i = 0;
        std::apply(
            [&](auto... x) {
              (
                  [&] {
                    put(m, 2 * i, lane, x);
                    if (sizeof(x) == 2)
                      m.wave.v[2 * i][lane] |= 0xabcd0000;
                    ++i;
                  }(),
                  ...);
            },
            t);
        want |= u64{std::apply(reference, t)} << lane;
      }
      m.run(program);
      if (m.wave.vcc() == (want & exec))
        continue;
      ++failures;
      const auto lane = static_cast<unsigned>(std::countr_zero(m.wave.vcc() ^ (want & exec)));
      std::string operands;
      std::apply([&](auto... x) { ((operands += " " + describe(x)), ...); },
                 tuples[std::min(base + lane, tuples.size() - 1)]);
      ADD_FAILURE() << "lane " << lane << (want >> lane & 1 ? " should" : " should not")
                    << " be set for" << operands << (exec >> lane & 1 ? "" : " (inactive)");
    }
  }
}

// ------------------------------------------------------------------------- half precision by hand

inline double to_double(half h) {
  const unsigned exponent = h.bits >> 10 & 31, mantissa = h.bits & 1023;
  double size = exponent == 31  ? (mantissa ? std::numeric_limits<double>::quiet_NaN()
                                            : std::numeric_limits<double>::infinity())
                : exponent == 0 ? std::ldexp(mantissa, -24)
                                : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
  return h.bits & 0x8000 ? -size : size;
}

enum class Round { nearest, up, down, zero };

/// value · 2^−scale rounded to half, computed on integers.
inline half to_half(i128 value, int scale, Round round, bool negative_zero = false) {
  const bool negative = value < 0 || (value == 0 && negative_zero);
  unsigned __int128 m = static_cast<unsigned __int128>(value < 0 ? -value : value);
  const u16 sign = negative ? 0x8000 : 0;
  if (m == 0)
    return half{sign};
  int top = 127;
  while (!(m >> top & 1))
    --top;
  // Weight of the last kept bit: 10 below the top, but not below 2^−24.
  int last = top - 10 - scale;
  if (last < -24)
    last = -24;
  const int drop = last + scale; // bits of m below the last kept one
  unsigned __int128 kept = drop > 0 ? (drop > 127 ? 0 : m >> drop) : m << -drop;
  if (drop > 0) {
    const unsigned __int128 rest =
        drop > 127 ? m : m & ((static_cast<unsigned __int128>(1) << drop) - 1);
    const unsigned __int128 middle = static_cast<unsigned __int128>(1) << (drop - 1);
    bool away = false;
    switch (round) {
    case Round::nearest:
      away = rest > middle || (rest == middle && (kept & 1));
      break;
    case Round::up:
      away = rest != 0 && !negative;
      break;
    case Round::down:
      away = rest != 0 && negative;
      break;
    case Round::zero:
      break;
    }
    kept += away;
  }
  if (kept >= 2048) {
    kept >>= 1;
    ++last;
  }
  if (kept < 1024)
    return half{static_cast<u16>(sign | static_cast<u16>(kept))}; // denormal
  const int exponent = last + 25;
  if (exponent >= 31) {
    const bool to_infinity = round == Round::nearest || (round == Round::up && !negative) ||
                             (round == Round::down && negative);
    return half{static_cast<u16>(sign | (to_infinity ? 0x7c00 : 0x7bff))};
  }
  return half{static_cast<u16>(sign | exponent << 10 | (static_cast<u16>(kept) & 1023))};
}

/// A finite half as an integer multiple of 2^−24.
inline i64 fixed_point(half h) {
  return static_cast<i64>(std::ldexp(to_double(h), 24));
}

inline bool finite(half h) {
  return (h.bits & 0x7c00) != 0x7c00;
}
inline bool negative(half h) {
  return (h.bits & 0x8000) != 0;
}
inline half half_from_special(double x) { // infinities and NaN
  return x != x ? half{0x7e00} : half{static_cast<u16>(x < 0 ? 0xfc00 : 0x7c00)};
}

// ------------------------------------------------------------------------------------- ulps

/// Distance of `got` from `exact` in units of the last place of a float of exact's size.
inline double ulps_f32(float got, long double exact) {
  if (got != got || exact != exact)
    return got != got && exact != exact ? 0 : 1e30;
  if (std::isinf(got))
    return std::fabs(exact) >= 0x1.ffffffp127L && (got < 0) == (exact < 0) ? 0 : 1e30;
  int e;
  std::frexp(exact, &e);
  const int last = std::max(e - 24, -149);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) /
                             std::ldexp(1.0L, last));
}

} // namespace wavesim::test
