// The checks uninit and hazard of `wavesim --check`: kernels with one fault are found, with both
// instructions, lanes and distance; sound ones are not reported.
#include "check_runner.hpp"

namespace wavesim::test {
namespace {

class Uninit : public Checks {
protected:
  Uninit() : out(192) {}
  DeviceArray<unsigned> out;
};

TEST_F(Uninit, LdsReachesMemory) {
  auto found = run("uninit", "uninit_lds_to_memory", line(1, 64), out.data(), 64u);
  EXPECT_TRUE(found.empty()) << texts(found);
  found = run("uninit", "uninit_lds_to_memory", line(1, 64), out.data(), 62u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_EQ(found[0].kernel, "uninit_lds_to_memory");
  expect_line(found[0].here, "use", "lds_to_memory");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{3} << 62);
  EXPECT_EQ(found[0].other.role, "origin");
  EXPECT_TRUE(found[0].other.instruction.starts_with("ds_read_b32")) << texts(found);
}

TEST_F(Uninit, SilentUntilItDecides) {
  const auto found = run("uninit", "uninit_unused", line(1, 64), out.data());
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Uninit, Address) {
  const auto found = run("uninit", "uninit_address", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("address"), std::string::npos);
  expect_line(found[0].here, "use", "uninit_address use");
  expect_line(found[0].other, "origin", "uninit_address origin");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{1} << 9);
}

TEST_F(Uninit, BranchAndExec) {
  auto found = run("uninit", "uninit_branch", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("branch"), std::string::npos);
  EXPECT_TRUE(found[0].here.instruction.starts_with("s_cbranch_scc1")) << texts(found);
  Findings::instance().clear();
  found = run("uninit", "uninit_exec", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("EXEC"), std::string::npos);
  EXPECT_EQ(found[0].here.lanes, all_lanes);
}

TEST_F(Uninit, ComparisonVccAndScalarAddress) {
  auto found = run("uninit", "uninit_exec_by_comparison", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("EXEC"), std::string::npos);
  EXPECT_TRUE(found[0].here.instruction.starts_with("v_cmpx_eq_u32")) << texts(found);
  Findings::instance().clear();
  found = run("uninit", "uninit_branch_by_vcc", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("branch"), std::string::npos);
  EXPECT_TRUE(found[0].here.instruction.starts_with("s_cbranch_vccnz")) << texts(found);
  Findings::instance().clear();
  found = run("uninit", "uninit_scalar_address", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("address"), std::string::npos);
  EXPECT_TRUE(found[0].here.instruction.starts_with("buffer_load_dword")) << texts(found);
}

TEST_F(Uninit, JumpTarget) {
  const auto found = run("uninit", "uninit_jump", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_EQ(found[0].what, "an undefined value decides a branch");
  EXPECT_EQ(found[0].detail, "the target");
  EXPECT_TRUE(found[0].here.instruction.starts_with("s_setpc_b64")) << texts(found);
  EXPECT_TRUE(found[0].other.instruction.starts_with("s_addc_u32")) << texts(found);
  EXPECT_EQ(out[0], 1u); // it went on behind the jump
}

TEST_F(Uninit, Atomics) {
  auto found = run("uninit", "uninit_lds_atomic", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 2u) << texts(found);
  expect_line(found[0].here, "use", "lds_atomic memory");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{1} << 9);
  expect_line(found[1].here, "use", "lds_atomic operand");
  EXPECT_EQ(found[1].here.lanes, all_lanes);
  Findings::instance().clear();
  found = run("uninit", "uninit_global_atomic", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_EQ(found[0].what, "an undefined value is written to memory");
  expect_line(found[0].here, "use", "global_atomic");
}

TEST_F(Uninit, Selections) {
  auto found = run("uninit", "uninit_selected", line(1, 64), out.data(), 1u, 1u);
  EXPECT_TRUE(found.empty()) << texts(found);
  Findings::instance().clear();
  found = run("uninit", "uninit_selected", line(1, 64), out.data(), 0u, 1u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "selected sdwa");
  Findings::instance().clear();
  found = run("uninit", "uninit_selected", line(1, 64), out.data(), 1u, 0u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "selected dpp");
}

TEST_F(Uninit, PrivateMemory) {
  const auto found = run("uninit", "uninit_private", line(1, 64), out.data(), 3u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "uninit_private");
  EXPECT_EQ(found[0].here.lanes, 0xaaaaaaaaaaaaaaaau);
}

TEST_F(Uninit, MovesBetweenLanes) {
  const auto found = run("uninit", "uninit_swizzled", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 3u) << texts(found);
  for (const Finding& f : found) {
    EXPECT_EQ(f.here.lanes, std::uint64_t{1} << 9) << texts(found); // lane 8 gave it to lane 9
    EXPECT_TRUE(f.other.instruction.starts_with("ds_read_b32"));
  }
}

// The low dword is defined, the high one is not.
TEST_F(Uninit, Shifts) {
  auto found = run("uninit", "uninit_shifted", line(1, 64), out.data(), 24u);
  EXPECT_TRUE(found.empty()) << texts(found);
  Findings::instance().clear();
  found =
      run("uninit", "uninit_shifted", line(1, 64), out.data(), 40u); // only the high one is left
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "shifted right");
  Findings::instance().clear();
  found = run("uninit", "uninit_shifted", line(1, 64), out.data(), 0u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "shifted left");
}

// One half of a packed register is defined, and it alone is stored.
TEST_F(Uninit, PartsOfARegister) {
  const auto found = run("uninit", "uninit_packed", line(1, 64), out.data());
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Uninit, PartsThatAreAllUndefined) {
  const auto found = run("uninit", "uninit_packed_nothing", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "packed nothing");
}

class Hazard : public Checks {
protected:
  Hazard() : out(64) {}
  std::vector<Finding> kernel(const std::string& name) {
    Findings::instance().clear();
    return run("hazard", name, line(1, 64), out.data());
  }
  DeviceArray<float> out;
};

TEST_F(Hazard, ResultReadTooEarly) {
  auto found = kernel("hazard_read");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_TRUE(found[0].here.instruction.starts_with("v_add_f32")) << texts(found);
  EXPECT_TRUE(found[0].other.instruction.starts_with("v_mfma_f32_16x16x4_f32")) << texts(found);
  EXPECT_NE(found[0].detail.find("9 wait states between the two, 10 are needed"), std::string::npos)
      << found[0].detail;
  EXPECT_FALSE(found[0].here.source.empty());
  found = kernel("hazard_read_enough");
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Hazard, MatrixAfterMatrix) {
  auto found = kernel("hazard_in_place");
  EXPECT_TRUE(found.empty()) << texts(found);
  found = kernel("hazard_factor");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].detail.find("9 wait states between the two, 10 are needed"), std::string::npos)
      << found[0].detail;
  found = kernel("hazard_part_of_c");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].detail.find("7 wait states between the two, 8 are needed"), std::string::npos)
      << found[0].detail;
}

TEST_F(Hazard, VectorThenMatrixAndOverwrittenC) {
  auto found = kernel("hazard_vector_then_matrix");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].detail.find("1 wait states between the two, 2 are needed"), std::string::npos);
  found = kernel("hazard_overwrite_c");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].detail.find("6 wait states between the two, 7 are needed"), std::string::npos)
      << found[0].detail;
}

TEST_F(Hazard, TakenBranchBetween) {
  const auto found = kernel("hazard_over_a_branch");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_FALSE(found[0].failing);
  EXPECT_NE(found[0].detail.find("1 wait states between the two, 2 are needed; but a taken"),
            std::string::npos)
      << found[0].detail;
}

struct HazardCase {
  const char *name, *detail, *consumer;
};
constexpr HazardCase hazard_cases[] = {
    {"hazard_scalar_to_memory", "4 wait states between the two, 5 are", "buffer_load_dword"},
    {"hazard_scalar_to_vector", "1 wait states between the two, 2 are", "v_add_u32"},
    {"hazard_carry_to_vector", "1 wait states between the two, 2 are", "v_cndmask_b32"},
    {"hazard_lane_select", "3 wait states between the two, 4 are", "v_readlane_b32"},
    {"hazard_lane_select_write", "3 wait states between the two, 4 are", "v_writelane_b32"},
    {"hazard_vcc_to_div_fmas", "3 wait states between the two, 4 are", "v_div_fmas_f32"},
    {"hazard_exec_to_dpp", "4 wait states between the two, 5 are", "v_mov_b32_dpp"},
    {"hazard_exec_to_lane", "3 wait states between the two, 4 are", "v_readlane_b32"},
    {"hazard_vector_to_dpp", "1 wait states between the two, 2 are", "v_mov_b32_dpp"},
    {"hazard_vector_to_readlane", "0 wait states between the two, 1 are", "v_readlane_b32"},
    {"hazard_transcendental", "0 wait states between the two, 1 are", "v_add_f32"},
    {"hazard_sdwa_part", "0 wait states between the two, 1 are", "v_add_f32"},
    {"hazard_op_sel_part", "0 wait states between the two, 1 are", "v_add_f32"},
    {"hazard_wide_store", "1 wait states between the two, 2 are", "v_mov_b32"},
    {"hazard_setreg_to_getreg", "1 wait states between the two, 2 are", "s_getreg_b32"},
    {"hazard_m0_to_movrel", "0 wait states between the two, 1 are", "s_movrels_b32"},
    {"hazard_m0_to_addtid", "0 wait states between the two, 1 are", "ds_read_addtid_b32"},
    {"hazard_m0_to_lds_load", "0 wait states between the two, 1 are", "buffer_load_dword"},
    {"hazard_vccz_source", "4 wait states between the two, 5 are", "v_add_u32"},
    {"hazard_dot", "2 wait states between the two, 3 are", "v_add_f32"},
    {"hazard_exec_to_matrix", "3 wait states between the two, 4 are", "v_mfma_f32_4x4x4"},
    {"hazard_overwritten", "4 wait states between the two, 5 are", "v_mov_b32"},
    {"hazard_two_passes_in_place", "1 wait states between the two, 2 are", "v_mfma_f32_4x4x4"},
    {"hazard_f64_to_memory", "8 wait states between the two, 9 are", "buffer_store_dword"},
    {"hazard_f64_to_fma", "1 wait states between the two, 2 are", "v_fma_f64"},
    {"hazard_execz_source", "4 wait states between the two, 5 are", "v_add_u32"},
};

TEST_F(Hazard, OtherPairs) {
  for (const HazardCase& c : hazard_cases) {
    SCOPED_TRACE(c.name);
    auto found = kernel(std::string(c.name) + "_early");
    ASSERT_EQ(found.size(), 1u) << texts(found);
    EXPECT_EQ(found[0].check, Check::hazard);
    EXPECT_NE(found[0].detail.find(c.detail), std::string::npos) << found[0].detail;
    EXPECT_TRUE(found[0].here.instruction.starts_with(c.consumer)) << texts(found);
    EXPECT_FALSE(found[0].other.instruction.empty());
    found = kernel(std::string(c.name) + "_late");
    EXPECT_TRUE(found.empty()) << texts(found);
  }
}

TEST_F(Hazard, SoundNeighbours) {
  for (const char* name : {"hazard_none_narrow_store", "hazard_none_waited_for",
                           "hazard_none_soffset", "hazard_none_transcendental_chain",
                           "hazard_none_other_register", "hazard_none_scalar_to_scalar"}) {
    const auto found = kernel(name);
    EXPECT_TRUE(found.empty()) << name << "\n" << texts(found);
  }
}

} // namespace
} // namespace wavesim::test
