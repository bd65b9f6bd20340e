// The bound and the distances against hardware: five kernels with the access patterns of a
// published bf16 ladder on MI300X (122, 245, 370, 421 and 454 TFLOP/s at 4096 cubed).
#include "tests/shell.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using wavesim::test::Outcome;
using wavesim::test::shell;

constexpr double passes = 1024.0 / 64, steps = 4 * passes; ///< of a workgroup, of each kernel
constexpr const char* in_order[] = {"plain_narrow", "padded_narrow", "swizzled_narrow",
                                    "swizzled_ahead", "swizzled_wide"};

json count(const std::string& options) {
  const fs::path file =
      fs::temp_directory_path() / ("wavesim_ladder_" + std::to_string(getpid()) + ".json");
  const Outcome o = shell(std::string(WAVESIM_TOOL) + " --json " + file.string() + " " + options +
                          " -- " WAVESIM_LADDER);
  EXPECT_EQ(o.code, 0) << o.text;
  const json document = json::parse(std::ifstream(file));
  fs::remove(file);
  return document;
}

const json& document() {
  static const json once = count("--threads 1");
  return once;
}

const json& kernel(const std::string& name) {
  for (const json& k : document()["kernels"])
    if (k["name"].get<std::string>().find("::" + name + "(") != std::string::npos)
      return k;
  throw std::runtime_error("no kernel " + name);
}

double bound(const std::string& name) {
  return kernel(name)["bound"]["bound"];
}
double estimate(const std::string& name) {
  return kernel(name)["bound"]["estimate"];
}

TEST(Ladder, CountsDoNotDependOnThreads) {
  EXPECT_EQ(document(), count("--threads 2"));
  EXPECT_EQ(document(), count("--threads 1")); // nor on the run
}

/// Clocks of a pass, worked out from the bank rule by hand: 128 reads of a fragment of 8 bytes (64
/// clocks each, 16 ways on one bank pair, or 8), or 64 of 16 bytes, and 32 writes of 8 clocks.
TEST(Ladder, LdsClocksOfAPass) {
  const double clocks[] = {128 * 64 + 32 * 8, 128 * 8 + 32 * 8, 128 * 8 + 32 * 8, 128 * 8 + 32 * 8,
                           64 * 8 + 32 * 8};
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(kernel(in_order[i])["lds"]["clocks"].get<double>() / steps, clocks[i]) << in_order[i];
}

TEST(Ladder, MatrixClocksOfAPass) {
  for (const char* name : in_order) {
    EXPECT_EQ(kernel(name)["mfma"]["clocks"].get<double>() / steps, 4 * 1024.0) << name;
    EXPECT_EQ(kernel(name)["mfma"]["flops"].get<double>() / steps, 2.0 * 128 * 128 * 64) << name;
    EXPECT_EQ(kernel(name)["bound"]["clocks_per_group"]["matrix"], passes * 1024) << name;
  }
}

TEST(Ladder, ResidentWorkgroups) {
  const int groups[] = {2, 1, 2, 2, 2}; // the padded tile takes 36 KiB of the 64
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(kernel(in_order[i])["residency"]["groups_per_compute_unit"], groups[i])
        << in_order[i];
}

/// Rates fall as the published ones rise, each step by more than rounding.
TEST(Ladder, BoundAndDistancesRankAsTheHardware) {
  for (int i = 1; i < 5; ++i)
    EXPECT_LT(estimate(in_order[i]), 0.98 * estimate(in_order[i - 1]))
        << in_order[i] << " " << estimate(in_order[i]) << ", " << in_order[i - 1] << " "
        << estimate(in_order[i - 1]);
}

/// What the units alone say: conflicts and wide reads show; one workgroup less (second against
/// third) and a prefetch (third against fourth) do not.
TEST(Ladder, BoundAloneDoesNot) {
  EXPECT_EQ(kernel("plain_narrow")["bound"]["binds"], "lds");
  EXPECT_GT(bound("plain_narrow"), 4 * bound("padded_narrow"));
  EXPECT_NEAR(bound("padded_narrow") / bound("swizzled_narrow"), 1, 0.01);
  EXPECT_NEAR(bound("swizzled_narrow") / bound("swizzled_ahead"), 1, 0.01);
  EXPECT_LT(bound("swizzled_wide"), 0.9 * bound("swizzled_ahead"));
  EXPECT_EQ(kernel("swizzled_wide")["bound"]["binds"], "matrix");
}

/// A bound may not exceed what the hardware took: clocks of a pass at the highest clock there is.
TEST(Ladder, BoundIsBelowTheMeasurements) {
  constexpr double teraflops[] = {122, 245, 370, 421, 454};
  for (int i = 0; i < 5; ++i) {
    const double measured = 2.0 * 128 * 128 * 64 / (teraflops[i] * 1e12) * 304 * 2.1e9;
    EXPECT_LT(bound(in_order[i]) / passes, measured) << in_order[i];
  }
}

/// As found by execution; the same as from the code alone (test_distances.cpp).
TEST(Ladder, DistancesFromExecution) {
  const auto least = [](const std::string& name, const char* kind) {
    return kernel(name)["steady_loop"]["least_distance"][kind].get<int>();
  };
  EXPECT_GE(least("swizzled_ahead", "global"), 900);
  EXPECT_GE(least("swizzled_wide", "global"), 900);
  EXPECT_LT(least("swizzled_sunk", "global"), 100);
  EXPECT_LT(least("swizzled_narrow", "global"), 100);
  EXPECT_LT(least("swizzled_narrow", "lds"), 52);
  for (const json& load : kernel("swizzled_wide")["steady_loop"]["loads"])
    EXPECT_GE(load["times"], 4 * 4 * 15) << load; // workgroups, waves, passes
  // The sunk twin does the same work in the same units; only latency tells them apart.
  EXPECT_NEAR(bound("swizzled_sunk") / bound("swizzled_wide"), 1, 0.02);
  EXPECT_GT(kernel("swizzled_sunk")["bound"]["alone"].get<double>(),
            1.1 * kernel("swizzled_wide")["bound"]["alone"].get<double>());
}

TEST(Ladder, StaticDistancesAgree) {
  const fs::path file =
      fs::temp_directory_path() / ("wavesim_static_" + std::to_string(getpid()) + ".json");
  const Outcome o =
      shell(std::string(WAVESIM_TOOL) + " --distances " WAVESIM_LADDER " --json " + file.string());
  ASSERT_EQ(o.code, 0) << o.text;
  const json fixed = json::parse(std::ifstream(file));
  fs::remove(file);
  for (const json& k : fixed["kernels"])
    for (const json& executed : document()["kernels"])
      if (executed["mangled"] == k["mangled"])
        EXPECT_EQ(executed["steady_loop"]["least_distance"], k["steady_loop"]["least_distance"])
            << k["name"];
}

} // namespace
