// Dot products of VOP3P and VOP2: exact integers, saturation, and the float form's flushing.
#include "tests/harness.hpp"
#include "tests/packed_numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace wavesim::test {
namespace {

class Dot : public testing::TestWithParam<Simd> {
protected:
  Machine m{GetParam()};
  Random g{11};
};

std::int64_t element(std::uint32_t word, unsigned bits, unsigned i, bool is_signed) {
  const std::int64_t x = word >> (bits * i) & ((std::uint64_t{1} << bits) - 1);
  return is_signed && x >> (bits - 1) ? x - (std::int64_t{1} << bits) : x;
}

TEST_P(Dot, Integers) {
  struct Form {
    const char* text;
    unsigned bits;
    bool is_signed, accumulates;
  };
  const Form forms[] = {{"v_dot2_i32_i16 v0, v1, v2, v3", 16, true, false},
                        {"v_dot2_u32_u16 v0, v1, v2, v3", 16, false, false},
                        {"v_dot4_i32_i8 v0, v1, v2, v3", 8, true, false},
                        {"v_dot4_u32_u8 v0, v1, v2, v3", 8, false, false},
                        {"v_dot8_i32_i4 v0, v1, v2, v3", 4, true, false},
                        {"v_dot8_u32_u4 v0, v1, v2, v3", 4, false, false},
                        {"v_dot2c_i32_i16 v0, v1, v2", 16, true, true},
                        {"v_dot4c_i32_i8 v0, v1, v2", 8, true, true},
                        {"v_dot8c_i32_i4 v0, v1, v2", 4, true, true}};
  for (const Form& f : forms)
    for (const bool clamp : {false, true}) {
      if (clamp && f.accumulates)
        continue;
      SCOPED_TRACE(std::string(f.text) + (clamp ? " clamp" : ""));
      for (unsigned trial = 0; trial < 20; ++trial) {
        const unsigned style = trial % 4; // 1: near the accumulator's ends
        for (unsigned r = 0; r < 4; ++r)
          m.vgpr(r, [&](unsigned) {
            const auto x = g();
            if ((r == 0 || r == 3) && style == 1)
              return (x & 1 ? 0x7fffff00u : 0x80000000u) + (x >> 8 & 0xff) +
                     (f.is_signed ? 0 : 0x7fffff00u);
            return style == 2 ? 0x80808080u : style == 3 ? 0x7fff7fffu : x;
          });
        const auto before = std::make_unique<Wave>(m.wave);
        m.run(std::string(f.text) + (clamp ? " clamp" : ""));
        for (unsigned lane = 0; lane < lanes; ++lane) {
          const std::uint32_t c = before->v[f.accumulates ? 0 : 3][lane];
          std::int64_t sum = f.is_signed ? std::int64_t{static_cast<std::int32_t>(c)} : c;
          for (unsigned i = 0; i < 32 / f.bits; ++i)
            sum += element(before->v[1][lane], f.bits, i, f.is_signed) *
                   element(before->v[2][lane], f.bits, i, f.is_signed);
          if (clamp)
            sum = f.is_signed ? std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX)
                              : std::clamp<std::int64_t>(sum, 0, UINT32_MAX);
          ASSERT_EQ(m.wave.v[0][lane], static_cast<std::uint32_t>(sum)) << "lane " << lane;
        }
      }
    }
}

TEST_P(Dot, Halves) {
  for (const bool accumulates : {false, true})
    for (unsigned trial = 0; trial < 50; ++trial) {
      const unsigned neg_lo = accumulates ? 0 : g() & 3, neg_hi = accumulates ? 0 : g() & 3;
      const auto neg = [](const char* name, unsigned bits) {
        return std::string(" ") + name + ":[" + std::to_string(bits & 1) + "," +
               std::to_string(bits >> 1) + ",0]";
      };
      const std::string text = accumulates ? std::string("v_dot2c_f32_f16 v0, v1, v2")
                                           : "v_dot2_f32_f16 v0, v1, v2, v3" +
                                                 neg("neg_lo", neg_lo) + neg("neg_hi", neg_hi);
      SCOPED_TRACE(text);
      m.wave.mode = trial % 2 ? Machine::default_mode : 0x30fu; // not looked at
      for (unsigned r = 1; r <= 2; ++r)
        m.vgpr(r, [&](unsigned) {
          const auto half = [&] {
            return g() % 5 == 0 ? g() & 0x83ff : (g() & 0x83ff) | (8 + g() % 14) << 10;
          };
          return static_cast<std::uint32_t>(half() | half() << 16);
        });
      for (unsigned r : {0u, 3u})
        m.vgpr(r, [&](unsigned) {
          const auto x = g();
          return x % 5 == 0 ? x & 0x807fffffu : (x & 0x83ffffffu) | 0x3c000000u;
        });
      const auto before = std::make_unique<Wave>(m.wave);
      m.run(text);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const auto part = [&](unsigned reg, unsigned high) {
          const unsigned bits = before->v[reg][lane] >> (16 * high) & 0xffff;
          const double x = bits & 0x7c00 ? half_value(bits) : 0.0; // denormals count as zero
          return static_cast<float>((high ? neg_hi : neg_lo) >> (reg - 1) & 1 ? -x : x);
        };
        const auto flush = [](float x) { return std::fabs(x) < 0x1p-126f ? 0.0f : x; };
        float sum = flush(std::bit_cast<float>(before->v[accumulates ? 0 : 3][lane]));
        for (unsigned h = 0; h < 2; ++h)
          sum = flush(std::fma(part(1, h), part(2, h), sum));
        ASSERT_EQ(m.f32(0, lane), sum) << "lane " << lane;
      }
    }
}

TEST_P(Dot, HalfClampAndConstants) {
  m.vgpr(1, [](unsigned) { return 0x3c004000u; }); // 2 low, 1 high
  m.run("v_dot2_f32_f16 v0, v1, v1, 1.0\n"
        "v_dot2_f32_f16 v2, v1, v1, 1.0 clamp\n"
        "v_dot2_f32_f16 v3, v1, v1, v0 neg_lo:[0,0,1]");
  EXPECT_EQ(m.f32(0, 1), 6.0f);
  EXPECT_EQ(m.f32(2, 1), 1.0f);
  EXPECT_EQ(m.f32(3, 1), -1.0f);
}

INSTANTIATE_TEST_SUITE_P(Levels, Dot, testing::ValuesIn(levels()),
                         [](const auto& p) { return std::string(name(p.param)); });

} // namespace
} // namespace wavesim::test
