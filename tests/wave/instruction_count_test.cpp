// The instruction counts that the wave primitives document, read from the compiler's assembly.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

struct counts {
  int vector = 0;   ///< v_ instructions
  int dpp = 0;      ///< of these, with a DPP operand
  int swizzle = 0;  ///< ds_swizzle_b32
  int bpermute = 0; ///< ds_bpermute_b32
  int lds = 0;      ///< other ds_ instructions
  int scratch = 0;
};

/// Counts by kernel name, of the assembly file that the build made.
const std::map<std::string, counts>& kernels() {
  static const std::map<std::string, counts> all = [] {
    std::map<std::string, counts> found;
    std::ifstream file(WAVETILE_ASSEMBLY);
    std::string line;
    counts* kernel = nullptr;
    while (std::getline(file, line)) {
      if (const auto begin = line.find("; -- Begin function "); begin != std::string::npos)
        kernel = &found[line.substr(begin + 20)];
      else if (line.find("; -- End function") != std::string::npos)
        kernel = nullptr;
      std::string mnemonic;
      std::istringstream(line) >> mnemonic;
      if (!kernel)
        continue;
      const auto starts = [&](const char* with) { return mnemonic.rfind(with, 0) == 0; };
      kernel->vector += starts("v_");
      kernel->dpp += starts("v_") && mnemonic.find("_dpp") != std::string::npos;
      kernel->swizzle += starts("ds_swizzle");
      kernel->bpermute += starts("ds_bpermute");
      kernel->lds += starts("ds_") && !starts("ds_swizzle") && !starts("ds_bpermute");
      kernel->scratch += starts("scratch_") || starts("buffer_");
    }
    return found;
  }();
  return all;
}

/// What `name` has more than its load and store.
counts beyond(const std::string& name, const std::string& baseline = "nothing") {
  const auto found = kernels().find(name);
  const auto base = kernels().find(baseline);
  EXPECT_TRUE(found != kernels().end()) << name << " is not in " << WAVETILE_ASSEMBLY;
  EXPECT_TRUE(base != kernels().end());
  if (found == kernels().end() || base == kernels().end())
    return {};
  counts result = found->second;
  EXPECT_EQ(result.lds, 0) << name;
  EXPECT_EQ(result.scratch, 0) << name;
  result.vector -= base->second.vector;
  return result;
}

TEST(instruction_count, reduce_is_one_instruction_a_step) {
  int steps = 0;
  for (const char* width : {"2", "4", "8", "16", "32", "64"}) {
    ++steps;
    const counts c = beyond(std::string("reduce_") + width);
    EXPECT_EQ(c.dpp, steps) << width;
    EXPECT_EQ(c.vector, steps) << width;
    EXPECT_EQ(c.swizzle + c.bpermute, 0) << width;
  }
}

TEST(instruction_count, all_reduce_up_to_a_row_too) {
  int steps = 0;
  for (const char* width : {"2", "4", "8", "16"}) {
    ++steps;
    const counts c = beyond(std::string("all_reduce_") + width);
    EXPECT_EQ(c.dpp, steps) << width;
    EXPECT_EQ(c.vector, steps) << width;
    EXPECT_EQ(c.swizzle + c.bpermute, 0) << width;
  }
  for (const char* name : {"all_reduce_int", "all_reduce_int_minimum"}) {
    EXPECT_EQ(beyond(name).dpp, 4) << name;
    EXPECT_EQ(beyond(name).vector, 4) << name;
  }
}

TEST(instruction_count, all_reduce_over_half_a_wave_and_a_wave) {
  const counts half = beyond("all_reduce_32");
  EXPECT_EQ(half.dpp, 4);
  EXPECT_EQ(half.swizzle, 1);
  EXPECT_EQ(half.vector, 5);
  EXPECT_EQ(half.bpermute, 0);
  const counts whole = beyond("all_reduce_64");
  EXPECT_EQ(whole.dpp, 6);
  EXPECT_EQ(whole.vector, 8); // v_readlane, and a v_mov only because the result is stored
  EXPECT_EQ(whole.swizzle + whole.bpermute, 0);
}

TEST(instruction_count, float_maximum_is_eight_more) {
  const counts row = beyond("all_reduce_maximum");
  EXPECT_EQ(row.dpp, 4);
  EXPECT_LE(row.vector, 4 + 8 + 1); // one v_mov holds the NaN
  const counts whole = beyond("reduce_maximum");
  EXPECT_EQ(whole.dpp, 6);
  EXPECT_LE(whole.vector, 6 + 8 + 1);
}

TEST(instruction_count, doubles_and_arguments) {
  const counts sum = beyond("reduce_double", "nothing64");
  EXPECT_EQ(sum.dpp, 12);
  EXPECT_EQ(sum.vector, 18);
  EXPECT_EQ(beyond("reduce_arg_maximum", "nothing64").dpp, 12);
}

TEST(instruction_count, scans) {
  const counts integers = beyond("scan_int");
  EXPECT_EQ(integers.dpp, 6);
  EXPECT_EQ(integers.vector, 6);
  const counts floats = beyond("scan_float");
  EXPECT_EQ(floats.dpp, 6);
  EXPECT_EQ(floats.vector, 7); // the first step is two
  EXPECT_EQ(beyond("scan_float_8").vector, 6);
}

TEST(instruction_count, shuffles) {
  for (const char* name :
       {"xor_1", "xor_2", "xor_3", "xor_7", "xor_8", "xor_15", "up_1", "up_3_of_16"}) {
    const counts c = beyond(name);
    EXPECT_EQ(c.dpp, 1) << name;
    EXPECT_EQ(c.vector, 1) << name;
    EXPECT_EQ(c.swizzle + c.bpermute, 0) << name;
  }
  EXPECT_EQ(beyond("xor_4").dpp, 2);
  EXPECT_EQ(beyond("xor_4").vector, 2);
  EXPECT_EQ(beyond("xor_16").swizzle, 1);
  EXPECT_EQ(beyond("xor_16").vector, 0);
  EXPECT_EQ(beyond("xor_32").bpermute, 1);
}

} // namespace
