#include "tests/harness.hpp"

#include <gtest/gtest.h>

using namespace wavesim;
using namespace wavesim::test;

namespace {

TEST(Scalar, LoopWithBranch) {
  for (Simd level : levels()) {
    Machine m(level);
    m.run("s_mov_b32 s0, 0\n"
          "s_mov_b32 s1, 0\n"
          "loop:\n"
          "s_add_u32 s1, s1, s0\n"
          "s_add_u32 s0, s0, 1\n"
          "s_cmp_lt_u32 s0, 100\n"
          "s_cbranch_scc1 loop\n"
          "s_endpgm\n");
    EXPECT_EQ(m.wave.s[1], 4950u);
    EXPECT_EQ(m.wave.status, WaveStatus::ended);
  }
}

} // namespace
