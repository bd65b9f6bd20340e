// Conversions: integers, floats, packed forms and the 8-bit floats.
#include "tests/reference.hpp"

using namespace wavesim;
using namespace wavesim::test;

namespace {

template <class I>
I saturating(double x) {
  if (x != x)
    return 0;
  if (x <= static_cast<double>(std::numeric_limits<I>::min()))
    return std::numeric_limits<I>::min();
  if (x >= static_cast<double>(std::numeric_limits<I>::max()))
    return std::numeric_limits<I>::max();
  return static_cast<I>(x);
}

TEST(VectorConvert, FloatToInteger) {
  check<i32, float>("v_cvt_i32_f32 $d, $a", [](float x) { return saturating<i32>(x); });
  check<u32, float>("v_cvt_u32_f32 $d, $a", [](float x) { return saturating<u32>(x); });
  check<i32, double>("v_cvt_i32_f64 $d, $a", [](double x) { return saturating<i32>(x); });
  check<u32, double>("v_cvt_u32_f64 $d, $a", [](double x) { return saturating<u32>(x); });
  check<i32, float>("v_cvt_flr_i32_f32 $d, $a",
                    [](float x) { return saturating<i32>(std::floor(x)); });
  check<i32, float>("v_cvt_rpi_i32_f32 $d, $a",
                    [](float x) { return saturating<i32>(std::floor(x + 0.5f)); });
}

TEST(VectorConvert, IntegerToFloat) {
  const auto nearest = [](i64 x) { return static_cast<float>(static_cast<double>(x)); };
  check<float, i32>("v_cvt_f32_i32 $d, $a", [=](i32 x) { return nearest(x); });
  check<float, u32>("v_cvt_f32_u32 $d, $a", [=](u32 x) { return nearest(x); });
  check<double, i32>("v_cvt_f64_i32 $d, $a", [](i32 x) { return static_cast<double>(x); });
  check<double, u32>("v_cvt_f64_u32 $d, $a", [](u32 x) { return static_cast<double>(x); });
  for (unsigned i = 0; i < 4; ++i)
    check<float, u32>("v_cvt_f32_ubyte" + std::to_string(i) + " $d, $a",
                      [=](u32 x) { return static_cast<float>(x >> 8 * i & 255); });
  check<float, u32>("v_cvt_off_f32_i4 $d, $a", [](u32 x) {
    const int n = x & 15;
    return static_cast<float>(n < 8 ? n : n - 16) / 16;
  });
}

TEST(VectorConvert, IntegerToFloatRoundingModes) {
  // 2^24 + 1 and 2^24 + 3 lie between floats.
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(0, [](unsigned lane) { return lane & 1 ? 0u - 16777217u : 16777217u; });
    m.vgpr(1, [](unsigned) { return 4294967295u; });
    const float down_mode[] = {16777216, -16777218}, up_mode[] = {16777218, -16777216};
    for (const auto& [mode, want, big] : {std::tuple{0x3f1u, up_mode, 4294967296.0f},
                                          std::tuple{0x3f2u, down_mode, 4294967040.0f}}) {
      m.wave.mode = mode;
      m.run("v_cvt_f32_i32 v2, v0\nv_cvt_f32_u32 v3, v1");
      for (unsigned lane = 0; lane < 4; ++lane)
        EXPECT_EQ(m.f32(2, lane), want[lane & 1]);
      EXPECT_EQ(m.f32(3, 0), big);
    }
  }
}

TEST(VectorConvert, BetweenFloats) {
  check<double, float>("v_cvt_f64_f32 $d, $a", [](float x) { return static_cast<double>(x); });
  check<float, double>("v_cvt_f32_f64 $d, $a", [](double x) { return static_cast<float>(x); });
  // By hand on the bits: no host conversion to half is involved.
  const auto to_half_of_float = [](float x, Round round) {
    if (!std::isfinite(x))
      return half_from_special(x);
    if (std::fabs(x) >= 131072)
      return half{static_cast<u16>((x < 0 ? 0x8000 : 0) |
                                   (round == Round::nearest || (round == Round::up && x > 0) ||
                                            (round == Round::down && x < 0)
                                        ? 0x7c00
                                        : 0x7bff))};
    // Anything below 2^−60 only has to stay a non-zero rest.
    const float y = std::fabs(x) < 0x1p-60f && x != 0 ? std::copysign(0x1p-60f, x) : x;
    return test::to_half(static_cast<i128>(std::ldexp(static_cast<double>(y), 90)), 90, round,
                         std::signbit(x));
  };
  check<half, float>("v_cvt_f16_f32 $d, $a",
                     [=](float x) { return to_half_of_float(x, Round::nearest); });
  const std::pair<u32, Round> modes[] = {
      {0x3f4, Round::up}, {0x3f8, Round::down}, {0x3fc, Round::zero}};
  for (const auto& [mode, round] : modes) {
    const Round r = round;
    check<half, float>("v_cvt_f16_f32 $d, $a", [=](float x) { return to_half_of_float(x, r); },
                       {.mode = mode});
  }
  check_with<u32, float, float>("v_cvt_pkrtz_f16_f32 $d, $a, $b", [=](u32 got, float a, float b) {
    return same(half{static_cast<u16>(got)}, to_half_of_float(a, Round::zero)) &&
           same(half{static_cast<u16>(got >> 16)}, to_half_of_float(b, Round::zero));
  });
}

TEST(VectorConvert, Packing) {
  check<u32, u32, u32>("v_cvt_pk_u16_u32 $d, $a, $b", [](u32 a, u32 b) {
    return std::min(a, 65535u) | std::min(b, 65535u) << 16;
  });
  check<u32, i32, i32>("v_cvt_pk_i16_i32 $d, $a, $b", [](i32 a, i32 b) {
    const auto limit = [](i32 x) {
      return static_cast<u32>(std::max(-32768, std::min(32767, x))) & 0xffff;
    };
    return limit(a) | limit(b) << 16;
  });
  const auto snorm = [](double x) {
    return x != x ? 0u
                  : static_cast<u32>(
                        static_cast<i32>(std::nearbyint(std::fmax(-1, std::fmin(1, x)) * 32767))) &
                        0xffff;
  };
  const auto unorm = [](double x) {
    return x != x ? 0u : static_cast<u32>(std::nearbyint(std::fmax(0, std::fmin(1, x)) * 65535));
  };
  check<u32, float, float>("v_cvt_pknorm_i16_f32 $d, $a, $b",
                           [=](float a, float b) { return snorm(a) | snorm(b) << 16; });
  check<u32, float, float>("v_cvt_pknorm_u16_f32 $d, $a, $b",
                           [=](float a, float b) { return unorm(a) | unorm(b) << 16; });
  check<u32, half, half>("v_cvt_pknorm_i16_f16 $d, $a, $b", [=](half a, half b) {
    return snorm(to_double(a)) | snorm(to_double(b)) << 16;
  });
  check<u32, half, half>("v_cvt_pknorm_u16_f16 $d, $a, $b", [=](half a, half b) {
    return unorm(to_double(a)) | unorm(to_double(b)) << 16;
  });
  const auto byte = [](float x, u32 i, u32 into) {
    const u32 shift = i % 4 * 8;
    return (into & ~(255u << shift)) | static_cast<u32>(saturating<std::uint8_t>(x)) << shift;
  };
  check<u32, float, u32, u32>("v_cvt_pk_u8_f32 $d, $a, $b, $c", byte);
  check<u32, float, u32, u32>("v_cvt_pkaccum_u8_f32 $d, $a, $b", byte, {.accumulates = true});
}

// ------------------------------------------------------------------------------- 8-bit floats

struct Format8 {
  const char* name;
  int mantissa, bias;
};
constexpr Format8 formats[] = {{"fp8", 3, 8}, {"bf8", 2, 16}};

double value_of(unsigned code, Format8 f) {
  if (code == 0x80)
    return std::numeric_limits<double>::quiet_NaN();
  const unsigned m = code & ((1u << f.mantissa) - 1), e = (code & 0x7f) >> f.mantissa;
  const double size = e == 0 ? std::ldexp(m, 1 - f.bias - f.mantissa)
                             : std::ldexp((1 << f.mantissa) + static_cast<int>(m),
                                          static_cast<int>(e) - f.bias - f.mantissa);
  return code & 0x80 ? -size : size;
}

TEST(VectorConvert, AllFp8CodesWiden) {
  for (const Simd level : levels())
    for (const Format8 f : formats) {
      SCOPED_TRACE(std::string(name(level)) + " " + f.name);
      Machine m(level);
      const std::string n = f.name;
      const Program program("v_cvt_f32_" + n +
                                " v1, v0\n"
                                "v_cvt_f32_" +
                                n +
                                "_sdwa v2, v0 src0_sel:BYTE_1\n"
                                "v_cvt_f32_" +
                                n +
                                "_sdwa v3, v0 src0_sel:BYTE_2\n"
                                "v_cvt_f32_" +
                                n +
                                "_sdwa v4, v0 src0_sel:BYTE_3\n"
                                "v_cvt_pk_f32_" +
                                n +
                                " v[6:7], v0\n"
                                "v_cvt_pk_f32_" +
                                n + "_sdwa v[8:9], v0 src0_sel:WORD_1\n",
                            level);
      for (unsigned base = 0; base < 256; base += lanes) {
        // Byte i of a lane holds code base + lane + 64·i.
        m.vgpr(0, [=](unsigned lane) {
          u32 x = 0;
          for (unsigned i = 0; i < 4; ++i)
            x |= ((base + lane + 64 * i) & 255) << 8 * i;
          return x;
        });
        m.run(program);
        for (unsigned lane = 0; lane < lanes; ++lane)
          for (unsigned i = 0; i < 4; ++i) {
            const auto want = static_cast<float>(value_of((base + lane + 64 * i) & 255, f));
            ASSERT_TRUE(same(m.f32(1 + i, lane), want)) << (base + lane + 64 * i);
            ASSERT_TRUE(same(m.f32(6 + i, lane), want)) << (base + lane + 64 * i);
          }
      }
    }
}

/// Nearest code, ties to the even one, by looking through all of them.
unsigned nearest_code(float x, Format8 f, bool saturate) {
  if (x != x)
    return 0x80;
  const double largest = value_of(0x7f, f), size = std::fabs(static_cast<double>(x));
  const unsigned sign = std::signbit(x) ? 0x80 : 0;
  // The first value past the largest, were there one, decides where overflow begins.
  const double step = std::ldexp(1.0, 15 - f.bias - (f.mantissa == 2 ? -16 : 0) - f.mantissa);
  if (size >= largest + step / 2)
    return saturate ? 0x7f | sign : 0x80;
  unsigned best = 0;
  double distance = 1e300;
  for (unsigned c = 0; c < 128; ++c) {
    const double d = std::fabs(value_of(c, f) - size);
    if (d < distance || (d == distance && !(c & 1))) {
      distance = d;
      best = c;
    }
  }
  return best ? best | sign : 0;
}

TEST(VectorConvert, NarrowToFp8) {
  for (const Format8 f : formats)
    for (const bool saturate : {false, true}) {
      const CheckOptions o{.mode = Machine::default_mode | (saturate ? 1u << 23 : 0)};
      const std::string n = f.name;
      check_with<u32, float, float>(
          "v_cvt_pk_" + n + "_f32 $d, $a, $b",
          [=](u32 got, float a, float b) {
            const unsigned want = nearest_code(a, f, saturate) | nearest_code(b, f, saturate) << 8;
            if ((got & 0xffff) != want)
              ADD_FAILURE() << "expected " << describe(u32{want});
            return (got & 0xffff) == want && got >> 16 == 0xdead; // the other half stays
          },
          o);
      check_with<u32, float, float>(
          "v_cvt_pk_" + n + "_f32 $d, $a, $b op_sel:[0,0,1]",
          [=](u32 got, float a, float b) {
            return got >> 16 ==
                       (nearest_code(a, f, saturate) | nearest_code(b, f, saturate) << 8) &&
                   (got & 0xffff) == 0xbeef;
          },
          o);
    }
}

TEST(VectorConvert, Fp8RoundTripAndTies) {
  for (const Simd level : levels())
    for (const Format8 f : formats) {
      Machine m(level);
      const Program program(std::string("v_cvt_pk_") + f.name + "_f32 v2, v0, v1", level);
      for (unsigned base = 0; base < 128; base += lanes) {
        // Every value, and the middle between it and the next.
        const auto middle = [&](unsigned c) {
          return c < 0x7f ? (value_of(c, f) + value_of(c + 1, f)) / 2 : 0;
        };
        m.vgpr(0, [&](unsigned lane) {
          return std::bit_cast<u32>(static_cast<float>(value_of(base + lane, f)));
        });
        m.vgpr(1, [&](unsigned lane) {
          return std::bit_cast<u32>(static_cast<float>(middle(base + lane)));
        });
        m.run(program);
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const unsigned c = base + lane;
          EXPECT_EQ(m.wave.v[2][lane] & 255, c);
          if (c < 0x7f) {
            EXPECT_EQ(m.wave.v[2][lane] >> 8 & 255, c & 1 ? c + 1 : c);
          }
        }
      }
    }
}

TEST(VectorConvert, StochasticFp8) {
  // The value lies between two codes; it goes up when fraction + random reaches 1.
  for (const Simd level : levels())
    for (const Format8 f : formats) {
      SCOPED_TRACE(std::string(name(level)) + " " + f.name);
      Machine m(level);
      engine random(21);
      const std::string n = f.name;
      const Program program("v_cvt_sr_" + n +
                                "_f32 v2, v0, v1\n"
                                "v_cvt_sr_" +
                                n +
                                "_f32 v3, v0, v1 op_sel:[0,0,1,0]\n"
                                "v_cvt_sr_" +
                                n +
                                "_f32 v4, -v0, v1 op_sel:[0,0,0,1]\n"
                                "v_cvt_sr_" +
                                n + "_f32 v5, v0, v1 op_sel:[0,0,1,1]\n",
                            level);
      const unsigned dropped = 23 - static_cast<unsigned>(f.mantissa);
      for (int round = 0; round < 300; ++round) {
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const double size = value_of(static_cast<unsigned>(random() % 0x7f), f) *
                              (1 + static_cast<double>(random() % 1024) / 8192);
          m.wave.v[0][lane] =
              std::bit_cast<u32>(static_cast<float>(std::fmin(size, value_of(0x7e, f))));
          m.wave.v[1][lane] = static_cast<u32>(random());
          for (unsigned r = 2; r < 6; ++r)
            m.wave.v[r][lane] = 0x11223344;
        }
        m.run(program);
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const double x = m.f32(0, lane);
          unsigned low = 0;
          while (low < 0x7e && value_of(low + 1, f) <= x)
            ++low;
          const double fraction =
              (x - value_of(low, f)) / (value_of(low + 1, f) - value_of(low, f));
          const double chance =
              std::ldexp(m.wave.v[1][lane] >> (32 - dropped), -static_cast<int>(dropped));
          const unsigned code = low + (fraction + chance >= 1 ? 1 : 0);
          ASSERT_EQ(m.wave.v[2][lane], 0x11223300u | code) << x << " " << fraction << " " << chance;
          ASSERT_EQ(m.wave.v[3][lane], 0x11220044u | code << 8);
          ASSERT_EQ(m.wave.v[4][lane], 0x11003344u | (code ? code | 0x80 : 0) << 16);
          ASSERT_EQ(m.wave.v[5][lane], 0x00223344u | code << 24);
        }
      }
    }
}

} // namespace
