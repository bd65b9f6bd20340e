// Sets of lines, sums over workgroups and threads, and the tables of rules and parameters.
#include "counters/rules.hpp"
#include "counters/tally.hpp"
#include "machine/wave.hpp"
#include "model/parameters.hpp"
#include "tests/memory_cases.hpp"

#include <gtest/gtest.h>

#include <set>

using namespace wavesim;
using namespace wavesim::test;

namespace {

using u64 = std::uint64_t;

TEST(LineSet, EqualsStdSet) {
  for (int round = 0; round < 20; ++round) {
    LineSet lines, other;
    std::set<u64> expected, expected_other;
    for (int i = 0; i < 300; ++i) {
      const u64 begin = u64{random_below(1 << 24)} << random_below(12);
      const u64 bytes = random_below(3) == 0 ? random_below(40000) : random_below(600);
      const bool second = random_below(2);
      (second ? other : lines).add(begin, bytes);
      for (u64 line = begin / 128; bytes && line <= (begin + bytes - 1) / 128; ++line)
        (second ? expected_other : expected).insert(line);
    }
    EXPECT_EQ(lines.size(), expected.size());
    EXPECT_EQ(other.size(), expected_other.size());
    lines.merge(other);
    expected.insert(expected_other.begin(), expected_other.end());
    EXPECT_EQ(lines.size(), expected.size());
    lines.clear();
    EXPECT_EQ(lines.size(), 0u);
    lines.add(0, 1);
    EXPECT_EQ(lines.size(), 1u);
  }
}

TEST(Tally, GroupsAndThreads) {
  Workgroup first, second;
  for (Workgroup* g : {&first, &second})
    g->lines = std::make_unique<GroupLines>();
  first.lines->read.add(0, 256);
  second.lines->read.add(128, 256);
  Tally a, b;
  a.of(3).executions = 5;
  b.of(200).executions = 7;
  b.of(3).lds_clocks = 11;
  a.end_group(first);
  b.end_group(second);
  a.merge(b);
  EXPECT_EQ(a.group_lines_read, 4u);
  EXPECT_EQ(a.kernel_lines_read.size(), 3u);
  EXPECT_EQ(a.of(3).executions, 5u);
  EXPECT_EQ(a.of(3).lds_clocks, 11u);
  EXPECT_EQ(a.of(200).executions, 7u);
  EXPECT_EQ(first.lines->read.size(), 0u);
}

TEST(Rules, ParametersNameTheirSources) {
  for (const parameters::Parameter& p : parameters::all)
    EXPECT_FALSE(p.name.empty() || p.unit.empty() || p.source.empty()) << p.name;
}

TEST(Rules, OnlyEvidenceNamesHardware) {
  for (const Rule& rule : rules) {
    EXPECT_FALSE(rule.counter.empty() || rule.rule.empty() || rule.source.empty());
    if (rule.evidence == Evidence::assumed)
      EXPECT_TRUE(rule.hardware.empty()) << rule.counter;
  }
}

} // namespace
