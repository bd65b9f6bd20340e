// The checks race, wait, memory and barrier of `wavesim --check`: kernels with one fault are found,
// with kernel, both lines, lanes and address; sound ones are not reported.
#include "check_runner.hpp"

namespace wavesim::test {
namespace {

class Race : public Checks {};

TEST_F(Race, MissingBarrier) {
  DeviceArray<unsigned> out(256);
  const auto found = run("race", "race_missing_barrier", line(3, 256), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  const Finding& f = found[0];
  EXPECT_EQ(f.check, Check::race);
  EXPECT_EQ(f.kernel, "race_missing_barrier");
  EXPECT_EQ(f.space, "LDS");
  EXPECT_TRUE(f.failing);
  expect_line(f.here, "read", "missing_barrier read");
  expect_line(f.other, "write", "missing_barrier write");
  EXPECT_EQ(f.here.wave + f.other.wave, 3); // wave w reads what wave 3 - w wrote
  EXPECT_EQ(f.here.lanes, all_lanes);
  EXPECT_EQ(f.other.lanes, all_lanes);
  EXPECT_EQ(f.address % 256, 252u); // of the reader's lane 0: the writer's last element
  EXPECT_EQ(f.count, 3u * 4);       // four pairs of waves in each of three workgroups
}

TEST_F(Race, BarriersOrder) {
  DeviceArray<unsigned> out(256);
  const auto found = run("race", "race_none", line(2, 256), out.data());
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Race, OneWaveNeverRaces) {
  DeviceArray<unsigned> out(256);
  const auto found = run("race", "race_two_writers", line(1, 64), out.data());
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Race, NextRoundWritesWhatIsStillRead) {
  DeviceArray<unsigned> out(256);
  const auto found = run("race", "race_second_round", line(1, 256), out.data());
  ASSERT_FALSE(found.empty());
  for (const Finding& f : found) { // the loop may be unrolled
    expect_line(f.here, "read", "second_round read");
    expect_line(f.other, "write", "second_round write");
  }
}

TEST_F(Race, DifferentValuesAndTheSame) {
  DeviceArray<unsigned> out(256);
  auto found = run("race", "race_two_writers", line(1, 256), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "write", "two_writers");
  expect_line(found[0].other, "write", "two_writers");
  EXPECT_TRUE(found[0].failing);
  Findings::instance().clear();
  found = run("race", "race_same_value", line(1, 256), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "write", "same_value");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{1} << 5);
  EXPECT_EQ(found[0].other.lanes, std::uint64_t{1} << 5);
  EXPECT_FALSE(found[0].failing);
  Findings::instance().clear();
  found = run("race", "race_same_upper_half", line(1, 256), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "write", "same_upper_half");
  EXPECT_FALSE(found[0].failing);
}

TEST_F(Race, BytesOfOneDwordAndAtomicsAreFine) {
  DeviceArray<unsigned char> bytes(256);
  DeviceArray<unsigned> out(256);
  run("race", "race_bytes", line(1, 256), bytes.data());
  const auto found = run("race", "race_atomics", line(1, 256), out.data());
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Race, AtomicAgainstRead) {
  DeviceArray<unsigned> out(256);
  const auto found = run("race", "race_atomic_and_read", line(1, 256), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_EQ(found[0].here.role, "read");
  expect_line(found[0].here, "read", "atomic_and_read read");
  EXPECT_EQ(found[0].other.role, "atomic");
}

TEST_F(Race, BarrierWithoutWait) {
  DeviceArray<unsigned> out(256);
  const auto found = run("race", "race_not_waited_for", line(1, 256), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "read", "not_waited_for");
  expect_line(found[0].other, "write", "not_waited_for");
  EXPECT_NE(found[0].detail.find("was not waited for"), std::string::npos) << found[0].detail;
  EXPECT_TRUE(found[0].other.instruction.starts_with("ds_write_b32")) << found[0].other.instruction;
}

TEST_F(Race, LoadsIntoLds) {
  DeviceArray<unsigned> out(128), in(64, 3);
  auto found = run("race", "race_lds_direct", line(1, 128), out.data(), in.data(), 0u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "read", "lds_direct read");
  EXPECT_TRUE(found[0].other.instruction.starts_with("global_load_lds_dword")) << texts(found);
  EXPECT_EQ(found[0].here.lanes, all_lanes);
  EXPECT_EQ(found[0].other.lanes, all_lanes);
  EXPECT_EQ(found[0].here.wave, 1);
  EXPECT_EQ(found[0].detail, "");
  Findings::instance().clear();
  found = run("race", "race_lds_direct", line(1, 128), out.data(), in.data(), 1u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_TRUE(found[0].other.instruction.starts_with("global_load_lds_dword")) << texts(found);
  EXPECT_NE(found[0].detail.find("was not waited for before the barrier (s_waitcnt vmcnt)"),
            std::string::npos)
      << found[0].detail;
}

class Wait : public Checks {
protected:
  Wait() : out(64), in(128, 3) {}
  DeviceArray<unsigned> out, in;
};

TEST_F(Wait, UseAndOverwrite) {
  auto found = run("wait", "wait_use", line(1, 40), out.data(), in.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_EQ(found[0].kernel, "wait_use");
  expect_line(found[0].here, "use", "wait_use use");
  expect_line(found[0].other, "load", "wait_use load");
  EXPECT_EQ(found[0].here.lanes, (std::uint64_t{1} << 40) - 1);
  Findings::instance().clear();
  found = run("wait", "wait_overwrite", line(1, 64), out.data(), in.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "overwrite", "wait_overwrite write");
  expect_line(found[0].other, "load", "wait_overwrite load");
}

TEST_F(Wait, CountsInOrder) {
  auto found = run("wait", "wait_for_one", line(1, 64), out.data(), in.data(), 0u);
  EXPECT_TRUE(found.empty()) << texts(found);
  found = run("wait", "wait_for_one", line(1, 64), out.data(), in.data(), 1u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "wait_for_one use");
  EXPECT_TRUE(found[0].other.instruction.find("offset:256") != std::string::npos)
      << found[0].other.instruction;
}

TEST_F(Wait, LdsScalarAndMixed) {
  auto found = run("wait", "wait_lds", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "wait_lds use");
  EXPECT_TRUE(found[0].other.instruction.starts_with("ds_read_b32"));
  Findings::instance().clear();
  found = run("wait", "wait_scalar", line(1, 64), out.data(), in.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "wait_scalar use");
  expect_line(found[0].other, "load", "wait_scalar load");
  Findings::instance().clear();
  found = run("wait", "wait_mixed", line(1, 64), out.data(), in.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "wait_mixed use");
  EXPECT_TRUE(found[0].other.instruction.starts_with("ds_read_b32"));
}

TEST_F(Wait, AtomicsThatReturn) {
  const auto found = run("wait", "wait_lds_atomic", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "wait_lds_atomic use");
  EXPECT_EQ(found[0].other.role, "atomic");
  EXPECT_TRUE(found[0].other.instruction.starts_with("ds_add_rtn_u32")) << texts(found);
}

TEST_F(Wait, LoadsIntoLds) {
  auto found = run("wait", "wait_lds_direct", line(1, 64), out.data(), in.data(), 1u);
  EXPECT_TRUE(found.empty()) << texts(found);
  found = run("wait", "wait_lds_direct", line(1, 64), out.data(), in.data(), 0u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "read", "wait_lds_direct read");
  EXPECT_EQ(found[0].other.role, "LDS load");
  EXPECT_EQ(found[0].here.lanes, all_lanes);
  EXPECT_EQ(found[0].space, "LDS");
  EXPECT_EQ(found[0].address, 0u);
}

class Memory : public Checks {
protected:
  Memory() : out(64) {}
  DeviceArray<unsigned> out;
};

TEST_F(Memory, LdsOutside) {
  auto found = run("memory", "memory_lds_outside", line(1, 64), out.data(), 32u);
  EXPECT_TRUE(found.empty()) << texts(found);
  found = run("memory", "memory_lds_outside", line(1, 64), out.data(), 40u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "read", "lds_outside");
  EXPECT_EQ(found[0].here.lanes, all_lanes << 56); // 40 + 56 is the first past 96
  EXPECT_EQ(found[0].address, 96u * 4);
  Findings::instance().clear();
  found = run("memory", "memory_lds_outside_ds", line(1, 64), out.data(), 1000u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "read", "lds_outside_ds");
  EXPECT_EQ(found[0].here.lanes, all_lanes);
  EXPECT_EQ(found[0].address, 1001u * 4);
  EXPECT_TRUE(found[0].here.instruction.starts_with("ds_read_b32")) << found[0].here.instruction;
}

TEST_F(Memory, GlobalOutsideGoesOn) {
  const auto found = run("memory", "memory_outside", line(1, 64), out.data(), 4u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "write", "memory_outside");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{1} << 60);
  EXPECT_EQ(found[0].address, reinterpret_cast<std::uintptr_t>(out.data() + 64));
  EXPECT_EQ(found[0].count, 4u); // lanes 60 to 63
  for (unsigned i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i < 4 ? 0u : 5u) << i; // the other lanes have written
}

TEST_F(Memory, Freed) {
  unsigned* gone;
  {
    DeviceArray<unsigned> array(4096);
    gone = array.data();
  }
  const auto found = run("memory", "memory_outside", line(1, 64), gone, 0u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].detail.find("freed"), std::string::npos) << found[0].detail;
}

TEST_F(Memory, Misaligned) {
  const auto found =
      run("memory", "memory_misaligned", line(1, 32), reinterpret_cast<char*>(out.data()));
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "write", "misaligned");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{1} << 3);
  EXPECT_FALSE(found[0].failing); // works on the hardware
  EXPECT_EQ(found[0].address, reinterpret_cast<std::uintptr_t>(out.data()) + 13);
}

TEST_F(Memory, MisalignedInLds) {
  const auto found = run("memory", "memory_misaligned_lds", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "read", "misaligned_lds");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{1} << 3);
  EXPECT_FALSE(found[0].failing); // works on the hardware
  EXPECT_EQ(found[0].space, "LDS");
  EXPECT_EQ(found[0].address, 14u);
}

// They cannot go on: the finding comes first, then the stop.
TEST_F(Memory, MisalignedAtomicsStop) {
  Findings::instance().set_printing(true);
  const auto place = [](const char* mark) {
    return "(.|\n)*memory_check_kernels.hip:" + std::to_string(line_of(mark)) + "(.|\n)*lane 3";
  };
  EXPECT_EXIT(
      run("memory", "memory_misaligned_lds_atomic", line(1, 64), out.data()),
      testing::ExitedWithCode(70),
      "memory #1: misaligned access to LDS\n +4 bytes of each lane do not lie at a multiple "
      "of 4\n(.|\n)*address +0xe in LDS\n +atomic +ds_add_u32" +
          place("misaligned_lds_atomic") +
          "\n(.|\n)*wavesim: stop: (.|\n)*lane 3(.|\n)*ds_add_u32");
  EXPECT_EXIT(
      run("memory", "memory_misaligned_atomic", line(1, 32), reinterpret_cast<char*>(out.data())),
      testing::ExitedWithCode(70),
      "memory #1: misaligned access to global memory(.|\n)*atomic +global_atomic_add" +
          place("misaligned_atomic") + "\n(.|\n)*wavesim: stop: (.|\n)*lane 3");
}

TEST_F(Memory, PrivateOutside) {
  const auto found = run("memory", "memory_private_outside", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_EQ(found[0].what, std::string("private memory is accessed outside of what a lane has"));
  expect_line(found[0].here, "read", "private_outside");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{1} << 5);
}

TEST_F(Memory, ScalarLoad) {
  const auto found = run("memory", "memory_scalar", line(1, 64), out.data(),
                         static_cast<const unsigned*>(nullptr));
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "read", "memory_scalar");
}

class Barrier : public Checks {
protected:
  Barrier() : out(256) {}
  DeviceArray<unsigned> out;
};

TEST_F(Barrier, LanesOff) {
  const auto found = run("barrier", "barrier_lanes_off", line(1, 128), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "barrier", "lanes_off");
  EXPECT_EQ(found[0].here.lanes, (std::uint64_t{1} << 60) - 1);
  EXPECT_EQ(found[0].count, 2u);
}

TEST_F(Barrier, WaveEnded) {
  const auto found = run("barrier", "barrier_wave_ended", line(1, 192), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "barrier", "wave_ended");
  EXPECT_EQ(found[0].other.role, "end");
  EXPECT_EQ(found[0].other.wave, 1);
}

TEST_F(Barrier, DifferentPlaces) {
  const auto found = run("barrier", "barrier_different", line(1, 128), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_FALSE(found[0].failing); // legal: compilers copy barriers into branches
  expect_line(found[0].here, "barrier", "different first");
  expect_line(found[0].other, "barrier", "different second");
}

TEST_F(Barrier, PartialLastWaveAndNoFault) {
  const auto found = run("barrier", "race_none", line(2, 200), out.data());
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Barrier, Deadlock) {
  DeviceArray<unsigned> flag(1);
  CheckSet set;
  set.add(Check::barrier);
  CheckFactory factory(set);
  RunOptions options;
  options.observers = &factory;
  options.hang_instructions = 100'000;
  Findings::instance().set_printing(true);
  EXPECT_EXIT(runner_.run("barrier_deadlock", line(1, 128), options, flag.data()),
              testing::ExitedWithCode(70), "deadlock: a wave waits at a barrier");
}

TEST_F(Checks, CompiledKernelsPassAllOfThem) {
  DeviceArray<unsigned> out(256);
  const auto found = run("all", "race_none", line(4, 256), out.data());
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST(CheckNames, AreParsedAndOthersRefused) {
  std::string wrong;
  CheckSet two;
  two.add(Check::race);
  two.add(Check::wait);
  EXPECT_EQ(parse_checks("race,wait", wrong), two);
  EXPECT_EQ(parse_checks("", wrong), CheckSet::all());
  EXPECT_EQ(parse_checks("all", wrong), CheckSet::all());
  EXPECT_FALSE(parse_checks("race,streams", wrong));
  EXPECT_EQ(wrong, "streams");
  EXPECT_FALSE(parse_checks("race,", wrong));
}

} // namespace
} // namespace wavesim::test
