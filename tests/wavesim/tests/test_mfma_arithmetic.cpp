// Matrix arithmetic bit by bit: against an oracle in integer arithmetic, and against figures of
// MMA-Sim, the published model of CDNA3's matrix cores.
#include "tests/matrix_numbers.hpp"
#include "tests/matrix_tables.hpp"

#include <gtest/gtest.h>

#include <random>

namespace wavesim::test {
namespace {

using Generator = std::mt19937_64;

/// Random numbers of one type. `style` picks what they stress.
enum class Style { ordinary, wide, tiny, huge, sparse, patterns, special, count };
const char* const style_names[] = {"ordinary", "wide",     "tiny",   "huge",
                                   "sparse",   "patterns", "special"};

std::uint64_t random_number(const std::string& type, Style style, Generator& g) {
  const NumberFormat f = type == "i8" || type == "i32" ? NumberFormat{} : number_format(type);
  if (type == "i8")
    return g() & 0xff;
  if (type == "i32")
    return g() & 0xffffffff;
  const auto sign = static_cast<std::uint64_t>(g() & 1) << (f.bits - 1);
  const std::uint64_t mantissa = g() & ((std::uint64_t{1} << f.fraction) - 1);
  const int top = (1 << f.exponent_bits) - (f.fnuz ? 1 : 2);
  int low = f.bias - 3, high = f.bias + 2;
  switch (style) {
  case Style::wide:
    low = f.bias - f.bias / 3, high = f.bias + f.bias / 3;
    break;
  case Style::tiny:
    low = 0, high = f.bias / 3;
    break;
  case Style::huge:
    low = top - 2, high = top;
    break;
  case Style::sparse:
    if (g() % 4 != 0)
      return f.fnuz ? 0 : sign;
    break;
  case Style::patterns:
    low = 0, high = top;
    break;
  case Style::special:
    if (g() % 8 == 0) {
      if (f.fnuz)
        return 0x80;
      const auto field = ((std::uint64_t{1} << f.exponent_bits) - 1) << f.fraction;
      return sign | field | (g() % 3 == 0 ? std::uint64_t{1} << (f.fraction - 1) : 0);
    }
    break;
  default:
    break;
  }
  const auto field = static_cast<std::uint64_t>(
      std::clamp(low + static_cast<int>(g() % static_cast<unsigned>(high - low + 1)), 0, top));
  const std::uint64_t code = sign | field << f.fraction | mantissa;
  return f.fnuz && code == 0x80 ? 0 : code;
}

class MfmaArithmetic : public testing::TestWithParam<std::tuple<unsigned, Simd>> {
protected:
  const CalculatorEntry& e = calculator_entries()[std::get<0>(GetParam())];
  Machine m{std::get<1>(GetParam())};
  Program program{matrix_text(e), m.level};
  LaneRow* a = &m.wave.v[reg_a];
  LaneRow* b = &m.wave.v[reg_b];
  LaneRow* c = &m.wave.v[reg_c];
  LaneRow* d = &m.wave.v[reg_d];

  bool is_nan(std::uint64_t bits) const {
    return e.type_cd != "i32" && decode_number(e.type_cd, bits).kind == NumberClass::nan;
  }

  using Columns = std::vector<std::vector<std::uint64_t>>; // [block·rows + row][k]

  /// A's rows and B's columns as the registers hold them.
  Columns rows_of_a() const {
    Columns rows(e.blocks * e.m, std::vector<std::uint64_t>(e.k));
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned s = 0; s < e.a.slots; ++s)
        rows[e.a.at("block", lane, s) * e.m + e.a.at("i", lane, s)][e.a.at("k", lane, s)] =
            get_element(a, e.a.bits, lane, s);
    return rows;
  }
  Columns columns_of_b() const {
    Columns columns(e.blocks * e.n, std::vector<std::uint64_t>(e.k));
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned s = 0; s < e.b.slots; ++s)
        columns[e.b.at("block", lane, s) * e.n + e.b.at("j", lane, s)][e.b.at("k", lane, s)] =
            get_element(b, e.b.bits, lane, s);
    return columns;
  }

  /// Runs and compares every element of D with the oracle.
  void check(const std::string& what) {
    const Columns rows = rows_of_a(), columns = columns_of_b();
    std::vector<std::uint64_t> c_before;
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned s = 0; s < e.d.slots; ++s)
        c_before.push_back(get_element(c, e.d.bits, lane, s));
    m.run(program);
    for (unsigned lane = 0, at = 0; lane < lanes; ++lane)
      for (unsigned s = 0; s < e.d.slots; ++s, ++at) {
        const unsigned block = e.d.at("block", lane, s);
        const auto& row = rows[block * e.m + e.d.at("i", lane, s)];
        const auto& column = columns[block * e.n + e.d.at("j", lane, s)];
        const std::uint64_t expected =
            matrix_element(e.type_a, e.type_b, row, column, c_before[at]);
        const std::uint64_t got = get_element(d, e.d.bits, lane, s);
        const bool chain = e.type_a == "f32" || e.type_a == "f64"; // NaN bits are the FMA's own
        if (chain && is_nan(expected) && is_nan(got))
          continue;
        ASSERT_EQ(got, expected) << what << ", lane " << lane << " slot " << s << std::hex
                                 << ", c = " << c_before[at] << ", a = " << row[0]
                                 << " …, b = " << column[0] << " …";
      }
  }

  void fill(Style style_ab, Style style_c, Generator& g) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned s = 0; s < e.a.slots; ++s)
        set_element(a, e.a.bits, lane, s, random_number(e.type_a, style_ab, g));
      for (unsigned s = 0; s < e.b.slots; ++s)
        set_element(b, e.b.bits, lane, s, random_number(e.type_b, style_ab, g));
      for (unsigned s = 0; s < e.d.slots; ++s)
        set_element(c, e.d.bits, lane, s, random_number(e.type_cd, style_c, g));
    }
  }
};

class MfmaRounding : public MfmaArithmetic {};

TEST_P(MfmaArithmetic, RandomAgainstIntegerOracle) {
  Generator g(std::get<0>(GetParam()) + 1);
  for (int ab = 0; ab < static_cast<int>(Style::count); ++ab)
    for (int cc = 0; cc < static_cast<int>(Style::count); ++cc)
      for (int repeat = 0; repeat < (ab == 0 && cc == 0 ? 4 : 1); ++repeat) {
        fill(static_cast<Style>(ab), static_cast<Style>(cc), g);
        check(std::string("inputs ") + style_names[ab] + ", C " + style_names[cc]);
        if (HasFatalFailure())
          return;
      }
}

// C near minus the product sum: results lose nearly all their bits, or only the last ones.
TEST_P(MfmaRounding, Cancellation) {
  Generator g(77);
  for (int repeat = 0; repeat < 6; ++repeat) {
    fill(repeat % 2 ? Style::wide : Style::ordinary, Style::sparse, g);
    for (unsigned r = 0; r < e.registers_d; ++r)
      for (unsigned lane = 0; lane < lanes; ++lane)
        c[r][lane] = 0;
    check("C = 0");
    if (HasFatalFailure())
      return;
    for (unsigned r = 0; r < e.registers_d; ++r)
      for (unsigned lane = 0; lane < lanes; ++lane) {
        const std::uint32_t sum = d[r][lane] & 0x7fffffffu;
        const auto off = static_cast<std::uint32_t>(g() % 5);
        const std::uint32_t near = sum < 0x7f000000u ? sum + off : sum;
        c[r][lane] = near | (~d[r][lane] & 0x80000000u);
      }
    check("C near minus the sum");
    if (HasFatalFailure())
      return;
  }
}

// Sums that end exactly between two floats, just above and just below.
TEST_P(MfmaRounding, RoundingTies) {
  Generator g(5);
  const NumberFormat f = number_format(e.type_a), fb = number_format(e.type_b);
  for (int distance = 0; distance < 12; ++distance) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      // Products are powers of two near half of C's last bit.
      for (unsigned s = 0; s < e.a.slots; ++s) {
        const auto field = static_cast<std::uint64_t>(f.bias - 2 - static_cast<int>(g() % 4));
        set_element(a, e.a.bits, lane, s,
                    g() % 3 ? (g() & 1) << (f.bits - 1) | field << f.fraction : 0);
      }
      for (unsigned s = 0; s < e.b.slots; ++s)
        set_element(b, e.b.bits, lane, s, static_cast<std::uint64_t>(fb.bias) << fb.fraction);
      for (unsigned s = 0; s < e.d.slots; ++s) {
        const auto field = static_cast<std::uint32_t>(127 + 24 - 6 + distance);
        set_element(c, 32, lane, s,
                    (g() & 1) << 31 | field << 23 | (g() & 0x7fffff & (g() & 1 ? ~0u : ~1u)));
      }
    }
    check("distance " + std::to_string(distance));
    if (HasFatalFailure())
      return;
  }
}

// Against fp64: |error| ≤ 2^-24·|result| for the rounding, plus what is cut off before it. Each of
// the G products of a group loses less than 2^-24 of the largest exponent's unit (products are
// below 4 units), C as much, the halves twice more, per group: less than (G + 4)·2^-24·max(4·|p|,
// |c|).
TEST_P(MfmaRounding, CloseToExact) {
  Generator g(9);
  for (int repeat = 0; repeat < 3; ++repeat) {
    fill(Style::ordinary, Style::ordinary, g);
    const Columns rows = rows_of_a(), columns = columns_of_b();
    m.run(program);
    for (unsigned lane = 0; lane < lanes; ++lane)
      for (unsigned s = 0; s < e.d.slots; ++s) {
        const unsigned block = e.d.at("block", lane, s);
        const auto& row = rows[block * e.m + e.d.at("i", lane, s)];
        const auto& column = columns[block * e.n + e.d.at("j", lane, s)];
        const auto number = [](const std::string& type, std::uint64_t code) {
          return decode_number(type, code).value();
        };
        double exact = number("f32", get_element(c, 32, lane, s));
        double bound = std::fabs(exact), total = 0;
        for (unsigned k = 0; k < e.k; ++k) {
          const double p = number(e.type_a, row[k]) * number(e.type_b, column[k]);
          exact += p;
          total += std::fabs(p);
        }
        bound = (e.k + 4.0 * e.k) * 0x1p-24 * (4 * total + bound);
        const double got = number("f32", get_element(d, 32, lane, s));
        ASSERT_LE(std::fabs(got - exact), bound);
      }
  }
}

const auto case_name = [](const auto& p) {
  return calculator_entries()[std::get<0>(p.param)].name + "_" + name(std::get<1>(p.param));
};
// The sparse forms have no published order; they have a test of their own.
INSTANTIATE_TEST_SUITE_P(Dense, MfmaArithmetic,
                         testing::Combine(testing::ValuesIn(entries_where([](const auto& e) {
                                            return !e.sparse;
                                          })),
                                          testing::ValuesIn(levels())),
                         case_name);
INSTANTIATE_TEST_SUITE_P(DenseF32, MfmaRounding,
                         testing::Combine(testing::ValuesIn(entries_where([](const auto& e) {
                                            return !e.sparse && e.type_cd == "f32";
                                          })),
                                          testing::ValuesIn(levels())),
                         case_name);

// Sixteen published dot products at a time, on the diagonal of a 16×16 instruction.
TEST(MfmaGolden, MmaSim) {
  const auto golden = read_data("mma_golden.json");
  unsigned compared = 0;
  for (const auto& set : golden["sets"]) {
    const std::string type_a = set["a"], type_b = set["b"];
    const CalculatorEntry* entry = nullptr;
    for (const CalculatorEntry& e : calculator_entries())
      if (!e.sparse && e.m == 16 && e.k == set["k"] && e.type_a == type_a && e.type_b == type_b)
        entry = &e;
    ASSERT_NE(entry, nullptr);
    for (const Simd level : levels()) {
      Machine m(level);
      const Program program(matrix_text(*entry), level);
      for (std::size_t first = 0; first + 16 <= set["cases"].size(); first += 16) {
        const auto fill = [&](unsigned reg, const CalculatorLayout& l, const char* operand,
                              const char* index) {
          for (unsigned lane = 0; lane < lanes; ++lane)
            for (unsigned s = 0; s < l.slots; ++s)
              set_element(&m.wave.v[reg], l.bits, lane, s,
                          set["cases"][first + l.at(index, lane, s)][operand][l.at("k", lane, s)]);
        };
        fill(reg_a, entry->a, "a", "i");
        fill(reg_b, entry->b, "b", "j");
        for (unsigned lane = 0; lane < lanes; ++lane)
          for (unsigned s = 0; s < 4; ++s)
            m.wave.v[reg_c + s][lane] = set["cases"][first + entry->d.at("i", lane, s)]["c"];
        m.run(program);
        for (unsigned lane = 0; lane < lanes; ++lane)
          for (unsigned s = 0; s < 4; ++s) {
            const unsigned i = entry->d.at("i", lane, s);
            if (entry->d.at("j", lane, s) != i)
              continue;
            EXPECT_EQ(m.wave.v[reg_d + s][lane], set["cases"][first + i]["d"].get<std::uint32_t>())
                << entry->name << " " << name(level) << " case " << first + i;
            ++compared;
          }
      }
    }
  }
  EXPECT_EQ(compared, 7u * 96u * levels().size());
}

} // namespace
} // namespace wavesim::test
