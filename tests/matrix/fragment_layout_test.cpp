// Every lane and register of every fragment, against AMD's matrix instruction calculator.
#include <wavetile/matrix/fragment.hpp>

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace wavetile {
namespace {

int evaluate(const nlohmann::json& operand, const char* coordinate, int lane, int slot) {
  int sum = 0;
  for (const auto& [variable, x] : {std::pair{"lane", lane}, {"slot", slot}})
    for (const auto& term : operand[coordinate][variable])
      sum += x / term[0].get<int>() % term[1].get<int>() * term[2].get<int>();
  return sum;
}

const nlohmann::json& calculator() {
  static const nlohmann::json table = [] {
    std::ifstream file(WAVETILE_MATRIX_TABLE);
    return nlohmann::json::parse(file);
  }();
  return table;
}

const nlohmann::json& entry(const std::string& mnemonic) {
  for (const auto& one : calculator()["instructions"])
    if (one["name"] == mnemonic)
      return one;
  ADD_FAILURE() << mnemonic << " is not in the calculator's table";
  return calculator();
}

// The states between an instruction and a reader of its result, from the calculator's passes.
TEST(matrix_instructions, need_the_wait_states_that_llvm_counts) {
  for (const matrix_instruction& one : detail::table::gfx942_matrix_instructions) {
    const nlohmann::json& e = entry(one.mnemonic);
    const int beside = e["xdl"].get<bool>() ? 3 : 2; // the passes
    const int states = one.accumulator == matrix_type::fp64 ? 18 : e["passes"].get<int>() + beside;
    EXPECT_EQ(one.result_states(), states) << one.mnemonic;
    EXPECT_LE(one.result_states(), most_result_states) << one.mnemonic;
  }
  using enum matrix_type;
  EXPECT_EQ(find_matrix_instruction(architecture::gfx942, {32, 32, 8}, bf16, bf16).result_states(),
            11);
  EXPECT_EQ(find_matrix_instruction(architecture::gfx942, {16, 16, 16}, fp16, fp16).result_states(),
            7);
  EXPECT_EQ(find_matrix_instruction(architecture::gfx90a, {16, 16, 16}, fp16, fp16).result_states(),
            0);
}

TEST(matrix_instructions, agree_with_the_calculator) {
  int elements = 0;
  for (const matrix_instruction& one : detail::table::gfx942_matrix_instructions) {
    SCOPED_TRACE(one.mnemonic);
    const nlohmann::json& e = entry(one.mnemonic);
    ASSERT_EQ(one.shape, (matrix_shape{e["M"], e["N"], e["K"]}));
    EXPECT_EQ(e["blocks"], 1);
    EXPECT_EQ(one.clocks, e["cycles"].get<int>());
    EXPECT_EQ(one.flops(), e["ops_per_wave"].get<int>());
    const auto& layout = e["layout"];
    for (int lane = 0; lane < 64; ++lane) {
      const auto compare = [&](fragment_role role, const char* operand, const char* row,
                               const char* column) {
        const nlohmann::json& from = layout[operand];
        ASSERT_EQ(fragment_size(role, one.shape), from["slots_per_lane"].get<int>());
        for (int i = 0; i < fragment_size(role, one.shape); ++i, ++elements)
          EXPECT_EQ(one.element(role, lane, i), (matrix_element{evaluate(from, row, lane, i),
                                                                evaluate(from, column, lane, i)}));
      };
      compare(fragment_role::a, "A", "i", "k");
      compare(fragment_role::b, "B", "k", "j");
      compare(fragment_role::accumulator, "D", "i", "j");
    }
  }
  EXPECT_GT(elements, 20000);
}

// The fragment types use the same functions; this ties a type to its instruction.
template <class A, class B, matrix_shape Shape>
void check_types(const char* mnemonic) {
  constexpr matrix_instruction one = find_matrix_instruction(
      architecture::gfx942, Shape, detail::matrix_type_of<A>(), detail::matrix_type_of<B>());
  EXPECT_STREQ(one.mnemonic, mnemonic);
  using fragments = product_fragments<Shape, A, B>;
  const nlohmann::json& e = entry(mnemonic);
  const auto registers = [](auto fragment) {
    return static_cast<int>(sizeof(fragment.registers)) / 4;
  };
  EXPECT_EQ(registers(typename fragments::a{}), e["vgprs_a"].get<int>());
  EXPECT_EQ(registers(typename fragments::b{}), e["vgprs_b"].get<int>());
  EXPECT_EQ(registers(typename fragments::accumulator{}), e["vgprs_cd"].get<int>());
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < fragments::accumulator::size; ++i)
      EXPECT_EQ(fragments::accumulator::element(lane, i),
                one.element(fragment_role::accumulator, lane, i));
}

TEST(matrix_instructions, belong_to_the_fragment_types) {
  check_types<double, double, shape_16x16<double>>("v_mfma_f64_16x16x4_f64");
  check_types<float, float, shape_16x16<float>>("v_mfma_f32_16x16x4_f32");
  check_types<float, float, shape_32x32<float>>("v_mfma_f32_32x32x2_f32");
  check_types<fp16, fp16, shape_16x16<fp16>>("v_mfma_f32_16x16x16_f16");
  check_types<fp16, fp16, shape_32x32<fp16>>("v_mfma_f32_32x32x8_f16");
  check_types<bf16, bf16, shape_16x16<bf16>>("v_mfma_f32_16x16x16_bf16");
  check_types<bf16, bf16, shape_32x32<bf16>>("v_mfma_f32_32x32x8_bf16");
  using e4 = fp8_e4m3_fnuz;
  using e5 = fp8_e5m2_fnuz;
  check_types<e4, e4, shape_16x16<e4>>("v_mfma_f32_16x16x32_fp8_fp8");
  check_types<e4, e5, shape_16x16<e4>>("v_mfma_f32_16x16x32_fp8_bf8");
  check_types<e5, e4, shape_32x32<e5>>("v_mfma_f32_32x32x16_bf8_fp8");
  check_types<e5, e5, shape_32x32<e5>>("v_mfma_f32_32x32x16_bf8_bf8");
  check_types<int8_t, int8_t, shape_16x16<int8_t>>("v_mfma_i32_16x16x32_i8");
  check_types<int8_t, int8_t, shape_32x32<int8_t>>("v_mfma_i32_32x32x16_i8");
}

TEST(matrix_instructions, other_architectures_have_their_own) {
  const auto has = [](architecture arch, matrix_shape shape, matrix_type type) {
    return has_matrix_instruction(arch, shape, type, type);
  };
  EXPECT_TRUE(has(architecture::gfx90a, shape_32x32<bf16>, matrix_type::bf16));
  EXPECT_FALSE(has(architecture::gfx90a, shape_32x32<int8_t>, matrix_type::int8));
  EXPECT_TRUE(has(architecture::gfx9_4_generic, shape_32x32<int8_t>, matrix_type::int8));
  EXPECT_FALSE(has(architecture::gfx950, shape_32x32<int8_t>, matrix_type::e4m3_fnuz));
  EXPECT_FALSE(has(architecture::unknown, shape_32x32<bf16>, matrix_type::bf16));
  EXPECT_FALSE(has(architecture::gfx942, shape_32x32<double>, matrix_type::fp64));
  EXPECT_EQ(find_matrix_instruction(architecture::gfx950, shape_32x32<bf16>, matrix_type::bf16,
                                    matrix_type::bf16)
                .clocks,
            0);
}

} // namespace
} // namespace wavetile
