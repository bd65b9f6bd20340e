#include "machine/memory_map.hpp"

#include <gtest/gtest.h>

namespace wavesim {
namespace {

Range range(std::uintptr_t begin, std::uintptr_t end, std::uint64_t serial) {
  return {begin, end, RangeKind::device, serial, 0};
}

TEST(MemoryMap, FindsTheRangeThatHoldsAnAddress) {
  MemoryMap map;
  map.add(range(3000, 3100, 3));
  map.add(range(1000, 1010, 1));
  map.add(range(2000, 2001, 2));
  EXPECT_FALSE(map.lookup(999));
  EXPECT_EQ(map.lookup(1000)->serial, 1u);
  EXPECT_EQ(map.lookup(1009)->serial, 1u);
  EXPECT_FALSE(map.lookup(1010));
  EXPECT_EQ(map.lookup(2000)->serial, 2u);
  EXPECT_EQ(map.lookup(3099)->serial, 3u);
  EXPECT_FALSE(map.lookup(3100));
}

TEST(MemoryMap, ContainsChecksBothEndsWithoutOverflow) {
  const Range r = range(1000, 1010, 1);
  EXPECT_TRUE(r.contains(1000, 10));
  EXPECT_TRUE(r.contains(1009, 1));
  EXPECT_FALSE(r.contains(1009, 2));
  EXPECT_FALSE(r.contains(999, 1));
  EXPECT_FALSE(r.contains(1010, 0));
  EXPECT_FALSE(r.contains(1005, SIZE_MAX));
}

TEST(MemoryMap, RemovesOnlyByBeginning) {
  MemoryMap map;
  map.add(range(1000, 1010, 1));
  EXPECT_FALSE(map.remove(1001));
  EXPECT_EQ(map.remove(1000)->serial, 1u);
  EXPECT_FALSE(map.remove(1000));
  EXPECT_FALSE(map.lookup(1005));
}

TEST(MemoryMap, Overlaps) {
  MemoryMap map;
  map.add(range(1000, 1010, 1));
  EXPECT_FALSE(map.overlaps(990, 1000));
  EXPECT_TRUE(map.overlaps(990, 1001));
  EXPECT_TRUE(map.overlaps(1009, 2000));
  EXPECT_FALSE(map.overlaps(1010, 2000));
  EXPECT_TRUE(map.overlaps(0, 5000));
}

TEST(MemoryMap, SnapshotsStayAsTheyWere) {
  MemoryMap map;
  map.add(range(1000, 1010, 1));
  const auto before = map.snapshot();
  EXPECT_EQ(before, map.snapshot()); // nothing changed: the same one
  map.add(range(2000, 2010, 2));
  map.remove(1000);
  const auto after = map.snapshot();
  EXPECT_TRUE(before->find(1000));
  EXPECT_FALSE(before->find(2000));
  EXPECT_FALSE(after->find(1000));
  EXPECT_TRUE(after->find(2000));
}

} // namespace
} // namespace wavesim
