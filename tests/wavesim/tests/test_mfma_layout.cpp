// Where the executor finds and puts the elements: one-hot experiments with assembled instructions,
// every operand element of every instruction, against AMD's calculator.
#include "tests/matrix_numbers.hpp"
#include "tests/matrix_tables.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace wavesim::test {
namespace {

class MfmaLayout : public testing::TestWithParam<std::tuple<unsigned, Simd>> {
protected:
  const CalculatorEntry& e = calculator_entries()[std::get<0>(GetParam())];
  Machine m{std::get<1>(GetParam())};
  Program program{matrix_text(e), m.level};

  LaneRow* a = &m.wave.v[reg_a];
  LaneRow* b = &m.wave.v[reg_b];
  LaneRow* d = &m.wave.v[reg_d];

  /// Bits of 1 and of a number that tells k (distinct for all k < 64) in an operand's type.
  static std::uint64_t one(const std::string& type) {
    if (type == "i8")
      return 1;
    const NumberFormat f = number_format(type);
    return static_cast<std::uint64_t>(f.bias) << f.fraction;
  }
  static std::uint64_t tag(const std::string& type, unsigned k) {
    if (type == "i8" || type == "fp8" || type == "bf8")
      return k + 1; // bf8: denormals and small numbers
    const NumberFormat f = number_format(type);
    return (static_cast<std::uint64_t>(f.bias) << f.fraction) | std::uint64_t{k + 1}
                                                                    << (f.fraction - 7);
  }
  /// What 1 · tag is in D.
  static double tag_value(const std::string& type, unsigned k) {
    return type == "i8" ? k + 1.0 : decode_number(type, tag(type, k)).value();
  }
  double result(unsigned lane, unsigned slot) const {
    const std::uint64_t bits = get_element(d, e.d.bits, lane, slot);
    if (e.type_cd == "i32")
      return static_cast<std::int32_t>(bits);
    if (e.type_cd == "f64")
      return std::bit_cast<double>(bits);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  void execute() {
    std::memset(d, 0xff, e.registers_d * sizeof(LaneRow));
    if (e.sparse)
      std::memset(d, 0, e.registers_d * sizeof(LaneRow));
    m.run(program);
  }
};

// A has a single 1: its row of D shows B's elements of the same k.
TEST_P(MfmaLayout, EveryElementOfA) {
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned slot = 0; slot < e.b.slots; ++slot)
      set_element(b, e.b.bits, lane, slot, tag(e.type_b, e.b.at("k", lane, slot)));
  // Sparse: the first stored element of a pair stands for k + 1, the second for k + 3.
  for (unsigned lane = 0; lane < lanes; ++lane)
    m.wave.v[reg_index][lane] = 0xdddddddd;
  const unsigned per_slot = e.sparse ? 2 : 1;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned slot = 0; slot < e.a.slots * per_slot; ++slot) {
      set_element(a, e.stored_bits_a(), lane, slot, one(e.type_a));
      execute();
      const unsigned s = slot / per_slot;
      const unsigned k = e.a.at("k", lane, s) + (e.sparse ? 1 + slot % 2 * 2 : 0);
      for (unsigned l = 0; l < lanes; ++l)
        for (unsigned r = 0; r < e.d.slots; ++r) {
          const bool hit = e.d.at("i", l, r) == e.a.at("i", lane, s) &&
                           e.d.at("block", l, r) == e.a.at("block", lane, s);
          ASSERT_EQ(result(l, r), hit ? tag_value(e.type_b, k) : 0.0)
              << "A lane " << lane << " slot " << slot << ", D lane " << l << " slot " << r;
        }
      set_element(a, e.stored_bits_a(), lane, slot, 0);
    }
}

// B has a single 1: its column of D shows A's elements of the same k.
TEST_P(MfmaLayout, EveryElementOfB) {
  const unsigned per_slot = e.sparse ? 2 : 1;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned slot = 0; slot < e.a.slots * per_slot; ++slot)
      set_element(a, e.stored_bits_a(), lane, slot,
                  tag(e.type_a, e.a.at("k", lane, slot / per_slot) + slot % per_slot));
  for (unsigned lane = 0; lane < lanes; ++lane) // stored elements are k and k + 1
    m.wave.v[reg_index][lane] = 0x44444444;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (unsigned slot = 0; slot < e.b.slots; ++slot) {
      set_element(b, e.b.bits, lane, slot, one(e.type_b));
      execute();
      const unsigned k = e.b.at("k", lane, slot);
      const bool stored = !e.sparse || k % 4 < 2;
      for (unsigned l = 0; l < lanes; ++l)
        for (unsigned r = 0; r < e.d.slots; ++r) {
          const bool hit = stored && e.d.at("j", l, r) == e.b.at("j", lane, slot) &&
                           e.d.at("block", l, r) == e.b.at("block", lane, slot);
          ASSERT_EQ(result(l, r), hit ? tag_value(e.type_a, k) : 0.0)
              << "B lane " << lane << " slot " << slot << ", D lane " << l << " slot " << r;
        }
      set_element(b, e.b.bits, lane, slot, 0);
    }
}

// C comes back where D's layout has it, and only the instruction's own registers change.
TEST_P(MfmaLayout, CAndBounds) {
  for (unsigned r = 0; r < 256; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane)
      m.wave.v[r][lane] = 0x3f800000u + 64 * r + lane;
  std::memset(a, 0, e.registers_a * sizeof(LaneRow));
  std::memset(b, 0, e.registers_b * sizeof(LaneRow));
  const auto before = std::make_unique<Wave>(m.wave);
  m.wave.set_exec(0x5); // ignored
  m.run(program);
  for (unsigned r = 0; r < 256; ++r)
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const bool in_d = r >= reg_d && r < reg_d + e.registers_d;
      const unsigned from = in_d && !e.sparse ? r - reg_d + reg_c : r;
      const std::uint32_t expected = before->v[from][lane];
      ASSERT_EQ(m.wave.v[r][lane], expected) << "v" << r << " lane " << lane;
    }
  EXPECT_EQ(std::memcmp(m.wave.a, before->a, sizeof m.wave.a), 0);
}

INSTANTIATE_TEST_SUITE_P(All, MfmaLayout,
                         testing::Combine(testing::Range(0u, 46u), testing::ValuesIn(levels())),
                         [](const auto& p) {
                           return calculator_entries()[std::get<0>(p.param)].name + "_" +
                                  name(std::get<1>(p.param));
                         });

} // namespace
} // namespace wavesim::test
