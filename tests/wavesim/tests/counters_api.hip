// A HIP program that counts its own kernels through counters/api.h. On a GPU it has nothing to ask.
#include "counters/api.h"

#include <gtest/gtest.h>
#include <hip/hip_runtime.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

__global__ void copy_rows(const float4* from, float4* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

/// One wave transposes 64 dwords at a time: a clean write, a read with every second lane in bank 0.
template <unsigned Pitch>
__global__ void transpose(float* out) {
  __shared__ float tile[32 * Pitch];
  for (unsigned row = threadIdx.x / 32; row < 32; row += 2)
    tile[row * Pitch + threadIdx.x % 32] = static_cast<float>(row * 32 + threadIdx.x % 32);
  __syncthreads();
  for (unsigned column = threadIdx.x / 32; column < 32; column += 2)
    out[column * 32 + threadIdx.x % 32] = tile[threadIdx.x % 32 * Pitch + column];
}

class Counters : public testing::Test {
protected:
  void SetUp() override {
    if (!wavesim_counters_find(&counters_))
      GTEST_SKIP() << "not running under wavesim";
  }
  wavesim_counts end() {
    EXPECT_EQ(hipDeviceSynchronize(),
              hipSuccess); // wavesim's stream check holds work back till then
    wavesim_counts counts{};
    counts.size = sizeof counts;
    EXPECT_EQ(counters_.end(&counts), 0);
    return counts;
  }
  wavesim_counters counters_{};
};

TEST_F(Counters, CopyMovesTheMinimum) {
  constexpr unsigned groups = 32, block = 256, bytes = groups * block * 16;
  void *from = nullptr, *to = nullptr;
  ASSERT_EQ(hipMalloc(&from, bytes), hipSuccess);
  ASSERT_EQ(hipMalloc(&to, bytes), hipSuccess);
  ASSERT_EQ(hipMemset(from, 0x3f, bytes), hipSuccess);
  ASSERT_EQ(counters_.begin(), 0);
  copy_rows<<<groups, block>>>(static_cast<float4*>(from), static_cast<float4*>(to));
  copy_rows<<<groups, block>>>(static_cast<float4*>(from), static_cast<float4*>(to));
  const wavesim_counts c = end();
  EXPECT_EQ(c.dispatches, 2u);
  EXPECT_EQ(c.workgroups, 2u * groups);
  EXPECT_EQ(c.waves, 2u * groups * block / 64);
  EXPECT_EQ(c.bytes_read, 2u * bytes);
  EXPECT_EQ(c.bytes_written, 2u * bytes);
  EXPECT_EQ(c.read_by_width[wavesim_width_16], 2u * bytes);
  EXPECT_EQ(c.written_by_width[wavesim_width_16], 2u * bytes);
  EXPECT_EQ(c.lines_read, 2u * bytes / 128);
  EXPECT_EQ(c.group_lines_written, 2u * bytes / 128);
  EXPECT_EQ(c.tcp_accesses, 2u * 2u * 16 * c.waves / 2); // 16 a load and 16 a store
  EXPECT_EQ(c.instructions[wavesim_unit_vmem], 2 * c.waves);
  EXPECT_EQ(c.lds_clocks, 0u);
  EXPECT_GT(c.instructions[wavesim_unit_valu], 0u);
  EXPECT_GT(c.instructions[wavesim_unit_wait], 0u);
  EXPECT_EQ(hipFree(from), hipSuccess);
  EXPECT_EQ(hipFree(to), hipSuccess);
}

TEST_F(Counters, ConflictsOfATranspose) {
  float* out = nullptr;
  ASSERT_EQ(hipMalloc(&out, 4096), hipSuccess);
  constexpr unsigned accesses = 16; // rows two by two
  ASSERT_EQ(counters_.begin(), 0);
  transpose<32><<<1, 64>>>(out);
  wavesim_counts c = end();
  // Every read is 32-way: 64 clocks instead of 2, whether the compiler pairs reads or not.
  EXPECT_EQ(c.lds_clocks, accesses * (2 + 64u));
  EXPECT_EQ(c.lds_conflicts, accesses * 62u);

  std::vector<wavesim_instruction> code(counters_.instructions(nullptr, 0));
  ASSERT_GT(code.size(), 0u);
  EXPECT_EQ(counters_.instructions(code.data(), code.size()), code.size());
  std::uint64_t read_conflicts = 0, all = 0;
  for (const wavesim_instruction& i : code) {
    EXPECT_NE(std::string(i.kernel).find("transpose<32u>"), std::string::npos) << i.kernel;
    EXPECT_GT(i.executions, 0u);
    all += i.executions;
    if (std::strncmp(i.mnemonic, "ds_read", 7) == 0)
      read_conflicts += i.lds_conflicts;
    else
      EXPECT_EQ(i.lds_conflicts, 0u) << i.mnemonic;
  }
  EXPECT_EQ(read_conflicts, accesses * 62u);
  std::uint64_t by_unit = 0;
  for (const std::uint64_t n : c.instructions)
    by_unit += n;
  EXPECT_EQ(all, by_unit);

  ASSERT_EQ(counters_.begin(), 0);
  transpose<33><<<1, 64>>>(out);
  c = end();
  EXPECT_EQ(c.lds_clocks, accesses * 4u);
  EXPECT_EQ(c.lds_conflicts, 0u);
  float result[1024];
  ASSERT_EQ(hipMemcpy(result, out, sizeof result, hipMemcpyDeviceToHost), hipSuccess);
  for (int i = 0; i < 1024; ++i)
    EXPECT_EQ(result[i], static_cast<float>(i % 32 * 32 + i / 32));
  EXPECT_EQ(hipFree(out), hipSuccess);
}

TEST_F(Counters, WindowsDoNotNest) {
  EXPECT_EQ(counters_.end(nullptr), -1);
  EXPECT_EQ(counters_.begin(), 0);
  EXPECT_EQ(counters_.begin(), -1);
  wavesim_counts wrong{};
  wrong.size = 8;
  EXPECT_EQ(counters_.end(&wrong), -1); // unknown version: the count goes on
  EXPECT_EQ(end().dispatches, 0u);
  EXPECT_EQ(counters_.end(nullptr), -1);
  EXPECT_EQ(counters_.instructions(nullptr, 0), 0u);
}

} // namespace
