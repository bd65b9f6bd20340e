// The checks of `wavesim --check`: kernels with one fault are found, with kernel, both lines, lanes
// and address; sound ones are not reported.
#include "checks/findings.hpp"
#include "checks/group_checks.hpp"
#include "code_object_runner.hpp"

#include <fstream>

namespace wavesim::test {
namespace {

/// Number of the line of check_kernels.hip that ends in "// <mark>".
unsigned line_of(const std::string& mark) {
  std::ifstream file(WAVESIM_CHECK_KERNELS);
  std::string text;
  for (unsigned number = 1; std::getline(file, text); ++number)
    if (text.ends_with("// " + mark))
      return number;
  ADD_FAILURE() << "no line is marked " << mark;
  return 0;
}

class Checks : public testing::Test {
protected:
  Checks() {
    Findings::instance().clear();
    Findings::instance().set_printing(false);
  }
  ~Checks() override { Findings::instance().clear(); }

  template <class... Arguments>
  std::vector<Finding> run(const std::string& checks, const std::string& kernel, const Shape& shape,
                           Arguments... arguments) {
    std::string wrong;
    const auto set = parse_checks(checks, wrong);
    EXPECT_TRUE(set) << wrong;
    CheckFactory factory(*set);
    RunOptions options;
    options.observers = &factory;
    runner_.run(kernel, shape, options, arguments...);
    return Findings::instance().all();
  }
  Runner runner_;
};

void expect_line(const Finding::Side& side, const std::string& role, const std::string& mark) {
  EXPECT_EQ(side.role, role);
  EXPECT_TRUE(side.source.ends_with(":" + std::to_string(line_of(mark))))
      << side.source << " is not the line marked " << mark;
}

std::string texts(const std::vector<Finding>& findings) {
  std::string text;
  for (std::size_t i = 0; i < findings.size(); ++i)
    text += to_text(findings[i], i + 1);
  return text;
}

constexpr std::uint64_t all_lanes = ~std::uint64_t{0};

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
    return "(.|\n)*check_kernels.hip:" + std::to_string(line_of(mark)) + "(.|\n)*lane 3";
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

class Uninit : public Checks {
protected:
  Uninit() : out(192) {}
  DeviceArray<unsigned> out;
};

TEST_F(Uninit, LdsReachesMemory) {
  auto found = run("uninit", "uninit_lds_to_memory", line(1, 64), out.data(), 64u);
  EXPECT_TRUE(found.empty()) << texts(found);
  found = run("uninit", "uninit_lds_to_memory", line(1, 64), out.data(), 62u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_EQ(found[0].kernel, "uninit_lds_to_memory");
  expect_line(found[0].here, "use", "lds_to_memory");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{3} << 62);
  EXPECT_EQ(found[0].other.role, "origin");
  EXPECT_TRUE(found[0].other.instruction.starts_with("ds_read_b32")) << texts(found);
}

TEST_F(Uninit, SilentUntilItDecides) {
  const auto found = run("uninit", "uninit_unused", line(1, 64), out.data());
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Uninit, Address) {
  const auto found = run("uninit", "uninit_address", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("address"), std::string::npos);
  expect_line(found[0].here, "use", "uninit_address use");
  expect_line(found[0].other, "origin", "uninit_address origin");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{1} << 9);
}

TEST_F(Uninit, BranchAndExec) {
  auto found = run("uninit", "uninit_branch", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("branch"), std::string::npos);
  EXPECT_TRUE(found[0].here.instruction.starts_with("s_cbranch_scc1")) << texts(found);
  Findings::instance().clear();
  found = run("uninit", "uninit_exec", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("EXEC"), std::string::npos);
  EXPECT_EQ(found[0].here.lanes, all_lanes);
}

TEST_F(Uninit, ComparisonVccAndScalarAddress) {
  auto found = run("uninit", "uninit_exec_by_comparison", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("EXEC"), std::string::npos);
  EXPECT_TRUE(found[0].here.instruction.starts_with("v_cmpx_eq_u32")) << texts(found);
  Findings::instance().clear();
  found = run("uninit", "uninit_branch_by_vcc", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("branch"), std::string::npos);
  EXPECT_TRUE(found[0].here.instruction.starts_with("s_cbranch_vccnz")) << texts(found);
  Findings::instance().clear();
  found = run("uninit", "uninit_scalar_address", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].what.find("address"), std::string::npos);
  EXPECT_TRUE(found[0].here.instruction.starts_with("buffer_load_dword")) << texts(found);
}

TEST_F(Uninit, JumpTarget) {
  const auto found = run("uninit", "uninit_jump", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_EQ(found[0].what, "an undefined value decides a branch");
  EXPECT_EQ(found[0].detail, "the target");
  EXPECT_TRUE(found[0].here.instruction.starts_with("s_setpc_b64")) << texts(found);
  EXPECT_TRUE(found[0].other.instruction.starts_with("s_addc_u32")) << texts(found);
  EXPECT_EQ(out[0], 1u); // it went on behind the jump
}

TEST_F(Uninit, Atomics) {
  auto found = run("uninit", "uninit_lds_atomic", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 2u) << texts(found);
  expect_line(found[0].here, "use", "lds_atomic memory");
  EXPECT_EQ(found[0].here.lanes, std::uint64_t{1} << 9);
  expect_line(found[1].here, "use", "lds_atomic operand");
  EXPECT_EQ(found[1].here.lanes, all_lanes);
  Findings::instance().clear();
  found = run("uninit", "uninit_global_atomic", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_EQ(found[0].what, "an undefined value is written to memory");
  expect_line(found[0].here, "use", "global_atomic");
}

TEST_F(Uninit, Selections) {
  auto found = run("uninit", "uninit_selected", line(1, 64), out.data(), 1u, 1u);
  EXPECT_TRUE(found.empty()) << texts(found);
  Findings::instance().clear();
  found = run("uninit", "uninit_selected", line(1, 64), out.data(), 0u, 1u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "selected sdwa");
  Findings::instance().clear();
  found = run("uninit", "uninit_selected", line(1, 64), out.data(), 1u, 0u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "selected dpp");
}

TEST_F(Uninit, PrivateMemory) {
  const auto found = run("uninit", "uninit_private", line(1, 64), out.data(), 3u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "uninit_private");
  EXPECT_EQ(found[0].here.lanes, 0xaaaaaaaaaaaaaaaau);
}

TEST_F(Uninit, MovesBetweenLanes) {
  const auto found = run("uninit", "uninit_swizzled", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 3u) << texts(found);
  for (const Finding& f : found) {
    EXPECT_EQ(f.here.lanes, std::uint64_t{1} << 9) << texts(found); // lane 8 gave it to lane 9
    EXPECT_TRUE(f.other.instruction.starts_with("ds_read_b32"));
  }
}

// The low dword is defined, the high one is not.
TEST_F(Uninit, Shifts) {
  auto found = run("uninit", "uninit_shifted", line(1, 64), out.data(), 24u);
  EXPECT_TRUE(found.empty()) << texts(found);
  Findings::instance().clear();
  found =
      run("uninit", "uninit_shifted", line(1, 64), out.data(), 40u); // only the high one is left
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "shifted right");
  Findings::instance().clear();
  found = run("uninit", "uninit_shifted", line(1, 64), out.data(), 0u);
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "shifted left");
}

// One half of a packed register is defined, and it alone is stored.
TEST_F(Uninit, PartsOfARegister) {
  const auto found = run("uninit", "uninit_packed", line(1, 64), out.data());
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Uninit, PartsThatAreAllUndefined) {
  const auto found = run("uninit", "uninit_packed_nothing", line(1, 64), out.data());
  ASSERT_EQ(found.size(), 1u) << texts(found);
  expect_line(found[0].here, "use", "packed nothing");
}

class Hazard : public Checks {
protected:
  Hazard() : out(64) {}
  std::vector<Finding> kernel(const std::string& name) {
    Findings::instance().clear();
    return run("hazard", name, line(1, 64), out.data());
  }
  DeviceArray<float> out;
};

TEST_F(Hazard, ResultReadTooEarly) {
  auto found = kernel("hazard_read");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_TRUE(found[0].here.instruction.starts_with("v_add_f32")) << texts(found);
  EXPECT_TRUE(found[0].other.instruction.starts_with("v_mfma_f32_16x16x4_f32")) << texts(found);
  EXPECT_NE(found[0].detail.find("9 wait states between the two, 10 are needed"), std::string::npos)
      << found[0].detail;
  EXPECT_FALSE(found[0].here.source.empty());
  found = kernel("hazard_read_enough");
  EXPECT_TRUE(found.empty()) << texts(found);
}

TEST_F(Hazard, MatrixAfterMatrix) {
  auto found = kernel("hazard_in_place");
  EXPECT_TRUE(found.empty()) << texts(found);
  found = kernel("hazard_factor");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].detail.find("9 wait states between the two, 10 are needed"), std::string::npos)
      << found[0].detail;
  found = kernel("hazard_part_of_c");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].detail.find("7 wait states between the two, 8 are needed"), std::string::npos)
      << found[0].detail;
}

TEST_F(Hazard, VectorThenMatrixAndOverwrittenC) {
  auto found = kernel("hazard_vector_then_matrix");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].detail.find("1 wait states between the two, 2 are needed"), std::string::npos);
  found = kernel("hazard_overwrite_c");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_NE(found[0].detail.find("6 wait states between the two, 7 are needed"), std::string::npos)
      << found[0].detail;
}

TEST_F(Hazard, TakenBranchBetween) {
  const auto found = kernel("hazard_over_a_branch");
  ASSERT_EQ(found.size(), 1u) << texts(found);
  EXPECT_FALSE(found[0].failing);
  EXPECT_NE(found[0].detail.find("1 wait states between the two, 2 are needed; but a taken"),
            std::string::npos)
      << found[0].detail;
}

struct HazardCase {
  const char *name, *detail, *consumer;
};
constexpr HazardCase hazard_cases[] = {
    {"hazard_scalar_to_memory", "4 wait states between the two, 5 are", "buffer_load_dword"},
    {"hazard_scalar_to_vector", "1 wait states between the two, 2 are", "v_add_u32"},
    {"hazard_carry_to_vector", "1 wait states between the two, 2 are", "v_cndmask_b32"},
    {"hazard_lane_select", "3 wait states between the two, 4 are", "v_readlane_b32"},
    {"hazard_lane_select_write", "3 wait states between the two, 4 are", "v_writelane_b32"},
    {"hazard_vcc_to_div_fmas", "3 wait states between the two, 4 are", "v_div_fmas_f32"},
    {"hazard_exec_to_dpp", "4 wait states between the two, 5 are", "v_mov_b32_dpp"},
    {"hazard_exec_to_lane", "3 wait states between the two, 4 are", "v_readlane_b32"},
    {"hazard_vector_to_dpp", "1 wait states between the two, 2 are", "v_mov_b32_dpp"},
    {"hazard_vector_to_readlane", "0 wait states between the two, 1 are", "v_readlane_b32"},
    {"hazard_transcendental", "0 wait states between the two, 1 are", "v_add_f32"},
    {"hazard_sdwa_part", "0 wait states between the two, 1 are", "v_add_f32"},
    {"hazard_op_sel_part", "0 wait states between the two, 1 are", "v_add_f32"},
    {"hazard_wide_store", "1 wait states between the two, 2 are", "v_mov_b32"},
    {"hazard_setreg_to_getreg", "1 wait states between the two, 2 are", "s_getreg_b32"},
    {"hazard_m0_to_movrel", "0 wait states between the two, 1 are", "s_movrels_b32"},
    {"hazard_m0_to_addtid", "0 wait states between the two, 1 are", "ds_read_addtid_b32"},
    {"hazard_m0_to_lds_load", "0 wait states between the two, 1 are", "buffer_load_dword"},
    {"hazard_vccz_source", "4 wait states between the two, 5 are", "v_add_u32"},
    {"hazard_dot", "2 wait states between the two, 3 are", "v_add_f32"},
    {"hazard_exec_to_matrix", "3 wait states between the two, 4 are", "v_mfma_f32_4x4x4"},
    {"hazard_overwritten", "4 wait states between the two, 5 are", "v_mov_b32"},
    {"hazard_two_passes_in_place", "1 wait states between the two, 2 are", "v_mfma_f32_4x4x4"},
    {"hazard_f64_to_memory", "8 wait states between the two, 9 are", "buffer_store_dword"},
    {"hazard_f64_to_fma", "1 wait states between the two, 2 are", "v_fma_f64"},
    {"hazard_execz_source", "4 wait states between the two, 5 are", "v_add_u32"},
};

TEST_F(Hazard, OtherPairs) {
  for (const HazardCase& c : hazard_cases) {
    SCOPED_TRACE(c.name);
    auto found = kernel(std::string(c.name) + "_early");
    ASSERT_EQ(found.size(), 1u) << texts(found);
    EXPECT_EQ(found[0].check, Check::hazard);
    EXPECT_NE(found[0].detail.find(c.detail), std::string::npos) << found[0].detail;
    EXPECT_TRUE(found[0].here.instruction.starts_with(c.consumer)) << texts(found);
    EXPECT_FALSE(found[0].other.instruction.empty());
    found = kernel(std::string(c.name) + "_late");
    EXPECT_TRUE(found.empty()) << texts(found);
  }
}

TEST_F(Hazard, SoundNeighbours) {
  for (const char* name : {"hazard_none_narrow_store", "hazard_none_waited_for",
                           "hazard_none_soffset", "hazard_none_transcendental_chain",
                           "hazard_none_other_register", "hazard_none_scalar_to_scalar"}) {
    const auto found = kernel(name);
    EXPECT_TRUE(found.empty()) << name << "\n" << texts(found);
  }
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
