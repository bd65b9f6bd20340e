// The executor's table of matrix instructions against AMD's calculator.
#include "isa/mfma_facts.hpp"
#include "tests/matrix_tables.hpp"

#include <gtest/gtest.h>

namespace wavesim::test {
namespace {

TEST(MfmaFacts, EveryInstructionIsThere) {
  ASSERT_EQ(calculator_entries().size(), mfma_facts.size());
  for (const CalculatorEntry& e : calculator_entries())
    EXPECT_NE(find_mfma(e.name), nullptr) << e.name;
}

TEST(MfmaFacts, NumbersAgree) {
  const auto type = [](const std::string& text) {
    const std::pair<const char*, MatrixType> names[] = {
        {"f64", MatrixType::f64}, {"f32", MatrixType::f32},   {"xf32", MatrixType::xf32},
        {"f16", MatrixType::f16}, {"bf16", MatrixType::bf16}, {"fp8", MatrixType::fp8},
        {"bf8", MatrixType::bf8}, {"i8", MatrixType::i8},     {"i32", MatrixType::i32}};
    for (const auto& [name, value] : names)
      if (text == name)
        return value;
    ADD_FAILURE() << text;
    return MatrixType::f64;
  };
  for (const CalculatorEntry& e : calculator_entries()) {
    SCOPED_TRACE(e.name);
    const MfmaFact& f = *find_mfma(e.name);
    EXPECT_EQ(f.opcode, e.raw["vop3p_opcode"].get<unsigned>());
    EXPECT_EQ(f.sparse, e.sparse);
    EXPECT_EQ(f.m, e.m);
    EXPECT_EQ(f.n, e.n);
    EXPECT_EQ(f.k, e.k);
    EXPECT_EQ(f.blocks, e.blocks);
    EXPECT_EQ(f.a, type(e.type_a));
    EXPECT_EQ(f.b, type(e.type_b));
    EXPECT_EQ(f.cd, type(e.type_cd));
    EXPECT_EQ(f.passes, e.raw["passes"].get<unsigned>());
    EXPECT_EQ(f.clocks(), e.raw["cycles"].get<unsigned>());
    EXPECT_EQ(f.valu_clocks(), e.raw["valu_coexec_cycles"].get<unsigned>());
    EXPECT_EQ(f.ops(), e.raw["ops_per_wave"].get<unsigned>());
    EXPECT_EQ(f.ops_per_cu_clock(), e.raw["ops_per_cu_cycle"].get<unsigned>());
    EXPECT_EQ(f.takes_cbsz(), e.raw["cbsz_abid"].get<bool>());
    EXPECT_EQ(f.takes_blgp(), e.raw["blgp"].get<bool>());
    EXPECT_EQ(f.xdl(), e.raw["xdl"].get<bool>());
    EXPECT_EQ(f.a_registers(), e.registers_a);
    EXPECT_EQ(f.b_registers(), e.registers_b);
    EXPECT_EQ(f.d_registers(), e.registers_d);
  }
}

TEST(MfmaFacts, EveryElementIsWhereTheCalculatorPutsIt) {
  unsigned compared = 0;
  for (const CalculatorEntry& e : calculator_entries()) {
    SCOPED_TRACE(e.name);
    const MfmaFact& f = *find_mfma(e.name);
    // The calculator counts the stored pairs of a sparse A as one slot.
    ASSERT_EQ(f.a_slots(), e.a.slots * (e.sparse ? 2 : 1));
    ASSERT_EQ(f.b_slots(), e.b.slots);
    ASSERT_EQ(f.d_slots(), e.d.slots);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      for (unsigned slot = 0; slot < f.a_slots(); ++slot, ++compared) {
        const unsigned s = e.sparse ? slot / 2 : slot;
        EXPECT_EQ(f.a_element(lane, slot),
                  (MatrixElement{e.a.at("i", lane, s), 0, e.a.at("k", lane, s),
                                 e.a.at("block", lane, s)}));
      }
      for (unsigned slot = 0; slot < f.b_slots(); ++slot, ++compared)
        EXPECT_EQ(f.b_element(lane, slot),
                  (MatrixElement{0, e.b.at("j", lane, slot), e.b.at("k", lane, slot),
                                 e.b.at("block", lane, slot)}));
      for (unsigned slot = 0; slot < f.d_slots(); ++slot, ++compared)
        EXPECT_EQ(f.d_element(lane, slot),
                  (MatrixElement{e.d.at("i", lane, slot), e.d.at("j", lane, slot), 0,
                                 e.d.at("block", lane, slot)}));
    }
  }
  EXPECT_GT(compared, 40000u);
}

} // namespace
} // namespace wavesim::test
