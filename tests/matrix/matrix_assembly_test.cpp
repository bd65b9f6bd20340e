// What the fragments become in the compiler's assembly: the matrix instruction of that name, reads
// of 16 bytes, and nothing that packs, unpacks or moves elements.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace {

using counts = std::map<std::string, int>; // by mnemonic

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
      if (kernel && mnemonic.find('_') != std::string::npos)
        ++(*kernel)[mnemonic];
    }
    return found;
  }();
  return all;
}

int with_prefix(const counts& c, const std::string& prefix) {
  int sum = 0;
  for (const auto& [mnemonic, count] : c)
    if (mnemonic.rfind(prefix, 0) == 0)
      sum += count;
  return sum;
}

struct expectation {
  const char* kernel;
  const char* mnemonic;
  int instructions; ///< two reads, 16 bytes a lane, over the bytes of a fragment
};

TEST(matrix_assembly, one_instruction_a_step) {
  const expectation all[] = {{"fp64_16", "v_mfma_f64_16x16x4_f64", 4},
                             {"fp32_16", "v_mfma_f32_16x16x4_f32", 8},
                             {"fp32_32", "v_mfma_f32_32x32x2_f32", 8},
                             {"fp16_16", "v_mfma_f32_16x16x16_f16", 4},
                             {"fp16_32", "v_mfma_f32_32x32x8_f16", 4},
                             {"bf16_16", "v_mfma_f32_16x16x16_bf16", 4},
                             {"bf16_32", "v_mfma_f32_32x32x8_bf16", 4},
                             {"int8_16", "v_mfma_i32_16x16x32_i8", 4},
                             {"int8_32", "v_mfma_i32_32x32x16_i8", 4},
                             {"fp8_fp8_16", "v_mfma_f32_16x16x32_fp8_fp8", 4},
                             {"fp8_bf8_16", "v_mfma_f32_16x16x32_fp8_bf8", 4},
                             {"bf8_fp8_16", "v_mfma_f32_16x16x32_bf8_fp8", 4},
                             {"bf8_bf8_16", "v_mfma_f32_16x16x32_bf8_bf8", 4},
                             {"fp8_fp8_32", "v_mfma_f32_32x32x16_fp8_fp8", 4},
                             {"fp8_bf8_32", "v_mfma_f32_32x32x16_fp8_bf8", 4},
                             {"bf8_fp8_32", "v_mfma_f32_32x32x16_bf8_fp8", 4},
                             {"bf8_bf8_32", "v_mfma_f32_32x32x16_bf8_bf8", 4}};
  for (const expectation& e : all) {
    SCOPED_TRACE(e.kernel);
    const auto found = kernels().find(e.kernel);
    ASSERT_NE(found, kernels().end());
    const counts& c = found->second;
    const auto count = [&](const char* mnemonic) {
      const auto at = c.find(mnemonic);
      return at == c.end() ? 0 : at->second;
    };
    EXPECT_EQ(count(e.mnemonic), e.instructions);
    EXPECT_EQ(with_prefix(c, "v_mfma"), e.instructions);
    EXPECT_EQ(count("ds_read_b128"), 4);
    EXPECT_EQ(with_prefix(c, "ds_read"), 4);
    for (const char* mover :
         {"v_perm", "v_accvgpr", "v_bfi", "v_pk_", "v_cvt", "scratch_", "buffer_"})
      EXPECT_EQ(with_prefix(c, mover), 0) << mover;
  }
}

} // namespace
