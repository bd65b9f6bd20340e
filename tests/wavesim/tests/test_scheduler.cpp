// Order, progress, parallel runs and stops of the scheduler, on compiled kernels.
#include "code_object_runner.hpp"
#include "machine/fault.hpp"
#include "machine/parallel_safety.hpp"
#include "machine/start_wave.hpp"

#include <numeric>
#include <random>

namespace wavesim::test {
namespace {

TEST(Scheduler, NumbersWorkgroupsAndWorkItems) {
  Runner r;
  Shape s;
  s.grid[0] = 3, s.grid[1] = 2, s.grid[2] = 2;
  s.block[0] = 5, s.block[1] = 7, s.block[2] = 3; // 105 work-items: the second wave is partial
  const unsigned items = 12 * 105;
  DeviceArray<unsigned> out(6 * items, ~0u);
  r.run("ids", s, with_threads(2), out.data());
  for (unsigned i = 0; i < items; ++i) {
    const unsigned block = i / 105, thread = i % 105;
    const unsigned expected[6] = {block % 3,  block / 3 % 2,  block / 6,
                                  thread % 5, thread / 5 % 7, thread / 35};
    for (unsigned k = 0; k < 6; ++k)
      ASSERT_EQ(out[6 * i + k], expected[k]) << "item " << i << ", value " << k;
  }
}

TEST(Scheduler, ParallelAtomicsGiveTheSameSums) {
  Runner r;
  constexpr unsigned n = 100'000;
  std::mt19937 random(1);
  DeviceArray<unsigned> values(n);
  std::vector<unsigned> expected(16);
  for (unsigned i = 0; i < n; ++i)
    ++expected[(values[i] = static_cast<unsigned>(random())) % 16];
  for (unsigned threads : {1u, 2u, 5u}) {
    DeviceArray<unsigned> bins(16);
    r.run("histogram", line((n + 255) / 256, 256), with_threads(threads), bins.data(),
          values.data(), n);
    EXPECT_EQ(bins.values(), expected) << threads << " threads";
  }
}

TEST(Scheduler, OrderedAtomicsSeeWorkgroupsInIndexOrder) {
  Runner r;
  for (unsigned threads : {1u, 4u}) {
    DeviceArray<unsigned> next(1), mine(100, ~0u);
    r.run("tickets", line(100, 64), with_threads(threads), next.data(), mine.data());
    for (unsigned i = 0; i < 100; ++i)
      EXPECT_EQ(mine[i], i);
  }
}

TEST(Scheduler, FloatSumsRepeatBitForBit) {
  Runner r;
  constexpr unsigned n = 64 * 64;
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  DeviceArray<float> values(n);
  for (unsigned i = 0; i < n; ++i)
    values[i] = normal(random);
  double exact = 0;
  for (unsigned i = 0; i < n; ++i)
    exact += double{values[i]};
  std::vector<float> sums;
  for (unsigned threads : {1u, 3u, 1u, 4u}) {
    DeviceArray<float> sum(1);
    r.run("float_sum", line(n / 256, 256), with_threads(threads), sum.data(), values.data());
    sums.push_back(sum[0]);
    EXPECT_EQ(sum[0], sums[0]) << threads << " threads";
  }
  // n additions, each rounded by at most 2^-24 of a partial sum of size about sqrt(n).
  EXPECT_NEAR(sums[0], exact, n * 64 * 6e-8);
}

TEST(Scheduler, AdmitsLaterWorkgroupsThatOthersWaitFor) {
  Runner r;
  for (unsigned groups : {2u, 40u}) {
    DeviceArray<unsigned> flags(groups), values(groups);
    r.run("wait_for_next", line(groups, 64), with_threads(2), flags.data(), values.data());
    for (unsigned i = 0; i < groups; ++i)
      EXPECT_EQ(values[i], groups - i);
  }
}

TEST(Scheduler, GridBarrierMadeByHand) {
  Runner r;
  constexpr unsigned groups = 30, rounds = 5;
  for (bool cooperative : {false, true}) {
    r.cooperative = cooperative;
    DeviceArray<unsigned> arrived(1), seen(groups);
    r.run("hand_made_barrier", line(groups, 128), with_threads(2), arrived.data(), seen.data(),
          rounds);
    for (unsigned i = 0; i < groups; ++i)
      EXPECT_EQ(seen[i], groups * rounds);
  }
}

TEST(Scheduler, WavesOfAWorkgroupTakeTurns) {
  Runner r;
  DeviceArray<unsigned> out(6 * 16, ~0u);
  r.run("chain_through_lds", line(6, 1024), with_threads(2), out.data());
  for (unsigned i = 0; i < 6 * 16; ++i)
    EXPECT_EQ(out[i], i % 16);
}

TEST(Scheduler, BarriersSeparatePhases) {
  Runner r;
  constexpr unsigned groups = 50;
  DeviceArray<unsigned> in(groups * 256), out(groups);
  std::iota(in.data(), in.data() + groups * 256, 1u);
  r.run("reduce_lds", line(groups, 256), with_threads(2), out.data(), in.data());
  for (unsigned i = 0; i < groups; ++i)
    EXPECT_EQ(out[i], std::accumulate(in.data() + i * 256, in.data() + (i + 1) * 256, 0u));
}

TEST(Scheduler, NothingIsLeftOverFromEarlierWaves) {
  Runner r;
  DeviceArray<unsigned> marked(128), seen(3 * 128);
  for (int repeat = 0; repeat < 3; ++repeat) {
    r.run("mark_registers", line(1, 128, 1024), with_threads(1), marked.data());
    EXPECT_EQ(marked[127], 0x1234567u);
    r.run("read_registers", line(1, 128, 1024), with_threads(1), seen.data());
    for (unsigned i = 0; i < 3 * 128; ++i)
      ASSERT_EQ(seen[i], poison) << i;
  }
}

TEST(Scheduler, CountsDoNotDependOnThreads) {
  Runner r;
  constexpr unsigned groups = 64;
  DeviceArray<unsigned> in(groups * 256, 1), out(groups);
  std::vector<std::unique_ptr<Tally>> tallies;
  for (unsigned threads : {1u, 2u, 4u}) {
    RunOptions options = with_threads(threads);
    options.count = true;
    tallies.push_back(r.run("reduce_lds", line(groups, 256), options, out.data(), in.data()));
    ASSERT_TRUE(tallies.back());
  }
  const Tally& first = *tallies.front();
  std::uint64_t executions = 0;
  for (const auto& t : tallies) {
    for (std::size_t id = 0; id < std::max(first.ops.size(), t->ops.size()); ++id) {
      const OpTally a = id < first.ops.size() ? first.ops[id] : OpTally();
      const OpTally b = id < t->ops.size() ? t->ops[id] : OpTally();
      EXPECT_EQ(a.executions, b.executions);
      EXPECT_EQ(a.bytes_read, b.bytes_read);
      EXPECT_EQ(a.lds_clocks, b.lds_clocks);
      executions += b.executions;
    }
    EXPECT_EQ(t->group_lines_read, first.group_lines_read);
    EXPECT_EQ(t->kernel_lines_read.size(), groups * 8u); // 256 dwords are 8 lines of 128 bytes
  }
  EXPECT_GT(executions, 0u);
}

TEST(Scheduler, CallsAndRecursion) {
  Runner r;
  DeviceArray<unsigned> out(192, ~0u);
  r.run("direct_call", line(1, 192), with_threads(1), out.data());
  EXPECT_EQ(out[191], 2 * 191u);
  r.run("indirect_call", line(1, 192), with_threads(1), out.data(), 0);
  EXPECT_EQ(out[191], 3 * 191u);
  r.run("indirect_call", line(1, 192), with_threads(1), out.data(), 1);
  EXPECT_EQ(out[191], 2 * 191u);
  r.run("recursion", line(1, 192), with_threads(1), out.data(), 8u);
  for (unsigned i = 0; i < 192; ++i)
    EXPECT_EQ(out[i], i % 3 == 0 ? 21u : i % 3 == 1 ? 34u : 55u);
}

TEST(ParallelVerdict, NamesWhatStandsInTheWay) {
  Runner r;
  const auto verdict = [&](const char* name) { return parallel_verdict(r.kernel(name)); };
  EXPECT_TRUE(verdict("histogram").safe) << verdict("histogram").reason;
  EXPECT_TRUE(verdict("reduce_lds").safe) << verdict("reduce_lds").reason;
  EXPECT_TRUE(verdict("direct_call").safe) << verdict("direct_call").reason;
  const auto expect_reason = [&](const char* name, const char* instruction, const char* why) {
    const auto v = verdict(name);
    EXPECT_FALSE(v.safe) << name;
    EXPECT_NE(v.reason.find(instruction), std::string::npos) << v.reason;
    EXPECT_NE(v.reason.find(why), std::string::npos) << v.reason;
  };
  expect_reason("tickets", "atomic_add", "returns the old value");
  expect_reason("float_sum", "atomic_add_f32", "depends on the order");
  expect_reason("add_then_max", "atomic", "different kinds");
  expect_reason("spin_forever", "load", "other workgroups' stores");
  expect_reason("indirect_call", "s_swappc_b64", "not known");
}

using Stop = testing::ExitedWithCode;

TEST(SchedulerDeath, ReportsAHang) {
  Runner r;
  DeviceArray<unsigned> flag(1);
  RunOptions options;
  options.hang_instructions = 100'000;
  EXPECT_EXIT(r.run("spin_forever", line(3, 64), options, flag.data()), Stop(stop_exit_code),
              "hang: 100000 instructions without(.|\n)*kernel +spin_forever(.|\n)*workgroup +\\(0");
  EXPECT_EXIT(r.run("lost_at_barrier", line(1, 128), options, flag.data()), Stop(stop_exit_code),
              "wave 0 waits at a barrier(.|\n)*kernel +lost_at_barrier(.|\n)*wave 1");
}

TEST(SchedulerDeath, ReportsAWildStore) {
  Runner r;
  DeviceArray<unsigned> p(100);
  EXPECT_EXIT(r.run("out_of_bounds", line(2, 64), with_threads(1), p.data(), std::uint64_t{70}),
              Stop(stop_exit_code),
              "lane 30 writes 4 bytes at address 0x[0-9a-f]+; 0 bytes past the end of device "
              "allocation #1 \\(400 bytes(.|\n)*kernel +out_of_bounds(.|\n)*global_store_dword");
  EXPECT_EXIT(r.run("out_of_bounds", line(1, 64), with_threads(1), nullptr, std::uint64_t{0}),
              Stop(stop_exit_code), "a null pointer");
}

} // namespace
} // namespace wavesim::test
