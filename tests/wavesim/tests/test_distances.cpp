// Issue-to-wait distances: which wait needs a load, what lies in between, and the loops they are
// looked for in; and what of a kernel fits a compute unit.
#include "loader/code_object.hpp"
#include "model/distance_text.hpp"
#include "model/issue_cost.hpp"
#include "model/load_waits.hpp"
#include "model/residency.hpp"
#include "model/wave_pace.hpp"
#include "tests/harness.hpp"
#include "tests/shell.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

namespace {

using namespace wavesim;
using namespace wavesim::test;
using nlohmann::json;

/// Distances of the loads of a straight piece of code, by their number among its instructions.
std::map<std::size_t, std::uint64_t> distances(const std::string& text, unsigned passes = 1) {
  const Program program(text);
  WavePace pace;
  LoadWaits waits;
  pace.start(1);
  for (unsigned pass = 0; pass < passes; ++pass) {
    std::uint32_t id = 0;
    for (const Op& op : program.ops())
      pace.issue(issue_cost(op), id++, waits);
  }
  std::map<std::size_t, std::uint64_t> out;
  for (const auto& [load, met] : waits.all())
    for (const LoadWait& w : met)
      out[load] = w.least;
  return out;
}

std::string repeat(const std::string& text, unsigned times) {
  std::string out;
  for (unsigned i = 0; i < times; ++i)
    out += text + "\n";
  return out;
}

const std::string load = "global_load_dword v1, v[2:3], off\n";
const std::string read = "ds_read_b32 v1, v2\n";
const std::string matrix = "v_mfma_f32_16x16x16_bf16 v[4:7], v[8:9], v[10:11], v[4:7]\n";

using Distances = std::map<std::size_t, std::uint64_t>;

TEST(Distance, WorkInBetween) {
  const std::string wait = "s_waitcnt vmcnt(0)";
  EXPECT_EQ(distances(load + wait), (Distances{{0, 0}}));
  EXPECT_EQ(distances(load + repeat("v_add_f32 v4, v5, v6", 3) + wait), (Distances{{0, 12}}));
  EXPECT_EQ(distances(load + repeat("v_exp_f32 v4, v5", 2) + wait), (Distances{{0, 32}}));
  EXPECT_EQ(distances(load + repeat("s_add_u32 s0, s1, s2", 5) + wait), (Distances{{0, 20}}));
  EXPECT_EQ(distances(load + repeat(matrix, 4) + wait), (Distances{{0, 64}}));
  EXPECT_EQ(distances(load + "s_nop 4\n" + wait), (Distances{{0, 20}}));
  EXPECT_EQ(distances(load + "s_barrier\ns_setprio 1\n" + wait), (Distances{{0, 0}}));
}

TEST(Distance, MatrixWorkHidesVectorWork) {
  // 16 clocks of the matrix unit leave room for three vector instructions after its issue slot.
  const std::string beside = matrix + repeat("v_add_f32 v4, v5, v6", 3);
  EXPECT_EQ(distances(load + beside + beside + "s_waitcnt vmcnt(0)"), (Distances{{0, 32}}));
  // fp32 inputs keep the vector unit busy.
  const std::string blocking = "v_mfma_f32_16x16x4_f32 v[4:7], v8, v9, v[4:7]\n"
                               "v_add_f32 v20, v21, v22\n";
  EXPECT_EQ(distances(load + blocking + "s_waitcnt vmcnt(0)"), (Distances{{0, 36}}));
}

TEST(Distance, CountersInOrder) {
  // Two loads and a store between them count alike; each wait frees the oldest.
  const std::string text = load +                                   // 0
                           "global_store_dword v[2:3], v4, off\n" + // 1
                           load +                                   // 2
                           "s_waitcnt vmcnt(2)\n" +                 // 3: load 0
                           repeat("v_add_f32 v4, v5, v6", 4) +      // 4 to 7
                           "s_waitcnt vmcnt(1)\n"                   // 8: the store
                           "v_add_f32 v4, v5, v6\n"                 // 9
                           "s_waitcnt vmcnt(0)";                    // 10: load 2
  EXPECT_EQ(distances(text), (Distances{{0, 8}, {2, 20}}));
  // LDS: lgkmcnt, and of it 0 alone while a scalar load is outstanding.
  EXPECT_EQ(distances(read + read + "s_waitcnt lgkmcnt(1)\nv_add_f32 v4, v5, v6\n" +
                      "s_waitcnt lgkmcnt(0)"),
            (Distances{{0, 4}, {1, 4}}));
  EXPECT_EQ(distances(read + "s_load_dword s0, s[2:3], 0x0\ns_waitcnt lgkmcnt(1)\n" +
                      "v_add_f32 v4, v5, v6\ns_waitcnt lgkmcnt(0)"),
            (Distances{{0, 8}, {1, 4}}));
  // The wait for one counter does not touch the other.
  EXPECT_EQ(distances(load + "s_waitcnt lgkmcnt(0)\nv_add_f32 v4, v5, v6\ns_waitcnt vmcnt(0)"),
            (Distances{{0, 4}}));
}

TEST(Distance, CrossesTheEndOfALoop) {
  // A load for the next pass, waited for at the beginning of it.
  const std::string pass = "s_waitcnt vmcnt(0)\nv_add_f32 v5, v1, v1\n" + load + repeat(matrix, 8);
  EXPECT_EQ(distances(pass, 4).at(2), 8u * 16);
  // Two passes ahead: one load stays outstanding.
  const std::string ahead = "s_waitcnt vmcnt(1)\nv_add_f32 v5, v1, v1\n" + load + repeat(matrix, 8);
  EXPECT_GE(distances(ahead, 6).at(2), 2u * 8 * 16);
}

TEST(Distance, EveryMatrixInstructionTakesItsClocks) {
  EXPECT_EQ(distances(load + "v_mfma_f32_32x32x8_bf16 v[16:31], v[8:9], v[10:11], v[16:31]\n" +
                      "s_waitcnt vmcnt(0)"),
            (Distances{{0, 32}}));
}

// ------------------------------------------------------------------ residency

Residency residency_of(std::uint32_t vgprs, std::uint32_t used, std::uint32_t lds) {
  Kernel kernel;
  kernel.vgprs = vgprs;
  kernel.used_registers = used;
  kernel.lds_bytes = lds;
  return residency(kernel, 256, 0);
}

/// A compiler asks for as many registers as the waves that LDS allows leave.
TEST(Residency, RegistersAskedForBeyondThoseUsedAreNotTheLimit) {
  const Residency r = residency_of(104, 3, 16384);
  EXPECT_EQ(r.groups, 4u);
  EXPECT_EQ(r.registers, 104u);
  EXPECT_EQ(r.used_registers, 3u);
  EXPECT_EQ(r.limit, Residency::Limit::lds);
  EXPECT_NE(residency_text(r).find("104 registers allocated (3 used), 16,384 B LDS"),
            std::string::npos)
      << residency_text(r);
}

TEST(Residency, Limits) {
  using Limit = Residency::Limit;
  EXPECT_EQ(residency_of(104, 97, 0).limit, Limit::registers);
  EXPECT_EQ(residency_of(104, 3, 0).limit, Limit::registers); // asked for all the same
  EXPECT_EQ(residency_of(104, 97, 16384).limit, Limit::registers);
  EXPECT_EQ(residency_of(64, 64, 16384).limit, Limit::lds);
  EXPECT_EQ(residency_of(64, 64, 8192).limit, Limit::waves);
  EXPECT_EQ(residency_of(8, 0, 0).limit, Limit::waves);
}

// ------------------------------------------------------------------ compiled kernels

class Ladder : public testing::Test {
protected:
  static json distances_of(const std::string& kernel) {
    const auto file = std::filesystem::temp_directory_path() /
                      ("wavesim_distances_" + std::to_string(getpid()) + ".json");
    const Outcome o =
        shell(std::string(WAVESIM_TOOL) + " --distances " WAVESIM_LADDER " --kernel " + kernel +
              " --json " + file.string());
    EXPECT_EQ(o.code, 0) << o.text;
    const json document = json::parse(std::ifstream(file));
    std::filesystem::remove(file);
    EXPECT_EQ(document["schema"], "wavesim-distances");
    EXPECT_EQ(document["kernels"].size(), 1u);
    return document["kernels"][0];
  }
};

TEST_F(Ladder, LoopAndWork) {
  const json kernel = distances_of("swizzled_wide");
  const json& loop = kernel["steady_loop"];
  EXPECT_EQ(loop["matrix_instructions"], 64); // 64x64 of 16x16 parts, k = 64 in steps of 16
  EXPECT_EQ(loop["matrix_clocks"], 1024);
  EXPECT_GE(loop["clocks"], 1024);
  EXPECT_EQ(kernel["residency"]["groups_per_compute_unit"], 2);
  EXPECT_EQ(kernel["residency"]["limit"], "LDS");
  EXPECT_LT(kernel["residency"]["registers_used"], kernel["residency"]["registers"]);
  int global = 0, lds = 0;
  for (const json& load_of : loop["loads"]) {
    global += load_of["kind"] == "global";
    lds += load_of["kind"] == "lds";
  }
  EXPECT_EQ(global, 8);
  EXPECT_EQ(lds, 16);
}

/// The same loads in the same loop; only where they stand differs.
TEST_F(Ladder, SunkLoadsAreToldFromAPrefetch) {
  const auto least = [](const char* kernel) {
    return distances_of(kernel)["steady_loop"]["least_distance"]["global"].get<int>();
  };
  EXPECT_GE(least("swizzled_wide"), 900);
  EXPECT_GE(least("swizzled_ahead"), 900);
  EXPECT_LT(least("swizzled_sunk"), 100);
  EXPECT_LT(least("swizzled_narrow"), 100);
}

TEST_F(Ladder, GateOfTheTool) {
  const auto gate = [](const std::string& options) {
    return shell(std::string(WAVESIM_TOOL) + " --distances " WAVESIM_LADDER " " + options);
  };
  EXPECT_EQ(gate("--kernel swizzled_wide --least-global 900").code, 0);
  const Outcome sunk = gate("--kernel swizzled_sunk --least-global 900");
  EXPECT_EQ(sunk.code, 1);
  EXPECT_NE(sunk.text.find("global load is"), std::string::npos) << sunk.text;
  EXPECT_EQ(gate("--kernel swizzled_narrow --least-lds 64").code, 1);
  EXPECT_EQ(gate("--kernel no_such_kernel").code, 2);
  EXPECT_EQ(shell(std::string(WAVESIM_TOOL) + " --distances /etc/passwd").code, 2);
  EXPECT_EQ(shell(std::string(WAVESIM_TOOL) + " --distances /no/such/file").code, 2);
  const Outcome folder = shell(std::string(WAVESIM_TOOL) + " --distances /etc");
  EXPECT_EQ(folder.code, 2);
  EXPECT_NE(folder.text.find("cannot read '/etc': it is a folder"), std::string::npos)
      << folder.text;
  for (const char* clocks : {"-5", "99999999999999999999", "many"})
    for (const char* option : {"--least-global ", "--least-lds "})
      EXPECT_EQ(gate(std::string(option) + clocks).code, 2) << option << clocks;
}

} // namespace
