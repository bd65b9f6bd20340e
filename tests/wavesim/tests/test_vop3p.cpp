// Packed instructions: every operation with random halves, signs and clamp, on both SIMD levels.
#include "tests/harness.hpp"
#include "tests/packed_numbers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

namespace wavesim::test {
namespace {

std::string bits_text(const char* name, unsigned bits, unsigned count) {
  std::string text = std::string(" ") + name + ":[";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? "," : "") + std::to_string(bits >> i & 1);
  return text + "]";
}

unsigned half_of(std::uint32_t word, unsigned high) {
  return high ? word >> 16 : word & 0xffff;
}

/// f16 numbers of every kind.
std::uint32_t random_half(Random& g) {
  switch (g() % 8) {
  case 0:
    return g() & 0x83ff; // denormal or zero
  case 1:
    return (g() & 0x8000) | (g() % 4 == 0 ? 0x7c00 | (g() & 1023) : 0x7800 | (g() & 1023));
  case 2:
    return (g() & 0x8000) | 0x7c00;
  default:
    return (g() & 0x8000) | ((10 + g() % 12) << 10) | (g() & 1023); // near 1
  }
}
std::uint32_t random_halves(Random& g) {
  return random_half(g) | random_half(g) << 16;
}

class Vop3p : public testing::TestWithParam<Simd> {
protected:
  Machine m{GetParam()};
  Random g{7};
};

struct IntegerOp {
  const char* name;
  unsigned sources;
  bool is_signed;
  std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t)> exact;
  bool clamps;
};

TEST_P(Vop3p, IntegerHalves) {
  using I = std::int64_t;
  const IntegerOp ops[] = {
      {"v_pk_mad_i16", 3, true, [](I a, I b, I c) { return a * b + c; }, true},
      {"v_pk_mad_u16", 3, false, [](I a, I b, I c) { return a * b + c; }, true},
      {"v_pk_mul_lo_u16", 2, false, [](I a, I b, I) { return a * b; }, false},
      {"v_pk_add_i16", 2, true, [](I a, I b, I) { return a + b; }, true},
      {"v_pk_sub_i16", 2, true, [](I a, I b, I) { return a - b; }, true},
      {"v_pk_add_u16", 2, false, [](I a, I b, I) { return a + b; }, true},
      {"v_pk_sub_u16", 2, false, [](I a, I b, I) { return a - b; }, true},
      {"v_pk_min_i16", 2, true, [](I a, I b, I) { return std::min(a, b); }, false},
      {"v_pk_max_i16", 2, true, [](I a, I b, I) { return std::max(a, b); }, false},
      {"v_pk_min_u16", 2, false, [](I a, I b, I) { return std::min(a, b); }, false},
      {"v_pk_max_u16", 2, false, [](I a, I b, I) { return std::max(a, b); }, false},
      {"v_pk_lshlrev_b16", 2, false, [](I a, I b, I) { return b << (a & 15); }, false},
      {"v_pk_lshrrev_b16", 2, false, [](I a, I b, I) { return b >> (a & 15); }, false},
      {"v_pk_ashrrev_i16", 2, true, [](I a, I b, I) { return b >> (a & 15); }, false}};
  for (const IntegerOp& op : ops)
    for (unsigned selects = 0; selects < 1u << (2 * op.sources); ++selects)
      for (const bool clamp : {false, true}) {
        if (clamp && !op.clamps)
          continue;
        const unsigned low = selects & ((1u << op.sources) - 1), high = selects >> op.sources;
        std::string text = std::string(op.name) + " v0, v1, v2";
        if (op.sources == 3)
          text += ", v3";
        text += bits_text("op_sel", low, op.sources) + bits_text("op_sel_hi", high, op.sources);
        if (clamp)
          text += " clamp";
        SCOPED_TRACE(text);
        for (unsigned r = 1; r <= 3; ++r)
          m.vgpr(r,
                 [&](unsigned) { return g() % 4 ? g() : (g() & 1 ? 0x80007fffu : 0xffff0001u); });
        m.run(text);
        for (unsigned lane = 0; lane < lanes; ++lane)
          for (unsigned h = 0; h < 2; ++h) {
            std::array<I, 3> x{};
            for (unsigned i = 0; i < op.sources; ++i) {
              const unsigned bits = half_of(m.wave.v[1 + i][lane], (h ? high : low) >> i & 1);
              x[i] = op.is_signed ? I{static_cast<std::int16_t>(bits)} : I{bits};
            }
            I result = op.exact(x[0], x[1], x[2]);
            if (clamp)
              result = std::clamp(result, op.is_signed ? I{-32768} : I{0},
                                  op.is_signed ? I{32767} : I{65535});
            ASSERT_EQ(half_of(m.wave.v[0][lane], h), static_cast<unsigned>(result) & 0xffff)
                << "lane " << lane << " half " << h;
          }
      }
}

/// Reference of one half; NaN payloads included.
std::uint16_t half_reference(const std::string& name, unsigned a, unsigned b, unsigned c,
                             unsigned mode) {
  if (name == "v_pk_fma_f16")
    return half_fma(a, b, c, mode);
  if (name == "v_pk_add_f16")
    return half_add(a, b, mode);
  if (name == "v_pk_mul_f16")
    return half_mul(a, b, mode);
  // min and max in IEEE mode: a signaling NaN is quieted and wins, else numbers win; −0 < +0
  const auto signaling = [](unsigned x) { return half_is_nan(x) && !(x & 0x200); };
  if (signaling(a))
    return static_cast<std::uint16_t>(a | 0x200);
  if (signaling(b))
    return static_cast<std::uint16_t>(b | 0x200);
  if (half_is_nan(a))
    return static_cast<std::uint16_t>(b); // also when both are
  if (half_is_nan(b))
    return static_cast<std::uint16_t>(a);
  const auto order = [](unsigned x) {
    return x & 0x8000 ? -1 - static_cast<int>(x & 0x7fff) : static_cast<int>(x);
  };
  const bool a_less = order(a) < order(b);
  return static_cast<std::uint16_t>((name == "v_pk_min_f16") == a_less ? a : b);
}

std::uint16_t clamped_half(unsigned x) { // DX10 clamp: NaN becomes 0
  if (half_is_nan(x) || x & 0x8000)
    return 0;
  return static_cast<std::uint16_t>(std::min(x, 0x3c00u));
}

TEST_P(Vop3p, HalfFloats) {
  for (const std::string name :
       {"v_pk_fma_f16", "v_pk_add_f16", "v_pk_mul_f16", "v_pk_min_f16", "v_pk_max_f16"}) {
    const unsigned sources = name == "v_pk_fma_f16" ? 3 : 2;
    for (unsigned trial = 0; trial < 200; ++trial) {
      const unsigned all = (1u << sources) - 1;
      const bool plain = trial < 40;
      const unsigned low = plain ? 0 : g() & all, high = plain ? all : g() & all;
      const unsigned neg_lo = plain ? 0 : g() & all, neg_hi = plain ? 0 : g() & all;
      const bool clamp = trial % 8 == 7;
      const unsigned mode = trial % 4; // rounding of f16
      const bool keep_denormals = trial % 3 != 0;
      m.wave.mode = (Machine::default_mode & ~0xccu) | mode << 2 | (keep_denormals ? 0xc0u : 0);
      std::string text = name + " v0, v1, v2" + (sources == 3 ? ", v3" : "") +
                         bits_text("op_sel", low, sources) + bits_text("op_sel_hi", high, sources) +
                         bits_text("neg_lo", neg_lo, sources) +
                         bits_text("neg_hi", neg_hi, sources) + (clamp ? " clamp" : "");
      SCOPED_TRACE(text + " rounding " + std::to_string(mode));
      for (unsigned r = 1; r <= 3; ++r)
        m.vgpr(r, [&](unsigned) { return random_halves(g); });
      m.run(text);
      const auto flush = [&](unsigned x) {
        return !keep_denormals && (x & 0x7c00) == 0 ? x & 0x8000 : x;
      };
      for (unsigned lane = 0; lane < lanes; ++lane)
        for (unsigned h = 0; h < 2; ++h) {
          std::array<unsigned, 3> x{};
          for (unsigned i = 0; i < sources; ++i)
            x[i] = flush(half_of(m.wave.v[1 + i][lane], (h ? high : low) >> i & 1) ^
                         ((h ? neg_hi : neg_lo) >> i & 1) * 0x8000);
          unsigned expected = flush(half_reference(name, x[0], x[1], x[2], mode));
          if (clamp)
            expected = clamped_half(expected);
          ASSERT_EQ(half_of(m.wave.v[0][lane], h), expected)
              << std::hex << "lane " << lane << " half " << h << ": " << x[0] << " " << x[1] << " "
              << x[2];
        }
    }
  }
}

TEST_P(Vop3p, HalfOverflowLimited) {
  m.wave.mode |= 1u << 23; // FP16_OVFL
  m.vgpr(1, [](unsigned) { return 0x7bff7c00u; });
  m.vgpr(2, [](unsigned) { return 0x40004000u; });
  m.run("v_pk_mul_f16 v0, v1, v2");
  EXPECT_EQ(m.wave.v[0][9], 0x7bff7c00u); // 2·largest stays largest, 2·infinity infinity
}

TEST_P(Vop3p, SingleFloats) {
  const std::array<std::uint32_t, 8> special{0x7f800000, 0xff800000, 0x7fc00001, 0x00000001,
                                             0x807fffff, 0x80000000, 0x7f7fffff, 0x00800000};
  for (const std::string name : {"v_pk_fma_f32", "v_pk_add_f32", "v_pk_mul_f32"}) {
    const unsigned sources = name == "v_pk_fma_f32" ? 3 : 2, all = (1u << sources) - 1;
    for (unsigned trial = 0; trial < 100; ++trial) {
      const bool plain = trial < 20;
      const unsigned low = plain ? 0 : g() & all, high = plain ? all : g() & all;
      const unsigned neg_lo = plain ? 0 : g() & all, neg_hi = plain ? 0 : g() & all;
      const bool in_place = trial % 2, flush = trial % 5 == 4;
      m.wave.mode = flush ? Machine::default_mode & ~0x30u : Machine::default_mode;
      std::string text = name + (in_place ? " v[2:3]" : " v[8:9]") + ", v[2:3], v[4:5]" +
                         (sources == 3 ? ", v[6:7]" : "") + bits_text("op_sel", low, sources) +
                         bits_text("op_sel_hi", high, sources) +
                         bits_text("neg_lo", neg_lo, sources) +
                         bits_text("neg_hi", neg_hi, sources);
      SCOPED_TRACE(text);
      for (unsigned r = 2; r < 10; ++r)
        m.vgpr(r, [&](unsigned) {
          return g() % 6 == 0 ? special[g() % special.size()] : (g() & 0x87ffffffu) | 0x38000000u;
        });
      m.wave.set_exec(trial % 7 == 6 ? 0x00ff00ff12345678u : ~std::uint64_t{0});
      const auto before = std::make_unique<Wave>(m.wave);
      m.run(text);
      const auto flushed = [&](float x) {
        return flush && std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
      };
      for (unsigned lane = 0; lane < lanes; ++lane)
        for (unsigned h = 0; h < 2; ++h) {
          const unsigned dst = (in_place ? 2 : 8) + h;
          if (!(m.wave.exec() >> lane & 1)) {
            ASSERT_EQ(m.wave.v[dst][lane], before->v[dst][lane]);
            continue;
          }
          std::array<float, 3> x{};
          for (unsigned i = 0; i < sources; ++i) {
            const std::uint32_t word = before->v[2 + 2 * i + ((h ? high : low) >> i & 1)][lane];
            x[i] = flushed(std::bit_cast<float>(word ^ ((h ? neg_hi : neg_lo) >> i & 1u) << 31));
          }
          const float r = flushed(sources == 3             ? std::fma(x[0], x[1], x[2])
                                  : name == "v_pk_add_f32" ? x[0] + x[1]
                                                           : x[0] * x[1]);
          if (std::isnan(r)) {
            ASSERT_TRUE(std::isnan(m.f32(dst, lane)));
          } else {
            ASSERT_EQ(m.wave.v[dst][lane], std::bit_cast<std::uint32_t>(r)) << "lane " << lane;
          }
        }
    }
    m.wave.set_exec(~std::uint64_t{0});
  }
}

TEST_P(Vop3p, SingleClampAndScalars) {
  m.wave.s[4] = std::bit_cast<std::uint32_t>(3.0f);
  m.wave.s[5] = std::bit_cast<std::uint32_t>(-5.0f);
  m.vgpr(2, [](unsigned lane) { return std::bit_cast<std::uint32_t>(static_cast<float>(lane)); });
  m.vgpr(3, [](unsigned) { return 0x7fc00000u; });
  m.run("v_pk_mul_f32 v[0:1], v[2:3], s[4:5] op_sel_hi:[0,1]\n"
        "v_pk_mul_f32 v[6:7], v[2:3], 0.5 op_sel_hi:[1,0]\n"
        "v_pk_add_f32 v[8:9], v[2:3], -1.0 op_sel_hi:[1,0] clamp");
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const float x = static_cast<float>(lane);
    EXPECT_EQ(m.f32(0, lane), 3 * x);
    EXPECT_EQ(m.f32(1, lane), -5 * x);
    EXPECT_EQ(m.f32(6, lane), x / 2);
    EXPECT_EQ(m.f32(8, lane), std::clamp(x - 1, 0.0f, 1.0f));
    EXPECT_EQ(m.wave.v[9][lane], 0u); // NaN clamps to 0
  }
}

TEST_P(Vop3p, PackedMove) {
  for (unsigned r = 2; r < 6; ++r)
    m.vgpr(r, [&](unsigned lane) { return 1000 * r + lane; });
  for (unsigned sel = 0; sel < 4; ++sel) {
    m.run("v_pk_mov_b32 v[0:1], v[2:3], v[4:5]" + bits_text("op_sel", sel, 2));
    EXPECT_EQ(m.wave.v[0][7], 1000 * (2 + (sel & 1)) + 7);
    EXPECT_EQ(m.wave.v[1][7], 1000 * (4 + (sel >> 1)) + 7);
  }
  m.run("v_pk_mov_b32 v[2:3], v[2:3], v[2:3] op_sel:[1,0]"); // swaps
  EXPECT_EQ(m.wave.v[2][5], 3005u);
  EXPECT_EQ(m.wave.v[3][5], 2005u);
}

// Inline constants: halves of f16 operations see the value in the low half only, integers are
// sign-extended over the dword, and a float constant of an integer operation is a single.
TEST_P(Vop3p, InlineConstants) {
  m.vgpr(1, [](unsigned) { return 0x3c004000u; }); // 2.0 low, 1.0 high
  m.run("v_pk_mul_f16 v0, v1, 2.0 op_sel_hi:[1,0]\n"
        "v_pk_mul_f16 v2, v1, 2.0\n"
        "v_pk_add_u16 v3, v1, -1\n"
        "v_pk_add_u16 v4, v1, 3 op_sel_hi:[1,0]\n"
        "v_pk_add_u16 v5, v1, 3\n"
        "v_pk_add_u16 v6, v1, 1.0");
  EXPECT_EQ(m.wave.v[0][0], 0x40004400u);
  EXPECT_EQ(m.wave.v[2][0], 0x00004400u);
  EXPECT_EQ(m.wave.v[3][0], 0x3bff3fffu);
  EXPECT_EQ(m.wave.v[4][0], 0x3c034003u);
  EXPECT_EQ(m.wave.v[5][0], 0x3c004003u);
  EXPECT_EQ(m.wave.v[6][0], (0x3c00u + 0x3f80u) << 16 | 0x4000u);
}

TEST_P(Vop3p, MixedFma) {
  for (const std::string name : {"v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"})
    for (unsigned trial = 0; trial < 128; ++trial) {
      const unsigned is_half = g() & 7, high = g() & 7, neg = g() & 7, abs = g() & 7;
      std::string text = name + " v0";
      for (unsigned i = 0; i < 3; ++i) {
        std::string operand = "v" + std::to_string(1 + i);
        if (abs >> i & 1)
          operand = "|" + operand + "|";
        if (neg >> i & 1)
          operand = "-" + operand;
        text += ", " + operand;
      }
      text += bits_text("op_sel", high, 3) + bits_text("op_sel_hi", is_half, 3);
      SCOPED_TRACE(text);
      for (unsigned r = 1; r <= 3; ++r)
        m.vgpr(r, [&](unsigned) { // ordinary numbers read either way
          return (g() & 0x8000u ? 0x80000000u : 0) | ((g() % 4 + 0x3e) << 24) | (g() & 0xff0000u) |
                 (g() & 0x83ffu) | (12 + g() % 6) << 10;
        });
      m.vgpr(0, [](unsigned) { return 0x12345678u; });
      m.run(text);
      for (unsigned lane = 0; lane < lanes; ++lane) {
        std::array<float, 3> x{};
        for (unsigned i = 0; i < 3; ++i) {
          const std::uint32_t word = m.wave.v[1 + i][lane];
          x[i] = is_half >> i & 1 ? static_cast<float>(half_value(half_of(word, high >> i & 1)))
                                  : std::bit_cast<float>(word);
          if (abs >> i & 1)
            x[i] = std::fabs(x[i]);
          if (neg >> i & 1)
            x[i] = -x[i];
        }
        const float sum = std::fma(x[0], x[1], x[2]);
        if (name == "v_fma_mix_f32") {
          ASSERT_EQ(m.f32(0, lane), sum) << lane;
          continue;
        }
        const double units = std::ldexp(static_cast<double>(sum), 48); // a float: exact in 2^-48
        const auto exact = static_cast<FixedPoint>(std::clamp(units, -0x1p70, 0x1p70));
        const unsigned expected = round_to_half(exact, 0, std::signbit(sum));
        const bool low = name == "v_fma_mixlo_f16";
        ASSERT_EQ(m.wave.v[0][lane], low ? 0x12340000u | expected : 0x5678u | expected << 16)
            << lane << " " << sum;
      }
    }
}

TEST_P(Vop3p, MixedFmaConstantsAndClamp) {
  m.vgpr(1, [](unsigned) { return 0x40003c00u; }); // 1.0 low, 2.0 high
  m.run("v_fma_mix_f32 v0, v1, 2.0, 1.0 op_sel:[1,0,0] op_sel_hi:[1,0,0]\n"
        "v_fma_mix_f32 v2, v1, v1, -4.0 op_sel:[1,0,0] op_sel_hi:[1,1,1]\n"
        "v_fma_mixlo_f16 v3, v1, v1, 0 op_sel:[1,1,0] op_sel_hi:[1,1,0] clamp");
  EXPECT_EQ(m.f32(0, 3), 5.0f);
  EXPECT_EQ(m.f32(2, 3), -2.0f);
  EXPECT_EQ(m.wave.v[3][3], 0x3c00u);
}

TEST_P(Vop3p, ExecMasksResults) {
  for (const char* text :
       {"v_pk_add_u16 v0, v1, v2", "v_pk_fma_f16 v0, v1, v2, v3", "v_fma_mix_f32 v0, v1, v2, v3",
        "v_dot4_i32_i8 v0, v1, v2, v3", "v_dot2_f32_f16 v0, v1, v2, v3",
        "v_pk_mov_b32 v[0:1], v[2:3], v[2:3]"}) {
    SCOPED_TRACE(text);
    m.vgpr(0, [](unsigned) { return 0xdeadbeefu; });
    m.vgpr(2, [](unsigned) { return 0x3c003c00u; });
    m.wave.set_exec(0xf0);
    m.run(text);
    for (unsigned lane = 0; lane < lanes; ++lane)
      EXPECT_EQ(m.wave.v[0][lane] == 0xdeadbeefu, lane < 4 || lane > 7);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Vop3p, testing::ValuesIn(levels()),
                         [](const auto& p) { return std::string(name(p.param)); });

// Every opcode of the VOP3P encoding that LLVM decodes for gfx942 has a handler.
TEST(Vop3pCoverage, EveryOpcodeOfTheEncoding) {
  Decoder decoder;
  unsigned known = 0;
  std::string missing;
  for (std::uint32_t opcode = 0; opcode < 128; ++opcode) {
    // v8, v16, v20, v24 (even tuples), op_sel_hi as the assembler writes it
    const std::uint32_t words[2] = {0xd3800008u | 1u << 14 | (opcode & 0x7f) << 16,
                                    0x18000000u | 0x118u << 18 | 0x114u << 9 | 0x110u};
    const auto bytes = std::as_bytes(std::span(words));
    const std::string text = decoder.text(bytes, 0x1000);
    if (text.starts_with("no gfx942 instruction"))
      continue;
    const Op op = decoder.decode(bytes, 0x1000);
    ++known;
    if (!op.info || !op.info->handler)
      missing += text + "\n";
  }
  EXPECT_EQ(known, 19u + 3 + 7 + 4 + 2 + 46) << "opcodes LLVM decodes";
  EXPECT_EQ(missing, "");
}

} // namespace
} // namespace wavesim::test
