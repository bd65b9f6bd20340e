// Integer vector arithmetic against 64- and 128-bit host arithmetic.
#include "tests/reference.hpp"

#include <algorithm>

using namespace wavesim;
using namespace wavesim::test;

namespace {

template <class T>
T clamp_to(i128 x) {
  const i128 low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
  return static_cast<T>(std::clamp(x, low, high));
}
i64 sign_extend(u64 x, unsigned bits) {
  const u64 m = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  const u64 sign = u64{1} << (bits - 1);
  return static_cast<i64>(((x & m) ^ sign) - sign);
}

TEST(VectorInteger, AddAndSubtract) {
  check<u32, u32, u32>("v_add_u32 $d, $a, $b",
                       [](u32 a, u32 b) { return static_cast<u32>(u64{a} + b); });
  check<u32, u32, u32>("v_sub_u32 $d, $a, $b",
                       [](u32 a, u32 b) { return static_cast<u32>(u64{a} - b); });
  check<u32, u32, u32>("v_subrev_u32 $d, $a, $b",
                       [](u32 a, u32 b) { return static_cast<u32>(u64{b} - a); });
  check<i32, i32, i32>("v_add_i32 $d, $a, $b",
                       [](i32 a, i32 b) { return static_cast<i32>(i64{a} + b); });
  check<i32, i32, i32>("v_sub_i32 $d, $a, $b",
                       [](i32 a, i32 b) { return static_cast<i32>(i64{a} - b); });
  check<u32, u32, u32, u32>("v_add3_u32 $d, $a, $b, $c",
                            [](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{a} + b + c); });
  check<u32, u32, u32, u32>("v_lshl_add_u32 $d, $a, $b, $c", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>((u64{a} << (b % 32)) + c);
  });
  check<u32, u32, u32, u32>("v_add_lshl_u32 $d, $a, $b, $c", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>(u64{static_cast<u32>(u64{a} + b)} << (c % 32));
  });
  check<u32, u32, u32, u32>("v_xad_u32 $d, $a, $b, $c",
                            [](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{a ^ b} + c); });
  for (unsigned shift = 0; shift <= 4; ++shift)
    check<u64, u64, u64>(
        "v_lshl_add_u64 $d, $a, " + std::to_string(shift) + ", $b", [=](u64 a, u64 b) {
          return static_cast<u64>(static_cast<unsigned __int128>(a) * (1u << shift) + b);
        });
}

TEST(VectorInteger, Saturation) {
  check<u32, u32, u32>("v_add_u32 $d, $a, $b clamp",
                       [](u32 a, u32 b) { return clamp_to<u32>(i128{a} + b); });
  check<u32, u32, u32>("v_sub_u32 $d, $a, $b clamp",
                       [](u32 a, u32 b) { return clamp_to<u32>(i128{a} - b); });
  check<u32, u32, u32>("v_subrev_u32 $d, $a, $b clamp",
                       [](u32 a, u32 b) { return clamp_to<u32>(i128{b} - a); });
  check<i32, i32, i32>("v_add_i32 $d, $a, $b clamp",
                       [](i32 a, i32 b) { return clamp_to<i32>(i128{a} + b); });
  check<i32, i32, i32>("v_sub_i32 $d, $a, $b clamp",
                       [](i32 a, i32 b) { return clamp_to<i32>(i128{a} - b); });
  check<u16, u16, u16>("v_add_u16 $d, $a, $b clamp",
                       [](u16 a, u16 b) { return clamp_to<u16>(i128{a} + b); });
  check<u16, u16, u16>("v_sub_u16 $d, $a, $b clamp",
                       [](u16 a, u16 b) { return clamp_to<u16>(i128{a} - b); });
  check<i16, i16, i16>("v_add_i16 $d, $a, $b clamp",
                       [](i16 a, i16 b) { return clamp_to<i16>(i128{a} + b); },
                       {.upper = Upper::kept});
  check<i16, i16, i16>("v_sub_i16 $d, $a, $b clamp",
                       [](i16 a, i16 b) { return clamp_to<i16>(i128{a} - b); },
                       {.upper = Upper::kept});
  check<u16, u16, u16, u16>("v_mad_u16 $d, $a, $b, $c clamp",
                            [](u16 a, u16 b, u16 c) { return clamp_to<u16>(i128{a} * b + c); },
                            {.upper = Upper::kept});
  check<i16, i16, i16, i16>("v_mad_i16 $d, $a, $b, $c clamp",
                            [](i16 a, i16 b, i16 c) { return clamp_to<i16>(i128{a} * b + c); },
                            {.upper = Upper::kept});
  check<u32, u32, u32, u32>("v_mad_u32_u24 $d, $a, $b, $c clamp", [](u32 a, u32 b, u32 c) {
    return clamp_to<u32>(i128{a % (1u << 24)} * (b % (1u << 24)) + c);
  });
  check<i32, u32, u32, i32>("v_mad_i32_i24 $d, $a, $b, $c clamp", [](u32 a, u32 b, i32 c) {
    return clamp_to<i32>(i128{sign_extend(a, 24)} * sign_extend(b, 24) + c);
  });
}

/// VCC out against the 33rd bit; the value against the low 32.
template <class F>
void check_carry(const std::string& text, F wide, bool carry_in) {
  for (const Simd level : levels()) {
    SCOPED_TRACE(std::string(name(level)) + ": " + text);
    Machine m(level);
    const Program program(text, level);
    engine random(3);
    const auto tuples = operand_tuples<u32, u32>();
    for (std::size_t base = 0; base < tuples.size(); base += lanes) {
      const u64 exec = base / lanes % 2 ? random() : ~u64{0}, in = random();
      m.wave.set_exec(exec);
      m.wave.set_vcc(in);
      m.wave.set_s64(20, in);
      u64 carry = 0;
      std::array<u32, lanes> want{};
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto [a, b] = tuples[std::min(base + lane, tuples.size() - 1)];
        put(m, 0, lane, a);
        put(m, 2, lane, b);
        m.wave.v[10][lane] = 0x77777777;
        const i64 r = wide(a, b, carry_in ? in >> lane & 1 : 0);
        want[lane] = exec >> lane & 1 ? static_cast<u32>(r) : 0x77777777;
        if (r < 0 || r >> 32)
          carry |= u64{1} << lane;
      }
      m.run(program);
      ASSERT_EQ(m.wave.vcc(), carry & exec);
      for (unsigned lane = 0; lane < lanes; ++lane)
        ASSERT_EQ(m.wave.v[10][lane], want[lane]) << lane;
    }
  }
}

TEST(VectorInteger, Carry) {
  const auto add = [](u32 a, u32 b, u64 c) { return i64{a} + b + static_cast<i64>(c); };
  const auto subtract = [](u32 a, u32 b, u64 c) { return i64{a} - b - static_cast<i64>(c); };
  const auto reverse = [](u32 a, u32 b, u64 c) { return i64{b} - a - static_cast<i64>(c); };
  check_carry("v_add_co_u32 v10, vcc, v0, v2", add, false);
  check_carry("v_sub_co_u32 v10, vcc, v0, v2", subtract, false);
  check_carry("v_subrev_co_u32 v10, vcc, v0, v2", reverse, false);
  check_carry("v_addc_co_u32 v10, vcc, v0, v2, vcc", add, true);
  check_carry("v_subb_co_u32 v10, vcc, v0, v2, vcc", subtract, true);
  check_carry("v_subbrev_co_u32 v10, vcc, v0, v2, vcc", reverse, true);
  check_carry("v_addc_co_u32_e64 v10, vcc, v0, v2, s[20:21]", add, true);
  check_carry("v_subb_co_u32_e64 v10, vcc, v0, v2, s[20:21]", subtract, true);
}

TEST(VectorInteger, CarryToScalarPair) {
  Machine m;
  m.vgpr(0, [](unsigned lane) { return lane % 3 ? ~0u : 0u; });
  m.wave.set_vcc(5);
  m.run("v_add_co_u32_e64 v1, s[8:9], v0, 1");
  EXPECT_EQ(m.wave.vcc(), 5u);
  for (unsigned lane = 0; lane < lanes; ++lane)
    EXPECT_EQ(m.wave.s64(8) >> lane & 1, lane % 3 != 0) << lane;
}

TEST(VectorInteger, Multiply) {
  check<u32, u32, u32>("v_mul_lo_u32 $d, $a, $b",
                       [](u32 a, u32 b) { return static_cast<u32>(u64{a} * b); });
  check<u32, u32, u32>("v_mul_hi_u32 $d, $a, $b",
                       [](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); });
  check<i32, i32, i32>("v_mul_hi_i32 $d, $a, $b",
                       [](i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); });
  const auto u24 = [](u32 x) { return u64{x % (1u << 24)}; };
  const auto s24 = [](u32 x) { return sign_extend(x, 24); };
  check<u32, u32, u32>("v_mul_u32_u24 $d, $a, $b",
                       [=](u32 a, u32 b) { return static_cast<u32>(u24(a) * u24(b)); });
  check<u32, u32, u32>("v_mul_hi_u32_u24 $d, $a, $b",
                       [=](u32 a, u32 b) { return static_cast<u32>(u24(a) * u24(b) >> 32); });
  check<i32, u32, u32>("v_mul_i32_i24 $d, $a, $b",
                       [=](u32 a, u32 b) { return static_cast<i32>(s24(a) * s24(b)); });
  check<i32, u32, u32>("v_mul_hi_i32_i24 $d, $a, $b",
                       [=](u32 a, u32 b) { return static_cast<i32>(s24(a) * s24(b) >> 32); });
  check<u32, u32, u32, u32>("v_mad_u32_u24 $d, $a, $b, $c", [=](u32 a, u32 b, u32 c) {
    return static_cast<u32>(u24(a) * u24(b) + c);
  });
  check<i32, u32, u32, i32>("v_mad_i32_i24 $d, $a, $b, $c", [=](u32 a, u32 b, i32 c) {
    return static_cast<i32>(s24(a) * s24(b) + c);
  });
  check<u32, u16, u16, u32>("v_mad_u32_u16 $d, $a, $b, $c",
                            [](u16 a, u16 b, u32 c) { return static_cast<u32>(u64{a} * b + c); });
  check<i32, i16, i16, i32>("v_mad_i32_i16 $d, $a, $b, $c",
                            [](i16 a, i16 b, i32 c) { return static_cast<i32>(i64{a} * b + c); });
  check<u64, u32, u32, u64>("v_mad_u64_u32 $d, vcc, $a, $b, $c", [](u32 a, u32 b, u64 c) {
    return static_cast<u64>(i128{a} * b + static_cast<i128>(c));
  });
  check<i64, i32, i32, i64>("v_mad_i64_i32 $d, vcc, $a, $b, $c",
                            [](i32 a, i32 b, i64 c) { return static_cast<i64>(i128{a} * b + c); });
  check_mask<u32, u32, u64>("v_mad_u64_u32 v[10:11], vcc, $a, $b, $c", [](u32 a, u32 b, u64 c) {
    return (i128{a} * b + static_cast<i128>(c)) >> 64 != 0;
  });
  check_mask<i32, i32, i64>("v_mad_i64_i32 v[10:11], vcc, $a, $b, $c",
                            [](i32 a, i32 b, i64 c) { return i128{a} * b + c < 0; });
}

TEST(VectorInteger, MinMaxMedian) {
  check<i32, i32, i32>("v_min_i32 $d, $a, $b", [](i32 a, i32 b) { return std::min(a, b); });
  check<i32, i32, i32>("v_max_i32 $d, $a, $b", [](i32 a, i32 b) { return std::max(a, b); });
  check<u32, u32, u32>("v_min_u32 $d, $a, $b", [](u32 a, u32 b) { return std::min(a, b); });
  check<u32, u32, u32>("v_max_u32 $d, $a, $b", [](u32 a, u32 b) { return std::max(a, b); });
  const auto sorted = [](auto a, auto b, auto c) {
    std::array<decltype(a), 3> x{a, b, c};
    std::sort(x.begin(), x.end());
    return x;
  };
  check<i32, i32, i32, i32>("v_min3_i32 $d, $a, $b, $c",
                            [=](i32 a, i32 b, i32 c) { return sorted(a, b, c)[0]; });
  check<i32, i32, i32, i32>("v_med3_i32 $d, $a, $b, $c",
                            [=](i32 a, i32 b, i32 c) { return sorted(a, b, c)[1]; });
  check<i32, i32, i32, i32>("v_max3_i32 $d, $a, $b, $c",
                            [=](i32 a, i32 b, i32 c) { return sorted(a, b, c)[2]; });
  check<u32, u32, u32, u32>("v_min3_u32 $d, $a, $b, $c",
                            [=](u32 a, u32 b, u32 c) { return sorted(a, b, c)[0]; });
  check<u32, u32, u32, u32>("v_med3_u32 $d, $a, $b, $c",
                            [=](u32 a, u32 b, u32 c) { return sorted(a, b, c)[1]; });
  check<u32, u32, u32, u32>("v_max3_u32 $d, $a, $b, $c",
                            [=](u32 a, u32 b, u32 c) { return sorted(a, b, c)[2]; });
  const CheckOptions kept{.upper = Upper::kept};
  check<i16, i16, i16>("v_min_i16 $d, $a, $b", [](i16 a, i16 b) { return std::min(a, b); });
  check<i16, i16, i16>("v_max_i16 $d, $a, $b", [](i16 a, i16 b) { return std::max(a, b); });
  check<u16, u16, u16>("v_min_u16 $d, $a, $b", [](u16 a, u16 b) { return std::min(a, b); });
  check<u16, u16, u16>("v_max_u16 $d, $a, $b", [](u16 a, u16 b) { return std::max(a, b); });
  check<i16, i16, i16, i16>(
      "v_min3_i16 $d, $a, $b, $c", [=](i16 a, i16 b, i16 c) { return sorted(a, b, c)[0]; }, kept);
  check<i16, i16, i16, i16>(
      "v_med3_i16 $d, $a, $b, $c", [=](i16 a, i16 b, i16 c) { return sorted(a, b, c)[1]; }, kept);
  check<i16, i16, i16, i16>(
      "v_max3_i16 $d, $a, $b, $c", [=](i16 a, i16 b, i16 c) { return sorted(a, b, c)[2]; }, kept);
  check<u16, u16, u16, u16>(
      "v_min3_u16 $d, $a, $b, $c", [=](u16 a, u16 b, u16 c) { return sorted(a, b, c)[0]; }, kept);
  check<u16, u16, u16, u16>(
      "v_med3_u16 $d, $a, $b, $c", [=](u16 a, u16 b, u16 c) { return sorted(a, b, c)[1]; }, kept);
  check<u16, u16, u16, u16>(
      "v_max3_u16 $d, $a, $b, $c", [=](u16 a, u16 b, u16 c) { return sorted(a, b, c)[2]; }, kept);
}

TEST(VectorInteger, Halfwords) {
  check<u16, u16, u16>("v_add_u16 $d, $a, $b",
                       [](u16 a, u16 b) { return static_cast<u16>(a + b); });
  check<u16, u16, u16>("v_sub_u16 $d, $a, $b",
                       [](u16 a, u16 b) { return static_cast<u16>(a - b); });
  check<u16, u16, u16>("v_subrev_u16 $d, $a, $b",
                       [](u16 a, u16 b) { return static_cast<u16>(b - a); });
  check<u16, u16, u16>("v_mul_lo_u16 $d, $a, $b",
                       [](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); });
  check<u16, u16, u16>("v_lshlrev_b16 $d, $a, $b",
                       [](u16 a, u16 b) { return static_cast<u16>(b << (a % 16)); });
  check<u16, u16, u16>("v_lshrrev_b16 $d, $a, $b",
                       [](u16 a, u16 b) { return static_cast<u16>(b >> (a % 16)); });
  check<i16, u16, i16>("v_ashrrev_i16 $d, $a, $b",
                       [](u16 a, i16 b) { return static_cast<i16>(b >> (a % 16)); });
  const CheckOptions kept{.upper = Upper::kept};
  check<u16, u16, u16, u16>(
      "v_mad_u16 $d, $a, $b, $c",
      [](u16 a, u16 b, u16 c) { return static_cast<u16>(u64{a} * b + c); }, kept);
  check<i16, i16, i16, i16>(
      "v_mad_i16 $d, $a, $b, $c",
      [](i16 a, i16 b, i16 c) { return static_cast<i16>(i64{a} * b + c); }, kept);
  check<u16, u16, u16, u16>("v_mad_legacy_u16 $d, $a, $b, $c",
                            [](u16 a, u16 b, u16 c) { return static_cast<u16>(u64{a} * b + c); });
  check<i16, i16, i16, i16>("v_mad_legacy_i16 $d, $a, $b, $c",
                            [](i16 a, i16 b, i16 c) { return static_cast<i16>(i64{a} * b + c); });
  check<u16, u32>("v_sat_pk_u8_i16 $d, $a", [](u32 a) {
    const auto limit = [](i64 x) { return static_cast<unsigned>(std::clamp<i64>(x, 0, 255)); };
    return static_cast<u16>(limit(sign_extend(a, 16)) | limit(sign_extend(a >> 16, 16)) << 8);
  });
}

TEST(VectorInteger, LogicAndShifts) {
  check<u32, u32, u32>("v_and_b32 $d, $a, $b", [](u32 a, u32 b) { return a & b; });
  check<u32, u32, u32>("v_or_b32 $d, $a, $b", [](u32 a, u32 b) { return a | b; });
  check<u32, u32, u32>("v_xor_b32 $d, $a, $b", [](u32 a, u32 b) { return a ^ b; });
  check<u32, u32, u32>("v_xnor_b32 $d, $a, $b", [](u32 a, u32 b) { return ~(a ^ b); });
  check<u32, u32>("v_not_b32 $d, $a", [](u32 a) { return ~a; });
  check<u32, u32>("v_mov_b32 $d, $a", [](u32 a) { return a; });
  check<u64, u64>("v_mov_b64 $d, $a", [](u64 a) { return a; });
  check<u32, u32, u32, u32>("v_and_or_b32 $d, $a, $b, $c",
                            [](u32 a, u32 b, u32 c) { return (a & b) | c; });
  check<u32, u32, u32, u32>("v_or3_b32 $d, $a, $b, $c",
                            [](u32 a, u32 b, u32 c) { return a | b | c; });
  check<u32, u32, u32, u32>("v_lshl_or_b32 $d, $a, $b, $c",
                            [](u32 a, u32 b, u32 c) { return a << (b % 32) | c; });
  check<u32, u32, u32, u32>("v_bfi_b32 $d, $a, $b, $c", [](u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (unsigned i = 0; i < 32; ++i)
      r |= ((a >> i & 1 ? b : c) >> i & 1) << i;
    return r;
  });
  check<u32, u32, u32>("v_lshlrev_b32 $d, $a, $b", [](u32 a, u32 b) { return b << (a % 32); });
  check<u32, u32, u32>("v_lshrrev_b32 $d, $a, $b", [](u32 a, u32 b) { return b >> (a % 32); });
  check<i32, u32, i32>("v_ashrrev_i32 $d, $a, $b", [](u32 a, i32 b) {
    return static_cast<i32>(std::floor(b / std::exp2(a % 32)));
  });
  check<u64, u32, u64>("v_lshlrev_b64 $d, $a, $b", [](u32 a, u64 b) { return b << (a % 64); });
  check<u64, u32, u64>("v_lshrrev_b64 $d, $a, $b", [](u32 a, u64 b) { return b >> (a % 64); });
  check<i64, u32, i64>("v_ashrrev_i64 $d, $a, $b",
                       [](u32 a, i64 b) { return static_cast<i64>(i128{b} >> (a % 64)); });
  check<u32, u32, u32, u32>("v_alignbit_b32 $d, $a, $b, $c", [](u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned at = i + c % 32;
      r |= (at < 32 ? b >> at & 1 : a >> (at - 32) & 1) << i;
    }
    return r;
  });
  check<u32, u32, u32, u32>("v_alignbyte_b32 $d, $a, $b, $c", [](u32 a, u32 b, u32 c) {
    return static_cast<u32>((static_cast<unsigned __int128>(a) << 32 | b) >> (c % 4 * 8));
  });
}

TEST(VectorInteger, FieldsAndCounts) {
  check<u32, u32, u32, u32>("v_bfe_u32 $d, $a, $b, $c", [](u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (unsigned i = 0; i < c % 32; ++i)
      if (i + b % 32 < 32)
        r |= (a >> (i + b % 32) & 1) << i;
    return r;
  });
  check<u32, u32, u32, u32>("v_bfe_i32 $d, $a, $b, $c", [](u32 a, u32 b, u32 c) {
    if (c % 32 == 0)
      return u32{0};
    u32 r = 0;
    for (unsigned i = 0; i < 32; ++i) {
      const unsigned from =
          std::min(std::min(i, c % 32 - 1) + b % 32, 31u); // past the top: the sign
      r |= (a >> from & 1) << i;
    }
    return r;
  });
  check<u32, u32, u32>("v_bfm_b32 $d, $a, $b", [](u32 a, u32 b) {
    return static_cast<u32>(((u64{1} << (a % 32)) - 1) << (b % 32));
  });
  check<u32, u32>("v_bfrev_b32 $d, $a", [](u32 a) {
    u32 r = 0;
    for (unsigned i = 0; i < 32; ++i)
      r |= (a >> i & 1) << (31 - i);
    return r;
  });
  check<u32, u32>("v_ffbh_u32 $d, $a", [](u32 a) {
    for (unsigned i = 0; i < 32; ++i)
      if (a >> (31 - i) & 1)
        return i;
    return ~0u;
  });
  check<u32, u32>("v_ffbl_b32 $d, $a", [](u32 a) {
    for (unsigned i = 0; i < 32; ++i)
      if (a >> i & 1)
        return i;
    return ~0u;
  });
  check<u32, u32>("v_ffbh_i32 $d, $a", [](u32 a) {
    for (unsigned i = 1; i < 32; ++i)
      if ((a >> (31 - i) & 1) != a >> 31)
        return i;
    return ~0u;
  });
  check<u32, u32, u32>("v_bcnt_u32_b32 $d, $a, $b", [](u32 a, u32 b) {
    for (unsigned i = 0; i < 32; ++i)
      b += a >> i & 1;
    return b;
  });
  check<u32, u32, u32, u32>("v_perm_b32 $d, $a, $b, $c", [](u32 a, u32 b, u32 c) {
    const u32 bytes[8] = {b & 255, b >> 8 & 255, b >> 16 & 255, b >> 24,
                          a & 255, a >> 8 & 255, a >> 16 & 255, a >> 24};
    u32 r = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const u32 s = c >> 8 * i & 255;
      u32 x;
      if (s >= 13)
        x = 255;
      else if (s == 12)
        x = 0;
      else if (s >= 8)
        x = bytes[2 * (s - 8) + 1] & 128 ? 255 : 0;
      else
        x = bytes[s];
      r |= x << 8 * i;
    }
    return r;
  });
}

TEST(VectorInteger, PermuteSelectors) {
  Machine m;
  m.vgpr(2, [](unsigned lane) { return lane % 16 * 0x01010101u; });
  m.vgpr(0, [](unsigned) { return 0x80818283u; });
  m.vgpr(1, [](unsigned) { return 0x04f506f7u; });
  m.run("v_perm_b32 v3, v0, v1, v2");
  const u32 want[16] = {0xf7, 0x06, 0xf5, 0x04, 0x83, 0x82, 0x81, 0x80,
                        0,    0,    0xff, 0xff, 0,    0xff, 0xff, 0xff};
  for (unsigned i = 0; i < 16; ++i)
    EXPECT_EQ(m.wave.v[3][i], want[i] * 0x01010101u) << i;
}

TEST(VectorInteger, CountBelowLane) {
  for (const Simd level : levels()) {
    Machine m(level);
    engine random(8);
    for (int i = 0; i < 50; ++i) {
      const u64 mask = random();
      m.wave.set_s64(4, mask);
      m.run("v_mbcnt_lo_u32_b32 v0, s4, 7\nv_mbcnt_hi_u32_b32 v0, s5, v0");
      for (unsigned lane = 0; lane < lanes; ++lane) {
        u32 below = 7;
        for (unsigned j = 0; j < lane; ++j)
          below += mask >> j & 1;
        ASSERT_EQ(m.wave.v[0][lane], below) << lane;
      }
    }
  }
}

TEST(VectorInteger, AbsoluteDifferences) {
  const auto distance = [](u32 a, u32 b) { return static_cast<u32>(std::abs(i64{a} - i64{b})); };
  const auto bytes = [=](u32 a, u32 b, bool masked) {
    u32 sum = 0;
    for (unsigned i = 0; i < 32; i += 8)
      if (!masked || (b >> i & 255))
        sum += distance(a >> i & 255, b >> i & 255);
    return sum;
  };
  check<u32, u32, u32, u32>("v_sad_u8 $d, $a, $b, $c",
                            [=](u32 a, u32 b, u32 c) { return bytes(a, b, false) + c; });
  check<u32, u32, u32, u32>("v_sad_hi_u8 $d, $a, $b, $c",
                            [=](u32 a, u32 b, u32 c) { return (bytes(a, b, false) << 16) + c; });
  check<u32, u32, u32, u32>("v_sad_u16 $d, $a, $b, $c", [=](u32 a, u32 b, u32 c) {
    return distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16) + c;
  });
  check<u32, u32, u32, u32>("v_sad_u32 $d, $a, $b, $c",
                            [=](u32 a, u32 b, u32 c) { return distance(a, b) + c; });
  check<u32, u32, u32, u32>("v_msad_u8 $d, $a, $b, $c",
                            [=](u32 a, u32 b, u32 c) { return bytes(a, b, true) + c; });
  const auto sliding = [=](u64 a, u32 b, u64 c, bool masked) {
    u64 r = 0;
    for (unsigned i = 0; i < 4; ++i)
      r |= u64{(bytes(static_cast<u32>(a >> 8 * i), b, masked) + (c >> 16 * i & 0xffff)) & 0xffff}
           << 16 * i;
    return r;
  };
  // The destination may not overlap the sources of these.
  check<u64, u64, u32, u64>("v_qsad_pk_u16_u8 $d, $a, $b, $c",
                            [=](u64 a, u32 b, u64 c) { return sliding(a, b, c, false); });
  check<u64, u64, u32, u64>("v_mqsad_pk_u16_u8 $d, $a, $b, $c",
                            [=](u64 a, u32 b, u64 c) { return sliding(a, b, c, true); });
  check<u32, u32, u32, u32>("v_lerp_u8 $d, $a, $b, $c", [](u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (unsigned i = 0; i < 32; i += 8)
      r |= (((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) / 2) << i;
    return r;
  });
  Machine m;
  m.vgpr(0, [](unsigned lane) { return 0x04030201u + lane; });
  m.vgpr(1, [](unsigned lane) { return 0x08070605u * lane; });
  m.vgpr(2, [](unsigned lane) { return lane * 0x00010203u; });
  for (unsigned i = 0; i < 4; ++i)
    m.vgpr(4 + i, [i](unsigned lane) { return 100 * i + lane; });
  m.run("v_mqsad_u32_u8 v[8:11], v[0:1], v2, v[4:7]");
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      ASSERT_EQ(m.wave.v[8 + i][lane],
                bytes(static_cast<u32>(m.u64(0, lane) >> 8 * i), m.wave.v[2][lane], true) +
                    100 * i + lane);
}

TEST(VectorInteger, DotProductsThatAccumulate) {
  const CheckOptions accumulates{.accumulates = true};
  const auto dot = [](u32 a, u32 b, unsigned bits) {
    i64 sum = 0;
    for (unsigned i = 0; i < 32; i += bits)
      sum += sign_extend(a >> i, bits) * sign_extend(b >> i, bits);
    return sum;
  };
  check<i32, u32, u32, i32>(
      "v_dot2c_i32_i16 $d, $a, $b",
      [=](u32 a, u32 b, i32 c) { return static_cast<i32>(dot(a, b, 16) + c); }, accumulates);
  check<i32, u32, u32, i32>(
      "v_dot4c_i32_i8 $d, $a, $b",
      [=](u32 a, u32 b, i32 c) { return static_cast<i32>(dot(a, b, 8) + c); }, accumulates);
  check<i32, u32, u32, i32>(
      "v_dot8c_i32_i4 $d, $a, $b",
      [=](u32 a, u32 b, i32 c) { return static_cast<i32>(dot(a, b, 4) + c); }, accumulates);
}

TEST(VectorInteger, Select) {
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(0, [](unsigned lane) { return 100 + lane; });
    m.vgpr(1, [](unsigned lane) { return 200 + lane; });
    m.wave.set_vcc(0x0123456789abcdef);
    m.wave.set_s64(6, 0xfedcba9876543210);
    m.run("v_cndmask_b32 v2, v0, v1, vcc\nv_cndmask_b32_e64 v3, v0, v1, s[6:7]\n"
          "v_cndmask_b32_e64 v4, -v0, |v1|, s[6:7]");
    for (unsigned lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(m.wave.v[2][lane], (m.wave.vcc() >> lane & 1 ? 200 : 100) + lane);
      EXPECT_EQ(m.wave.v[3][lane], (m.wave.s64(6) >> lane & 1 ? 200 : 100) + lane);
      EXPECT_EQ(m.wave.v[4][lane],
                m.wave.s64(6) >> lane & 1 ? 200 + lane : (100 + lane) ^ 0x80000000);
    }
  }
}

} // namespace
