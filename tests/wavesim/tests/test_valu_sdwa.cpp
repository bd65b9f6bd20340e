// SDWA: all source selections with sign extension and float modifiers, all destination selections
// with the three ways to treat the rest, scalar operands, clamp.
#include "tests/reference.hpp"

using namespace wavesim;
using namespace wavesim::test;

namespace {

constexpr const char* selections[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                      "WORD_0", "WORD_1", "DWORD"};

u32 selected(u32 x, unsigned s, bool sext) {
  const unsigned bits = s < 4 ? 8 : s < 6 ? 16 : 32, shift = s < 4 ? 8 * s : s == 5 ? 16 : 0;
  const u64 field = (u64{x} >> shift) & ((u64{1} << bits) - 1);
  if (sext && field >> (bits - 1))
    return static_cast<u32>(field - (u64{1} << bits));
  return static_cast<u32>(field);
}

u32 placed(u32 result, u32 old, unsigned s, unsigned unused) {
  const unsigned bits = s < 4 ? 8 : s < 6 ? 16 : 32, shift = s < 4 ? 8 * s : s == 5 ? 16 : 0;
  u32 r = 0;
  for (unsigned i = 0; i < 32; ++i) {
    const bool inside = i >= shift && i < shift + bits;
    const u32 sign = result >> (bits - 1) & 1;
    const u32 bit = inside                             ? result >> (i - shift) & 1
                    : unused == 2                      ? old >> i & 1
                    : unused == 1 && i >= shift + bits ? sign
                                                       : 0;
    r |= bit << i;
  }
  return r;
}

TEST(VectorSdwa, SourceSelections) {
  for (const Simd level : levels())
    for (unsigned s0 = 0; s0 < 7; ++s0)
      for (unsigned s1 = 0; s1 < 7; ++s1)
        for (const bool sext : {false, true}) {
          const std::string a = sext ? "sext(v0)" : "v0";
          const std::string text =
              "v_add_u32_sdwa v2, " + a +
              ", v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:" + selections[s0] +
              " src1_sel:" + selections[s1];
          SCOPED_TRACE(std::string(name(level)) + ": " + text);
          Machine m(level);
          engine random(s0 * 7 + s1);
          m.vgpr(0, [&](unsigned) { return static_cast<u32>(random()); });
          m.vgpr(1, [&](unsigned) { return static_cast<u32>(random()); });
          m.run(text);
          for (unsigned lane = 0; lane < lanes; ++lane)
            ASSERT_EQ(m.wave.v[2][lane], selected(m.wave.v[0][lane], s0, sext) +
                                             selected(m.wave.v[1][lane], s1, false));
        }
}

TEST(VectorSdwa, DestinationSelections) {
  constexpr const char* rests[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};
  for (const Simd level : levels())
    for (unsigned d = 0; d < 7; ++d)
      for (unsigned unused = 0; unused < 3; ++unused) {
        const std::string text = std::string("v_lshlrev_b32_sdwa v2, v0, v1 dst_sel:") +
                                 selections[d] + " dst_unused:" + rests[unused] +
                                 " src0_sel:BYTE_2 src1_sel:WORD_1";
        SCOPED_TRACE(std::string(name(level)) + ": " + text);
        Machine m(level);
        engine random(d);
        const u64 exec = random();
        for (unsigned r = 0; r < 3; ++r)
          m.vgpr(r, [&](unsigned) { return static_cast<u32>(random()); });
        LaneRow old;
        std::copy(std::begin(m.wave.v[2]), std::end(m.wave.v[2]), old);
        m.wave.set_exec(exec);
        m.run(text);
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const u32 r = (m.wave.v[1][lane] >> 16) << ((m.wave.v[0][lane] >> 16 & 255) % 32);
          ASSERT_EQ(m.wave.v[2][lane],
                    exec >> lane & 1 ? placed(r, old[lane], d, unused) : old[lane])
              << lane;
        }
      }
}

TEST(VectorSdwa, HalvesWithModifiers) {
  for (const Simd level : levels()) {
    Machine m(level);
    engine random(6);
    m.vgpr(0, [&](unsigned) { return static_cast<u32>(random()) & 0xbfffbfff; });
    m.vgpr(1, [&](unsigned) { return static_cast<u32>(random()) & 0xbfffbfff; });
    m.vgpr(2, [](unsigned) { return 0x12345678u; });
    m.wave.s[7] = 0x40003c00;
    m.run("v_add_f16_sdwa v2, -|v0|, v1 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 "
          "src1_sel:WORD_0\n"
          "v_mul_f16_sdwa v3, v0, s7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 "
          "src1_sel:WORD_1\n"
          "v_max_f16_sdwa v4, v0, v1 clamp dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 "
          "src1_sel:WORD_0");
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const half a1{static_cast<u16>(m.wave.v[0][lane] >> 16)},
          a0{static_cast<u16>(m.wave.v[0][lane])};
      const half b0{static_cast<u16>(m.wave.v[1][lane])};
      // Finite halves below 2: sums and products are exact in double.
      const double sum = -std::fabs(to_double(a1)) + to_double(b0);
      const half want = test::to_half(static_cast<i128>(std::ldexp(sum, 60)), 60, Round::nearest);
      ASSERT_EQ(m.wave.v[2][lane], 0x5678u | u32{want.bits} << 16);
      const double twice = 2 * to_double(a0);
      ASSERT_EQ(m.wave.v[3][lane], test::to_half(static_cast<i128>(std::ldexp(twice, 60)), 60,
                                                 Round::nearest, negative(a0))
                                       .bits);
      const double larger = std::max(to_double(a0), to_double(b0));
      const double limited = std::fmin(1, std::fmax(0, larger));
      ASSERT_EQ(m.wave.v[4][lane],
                test::to_half(static_cast<i128>(std::ldexp(limited, 60)), 60, Round::nearest).bits);
    }
  }
}

TEST(VectorSdwa, CompareToScalarPair) {
  for (const Simd level : levels()) {
    Machine m(level);
    engine random(12);
    m.vgpr(0, [&](unsigned) { return static_cast<u32>(random()); });
    m.vgpr(1, [&](unsigned) { return static_cast<u32>(random()); });
    m.wave.s[9] = 0x80;
    m.run("v_cmp_lt_i16_sdwa s[4:5], v0, v1 src0_sel:WORD_1 src1_sel:BYTE_0\n"
          "v_cmp_gt_u32_sdwa vcc, sext(v0), v1 src0_sel:BYTE_3 src1_sel:DWORD\n"
          "v_cmp_eq_u32_sdwa s[6:7], v0, s9 src0_sel:BYTE_1 src1_sel:DWORD");
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const u32 a = m.wave.v[0][lane], b = m.wave.v[1][lane];
      EXPECT_EQ(m.wave.s64(4) >> lane & 1, static_cast<i16>(a >> 16) < static_cast<i16>(b & 255));
      EXPECT_EQ(m.wave.vcc() >> lane & 1, selected(a, 3, true) > b);
      EXPECT_EQ(m.wave.s64(6) >> lane & 1, (a >> 8 & 255) == 0x80);
    }
  }
}

TEST(VectorSdwa, CarryAndSelect) {
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(0, [](unsigned lane) { return 0xffff0000u + lane; });
    m.wave.set_vcc(0x00ff00ff00ff00ff);
    m.run("v_cndmask_b32_sdwa v2, v0, v0, vcc dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 "
          "src1_sel:WORD_1\n"
          "v_add_co_u32_sdwa v3, vcc, v0, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 "
          "src1_sel:DWORD");
    for (unsigned lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(m.wave.v[2][lane], 0x00ff00ff00ff00ffu >> lane & 1 ? 0xffffu : lane);
      EXPECT_EQ(m.wave.v[3][lane], 0xffff0000u + 2 * lane);
      EXPECT_EQ(m.wave.vcc() >> lane & 1, 0u);
    }
  }
}

} // namespace
