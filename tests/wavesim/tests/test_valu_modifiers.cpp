// VOP3 modifiers (neg, abs, clamp, omod, op_sel), MODE, register indexing, and the instructions
// that move values between lanes and register files.
#include "tests/reference.hpp"

using namespace wavesim;
using namespace wavesim::test;

namespace {

float flush(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}
double flush(double x) {
  return std::fabs(x) < 0x1p-1022 ? std::copysign(0.0, x) : x;
}
float clamp01(float x) {
  return x != x ? 0 : x > 0 ? (x < 1 ? x : 1) : 0;
}

TEST(VectorModifiers, NegateAndAbsolute) {
  check<float, float, float, float>(
      "v_fma_f32 $d, -$a, |$b|, -|$c|",
      [](float a, float b, float c) { return std::fmaf(-a, std::fabs(b), -std::fabs(c)); });
  check<double, double, double>("v_add_f64 $d, -|$a|, |$b|",
                                [](double a, double b) { return -std::fabs(a) + std::fabs(b); });
  check<float, double>("v_cvt_f32_f64_e64 $d, -$a",
                       [](double a) { return static_cast<float>(-a); });
  check<float, float, i32>("v_ldexp_f32 $d, -$a, $b",
                           [](float a, i32 e) { return std::ldexp(-a, e); });
}

TEST(VectorModifiers, Clamp) {
  check<float, float, float>("v_add_f32_e64 $d, $a, $b clamp",
                             [](float a, float b) { return clamp01(a + b); });
  check<float, float, float>("v_max_f32_e64 $d, $a, $b clamp",
                             [](float a, float b) {
                               return clamp01(a != a ? b : b != b ? a : std::max(a, b));
                             },
                             {.mode = 0x1f0});
  check<double, double, double>("v_mul_f64 $d, $a, $b clamp", [](double a, double b) {
    const double x = a * b;
    return x != x ? 0 : x > 0 ? (x < 1 ? x : 1) : 0;
  });
  // Without DX10_CLAMP a NaN stays one.
  check<float, float, float>("v_add_f32_e64 $d, $a, $b clamp",
                             [](float a, float b) {
                               const float x = a + b;
                               return x != x ? x : clamp01(x);
                             },
                             {.mode = 0x2f0});
}

TEST(VectorModifiers, OutputModifier) {
  // Works with denormals flushed and IEEE off; ignored otherwise.
  const auto scaled = [](float x, float by) { return flush(flush(x) * by + 0.0f); };
  const CheckOptions works{.mode = 0x1c0};
  check<float, float, float>(
      "v_mul_f32_e64 $d, $a, $b mul:2",
      [=](float a, float b) { return scaled(flush(a) * flush(b), 2); }, works);
  check<float, float, float>(
      "v_mul_f32_e64 $d, $a, $b mul:4",
      [=](float a, float b) { return scaled(flush(a) * flush(b), 4); }, works);
  check<float, float, float>(
      "v_mul_f32_e64 $d, $a, $b div:2",
      [=](float a, float b) { return scaled(flush(a) * flush(b), 0.5f); }, works);
  check<float, float, float>(
      "v_mul_f32_e64 $d, $a, $b clamp mul:2",
      [=](float a, float b) { return clamp01(scaled(flush(a) * flush(b), 2)); }, works);
  check<float, float, float>("v_mul_f32_e64 $d, $a, $b mul:2",
                             [](float a, float b) { return a * b; });
  check<float, float, float>("v_mul_f32_e64 $d, $a, $b mul:2",
                             [](float a, float b) { return flush(flush(a) * flush(b)); },
                             {.mode = 0x3c0});
}

TEST(VectorModifiers, DenormalModes) {
  for (const unsigned field : {0u, 1u, 2u, 3u}) {
    const bool in = !(field & 1), out = !(field & 2);
    const auto f = [=](auto x) { return in ? flush(x) : x; };
    const auto g = [=](auto x) { return out ? flush(x) : x; };
    const CheckOptions single{.mode = 0x3c0 | field << 4}, wide{.mode = 0x330 | field << 6};
    check<float, float, float>(
        "v_add_f32 $d, $a, $b", [=](float a, float b) { return g(f(a) + f(b)); }, single);
    check<float, float, float>(
        "v_mul_f32 $d, $a, $b", [=](float a, float b) { return g(f(a) * f(b)); }, single);
    check<float, float, float, float>(
        "v_fma_f32 $d, $a, $b, $c",
        [=](float a, float b, float c) { return g(std::fmaf(f(a), f(b), f(c))); }, single);
    check<double, double, double>(
        "v_add_f64 $d, $a, $b", [=](double a, double b) { return g(f(a) + f(b)); }, wide);
    check<double, double, double>(
        "v_mul_f64 $d, $a, $b", [=](double a, double b) { return g(f(a) * f(b)); }, wide);
    check_mask<float, float>(
        "v_cmp_lt_f32 vcc, $a, $b", [=](float a, float b) { return f(a) < f(b); }, single);
    check<half, half, half>(
        "v_max_f16 $d, $a, $b",
        [=](half a, half b) {
          const auto z = [](half x) {
            return (x.bits & 0x7c00) ? x : half{static_cast<u16>(x.bits & 0x8000)};
          };
          if (in)
            a = z(a), b = z(b);
          half r;
          if (not_a_number(a) && !(a.bits & 512))
            r = half{static_cast<u16>(a.bits | 512)};
          else if (not_a_number(b) && !(b.bits & 512))
            r = half{static_cast<u16>(b.bits | 512)};
          else if (not_a_number(a))
            r = b;
          else if (not_a_number(b))
            r = a;
          else if (to_double(a) == 0 && to_double(b) == 0)
            r = negative(a) ? b : a;
          else
            r = to_double(a) > to_double(b) ? a : b;
          return out ? z(r) : r;
        },
        wide);
  }
}

TEST(VectorModifiers, RoundingModes) {
  // A long double holds the exact sum when the exponents are near; a sum of far ones is the larger
  // operand or its neighbour.
  const auto next = [](float x, int towards) {
    return std::nextafterf(x, towards > 0 ? INFINITY : -INFINITY);
  };
  for (const auto& [mode, direction] : {std::pair{0x3f1u, 1}, {0x3f2u, -1}}) {
    check_with<float, float, float>(
        "v_add_f32 $d, $a, $b",
        [=, d = direction](float got, float a, float b) {
          const float sum = a + b, large = std::fabs(a) > std::fabs(b) ? a : b;
          const float small = std::fabs(a) > std::fabs(b) ? b : a;
          if (sum != sum)
            return got != got;
          if (std::isinf(large))
            return got == sum;
          if (small != 0 && std::ilogb(large) - std::ilogb(small) > 30)
            return got == ((small > 0) == (d > 0) ? next(large, d) : large);
          const long double exact = static_cast<long double>(a) + static_cast<long double>(b);
          if (exact == 0)
            return got == 0;
          return d > 0 ? got >= exact && next(got, -1) < exact
                       : got <= exact && next(got, 1) > exact;
        },
        {.mode = mode});
    check_with<float, float, float>("v_mul_f32 $d, $a, $b",
                                    [=, d = direction](float got, float a, float b) {
                                      const double exact = double{a} * double{b};
                                      if (exact != exact)
                                        return got != got;
                                      if (std::isinf(exact))
                                        return std::isinf(got);
                                      if (exact == 0)
                                        return got == 0;
                                      return d > 0 ? got >= exact && next(got, -1) < exact
                                                   : got <= exact && next(got, 1) > exact;
                                    },
                                    {.mode = mode});
  }
  check_with<float, double>(
      "v_cvt_f32_f64 $d, $a",
      [](float got, double x) {
        if (x != x || std::isinf(x))
          return same(got, static_cast<float>(x));
        return std::fabs(got) <= std::fabs(x) &&
               std::fabs(std::nextafterf(got, std::copysign(INFINITY, static_cast<float>(x)))) >
                   std::fabs(x);
      },
      {.mode = 0x3f3});
  // A rounding mode of the program is not one of the host afterwards.
  EXPECT_EQ(1.0f + 0x1p-30f, 1.0f);
}

TEST(VectorModifiers, HalvesOfRegisters) {
  for (const Simd level : levels())
    for (unsigned sel = 0; sel < 16; ++sel) {
      const auto bit = [sel](unsigned i) { return std::to_string(sel >> i & 1); };
      const std::string text = "v_mad_u16 v3, v0, v1, v2 op_sel:[" + bit(0) + "," + bit(1) + "," +
                               bit(2) + "," + bit(3) + "]";
      SCOPED_TRACE(std::string(name(level)) + ": " + text);
      Machine m(level);
      engine random(sel);
      for (unsigned r = 0; r < 4; ++r)
        m.vgpr(r, [&](unsigned) { return static_cast<u32>(random()); });
      LaneRow old;
      std::copy(std::begin(m.wave.v[3]), std::end(m.wave.v[3]), old);
      m.run(text);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto part = [&](unsigned i) {
          return m.wave.v[i][lane] >> (sel >> i & 1 ? 16 : 0) & 0xffff;
        };
        const u32 r = (part(0) * part(1) + part(2)) & 0xffff;
        ASSERT_EQ(m.wave.v[3][lane],
                  sel & 8 ? r << 16 | (old[lane] & 0xffff) : r | (old[lane] & 0xffff0000));
      }
    }
}

TEST(VectorModifiers, ConstantsByType) {
  Machine m;
  m.run("v_add_f32 v0, 1.0, v10\nv_add_f16 v1, 2.0, v10\nv_add_f64 v[2:3], v[10:11], -4.0\n"
        "v_add_u32 v4, -16, v10\nv_add_u16 v5, -1, v10\nv_lshl_add_u64 v[6:7], -1, 0, v[10:11]\n"
        "v_add_f32 v8, 0x40490fdb, v10\nv_mul_f32 v9, 0.15915494, v12\nv_mov_b32 v13, 64");
  EXPECT_EQ(m.wave.v[0][9], 0x3f800000u);
  EXPECT_EQ(m.wave.v[1][9], 0x4000u);
  EXPECT_EQ(m.f64(2, 9), -4.0);
  EXPECT_EQ(m.wave.v[4][9], 0xfffffff0u);
  EXPECT_EQ(m.wave.v[5][9], 0xffffu);
  EXPECT_EQ(m.u64(6, 9), ~u64{0});
  EXPECT_EQ(m.wave.v[8][9], 0x40490fdbu);
  EXPECT_EQ(m.wave.v[13][9], 64u);
}

TEST(VectorModifiers, ScalarsAsSources) {
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(0, [](unsigned lane) { return lane; });
    m.wave.s[5] = 1000;
    m.wave.set_s64(6, 0x100000005);
    m.wave.s[124] = 50;
    m.wave.set_vcc(77);
    m.wave.scc = 1;
    m.run("v_add_u32 v1, s5, v0\nv_lshl_add_u64 v[2:3], s[6:7], 1, v[8:9]\nv_add_u32 v4, m0, v0\n"
          "v_add_u32 v5, vcc_lo, v0\nv_add_u32 v6, src_scc, v0\nv_add_u32 v7, exec_hi, v0");
    EXPECT_EQ(m.wave.v[1][7], 1007u);
    EXPECT_EQ(m.u64(2, 7), 0x20000000au);
    EXPECT_EQ(m.wave.v[4][7], 57u);
    EXPECT_EQ(m.wave.v[5][7], 84u);
    EXPECT_EQ(m.wave.v[6][7], 8u);
    EXPECT_EQ(m.wave.v[7][7], 6u);
  }
}

TEST(VectorModifiers, OverlappingTuples) {
  // Sources and destination share registers: each lane reads all before it writes.
  for (const Simd level : levels()) {
    Machine m(level);
    engine random(17);
    for (unsigned r = 0; r < 6; ++r)
      m.vgpr(r, [&](unsigned) { return static_cast<u32>(random()); });
    std::array<u64, lanes> a{}, b{};
    for (unsigned lane = 0; lane < lanes; ++lane)
      a[lane] = m.u64(0, lane), b[lane] = m.u64(2, lane);
    m.run("v_lshl_add_u64 v[2:3], v[0:1], 3, v[2:3]\nv_lshlrev_b64 v[0:1], 5, "
          "v[0:1]\nv_mad_u64_u32 v[4:5], vcc, v4, v5, v[4:5]");
    for (unsigned lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(m.u64(2, lane), (a[lane] << 3) + b[lane]);
      EXPECT_EQ(m.u64(0, lane), a[lane] << 5);
    }
  }
}

TEST(VectorModifiers, RegisterIndexing) {
  for (const Simd level : levels()) {
    Machine m(level);
    for (unsigned r = 0; r < 40; ++r)
      m.vgpr(r, [r](unsigned lane) { return 100 * r + lane; });
    m.wave.s[3] = 7;
    m.run("s_set_gpr_idx_on s3, gpr_idx(SRC0)\n"
          "v_mov_b32 v50, v2\n"
          "s_set_gpr_idx_off\n"
          "v_mov_b32 v51, v2\n"
          "s_set_gpr_idx_on s3, gpr_idx(DST)\n"
          "v_mov_b32 v60, v3\n"
          "s_set_gpr_idx_mode gpr_idx(SRC1,DST)\n"
          "v_add_u32 v61, v4, v5\n"
          "s_set_gpr_idx_idx 9\n"
          "v_add_u32 v61, v4, v5\n"
          "v_cmp_eq_u32 vcc, v4, v5\n"
          "s_set_gpr_idx_off\n"
          "s_movk_i32 m0, 0x105\n"
          "v_mov_b32 v52, v6\n");
    EXPECT_EQ(m.wave.v[50][3], 903u);
    EXPECT_EQ(m.wave.v[51][3], 203u);
    EXPECT_EQ(m.wave.v[67][3], 303u);
    EXPECT_EQ(m.wave.v[60][3], 0u);
    EXPECT_EQ(m.wave.v[68][3], 403u + 1203u);
    EXPECT_EQ(m.wave.v[70][3], 403u + 1403u);
    EXPECT_EQ(m.wave.v[52][3], 603u);
    EXPECT_EQ(m.wave.vcc(), 0u);
    // M0 written by other instructions while it is on counts as well; past the file: v0, or no
    // write.
    m.run("s_set_gpr_idx_on 3, gpr_idx(SRC0)\ns_mov_b32 m0, 0x1005\nv_mov_b32 v53, v2\n"
          "s_movk_i32 m0, 0x10ff\nv_mov_b32 v54, v2\nv_readlane_b32 s10, v2, 4\ns_movk_i32 m0, "
          "0x1002\n"
          "v_readlane_b32 s11, v2, 4\nv_readfirstlane_b32 s12, v3\ns_set_gpr_idx_off");
    EXPECT_EQ(m.wave.v[53][1], 701u);
    EXPECT_EQ(m.wave.v[54][1], 1u);
    EXPECT_EQ(m.wave.s[10], 4u);
    EXPECT_EQ(m.wave.s[11], 404u);
    EXPECT_EQ(m.wave.s[12], 500u);
  }
}

TEST(VectorModifiers, BetweenLanes) {
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(0, [](unsigned lane) { return 10 * lane; });
    m.vgpr(1, [](unsigned lane) { return lane; });
    m.wave.s[4] = 37;
    m.wave.s[5] = 0xabc;
    m.wave.set_exec(0xff00);
    m.run("v_readlane_b32 s0, v0, 5\nv_readlane_b32 s1, v0, s4\nv_readfirstlane_b32 s2, v0\n"
          "v_writelane_b32 v1, s5, 63\nv_writelane_b32 v1, -3, s4\nv_swap_b32 v0, v1");
    EXPECT_EQ(m.wave.s[0], 50u);
    EXPECT_EQ(m.wave.s[1], 370u);
    EXPECT_EQ(m.wave.s[2], 80u);
    EXPECT_EQ(m.wave.v[1][63], 0xabcu);
    EXPECT_EQ(m.wave.v[1][37], ~2u);
    EXPECT_EQ(m.wave.v[0][8], 8u);
    EXPECT_EQ(m.wave.v[1][8], 80u);
    EXPECT_EQ(m.wave.v[0][3], 30u);
    m.wave.set_exec(0);
    m.run("v_readfirstlane_b32 s3, v0");
    EXPECT_EQ(m.wave.s[3], 0u);
  }
}

TEST(VectorModifiers, AccumulationRegisters) {
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(1, [](unsigned lane) { return 3 * lane; });
    m.wave.set_exec(0xf0f0f0f0f0f0f0f0);
    m.run("v_accvgpr_write_b32 a5, v1\nv_accvgpr_mov_b32 a7, a5\nv_accvgpr_read_b32 v2, a7\n"
          "v_accvgpr_write_b32 a8, 1.0\nv_nop");
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const bool active = lane % 8 >= 4;
      EXPECT_EQ(m.wave.a[5][lane], active ? 3 * lane : 0u);
      EXPECT_EQ(m.wave.v[2][lane], active ? 3 * lane : 0u);
      EXPECT_EQ(m.wave.a[8][lane], active ? 0x3f800000u : 0u);
    }
  }
}

} // namespace
