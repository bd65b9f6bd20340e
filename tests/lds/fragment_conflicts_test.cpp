// Bank conflicts of matrix fragment reads on gfx942 by row pitch, with the clocks that follow from
// the published lane groups; every figure was worked out by hand from the rule.
#include "fragment_accesses.hpp"

#include <wavetile/core/bf16.hpp>
#include <wavetile/lds/bank_conflicts.hpp>

#include <gtest/gtest.h>

namespace wavetile {
namespace {

using test::fragment_read;

// Pitch in bytes, elements of 2 bytes: a 64-byte row of payload or less, the rest padding.
conflict_count clocks_at_pitch(int pitch, const lds_access& what, int payload_bytes) {
  const layout where = padded(32, payload_bytes / 2, 2, pitch - payload_bytes);
  return bank_conflicts(where, what, targets::gfx942);
}

TEST(fragment_conflicts, rows_of_16_with_b128) {
  const lds_access read = fragment_read(16, 16, 2);
  const int expected[][2] = {{64, 16}, {80, 16},  {96, 8},   {128, 32}, {144, 16},
                             {160, 8}, {256, 32}, {272, 16}, {288, 8}};
  for (const auto& [pitch, clocks] : expected) {
    const conflict_count count = clocks_at_pitch(pitch, read, 64);
    EXPECT_EQ(count.clocks, clocks) << "pitch " << pitch;
    EXPECT_EQ(count.phases, 8);
    EXPECT_EQ(count.conflicts(), clocks - 8);
    EXPECT_TRUE(count.legal);
    EXPECT_EQ(count.conflict_free(), clocks == 8);
  }
}

TEST(fragment_conflicts, misaligned_pitch_is_no_b128) {
  const conflict_count count = clocks_at_pitch(136, fragment_read(16, 16, 2), 64);
  EXPECT_EQ(count.clocks, 24);
  EXPECT_FALSE(count.legal) << "136 is no multiple of 16";
  EXPECT_FALSE(count.conflict_free());
}

TEST(fragment_conflicts, rows_of_16_swizzled) {
  const lds_access read = fragment_read(16, 16, 2);
  EXPECT_TRUE(
      bank_conflicts(xor_swizzled(128, 64, 2, 16, 7), read, targets::gfx942).conflict_free());
  EXPECT_EQ(bank_conflicts(row_major(128, 64, 2), read, targets::gfx942).clocks, 32);
}

TEST(fragment_conflicts, rows_of_32_with_b128) {
  // the reverse of 16 rows: odd multiples of 16 are free, odd multiples of 32 two-way, of 64 more
  const lds_access read = fragment_read(32, 16, 2);
  for (int odd = 3; odd <= 17; odd += 2)
    EXPECT_TRUE(clocks_at_pitch(16 * odd, read, 32).conflict_free()) << 16 * odd;
  for (int odd = 1; odd <= 9; odd += 2)
    EXPECT_EQ(clocks_at_pitch(32 * odd, read, 32).clocks, 16) << 32 * odd;
  for (int pitch : {64, 128, 192, 256})
    EXPECT_GT(clocks_at_pitch(pitch, read, 32).clocks, 16) << pitch;
}

TEST(fragment_conflicts, rows_of_16_with_b64) {
  const lds_access read = fragment_read(16, 8, 2);
  for (int odd = 5; odd <= 35; odd += 2)
    EXPECT_TRUE(clocks_at_pitch(8 * odd, read, 32).conflict_free()) << 8 * odd;
  EXPECT_EQ(clocks_at_pitch(72, read, 32).clocks, 4);
  EXPECT_EQ(clocks_at_pitch(136, read, 32).clocks, 4);
  EXPECT_EQ(clocks_at_pitch(144, read, 32).clocks, 8);
  EXPECT_EQ(clocks_at_pitch(128, read, 32).clocks, 64);
}

TEST(fragment_conflicts, simple_swizzle_fails_across_rows) {
  // 16 lanes of a phase write along a column of chunks: a swizzle by the low row bits alone leaves
  // transposed writes of 2-byte pairs 8-way, one by two groups of row bits does not
  const lds_access across = lds_write(4, [](int lane) {
    return coordinate{lane % 8 * 8, lane / 8 * 2};
  });
  const conflict_count simple =
      bank_conflicts(xor_swizzled(64, 64, 2, 16, 7, 0), across, targets::gfx942);
  const conflict_count doubled =
      bank_conflicts(xor_swizzled(64, 64, 2, 16, 7, 0, 3), across, targets::gfx942);
  EXPECT_EQ(simple.worst, 8);
  EXPECT_TRUE(doubled.conflict_free());
}

TEST(lane_groups, decide_b128_reads_and_writes_differently) {
  // lanes 0-3 and 20-23 are served together by a read, 0-7 by a write: rows that only collide
  // between lanes 0 and 4 cost a write, not a read
  const auto map = [](int lane) {
    return coordinate{lane, lane % 8 < 4 ? lane % 4 * 8 : lane % 4 * 8};
  };
  const layout where = row_major(64, 64, 2);
  EXPECT_EQ(bank_conflicts(where, lds_write(16, map), targets::gfx942).worst, 2);
  EXPECT_EQ(bank_conflicts(where, lds_read(16, map), targets::gfx942).worst, 2);
  const auto crossed = [](int lane) {
    const int chunk = lane % 4 + (lane / 16 % 2 == (lane / 4 % 2) ? 0 : 4);
    return coordinate{lane, chunk * 8};
  };
  EXPECT_NE(bank_conflicts(where, lds_write(16, crossed), targets::gfx942).clocks,
            bank_conflicts(where, lds_read(16, crossed), targets::gfx942).clocks);
}

} // namespace
} // namespace wavetile
