// Branches, calls, EXEC-saving instructions, hardware registers, scalar memory and the clocks.
#include "tests/reference.hpp"

#include "isa/message.hpp"
#include "machine/fault.hpp"

using namespace wavesim;
using namespace wavesim::test;

namespace {

TEST(ScalarControl, LoopWithBranch) {
  Machine m;
  m.run("s_mov_b32 s0, 0\ns_mov_b32 s1, 0\n"
        "loop:\n"
        "s_add_u32 s1, s1, s0\ns_add_u32 s0, s0, 1\ns_cmp_lt_u32 s0, 100\ns_cbranch_scc1 "
        "loop\ns_endpgm\n");
  EXPECT_EQ(m.wave.s[1], 4950u);
  EXPECT_EQ(m.wave.status, WaveStatus::ended);
}

TEST(ScalarControl, EveryCondition) {
  struct Case {
    const char* branch;
    u32 scc;
    u64 vcc, exec;
    bool taken;
  };
  for (const Case& c : {Case{"s_branch", 0, 0, 0, true},
                        {"s_cbranch_scc0", 0, 1, 1, true},
                        {"s_cbranch_scc0", 1, 1, 1, false},
                        {"s_cbranch_scc1", 1, 0, 0, true},
                        {"s_cbranch_scc1", 0, 0, 0, false},
                        {"s_cbranch_vccz", 1, 0, 1, true},
                        {"s_cbranch_vccz", 0, u64{1} << 40, 0, false},
                        {"s_cbranch_vccnz", 0, u64{1} << 40, 0, true},
                        {"s_cbranch_vccnz", 1, 0, 1, false},
                        {"s_cbranch_execz", 1, 1, 0, true},
                        {"s_cbranch_execz", 0, 0, u64{1} << 63, false},
                        {"s_cbranch_execnz", 0, 0, u64{1} << 63, true},
                        {"s_cbranch_execnz", 1, 1, 0, false},
                        {"s_cbranch_cdbgsys", 1, 1, 1, false}}) {
    SCOPED_TRACE(c.branch);
    Machine m;
    m.wave.scc = c.scc;
    m.wave.set_vcc(c.vcc);
    m.wave.set_exec(c.exec);
    m.run(std::string(c.branch) + " over\ns_mov_b32 s0, 1\nover:\ns_mov_b32 s1, 1\n");
    EXPECT_EQ(m.wave.s[0], c.taken ? 0u : 1u);
    EXPECT_EQ(m.wave.s[1], 1u);
  }
}

TEST(ScalarControl, CallsAndReturns) {
  Machine m;
  m.run("s_call_b64 s[30:31], function\n"
        "s_getpc_b64 s[2:3]\n"
        "s_add_u32 s2, s2, 16\n"
        "s_addc_u32 s3, s3, 0\n"
        "s_swappc_b64 s[30:31], s[2:3]\n"
        "s_endpgm\n"
        "function:\n" // four instructions after what s_getpc gives
        "s_add_u32 s5, s5, 1\n"
        "s_setpc_b64 s[30:31]\n");
  EXPECT_EQ(m.wave.status, WaveStatus::ended);
  EXPECT_EQ(m.wave.s[5], 2u);
}

TEST(ScalarControl, SaveExec) {
  const u64 s = 0x00ff00ff12345678, e = 0xf0f0f0f0f0f0f0f0;
  struct Case {
    const char* name;
    u64 result;
  };
  for (const Case& c : {Case{"and", s & e},
                        {"or", s | e},
                        {"xor", s ^ e},
                        {"andn1", ~s & e},
                        {"andn2", s & ~e},
                        {"orn1", ~s | e},
                        {"orn2", s | ~e},
                        {"nand", ~(s & e)},
                        {"nor", ~(s | e)},
                        {"xnor", ~(s ^ e)}}) {
    Machine m;
    m.wave.set_s64(2, s);
    m.wave.set_exec(e);
    m.run(std::string("s_") + c.name + "_saveexec_b64 s[2:3], s[2:3]");
    EXPECT_EQ(m.wave.s64(2), e) << c.name;
    EXPECT_EQ(m.wave.exec(), c.result) << c.name;
    EXPECT_EQ(m.wave.scc, 1u);
  }
  Machine m;
  m.wave.set_s64(2, s);
  m.wave.set_exec(s);
  m.run("s_andn2_saveexec_b64 s[4:5], s[2:3]");
  EXPECT_EQ(m.wave.exec(), 0u);
  EXPECT_EQ(m.wave.scc, 0u);
  m.wave.set_exec(e);
  m.run("s_andn1_wrexec_b64 s[6:7], s[2:3]");
  EXPECT_EQ(m.wave.exec(), ~s & e);
  EXPECT_EQ(m.wave.s64(6), ~s & e);
  m.wave.set_exec(e);
  m.run("s_andn2_wrexec_b64 s[6:7], s[2:3]");
  EXPECT_EQ(m.wave.s64(6), s & ~e);
}

TEST(ScalarControl, HardwareRegisters) {
  Machine m;
  m.wave.set_exec(0);
  m.wave.set_vcc(1);
  m.wave.scc = 1;
  m.run("s_getreg_b32 s0, hwreg(HW_REG_MODE)\n"
        "s_getreg_b32 s1, hwreg(HW_REG_MODE, 4, 4)\n"
        "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1\n"
        "s_getreg_b32 s2, hwreg(HW_REG_MODE, 4, 4)\n"
        "s_movk_i32 s9, 0x7ffe\n"
        "s_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s9\n"
        "s_getreg_b32 s3, hwreg(HW_REG_MODE, 0, 10)\n"
        "s_getreg_b32 s4, hwreg(HW_REG_STATUS)\n"
        "s_getreg_b32 s5, hwreg(HW_REG_SH_MEM_BASES)\n"
        "s_getreg_b32 s6, hwreg(HW_REG_XCC_ID)\n"
        "s_mov_b64 s[10:11], src_shared_base\ns_mov_b64 s[12:13], src_private_base\n"
        "s_mov_b64 s[14:15], src_shared_limit\n");
  EXPECT_EQ(m.wave.s[0], Machine::default_mode);
  EXPECT_EQ(m.wave.s[1], 15u);
  EXPECT_EQ(m.wave.s[2], 0xdu);
  EXPECT_EQ(m.wave.s[3], 0x3d2u);
  EXPECT_EQ(m.wave.s[4] & 0x601, 0x201u); // SCC, EXECZ but not VCCZ
  EXPECT_EQ(m.wave.s[5], 0x10002u);
  EXPECT_EQ(m.wave.s[6], 0u);
  EXPECT_EQ(m.wave.s64(10), u64{Dispatch::shared_aperture} << 32);
  EXPECT_EQ(m.wave.s64(12), u64{Dispatch::private_aperture} << 32);
  EXPECT_EQ(m.wave.s64(14), u64{Dispatch::shared_aperture} << 32 | 0xffffffff);
}

TEST(ScalarControl, WaitsAndBarriers) {
  const Program program(
      "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_nop 3\ns_setprio 2\ns_barrier\ns_mov_b32 s0, 1\n"
      "s_sleep 2\ns_mov_b32 s1, 1\ns_trap 3\ns_icache_inv\ns_dcache_wb\ns_endpgm\ns_mov_b32 s2, 1");
  Machine m;
  m.run(program);
  EXPECT_EQ(m.wave.status, WaveStatus::at_barrier);
  EXPECT_EQ(m.wave.s[0], 0u);
  m.resume(program);
  EXPECT_EQ(m.wave.status, WaveStatus::yielded);
  EXPECT_EQ(m.wave.s[0], 1u);
  m.resume(program);
  EXPECT_EQ(m.wave.status, WaveStatus::ended);
  EXPECT_EQ(m.wave.s[1], 1u);
  EXPECT_EQ(m.wave.s[2], 0u);
}

TEST(ScalarControl, Clocks) {
  Machine m;
  m.run("s_memtime s[0:1]\ns_nop 0\ns_memtime s[2:3]\ns_memrealtime s[4:5]");
  EXPECT_GT(m.wave.s64(2), m.wave.s64(0));
}

TEST(ScalarControl, RelativeMoves) {
  Machine m;
  for (unsigned i = 0; i < 40; ++i)
    m.wave.s[i] = 100 + i;
  m.run("s_mov_b32 m0, 6\ns_movrels_b32 s50, s4\ns_movrels_b64 s[52:53], s[4:5]\n"
        "s_movreld_b32 s60, s1\ns_movreld_b64 s[70:71], s[2:3]");
  EXPECT_EQ(m.wave.s[50], 110u);
  EXPECT_EQ(m.wave.s[52], 110u);
  EXPECT_EQ(m.wave.s[53], 111u);
  EXPECT_EQ(m.wave.s[66], 101u);
  EXPECT_EQ(m.wave.s[76], 102u);
  EXPECT_EQ(m.wave.s[77], 103u);
}

TEST(ScalarControl, Messages) {
  static u32 seen;
  seen = 0;
  message_hook = [](Wave&, const Op&, std::uint32_t message) { seen = message; };
  Machine m;
  m.run("s_sendmsg sendmsg(MSG_INTERRUPT)");
  message_hook = nullptr;
  EXPECT_EQ(seen, message_interrupt);
}

TEST(ScalarMemory, Loads) {
  Machine m;
  std::byte* block = m.allocate(256);
  for (u32 i = 0; i < 64; ++i)
    std::memcpy(block + 4 * i, &i, 4);
  m.wave.set_s64(2, reinterpret_cast<std::uintptr_t>(block));
  m.wave.s[4] = 8;
  m.run("s_load_dword s10, s[2:3], 0x4\ns_load_dwordx2 s[12:13], s[2:3], s4\n"
        "s_load_dwordx4 s[16:19], s[2:3], s4 offset:0x20\ns_add_u32 s2, s2, 128\ns_addc_u32 s3, "
        "s3, 0\n"
        "s_load_dword s11, s[2:3], -0x10\ns_load_dwordx8 s[24:31], s[2:3], 0x20\n"
        "s_load_dwordx16 s[36:51], s[2:3], 0x40\ns_load_dword s14, s[2:3], 0x7");
  EXPECT_EQ(m.wave.s[10], 1u);
  EXPECT_EQ(m.wave.s[12], 2u);
  EXPECT_EQ(m.wave.s[13], 3u);
  for (u32 i = 0; i < 4; ++i)
    EXPECT_EQ(m.wave.s[16 + i], 10 + i);
  EXPECT_EQ(m.wave.s[11], 28u);
  for (u32 i = 0; i < 8; ++i)
    EXPECT_EQ(m.wave.s[24 + i], 40 + i);
  for (u32 i = 0; i < 16; ++i)
    EXPECT_EQ(m.wave.s[36 + i], 48 + i);
  EXPECT_EQ(m.wave.s[14], 33u); // the two lowest address bits are dropped
}

TEST(ScalarMemory, BufferLoadsStopAtTheEnd) {
  Machine m;
  std::byte* block = m.allocate(64);
  for (u32 i = 0; i < 16; ++i)
    std::memcpy(block + 4 * i, &i, 4);
  const u64 base = reinterpret_cast<std::uintptr_t>(block);
  m.wave.s[4] = static_cast<u32>(base);
  m.wave.s[5] = static_cast<u32>(base >> 32) & 0xffff;
  m.wave.s[6] = 40;
  m.wave.s[8] = 16;
  m.run("s_buffer_load_dword s10, s[4:7], 0x8\ns_buffer_load_dwordx4 s[12:15], s[4:7], 0x20\n"
        "s_buffer_load_dwordx2 s[16:17], s[4:7], s8");
  EXPECT_EQ(m.wave.s[10], 2u);
  EXPECT_EQ(m.wave.s[12], 8u);
  EXPECT_EQ(m.wave.s[13], 9u);
  EXPECT_EQ(m.wave.s[14], 0u);
  EXPECT_EQ(m.wave.s[15], 0u);
  EXPECT_EQ(m.wave.s[16], 4u);
}

using ScalarDeathTest = testing::Test;

TEST(ScalarDeathTest, StopsSayWhy) {
  EXPECT_EXIT(Machine().run("s_trap 2"), testing::ExitedWithCode(stop_exit_code), "trap");
  EXPECT_EXIT(Machine().run("s_trap 9"), testing::ExitedWithCode(stop_exit_code), "s_trap 9");
  EXPECT_EXIT(Machine().run("s_load_dword s0, s[2:3], 0x10"),
              testing::ExitedWithCode(stop_exit_code), "read");
  EXPECT_EXIT(Machine().run("s_setreg_b32 hwreg(HW_REG_HW_ID), s0"),
              testing::ExitedWithCode(stop_exit_code), "hardware register 4");
  EXPECT_EXIT(Machine().run("s_atomic_add s0, s[2:3], 0x0"),
              testing::ExitedWithCode(stop_exit_code), "s_atomic_add s0, s\\[2:3\\], 0x0");
  EXPECT_EXIT(
      {
        Machine m;
        std::byte* block = m.allocate(64);
        m.wave.set_s64(2, reinterpret_cast<std::uintptr_t>(block));
        m.run("s_load_dwordx4 s[4:7], s[2:3], 0x38");
      },
      testing::ExitedWithCode(stop_exit_code), "read");
}

} // namespace
