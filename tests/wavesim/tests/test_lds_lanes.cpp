// ds_swizzle, ds_permute and ds_bpermute.
#include "tests/memory_cases.hpp"

#include <fmt/format.h>

#include <functional>

using namespace wavesim;
using namespace wavesim::test;

namespace {

/// Runs a swizzle on lane numbers + 1, as the ISA manual writes its examples; 0 is "disabled
/// source".
std::vector<unsigned> swizzle(Simd level, const std::string& pattern, std::uint64_t exec = ~0ull) {
  Machine m(level);
  m.vgpr(1, [](unsigned l) { return l + 1; });
  m.vgpr(2, [](unsigned) { return 999u; });
  m.wave.set_exec(exec);
  m.run("ds_swizzle_b32 v2, v1 offset:" + pattern);
  return {m.wave.v[2], m.wave.v[2] + lanes};
}

void expect_sources(const std::string& pattern, const std::function<unsigned(unsigned)>& source) {
  for (Simd level : levels())
    for (const std::uint64_t exec : exec_patterns()) {
      const auto got = swizzle(level, pattern, exec);
      for (unsigned l = 0; l < lanes; ++l) {
        const unsigned from = source(l);
        const unsigned expected = !active(exec, l) ? 999 : active(exec, from) ? from + 1 : 0;
        EXPECT_EQ(got[l], expected) << pattern << " lane " << l;
      }
    }
}

TEST(Swizzle, QuadPermutation) {
  expect_sources("swizzle(QUAD_PERM, 2, 0, 3, 3)", [](unsigned l) {
    constexpr unsigned from[4] = {2, 0, 3, 3};
    return l / 4 * 4 + from[l % 4];
  });
}

TEST(Swizzle, BitMasks) {
  expect_sources("swizzle(SWAP, 16)", [](unsigned l) { return l ^ 16; });
  expect_sources("swizzle(REVERSE, 32)", [](unsigned l) { return l ^ 31; });
  expect_sources("swizzle(BROADCAST, 8, 3)", [](unsigned l) { return l / 8 * 8 + 3; });
  expect_sources("swizzle(BITMASK_PERM, \"01pip\")", [](unsigned l) {
    // bit 4 is 0, bit 3 is 1, bit 2 kept, bit 1 inverted, bit 0 kept
    return (l & 32) | 8 | (l & 4) | (~l & 2) | (l & 1);
  });
}

TEST(Swizzle, Rotate) {
  expect_sources("swizzle(ROTATE, 0, 5)", [](unsigned l) { return (l & 32) | ((l + 5) & 31); });
  expect_sources("swizzle(ROTATE, 1, 5)", [](unsigned l) { return (l & 32) | ((l - 5) & 31); });
}

// The manual's examples for the first 32 lanes.
TEST(Swizzle, ManualExamples) {
  const std::vector<unsigned> fft0 = {
      0x1, 0x11, 0x9, 0x19, 0x5, 0x15, 0xd, 0x1d, 0x3, 0x13, 0xb, 0x1b, 0x7, 0x17, 0xf,  0x1f,
      0x2, 0x12, 0xa, 0x1a, 0x6, 0x16, 0xe, 0x1e, 0x4, 0x14, 0xc, 0x1c, 0x8, 0x18, 0x10, 0x20};
  const std::vector<unsigned> fft16 = {0x1,  0x9,  0x5,  0xd,  0x3,  0xb,  0x7,  0xf,
                                       0x2,  0xa,  0x6,  0xe,  0x4,  0xc,  0x8,  0x10,
                                       0x11, 0x19, 0x15, 0x1d, 0x13, 0x1b, 0x17, 0x1f,
                                       0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c, 0x18, 0x20};
  for (Simd level : levels()) {
    for (unsigned half : {0u, 32u})
      for (unsigned l = 0; l < 32; ++l) {
        EXPECT_EQ(swizzle(level, "0xe000")[half + l], half + fft0[l]);
        EXPECT_EQ(swizzle(level, "0xe010")[half + l], half + fft16[l]);
        EXPECT_EQ(swizzle(level, "0xe01f")[half + l], half + l + 1);
      }
    // Rotation by one, mask 1: left {1,4,3,6,…,0x20,0x1f,2}, right {0x1f,2,1,4,…}.
    const auto left = swizzle(level, "0xc021"), right = swizzle(level, "0xc421");
    EXPECT_EQ(std::vector<unsigned>(left.begin(), left.begin() + 4),
              (std::vector<unsigned>{1, 4, 3, 6}));
    EXPECT_EQ(left[31], 2u);
    EXPECT_EQ(std::vector<unsigned>(right.begin(), right.begin() + 4),
              (std::vector<unsigned>{0x1f, 2, 1, 4}));
  }
}

TEST(Permute, PullFromAnyLane) {
  for (Simd level : levels())
    for (const std::uint64_t exec : exec_patterns()) {
      Machine m(level);
      fill_random(m.wave); // addresses too: only bits [7:2] of address + offset count
      m.wave.set_exec(exec);
      Registers after(m.wave);
      for (unsigned l = 0; l < lanes; ++l)
        if (active(exec, l)) {
          const unsigned from = (m.wave.v[1][l] + 20) / 4 % 64;
          after.at(false, 3, l) = active(exec, from) ? m.wave.v[2][from] : 0;
        }
      m.run("ds_bpermute_b32 v3, v1, v2 offset:20");
      after.expect(m.wave, "ds_bpermute_b32");
    }
}

TEST(Permute, PushToAnyLane) {
  for (Simd level : levels())
    for (const std::uint64_t exec : exec_patterns()) {
      Machine m(level);
      fill_random(m.wave);
      m.wave.set_exec(exec);
      Registers after(m.wave);
      for (unsigned to = 0; to < lanes; ++to) {
        std::uint32_t value = 0;
        for (unsigned l = 0; l < lanes; ++l) // the highest sender wins
          if (active(exec, l) && (m.wave.v[1][l] + 20) / 4 % 64 == to)
            value = m.wave.v[2][l];
        if (active(exec, to))
          after.at(false, 2, to) = value;
      }
      m.run("ds_permute_b32 v2, v1, v2 offset:20");
      after.expect(m.wave, "ds_permute_b32");
    }
}

} // namespace
