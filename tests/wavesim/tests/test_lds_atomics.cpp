// DS read-modify-write instructions against formulas, with many lanes on one address: lanes act in
// ascending order.
#include "tests/memory_cases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace wavesim;
using namespace wavesim::test;

namespace {

template <class T>
using Formula = std::function<T(T old, T a, T b)>;

template <class T>
struct Case {
  const char* name; ///< with % where "_rtn" goes
  Formula<T> next;
  bool two_operands = false;
  bool only_returning = false;
};

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

template <class U, class I>
std::vector<Case<U>> integer_cases(const char* u, const char* i, const char* b) {
  const auto name = [](const char* operation, const char* type) {
    static std::deque<std::string> kept;
    kept.push_back(fmt::format("ds_{}%_{}", operation, type));
    return kept.back().c_str();
  };
  const auto as_signed = [](U x) { return static_cast<I>(x); };
  return {
      {name("add", u), [](U o, U a, U) { return static_cast<U>(o + a); }},
      {name("sub", u), [](U o, U a, U) { return static_cast<U>(o - a); }},
      {name("rsub", u), [](U o, U a, U) { return static_cast<U>(a - o); }},
      {name("inc", u), [](U o, U a, U) { return o >= a ? U{0} : static_cast<U>(o + 1); }},
      {name("dec", u), [](U o, U a, U) { return o == 0 || o > a ? a : static_cast<U>(o - 1); }},
      {name("min", i), [=](U o, U a, U) { return as_signed(o) < as_signed(a) ? o : a; }},
      {name("max", i), [=](U o, U a, U) { return as_signed(o) > as_signed(a) ? o : a; }},
      {name("min", u), [](U o, U a, U) { return o < a ? o : a; }},
      {name("max", u), [](U o, U a, U) { return o > a ? o : a; }},
      {name("and", b), [](U o, U a, U) { return o & a; }},
      {name("or", b), [](U o, U a, U) { return o | a; }},
      {name("xor", b), [](U o, U a, U) { return o ^ a; }},
      {name("mskor", b), [](U o, U a, U c) { return (o & ~a) | c; }, true},
      {name("cmpst", b), [](U o, U compare, U fresh) { return o == compare ? fresh : o; }, true},
      {name("wrxchg", b), [](U, U a, U) { return a; }, false, true},
  };
}

template <class T>
std::string operand(unsigned first) {
  return sizeof(T) == 4 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + 1);
}

template <class T>
T row_value(const Registers& r, unsigned first, unsigned lane) {
  auto& edit = const_cast<Registers&>(r);
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(edit.at(false, first, lane));
  else
    return std::bit_cast<T>(edit.at(false, first, lane) | u64{edit.at(false, first + 1, lane)}
                                                              << 32);
}

/// Runs one atomic on values made by `value`, on few addresses, and compares memory and registers.
template <class T, class Value>
void check(const Case<T>& c, Simd level, bool returns, std::uint64_t exec, Value value,
           std::uint32_t mode = Machine::default_mode) {
  using Bits = std::conditional_t<sizeof(T) == 4, u32, u64>;
  Machine m(level);
  m.wave.mode = mode;
  fill_random(m.wave);
  for (std::size_t at = 0; at < 1024; at += sizeof(T)) {
    const T x = value();
    std::memcpy(m.group.lds + at, &x, sizeof x);
  }
  m.vgpr(1, [&](unsigned l) {
    return l % 9 == 5 ? Machine::lds_bytes : random_below(12) * static_cast<u32>(sizeof(T));
  });
  for (unsigned r : {4u, 8u})
    for (unsigned l = 0; l < lanes; ++l) {
      // A compare must sometimes succeed.
      T x = value();
      if (random_below(2) == 0)
        std::memcpy(&x, m.group.lds + random_below(12) * sizeof(T), sizeof x);
      const auto bits = std::bit_cast<Bits>(x);
      m.wave.v[r][l] = static_cast<u32>(bits);
      if (sizeof(T) == 8)
        m.wave.v[r + 1][l] = static_cast<u32>(static_cast<u64>(bits) >> 32);
    }
  m.wave.set_exec(exec);
  const Registers before(m.wave);
  Registers after(m.wave);
  Bytes memory(m.group.lds, Machine::lds_bytes);
  for (unsigned l = 0; l < lanes; ++l) {
    if (!active(exec, l))
      continue;
    const u64 at = u64{m.wave.v[1][l]} + 16;
    Bits old{};
    if (at + sizeof(T) <= Machine::lds_bytes) {
      old = memory.get<Bits>(at);
      memory.set(at, c.next(std::bit_cast<T>(old), row_value<T>(before, 4, l),
                            row_value<T>(before, 8, l)));
    }
    if (returns) {
      after.at(false, 12, l) = static_cast<u32>(old);
      if (sizeof(T) == 8)
        after.at(false, 13, l) = static_cast<u32>(static_cast<u64>(old) >> 32);
    }
  }
  std::string name = c.name;
  name.replace(name.find('%'), 1, returns ? "_rtn" : "");
  std::string text = name + " ";
  if (returns)
    text += operand<T>(12) + ", ";
  text += "v1, " + operand<T>(4);
  if (c.two_operands)
    text += ", " + operand<T>(8);
  text += " offset:16";
  run_again(m, text);
  memory.expect(m.group.lds, text);
  after.expect(m.wave, text);
}

template <class T, class Value>
void check_all(const std::vector<Case<T>>& cases, Value value,
               std::uint32_t mode = Machine::default_mode) {
  for (Simd level : levels())
    for (const Case<T>& c : cases)
      for (const bool returns : {true, false})
        if (returns || !c.only_returning)
          for (const u64 exec : exec_patterns())
            check(c, level, returns, exec, value, mode);
}

/// Small numbers, so that inc, dec and compares hit their special cases.
u32 any32() {
  return random_below(2) ? random_below(6) : random32();
}
u64 any64() {
  return random_below(2) ? random_below(6) : random_bits()();
}

TEST(LdsAtomics, Integer32) {
  auto cases = integer_cases<u32, i32>("u32", "i32", "b32");
  cases.push_back(
      {"ds_wrap%_b32", [](u32 o, u32 a, u32 b) { return o >= a ? o - a : o + b; }, true, true});
  check_all(cases, any32);
}

TEST(LdsAtomics, Integer64) {
  auto cases = integer_cases<u64, i64>("u64", "i64", "b64");
  cases.push_back({"ds_condxchg32%_b64",
                   [](u64 o, u64 a, u64) {
                     u64 out = 0;
                     for (const unsigned shift : {0u, 32u}) {
                       const u64 fresh = a >> shift & 0xffffffff, kept = o >> shift & 0xffffffff;
                       out |= (fresh >= 0x80000000 ? fresh - 0x80000000 : kept) << shift;
                     }
                     return out;
                   },
                   false, true});
  check_all(cases, any64);
}

// Floats: finite numbers, zeros of both signs, denormals, infinities. NaN is a test of its own.
template <class T>
T any_float() {
  constexpr T special[] = {T(0),
                           -T(0),
                           std::numeric_limits<T>::denorm_min(),
                           -std::numeric_limits<T>::min() / 2,
                           std::numeric_limits<T>::infinity(),
                           std::numeric_limits<T>::max()};
  if (random_below(3) == 0)
    return special[random_below(6)];
  return static_cast<T>(static_cast<double>(random_bits()() >> 11) * 0x1p-53 - 0.5) * T(8);
}

template <class T>
T flush(T x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(T(0), x) : x;
}

template <class T>
T smaller(T x, T y) { // -0 below +0
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) ? y : x;
  if (x == 0 && y == 0)
    return std::signbit(x) || std::signbit(y) ? -T(0) : T(0);
  return std::min(x, y);
}

template <class T>
std::vector<Case<T>> float_cases(bool flush_in, bool flush_out) {
  const auto in = [=](T x) { return flush_in ? flush(x) : x; };
  const auto out = [=](T x) { return flush_out ? flush(x) : x; };
  const bool single = sizeof(T) == 4;
  return {
      {single ? "ds_add%_f32" : "ds_add%_f64", [=](T o, T a, T) { return out(in(o) + in(a)); }},
      {single ? "ds_min%_f32" : "ds_min%_f64",
       [=](T o, T a, T) { return smaller<T>(in(o), in(a)); }},
      {single ? "ds_max%_f32" : "ds_max%_f64",
       [=](T o, T a, T) { return -smaller<T>(-in(o), -in(a)); }},
      {single ? "ds_cmpst%_f32" : "ds_cmpst%_f64",
       [=](T o, T compare, T fresh) { return in(o) == in(compare) ? fresh : o; }, true},
  };
}

/// Inf - Inf would make NaNs, whose bits are not what these cases are about.
template <class T>
T finite() {
  T x;
  do
    x = any_float<T>();
  while (!std::isfinite(x) || std::abs(x) > T(100));
  return x;
}

TEST(LdsAtomics, Float32FollowsMode) {
  for (u32 field = 0; field < 4; ++field) {
    const u32 mode = (Machine::default_mode & ~0x30u) | field << 4;
    check_all(float_cases<float>(!(field & 1), !(field & 2)), finite<float>, mode);
  }
}

TEST(LdsAtomics, Float64FollowsMode) {
  for (u32 field = 0; field < 4; ++field) {
    const u32 mode = (Machine::default_mode & ~0xc0u) | field << 6;
    check_all(float_cases<double>(!(field & 1), !(field & 2)), finite<double>, mode);
  }
}

TEST(LdsAtomics, MinMaxTakeTheNumber) {
  for (Simd level : levels())
    for (const bool nan_in_memory : {false, true}) {
      Machine m(level);
      const float nan = std::numeric_limits<float>::quiet_NaN();
      const float start = nan_in_memory ? nan : 2.0f, data = nan_in_memory ? 2.0f : nan;
      for (unsigned at : {0u, 4u})
        std::memcpy(m.group.lds + at, &start, 4);
      m.vgpr(2, [&](unsigned) { return std::bit_cast<u32>(data); });
      m.wave.set_exec(1);
      m.run("ds_min_f32 v1, v2\nds_max_f32 v1, v2 offset:4");
      for (unsigned at : {0u, 4u}) {
        float x;
        std::memcpy(&x, m.group.lds + at, 4);
        EXPECT_EQ(x, 2.0f);
      }
    }
}

/// fp16 and bf16 sums by exhaustive neighbours: the nearest code of the exact sum, ties to even.
double half_value(u32 code, bool bf16) {
  if (bf16)
    return static_cast<double>(std::bit_cast<float>(code << 16));
  const int exponent = static_cast<int>(code >> 10 & 31);
  const double mantissa = static_cast<double>(code & 1023);
  const double size =
      exponent == 0 ? mantissa * 0x1p-24 : (1024 + mantissa) * std::ldexp(1.0, exponent - 25);
  return code >> 15 ? -size : size;
}

u32 nearest_half(double x, bool bf16) {
  u32 best = 0;
  double distance = std::numeric_limits<double>::infinity();
  const u32 largest = bf16 ? 0x7f7f : 0x7bff;
  u32 low = 0, high = largest; // codes of one sign grow with their value
  while (high - low > 1) {
    const u32 middle = (low + high) / 2;
    (half_value(middle, bf16) <= std::abs(x) ? low : high) = middle;
  }
  for (const u32 code : {low, high}) {
    const double d = std::abs(half_value(code, bf16) - std::abs(x));
    if (d < distance || (d == distance && code % 2 == 0)) {
      distance = d;
      best = code;
    }
  }
  return std::signbit(x) ? best | 0x8000 : best;
}

TEST(LdsAtomics, PackedSums) {
  for (const bool bf16 : {false, true}) {
    const auto value = [bf16] {
      u32 out = 0;
      for (const unsigned shift : {0u, 16u}) {
        const double x = (static_cast<double>(random_below(1 << 20)) * 0x1p-19 - 1) *
                         std::ldexp(1.0, static_cast<int>(random_below(24)) - 16);
        out |= nearest_half(x, bf16) << shift;
      }
      return out;
    };
    const auto sum = [bf16](u32 x, u32 y) {
      u32 out = 0;
      for (const unsigned shift : {0u, 16u})
        out |=
            nearest_half(
                half_value(x >> shift & 0xffff, bf16) + half_value(y >> shift & 0xffff, bf16), bf16)
            << shift;
      return out;
    };
    check_all<u32>({{bf16 ? "ds_pk_add%_bf16" : "ds_pk_add%_f16",
                     [=](u32 o, u32 a, u32) { return sum(o, a); }}},
                   value);
  }
}

TEST(LdsAtomics, ExchangeTwoPlaces) {
  for (Simd level : levels())
    for (const bool st64 : {false, true})
      for (const unsigned bytes : {4u, 8u})
        for (const auto& [o0, o1] : {std::pair{2u, 11u}, {5u, 5u}})
          for (const u64 exec : exec_patterns()) {
            Machine m(level);
            fill_random(m.wave);
            fill_random(m.group.lds, Machine::lds_bytes);
            m.vgpr(1, [&](unsigned) { return random_below(20) * bytes; });
            m.wave.set_exec(exec);
            Registers after(m.wave);
            Bytes memory(m.group.lds, Machine::lds_bytes);
            const unsigned dwords = bytes / 4, unit = bytes * (st64 ? 64 : 1);
            for (unsigned which = 0; which < 2; ++which)
              for (unsigned l = 0; l < lanes; ++l)
                for (unsigned d = 0; active(exec, l) && d < dwords; ++d) {
                  const std::size_t at = m.wave.v[1][l] + (which ? o1 : o0) * unit + 4 * d;
                  u32& result = after.at(false, 12 + which * dwords + d, l);
                  if (which == 1 && o0 == o1) {
                    result = after.at(false, 12 + d, l);
                    continue;
                  }
                  result = memory.get<u32>(at);
                  memory.set(at, m.wave.v[(which ? 8 : 4) + d][l]);
                }
            const auto tuple = [](unsigned first, unsigned n) {
              return n == 1 ? fmt::format("v{}", first)
                            : fmt::format("v[{}:{}]", first, first + n - 1);
            };
            const std::string text = fmt::format(
                "ds_wrxchg2{}_rtn_b{} {}, v1, {}, {} offset0:{} offset1:{}", st64 ? "st64" : "",
                8 * bytes, tuple(12, 2 * dwords), tuple(4, dwords), tuple(8, dwords), o0, o1);
            run_again(m, text);
            memory.expect(m.group.lds, text);
            after.expect(m.wave, text);
          }
}

TEST(LdsAtomics, AppendAndConsume) {
  for (Simd level : levels())
    for (const u64 exec : exec_patterns()) {
      if (exec == 0)
        continue;
      Machine m(level);
      const u32 start = 1000, count = static_cast<u32>(std::popcount(exec));
      std::memcpy(m.group.lds + 0x108, &start, 4);
      m.wave.s[code_m0] = 0x100;
      m.wave.set_exec(exec);
      m.run("ds_append v3 offset:8\nds_append v4 offset:8\nds_consume v5 offset:8");
      u32 end;
      std::memcpy(&end, m.group.lds + 0x108, 4);
      EXPECT_EQ(end, start + count);
      for (unsigned l = 0; l < lanes; ++l) {
        EXPECT_EQ(m.wave.v[3][l], active(exec, l) ? start : 0);
        EXPECT_EQ(m.wave.v[4][l], active(exec, l) ? start + count : 0);
        EXPECT_EQ(m.wave.v[5][l], active(exec, l) ? start + 2 * count : 0);
      }
    }
}

TEST(LdsAtomicsDeathTest, MisalignedStops) {
  Machine m;
  m.vgpr(1, [](unsigned l) { return l == 3 ? 2u : 0u; });
  EXPECT_EXIT(m.run("ds_add_u32 v1, v2"), testing::ExitedWithCode(70),
              "4-byte atomic of lane 3 at address 0x2");
}

} // namespace
