// Operands and modifiers of the matrix instructions: CBSZ and ABID, BLGP, negation on f64, AGPRs,
// inline constants, overlapping tuples, MODE; and the sparse forms against a dense reference.
#include "tests/matrix_numbers.hpp"
#include "tests/matrix_tables.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace wavesim::test {
namespace {

class MfmaOperands : public testing::TestWithParam<std::tuple<unsigned, Simd>> {
protected:
  const CalculatorEntry& e = calculator_entries()[std::get<0>(GetParam())];
  Machine m{std::get<1>(GetParam())};
  std::mt19937 g{std::get<0>(GetParam())};
  LaneRow* a = &m.wave.v[reg_a];
  LaneRow* b = &m.wave.v[reg_b];
  LaneRow* c = &m.wave.v[reg_c];
  LaneRow* d = &m.wave.v[reg_d];

  /// Small integers, exact in every type, so that any order of additions gives the same sum.
  static std::uint64_t integer(const std::string& type, int x) {
    if (type == "i8" || type == "i32")
      return static_cast<std::uint32_t>(x);
    if (type == "f64")
      return std::bit_cast<std::uint64_t>(static_cast<double>(x));
    if (type == "f32" || type == "xf32")
      return std::bit_cast<std::uint32_t>(static_cast<float>(x));
    if (x == 0)
      return 0;
    const NumberFormat f = number_format(type);
    const int size = std::abs(x);
    const int top = static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1;
    return std::uint64_t{x < 0} << (f.bits - 1) |
           static_cast<std::uint64_t>(f.bias + top) << f.fraction |
           (static_cast<std::uint64_t>(size) << f.fraction >> top) -
               (std::uint64_t{1} << f.fraction);
  }
  int small() { return static_cast<int>(g() % 7) - 3; }

  static double number(const std::string& type, std::uint64_t bits) {
    if (type == "i8")
      return static_cast<std::int8_t>(bits);
    if (type == "i32")
      return static_cast<std::int32_t>(bits);
    return decode_number(type, bits).value();
  }

  void fill() {
    const unsigned stored = e.sparse ? 2 : 1;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned s = 0; s < e.a.slots * stored; ++s)
        set_element(a, e.stored_bits_a(), lane, s, integer(e.type_a, small()));
      for (unsigned s = 0; s < e.b.slots; ++s)
        set_element(b, e.b.bits, lane, s, integer(e.type_b, small()));
      for (unsigned s = 0; s < e.d.slots; ++s) {
        set_element(c, e.d.bits, lane, s, integer(e.type_cd, small()));
        if (e.sparse)
          set_element(d, e.d.bits, lane, s, integer(e.type_cd, small()));
      }
      // Pairs of positions with the first below the second, as the instruction requires.
      constexpr unsigned pairs[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
      m.wave.v[reg_index][lane] = 0;
      for (unsigned field = 0; field < 8; ++field)
        m.wave.v[reg_index][lane] |= pairs[g() % 6] << (4 * field);
    }
  }

  using Matrix = std::map<std::tuple<unsigned, unsigned, unsigned>, double>;

  /// B by (block, j, k), each lane's data taken from `lane_of(lane)`.
  template <class F>
  Matrix read_b(F&& lane_of) const {
    Matrix x;
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned s = 0; s < e.b.slots; ++s)
        x[{e.b.at("block", lane, s), e.b.at("j", lane, s), e.b.at("k", lane, s)}] =
            number(e.type_b, get_element(b, e.b.bits, lane_of(lane), s));
    return x;
  }
  Matrix read_a() const {
    Matrix x;
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned s = 0; s < e.a.slots; ++s)
        x[{e.a.at("block", lane, s), e.a.at("i", lane, s), e.a.at("k", lane, s)}] =
            number(e.type_a, get_element(a, e.a.bits, lane, s));
    return x;
  }

  /// Compares D with sum over k of A·B + C; `a_of(block, i, k)` and C by (lane, slot).
  template <class A, class C>
  void compare(A&& a_of, const Matrix& bm, C&& c_of, double slack = 0) {
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned s = 0; s < e.d.slots; ++s) {
        const unsigned block = e.d.at("block", lane, s), i = e.d.at("i", lane, s);
        double sum = c_of(lane, s);
        for (unsigned k = 0; k < e.k; ++k)
          sum += a_of(block, i, k) * bm.at({block, e.d.at("j", lane, s), k});
        ASSERT_LE(std::fabs(number(e.type_cd, get_element(d, e.d.bits, lane, s)) - sum), slack)
            << "lane " << lane << " slot " << s;
      }
  }
  /// Values of a copy of C (or of D before a sparse instruction).
  auto keep(const LaneRow* rows) const {
    std::vector<double> values;
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned s = 0; s < e.d.slots; ++s)
        values.push_back(number(e.type_cd, get_element(rows, e.d.bits, lane, s)));
    return
        [values, slots = e.d.slots](unsigned lane, unsigned s) { return values[lane * slots + s]; };
  }
  auto plain_a() const {
    return [x = read_a()](unsigned block, unsigned i, unsigned k) { return x.at({block, i, k}); };
  }
};

class MfmaDense : public MfmaOperands {};
class MfmaBroadcast : public MfmaOperands {};
class MfmaLanePattern : public MfmaOperands {};
class MfmaF64 : public MfmaOperands {};
class MfmaF32 : public MfmaOperands {};
class MfmaSparse : public MfmaOperands {};

TEST_P(MfmaBroadcast, CbszAndAbid) {
  for (unsigned cbsz = 0; (1u << cbsz) <= e.blocks; ++cbsz)
    for (unsigned abid = 0; abid < (1u << cbsz); ++abid) {
      SCOPED_TRACE("cbsz " + std::to_string(cbsz) + " abid " + std::to_string(abid));
      fill();
      m.run(matrix_text(e, "cbsz:" + std::to_string(cbsz) + " abid:" + std::to_string(abid)));
      const Matrix am = read_a();
      compare(
          [&](unsigned block, unsigned i, unsigned k) {
            return am.at({(block >> cbsz << cbsz) + abid, i, k});
          },
          read_b([](unsigned lane) { return lane; }), keep(c));
    }
}

TEST_P(MfmaLanePattern, Blgp) {
  for (unsigned blgp = 0; blgp < 8; ++blgp) {
    SCOPED_TRACE("blgp " + std::to_string(blgp));
    fill();
    m.run(matrix_text(e, "blgp:" + std::to_string(blgp)));
    compare(plain_a(), read_b([&](unsigned l) {
              const unsigned from[8] = {l,      l % 32,      32 + l % 32, (l + 16) % 64,
                                        l % 16, 16 + l % 16, 32 + l % 16, 48 + l % 16};
              return from[blgp];
            }),
            keep(c));
  }
}

TEST_P(MfmaF64, BlgpNegates) {
  for (unsigned neg = 0; neg < 8; ++neg) {
    SCOPED_TRACE(neg);
    fill();
    m.run(matrix_text(e, "neg:[" + std::to_string(neg & 1) + "," + std::to_string(neg >> 1 & 1) +
                             "," + std::to_string(neg >> 2) + "]"));
    const double sign_ab = (neg & 1) != (neg >> 1 & 1) ? -1 : 1, sign_c = neg & 4 ? -1 : 1;
    const auto a_of = plain_a();
    const auto c_of = keep(c);
    compare([&](unsigned block, unsigned i, unsigned k) { return sign_ab * a_of(block, i, k); },
            read_b([](unsigned lane) { return lane; }),
            [&](unsigned lane, unsigned s) { return sign_c * c_of(lane, s); });
  }
}

TEST_P(MfmaDense, AgprOperands) {
  // A and B from either file; C and D from the same one.
  for (unsigned files = 0; files < 8; ++files) {
    SCOPED_TRACE(files);
    fill();
    const char fa = files & 1 ? 'a' : 'v', fb = files & 2 ? 'a' : 'v', fd = files & 4 ? 'a' : 'v';
    const auto move = [&](char file, unsigned reg, unsigned count) {
      if (file == 'v')
        return;
      std::memcpy(&m.wave.a[reg], &m.wave.v[reg], count * sizeof(LaneRow));
      std::memset(&m.wave.v[reg], 0x55, count * sizeof(LaneRow));
    };
    const auto a_of = plain_a();
    const Matrix bm = read_b([](unsigned lane) { return lane; });
    const auto c_of = keep(c);
    move(fa, reg_a, e.registers_a);
    move(fb, reg_b, e.registers_b);
    move(fd, reg_c, e.registers_d);
    m.run(e.name + " " + tuple_text(fd, reg_d, e.registers_d) + ", " +
          tuple_text(fa, reg_a, e.registers_a) + ", " + tuple_text(fb, reg_b, e.registers_b) +
          ", " + tuple_text(fd, reg_c, e.registers_d));
    if (fd == 'a')
      std::memcpy(d, &m.wave.a[reg_d], e.registers_d * sizeof(LaneRow));
    compare(a_of, bm, c_of);
  }
}

TEST_P(MfmaDense, InlineConstants) {
  const bool integer_c = e.type_cd == "i32";
  for (const char* text : {"0", "1", "-1", "64", "-16", "0.5", "-4.0", "1.0"}) {
    SCOPED_TRACE(text);
    const bool is_float = std::strchr(text, '.') != nullptr;
    double value = std::atof(text);
    if (is_float && integer_c) // the operand sees the bits of the float
      value = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(std::strtof(text, nullptr)));
    // A float operand sees an integer's bits: a denormal, which the sum may or may not keep, or
    // NaN.
    const bool pattern = !is_float && !integer_c;
    if (pattern)
      value = decode_number(e.type_cd, static_cast<std::uint64_t>(std::atoll(text))).value();
    fill();
    m.run(matrix_text(e, "", text));
    if (std::isnan(value)) {
      for (unsigned lane = 0; lane < lanes; ++lane)
        ASSERT_TRUE(std::isnan(number(e.type_cd, get_element(d, e.d.bits, lane, 0))));
      continue;
    }
    compare(
        plain_a(), read_b([](unsigned lane) { return lane; }),
        [&](unsigned, unsigned) { return value; }, pattern ? value : 0);
  }
}

// D over A and B, D equal to C, and (by encoding; the assembler refuses it) D shifted against C.
TEST_P(MfmaDense, OverlappingTuples) {
  const auto text = [&](unsigned rd, unsigned ra, unsigned rb, unsigned rc) {
    return e.name + " " + tuple_text('v', rd, e.registers_d) + ", " +
           tuple_text('v', ra, e.registers_a) + ", " + tuple_text('v', rb, e.registers_b) + ", " +
           tuple_text('v', rc, e.registers_d);
  };
  for (const int shift : {0, 2, -2, 4}) {
    SCOPED_TRACE(shift);
    const unsigned rd = 32, rc = static_cast<unsigned>(32 + shift), ra = 100, rb = 110;
    fill();
    const auto a_of = plain_a();
    const Matrix bm = read_b([](unsigned lane) { return lane; });
    const auto c_of = keep(c);
    std::memcpy(&m.wave.v[ra], a, e.registers_a * sizeof(LaneRow));
    std::memcpy(&m.wave.v[rb], b, e.registers_b * sizeof(LaneRow));
    std::memmove(&m.wave.v[rc], c, e.registers_d * sizeof(LaneRow));
    Op op = Program(text(rd, ra, rb, rd), m.level).first();
    op.src[2].reg = static_cast<std::uint16_t>(rc);
    op.execute(m.wave, op);
    std::memmove(d, &m.wave.v[rd], e.registers_d * sizeof(LaneRow));
    compare(a_of, bm, c_of);
  }
  { // D written over both inputs
    fill();
    const auto a_of = plain_a();
    const Matrix bm = read_b([](unsigned lane) { return lane; });
    const auto c_of = keep(c);
    std::memcpy(&m.wave.v[100], a, e.registers_a * sizeof(LaneRow));
    std::memcpy(&m.wave.v[100 + e.registers_a], b, e.registers_b * sizeof(LaneRow));
    Op op = Program(text(120, 96, 98, 160), m.level).first();
    op.dst = 100, op.src[0].reg = 100;
    op.src[1].reg = static_cast<std::uint16_t>(100 + e.registers_a);
    std::memcpy(&m.wave.v[160], c, e.registers_d * sizeof(LaneRow));
    op.execute(m.wave, op);
    std::memcpy(d, &m.wave.v[100], e.registers_d * sizeof(LaneRow));
    compare(a_of, bm, c_of);
  }
}

// MODE's denormal field acts on A and B of the f32 forms only; 16-bit denormals always count.
TEST_P(MfmaF32, DenormalInputsObeyMode) {
  const std::uint32_t tiny = 0x00400000, large = 0x7e800000; // 2^-127 and 2^126
  for (const std::uint32_t field : {0u, 1u, 2u, 3u}) {
    m.wave.mode = (Machine::default_mode & ~0x30u) | field << 4;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      a[0][lane] = tiny, b[0][lane] = large;
      for (unsigned r = 0; r < e.registers_d; ++r)
        c[r][lane] = tiny; // never flushed
    }
    m.run(matrix_text(e));
    const bool kept = field & 1;
    const float expected = kept ? 0.5f * static_cast<float>(e.k) + 0x1p-127f : 0x1p-127f;
    for (unsigned r = 0; r < e.registers_d; ++r)
      for (unsigned lane = 0; lane < lanes; ++lane)
        ASSERT_EQ(std::bit_cast<float>(d[r][lane]), expected) << "denormal field " << field;
  }
}

TEST_P(MfmaSparse, IndexSets) {
  const auto& index = e.raw["layout"]["index"];
  const unsigned fields = index["fields_per_lane"];
  const unsigned set_bits = 4 * fields, sets = 32 / set_bits;
  // The fields of the index operand, laid out like an operand with that many slots.
  nlohmann::json as_layout = index;
  as_layout["slots_per_lane"] = fields;
  as_layout["bits_per_slot"] = 4;
  const CalculatorLayout where(as_layout);
  for (unsigned cbsz : {0u, 1u})
    for (unsigned abid = 0; abid < sets; ++abid) {
      SCOPED_TRACE("cbsz " + std::to_string(cbsz) + " abid " + std::to_string(abid));
      fill();
      const unsigned set = cbsz == 0 ? abid : 0;
      std::map<std::pair<unsigned, unsigned>, unsigned> choice; // (i, k of the quad) → 4 bits
      for (unsigned lane = 0; lane < lanes; ++lane)
        for (unsigned f = 0; f < fields; ++f)
          choice[{where.at("i", lane, f), where.at("k", lane, f)}] =
              m.wave.v[reg_index][lane] >> (set * set_bits + 4 * f) & 15;
      Matrix dense;
      for (unsigned i = 0; i < e.m; ++i)
        for (unsigned k = 0; k < e.k; ++k)
          dense[{0, i, k}] = 0;
      for (unsigned lane = 0; lane < lanes; ++lane)
        for (unsigned s = 0; s < 2 * e.a.slots; ++s) {
          const unsigned i = e.a.at("i", lane, s / 2), quad = e.a.at("k", lane, s / 2);
          const unsigned at = choice.at({i, quad}) >> (2 * (s % 2)) & 3;
          dense[{0, i, quad + at}] = number(e.type_a, get_element(a, e.stored_bits_a(), lane, s));
        }
      const auto d_before = keep(d);
      m.run(matrix_text(e, "cbsz:" + std::to_string(cbsz) + " abid:" + std::to_string(abid)));
      compare(
          [&](unsigned, unsigned i, unsigned k) {
            return dense.at({0, i, k});
          },
          read_b([](unsigned lane) { return lane; }), d_before);
    }
}

const auto case_name = [](const auto& p) {
  return calculator_entries()[std::get<0>(p.param)].name + "_" + name(std::get<1>(p.param));
};
#define WAVESIM_MATRIX_SUITE(suite, condition)                                                     \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      All, suite,                                                                                  \
      testing::Combine(                                                                            \
          testing::ValuesIn(entries_where([](const CalculatorEntry& e) { return condition; })),    \
          testing::ValuesIn(levels())),                                                            \
      case_name)
WAVESIM_MATRIX_SUITE(MfmaDense, !e.sparse);
WAVESIM_MATRIX_SUITE(MfmaBroadcast, !e.sparse && e.raw["cbsz_abid"]);
WAVESIM_MATRIX_SUITE(MfmaLanePattern, e.raw["blgp"] && e.type_a != "f64");
WAVESIM_MATRIX_SUITE(MfmaF64, e.type_a == "f64");
WAVESIM_MATRIX_SUITE(MfmaF32, e.type_a == "f32");
WAVESIM_MATRIX_SUITE(MfmaSparse, e.sparse);

TEST(AccumulationRegisters, Moves) {
  for (const Simd level : levels()) {
    Machine m(level);
    m.vgpr(1, [](unsigned lane) { return 100 + lane; });
    m.wave.s[5] = 77;
    m.run("v_accvgpr_write_b32 a3, v1\n"
          "v_accvgpr_write_b32 a4, s5\n"
          "v_accvgpr_write_b32 a5, 1.0\n"
          "v_accvgpr_mov_b32 a6, a3\n"
          "s_mov_b64 exec, 0xf0\n"
          "v_accvgpr_read_b32 v9, a6\n"
          "v_accvgpr_write_b32 a3, 5");
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const bool on = lane >= 4 && lane < 8;
      EXPECT_EQ(m.wave.v[9][lane], on ? 100 + lane : 0);
      EXPECT_EQ(m.wave.a[3][lane], on ? 5 : 100 + lane);
      EXPECT_EQ(m.wave.a[4][lane], 77u);
      EXPECT_EQ(m.wave.a[5][lane], 0x3f800000u);
      EXPECT_EQ(m.wave.a[6][lane], 100 + lane);
    }
  }
}

} // namespace
} // namespace wavesim::test
