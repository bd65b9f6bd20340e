// The counting rules: LDS clocks against the published measurements and an independent model,
// vector L1 look-ups, bytes, distinct lines.
#include "counters/lds_clocks.hpp"
#include "counters/tally.hpp"
#include "tests/memory_cases.hpp"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <set>

using namespace wavesim;
using namespace wavesim::test;

namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A machine that counts.
struct Counted {
  Machine m;
  Tally tally;
  explicit Counted(Simd level = simd_level()) : m(level) { m.wave.tally = &tally; }
  /// Runs and returns what the first instruction has collected so far.
  OpTally run(const std::string& text) {
    run_again(m, text);
    return tally.ops.empty() ? OpTally{} : tally.ops[0];
  }
};

/// Clocks by the rule, written from scratch: sets of dwords by bank.
u32 model_clocks(const std::vector<std::vector<unsigned>>& phases, const u32* address,
                 unsigned bytes, u64 exec) {
  u32 total = 0;
  for (const auto& phase : phases) {
    std::map<u32, std::set<u32>> banks;
    for (const unsigned lane : phase)
      for (u32 byte = 0; active(exec, lane) && byte < bytes; ++byte) {
        const u32 dword = (address[lane] + byte) / 4;
        banks[dword % 32].insert(dword);
      }
    std::size_t longest = 1;
    for (const auto& [bank, dwords] : banks)
      longest = std::max(longest, dwords.size());
    total += static_cast<u32>(longest);
  }
  return total;
}

std::vector<std::vector<unsigned>> runs_of(unsigned length) {
  std::vector<std::vector<unsigned>> phases;
  for (unsigned first = 0; first < 64; first += length) {
    phases.emplace_back(length);
    std::iota(phases.back().begin(), phases.back().end(), first);
  }
  return phases;
}

std::vector<std::vector<unsigned>> wide_read_phases() {
  std::vector<std::vector<unsigned>> phases;
  for (const unsigned half : {0u, 32u})
    for (const auto& [a, b] : {std::pair{0u, 20u}, {4u, 16u}, {8u, 28u}, {12u, 24u}}) {
      std::vector<unsigned> lanes_of_phase;
      for (unsigned i = 0; i < 4; ++i) {
        lanes_of_phase.push_back(half + a + i);
        lanes_of_phase.push_back(half + b + i);
      }
      phases.push_back(lanes_of_phase);
    }
  return phases;
}

/// The instruction on lanes at address(lane); clocks and conflicts as counted.
template <class F>
OpTally lds_access(const std::string& text, F address, Simd level = simd_level(),
                   u64 exec = ~0ull) {
  Counted c(level);
  c.m.vgpr(1, [&](unsigned l) { return static_cast<u32>(address(l)); });
  c.m.wave.set_exec(exec);
  return c.run(text);
}

// -------------------------------------------------------------- published measurements

TEST(LdsClocks, StrideTable) {
  for (Simd level : levels())
    for (const char* text : {"ds_read_b32 v2, v1", "ds_write_b32 v1, v2"})
      for (unsigned stride = 1; stride <= 64; ++stride) {
        const OpTally t = lds_access(
            text, [&](unsigned l) { return 4 * stride * l; }, level);
        const unsigned ways = std::gcd(stride, 32u); // 2, 4, 8, 16, 32, 64 clocks for 1 … 32
        EXPECT_EQ(t.lds_clocks, 2 * ways) << stride;
        EXPECT_EQ(t.lds_conflicts, 2 * ways - 2) << stride;
      }
}

/// Published times of ds_read_b32 by stride on MI300 (µs): from 4 on they are the counted clocks
/// times one constant. At 1 and 2 other parts of the path are slower than the banks, so nothing
/// follows from those but that the banks are not.
TEST(LdsClocks, StrideTimings) {
  const std::pair<unsigned, double> published[] = {{1, 358.8}, {2, 474.4}, {4, 907},
                                                   {8, 1806},  {16, 3601}, {32, 7196}};
  constexpr double per_clock = 112.5;
  for (const auto& [stride, microseconds] : published) {
    const OpTally t =
        lds_access("ds_read_b32 v2, v1", [s = stride](unsigned l) { return 4 * s * l; });
    const double expected = per_clock * static_cast<double>(t.lds_clocks);
    if (stride >= 4)
      EXPECT_NEAR(microseconds / expected, 1, 0.01) << stride;
    else
      EXPECT_GE(microseconds, expected) << stride;
  }
}

TEST(LdsClocks, BroadcastIsFree) {
  const OpTally t = lds_access("ds_read_b32 v2, v1", [](unsigned) { return 20; });
  EXPECT_EQ(t.lds_clocks, 2u);
  EXPECT_EQ(t.lds_conflicts, 0u);
  // Two dwords of one bank, each wanted by half of the lanes: two clocks a phase.
  const OpTally two = lds_access("ds_read_b32 v2, v1", [](unsigned l) { return l % 2 * 128; });
  EXPECT_EQ(two.lds_clocks, 4u);
}

/// 16,384 clean writes and 16,384 32-way reads of a 32x32 transpose on MI300X: SQ_LDS_IDX_ACTIVE
/// 1,081,344 and SQ_LDS_BANK_CONFLICT 1,015,808; the padded twin 65,536 and 0.
TEST(LdsClocks, TransposePair) {
  for (const bool padded : {false, true}) {
    Counted c;
    const unsigned pitch = padded ? 33 : 32;
    c.m.vgpr(1, [&](unsigned l) { return 4 * (l % 32 + pitch * (l / 32)); });
    c.m.vgpr(2, [&](unsigned l) { return 4 * (pitch * (l % 32) + l / 32); });
    run_again(c.m, "s_movk_i32 s0, 0x4000\n"
                   "loop:\n"
                   "ds_write_b32 v1, v3\n"
                   "ds_read_b32 v3, v2\n"
                   "s_sub_u32 s0, s0, 1\n"
                   "s_cmp_lg_u32 s0, 0\n"
                   "s_cbranch_scc1 loop\n");
    OpTally sum;
    for (const OpTally& t : c.tally.ops)
      sum += t;
    EXPECT_EQ(sum.lds_clocks, padded ? 65'536u : 1'081'344u);
    EXPECT_EQ(sum.lds_conflicts, padded ? 0u : 1'015'808u);
    EXPECT_EQ(sum.lanes, 2u * 16384 * 64);
  }
}

/// u16 transpose: 14 conflict clocks per read with two 8-way phases, 6 per write with two 4-way
/// ones.
TEST(LdsClocks, SixteenBitTranspose) {
  EXPECT_EQ(lds_access("ds_read_u16 v2, v1", [](unsigned l) { return l * 32; }).lds_conflicts, 14u);
  EXPECT_EQ(lds_access("ds_write_b16 v1, v2", [](unsigned l) { return l * 16; }).lds_conflicts, 6u);
  // Neighbours in one dword share it.
  EXPECT_EQ(lds_access("ds_read_u16 v2, v1", [](unsigned l) { return l * 2; }).lds_clocks, 2u);
  EXPECT_EQ(lds_access("ds_read_u8 v2, v1", [](unsigned l) { return l; }).lds_clocks, 2u);
}

/// Clocks of matrix fragment reads by row pitch in bytes.
TEST(LdsClocks, FragmentReads) {
  const std::pair<unsigned, u64> sixteen_rows[] = {{64, 16},  {80, 16},  {96, 8},  {128, 32},
                                                   {136, 24}, {144, 16}, {160, 8}, {256, 32},
                                                   {272, 16}, {288, 8}};
  for (const auto& [pitch, clocks] : sixteen_rows)
    EXPECT_EQ(lds_access("ds_read_b128 v[4:7], v1",
                         [p = pitch](unsigned l) { return l % 16 * p + l / 16 * 16; })
                  .lds_clocks,
              clocks)
        << pitch;
  for (unsigned odd = 5; odd <= 17; odd += 2) { // 32 rows: pitches of 16 x odd bytes are clean
    const auto at = [&](unsigned pitch) {
      return lds_access("ds_read_b128 v[4:7], v1",
                        [=](unsigned l) { return l % 32 * pitch + l / 32 * 16; })
          .lds_clocks;
    };
    EXPECT_EQ(at(16 * odd), 8u);
    EXPECT_EQ(at(32 * odd), 16u);
  }
  const std::pair<unsigned, u64> narrow[] = {{72, 4}, {136, 4}, {144, 8}, {128, 64}};
  for (const auto& [pitch, clocks] : narrow)
    EXPECT_EQ(lds_access("ds_read_b64 v[4:5], v1",
                         [p = pitch](unsigned l) { return l % 16 * p + l / 16 * 8; })
                  .lds_clocks,
              clocks)
        << pitch;
  // 128-byte pitch with chunk ^= row % 8.
  EXPECT_EQ(lds_access("ds_read_b128 v[4:7], v1",
                       [](unsigned l) { return l % 16 * 128 + ((l / 16) ^ (l % 8)) * 16; })
                .lds_clocks,
            8u);
}

// ------------------------------------------------------------------ against the model

struct WidthCase {
  const char* text;
  unsigned bytes;
  std::vector<std::vector<unsigned>> phases;
};

TEST(LdsClocks, EqualTheModel) {
  const WidthCase cases[] = {
      {"ds_read_u8 v4, v1", 1, runs_of(32)},
      {"ds_write_b16 v1, v4", 2, runs_of(32)},
      {"ds_read_b32 v4, v1", 4, runs_of(32)},
      {"ds_write_b32 v1, v4", 4, runs_of(32)},
      {"ds_read_b64 v[4:5], v1", 8, runs_of(16)},
      {"ds_write_b64 v1, v[4:5]", 8, runs_of(16)},
      {"ds_read_b96 v[4:6], v1", 12, wide_read_phases()},
      {"ds_write_b96 v1, v[4:6]", 12, runs_of(8)},
      {"ds_read_b128 v[4:7], v1", 16, wide_read_phases()},
      {"ds_write_b128 v1, v[4:7]", 16, runs_of(8)},
  };
  for (Simd level : levels())
    for (const WidthCase& c : cases)
      for (int pattern = 0; pattern < 60; ++pattern)
        for (const u64 exec : exec_patterns()) {
          u32 address[lanes];
          const u32 stride = random_below(40), swizzle = random_below(8);
          for (unsigned l = 0; l < lanes; ++l)
            switch (pattern % 4) {
            case 0: // strides, often free of conflicts
              address[l] = c.bytes * (l + stride * (l / 8));
              break;
            case 1:
              address[l] = (l % 16 * 8 + ((l / 16) ^ (l % 8 * swizzle) % 8)) * c.bytes;
              break;
            case 2: // few places
              address[l] = random_below(64) * 4;
              break;
            default: // any byte
              address[l] = random_below(8000);
            }
          const OpTally t = lds_access(
              c.text, [&](unsigned l) { return address[l]; }, level, exec);
          if (exec == 0) {
            EXPECT_EQ(t.lds_clocks, 0u);
            continue;
          }
          const u32 clocks = model_clocks(c.phases, address, c.bytes, exec);
          EXPECT_EQ(t.lds_clocks, clocks) << c.text;
          EXPECT_EQ(t.lds_conflicts, clocks - c.phases.size()) << c.text;
          EXPECT_EQ(t.lanes, static_cast<u64>(std::popcount(exec)));
        }
}

/// Accesses that differ from one seen before by where they begin, by one lane or by EXEC.
TEST(LdsClocks, EqualTheModelAgain) {
  Counted c;
  u64 before = 0;
  unsigned with_conflicts = 0;
  for (u32 round = 0; round < 3000; ++round) {
    const u32 stride = 1 + round / 100 % 30,
              base = random_below(3) == 0 ? random_below(4000) : 4 * random_below(1000);
    const unsigned other = random_below(2) == 0 ? random_below(64) : 64;
    const u64 exec = random_below(4) == 0 ? ~0ull >> random_below(63) : ~0ull;
    u32 address[lanes];
    for (unsigned l = 0; l < lanes; ++l)
      address[l] = base + l * stride + (l == other ? 4 * random_below(40) : 0);
    c.m.vgpr(1, [&](unsigned l) { return address[l]; });
    c.m.wave.set_exec(exec);
    const u64 clocks = c.run("ds_read_u8 v4, v1").lds_clocks;
    const u32 expected = model_clocks(runs_of(32), address, 1, exec);
    ASSERT_EQ(clocks - before, expected) << "round " << round << ", stride " << stride;
    before = clocks;
    with_conflicts += expected > 2;
  }
  EXPECT_GT(with_conflicts, 300u);
}

/// EXEC not full: absent lanes ask for nothing, and a phase without lanes takes its one clock.
TEST(LdsClocks, HalfOfTheLanes) {
  const auto one_bank = [](unsigned l) { return 128 * l; };
  const auto clocks = [&](const char* text, u64 exec) {
    return lds_access(text, one_bank, simd_level(), exec);
  };
  const char* read = "ds_read_b32 v2, v1";
  EXPECT_EQ(clocks(read, 0xffffffff).lds_clocks, 32u + 1);
  EXPECT_EQ(clocks(read, 0xffffffff).lds_conflicts, 31u);
  EXPECT_EQ(clocks(read, 0xffffull << 32).lds_clocks, 1u + 16);
  EXPECT_EQ(clocks(read, 1).lds_clocks, 2u);
  EXPECT_EQ(clocks(read, 0).lds_clocks, 0u);
  EXPECT_EQ(clocks("ds_read_b64 v[2:3], v1", 0xff).lds_clocks, 8u + 3);
  EXPECT_EQ(clocks("ds_read_b128 v[4:7], v1", 0xf0).lds_clocks, 4u + 7); // lanes 4-7: one phase
  EXPECT_EQ(clocks("ds_write_b128 v1, v[4:7]", 0xff).lds_clocks, 8u + 7);
}

TEST(LdsClocks, OffsetCounts) {
  // Lane l at 4 l + 2 l' with an offset that makes every dword misaligned: two dwords a lane.
  const OpTally t = lds_access("ds_read_b32 v2, v1 offset:2", [](unsigned l) { return 4 * l; });
  EXPECT_EQ(t.lds_clocks, 4u); // each bank but one is asked for two dwords in each half
}

TEST(LdsClocks, TwoAddressFormsAreTwoAccesses) {
  const auto strided = [](unsigned l) { return 16 * l; }; // 4-way for b32, 2-way a quarter for b64
  EXPECT_EQ(lds_access("ds_read_b32 v4, v1", strided).lds_clocks, 8u);
  EXPECT_EQ(lds_access("ds_read2_b32 v[4:5], v1 offset1:1", strided).lds_clocks, 16u);
  EXPECT_EQ(lds_access("ds_write2_b32 v1, v4, v5 offset1:1", strided).lds_clocks, 16u);
  EXPECT_EQ(lds_access("ds_read2_b32 v[4:5], v1 offset0:3 offset1:3", strided).lds_clocks, 8u);
  EXPECT_EQ(lds_access("ds_read2st64_b32 v[4:5], v1 offset1:1", strided).lds_clocks, 16u);
  EXPECT_EQ(lds_access("ds_read2_b64 v[4:7], v1 offset1:1", strided).lds_clocks, 16u);
  EXPECT_EQ(lds_access("ds_read2_b32 v[4:5], v1 offset1:1", strided).lanes, 64u);
}

TEST(LdsClocks, AtomicsSerialise) {
  EXPECT_EQ(lds_access("ds_add_u32 v1, v2", [](unsigned) { return 0; }).lds_clocks, 64u);
  EXPECT_EQ(lds_access("ds_add_u32 v1, v2", [](unsigned l) { return 4 * l; }).lds_clocks, 2u);
  EXPECT_EQ(
      lds_access("ds_add_rtn_u32 v3, v1, v2", [](unsigned l) { return l / 2 * 4; }).lds_clocks, 4u);
  EXPECT_EQ(lds_access("ds_add_u64 v1, v[2:3]", [](unsigned) { return 8; }).lds_clocks, 64u);
  EXPECT_EQ(lds_access("ds_add_u64 v1, v[2:3]", [](unsigned l) { return 8 * l; }).lds_clocks, 4u);
}

TEST(LdsClocks, LaneMovesUseNoBank) {
  for (const char* text : {"ds_swizzle_b32 v2, v1 offset:swizzle(SWAP, 1)",
                           "ds_bpermute_b32 v2, v1, v3", "ds_permute_b32 v2, v1, v3"}) {
    const OpTally t = lds_access(text, [](unsigned l) { return 4 * l; });
    EXPECT_EQ(t.lds_clocks, 0u);
    EXPECT_EQ(t.lanes, 64u);
  }
}

// ------------------------------------------------------------------------- global memory

/// 2,048 waves on MI300X: 32,768 look-ups when coalesced, 131,072 when every lane has its own line.
TEST(TcpAccesses, CoalescedAndScattered) {
  for (const unsigned stride : {4u, 128u, 256u}) {
    Counted c;
    std::byte* block = c.m.allocate(64 * 256);
    for (unsigned l = 0; l < lanes; ++l)
      c.m.set_u64(2, l, reinterpret_cast<u64>(block) + stride * l);
    for (unsigned wave = 0; wave < 2048; ++wave)
      run_again(c.m, "global_load_dword v4, v[2:3], off");
    EXPECT_EQ(c.tally.ops[0].tcp_accesses, stride == 4 ? 32'768u : 131'072u);
    EXPECT_EQ(c.tally.ops[0].bytes_read, 2048u * 256);
    EXPECT_EQ(c.tally.ops[0].bytes_written, 0u);
  }
}

/// Loads, stores and atomics of every width: look-ups follow from lanes and lines alone.
TEST(TcpAccesses, WidthsStoresAndAtomics) {
  struct Case {
    const char* text;
    unsigned bytes;
  };
  for (Simd level : levels())
    for (const Case& c : {Case{"global_load_ubyte v4, v[2:3], off", 1},
                          {"global_load_dword v4, v[2:3], off", 4},
                          {"global_load_dwordx2 v[4:5], v[2:3], off", 8},
                          {"global_load_dwordx3 v[4:6], v[2:3], off", 12},
                          {"global_load_dwordx4 v[4:7], v[2:3], off", 16},
                          {"global_store_short v[2:3], v4, off", 2},
                          {"global_store_dwordx2 v[2:3], v[4:5], off", 8},
                          {"global_store_dwordx4 v[2:3], v[4:7], off", 16},
                          {"flat_load_dwordx2 v[4:5], v[2:3]", 8},
                          {"global_atomic_add v[2:3], v4, off", 4},
                          {"global_atomic_add_f32 v6, v[2:3], v4, off sc0", 4},
                          {"global_atomic_add_x2 v[2:3], v[4:5], off", 8}})
      for (const bool scattered : {false, true}) {
        Counted counted(level);
        const u64 block = reinterpret_cast<u64>(counted.m.allocate(64 * 256 + 256));
        const u64 begin = (block + 127) / 128 * 128;
        for (unsigned l = 0; l < lanes; ++l)
          counted.m.set_u64(2, l, begin + (scattered ? 256 : c.bytes) * l);
        const OpTally t = counted.run(c.text);
        // Quads of 12-byte lanes cross a line now and then.
        const u64 coalesced = c.bytes == 12 ? 16 + 4 : 16;
        EXPECT_EQ(t.tcp_accesses, scattered ? 64u : coalesced) << c.text;
        EXPECT_EQ(t.bytes_read + t.bytes_written,
                  64u * c.bytes * (std::string(c.text).find("sc0") != std::string::npos ? 2 : 1))
            << c.text;
      }
}

/// Which unit an instruction is counted with.
TEST(Units, OfInstructions) {
  const std::pair<const char*, Unit> cases[] = {
      {"v_add_f32 v0, v1, v2", Unit::valu},
      {"v_cmp_lt_f32 vcc, v1, v2", Unit::valu},
      {"v_readfirstlane_b32 s0, v1", Unit::valu},
      {"v_accvgpr_read_b32 v0, a0", Unit::valu},
      {"v_exp_f32 v0, v1", Unit::trans},
      {"v_rcp_f64 v[0:1], v[2:3]", Unit::trans},
      {"v_mfma_f32_16x16x16_bf16 v[4:7], v[8:9], v[10:11], v[4:7]", Unit::mfma},
      {"s_add_u32 s0, s1, s2", Unit::salu},
      {"s_load_dword s0, s[2:3], 0x0", Unit::smem},
      {"ds_read_b32 v0, v1", Unit::lds},
      {"ds_bpermute_b32 v2, v1, v3", Unit::lds},
      {"global_load_dword v4, v[2:3], off", Unit::vmem},
      {"buffer_load_dword v0, v1, s[4:7], 0 offen", Unit::vmem},
      {"scratch_load_dword v0, off, off", Unit::vmem},
      {"flat_load_dword v4, v[2:3]", Unit::flat},
      {"s_cbranch_scc0 end\nend:", Unit::branch},
      {"s_waitcnt vmcnt(0)", Unit::wait},
      {"s_nop 3", Unit::wait},
      {"s_barrier", Unit::barrier},
  };
  for (const auto& [text, unit] : cases) {
    const Program program(text);
    ASSERT_TRUE(program.first().info) << text;
    EXPECT_EQ(program.first().info->unit, unit) << text;
  }
}

/// Look-ups and lines of any access against sets.
TEST(GlobalCounts, EqualTheModel) {
  struct Width {
    const char* load;
    const char* store;
    unsigned bytes;
  };
  for (Simd level : levels())
    for (const Width& w :
         {Width{"global_load_ubyte v4, v[2:3], off", "global_store_byte v[2:3], v4, off", 1},
          {"global_load_dword v4, v[2:3], off", "global_store_dword v[2:3], v4, off", 4},
          {"global_load_dwordx2 v[4:5], v[2:3], off", "global_store_dwordx2 v[2:3], v[4:5], off",
           8},
          {"flat_load_dwordx3 v[4:6], v[2:3]", "flat_store_dwordx3 v[2:3], v[4:6]", 12},
          {"global_load_dwordx4 v[4:7], v[2:3], off", "global_store_dwordx4 v[2:3], v[4:7], off",
           16}})
      for (const bool store : {false, true})
        for (unsigned pattern = 0; pattern < 6; ++pattern)
          for (const u64 exec : exec_patterns()) {
            Counted c(level);
            std::byte* block = c.m.allocate(32768);
            const unsigned shift = random_below(40);
            std::vector<u64> at(lanes);
            std::set<u64> lines;
            u64 look_ups = 0;
            std::set<u64> quad;
            for (unsigned l = 0; l < lanes; ++l) {
              at[l] = reinterpret_cast<u64>(block) + (pattern == 0   ? l * w.bytes
                                                      : pattern == 1 ? l * w.bytes + shift
                                                      : pattern == 2 ? l * 256
                                                      : pattern == 3 ? (63 - l) * w.bytes
                                                                     : random_below(32000));
              c.m.set_u64(2, l, at[l]);
              if (active(exec, l))
                for (unsigned i = 0; i < w.bytes; ++i) {
                  lines.insert((at[l] + i) / 128);
                  quad.insert((at[l] + i) / 128);
                }
              if (l % 4 == 3) {
                look_ups += quad.size();
                quad.clear();
              }
            }
            c.m.wave.set_exec(exec);
            const OpTally t = c.run(store ? w.store : w.load);
            const u64 bytes = static_cast<u64>(std::popcount(exec)) * w.bytes;
            EXPECT_EQ(t.bytes_read, store ? 0 : bytes);
            EXPECT_EQ(t.bytes_written, store ? bytes : 0);
            EXPECT_EQ(t.tcp_accesses, look_ups);
            EXPECT_EQ(t.lanes, static_cast<u64>(std::popcount(exec)));
            c.tally.end_group(c.m.group);
            EXPECT_EQ(c.tally.kernel_lines_read.size(), store ? 0 : lines.size());
            EXPECT_EQ(c.tally.kernel_lines_written.size(), store ? lines.size() : 0);
          }
}

/// Accesses that come back, in any order: what is remembered of earlier ones must change nothing.
TEST(GlobalCounts, RepeatedAccesses) {
  for (Simd level : levels()) {
    Counted c(level);
    const u64 block = reinterpret_cast<u64>(c.m.allocate(1 << 20)) + 512;
    std::set<u64> lines[2];
    u64 look_ups = 0, bytes[2] = {};
    struct Pattern {
      u64 base, stride;
    };
    std::vector<Pattern> patterns;
    for (const u64 stride : {4u, 0u, 64u, 128u, 132u, 1028u, 4096u, 8192u})
      for (unsigned i = 0; i < 3; ++i)
        patterns.push_back({block + 4 * random_below(20000), stride});
    for (unsigned round = 0; round < 400; ++round) {
      const Pattern& p = patterns[random_below(static_cast<u32>(patterns.size()))];
      const bool irregular = round % 5 == 0, store = random_below(2);
      const u64 exec = round % 7 == 0 ? ~0ull >> random_below(60) : ~0ull;
      std::set<u64> quad;
      for (unsigned l = 0; l < lanes; ++l) {
        u64 at = p.base + p.stride * l;
        if (irregular && l == 17)
          at = block;
        c.m.set_u64(2, l, at);
        if (active(exec, l)) {
          lines[store].insert(at / 128);
          quad.insert(at / 128);
          bytes[store] += 4;
        }
        if (l % 4 == 3) {
          look_ups += quad.size();
          quad.clear();
        }
      }
      c.m.wave.set_exec(exec);
      const OpTally t =
          c.run(store ? "global_store_dword v[2:3], v4, off" : "global_load_dword v4, v[2:3], off");
      ASSERT_EQ(t.tcp_accesses, look_ups) << round;
      ASSERT_EQ(t.bytes_read, bytes[0]);
      ASSERT_EQ(t.bytes_written, bytes[1]);
      ASSERT_EQ(c.m.group.lines->read.size(), lines[0].size()) << round;
      ASSERT_EQ(c.m.group.lines->written.size(), lines[1].size()) << round;
    }
  }
}

TEST(GlobalCounts, AtomicsAndBuffers) {
  Counted c;
  std::byte* block = c.m.allocate(1024);
  for (unsigned l = 0; l < lanes; ++l)
    c.m.set_u64(2, l, reinterpret_cast<u64>(block) + 4 * l);
  OpTally t = c.run("global_atomic_add v[2:3], v4, off");
  EXPECT_EQ(t.bytes_written, 256u);
  EXPECT_EQ(t.bytes_read, 0u);
  t = c.run("global_atomic_add v5, v[2:3], v4, off sc0");
  EXPECT_EQ(t.bytes_written, 512u);
  EXPECT_EQ(t.bytes_read, 256u);

  Counted b;
  b.m.wave.set_s64(8, reinterpret_cast<u64>(block));
  b.m.wave.s[10] = 1000; // bytes: lane 62 has two dwords in bounds, lane 63 none
  b.m.wave.s[11] = 0x00020000;
  const auto known = b.m.group.dispatch;
  b.m.group.dispatch = c.m.group.dispatch;
  b.m.vgpr(2, [](unsigned l) { return 16 * l; });
  t = b.run("buffer_load_dwordx4 v[4:7], v2, s[8:11], 0 offen");
  EXPECT_EQ(t.bytes_read, 1000u);
  EXPECT_EQ(t.lanes, 63u);
  b.m.group.dispatch = known;
}

TEST(GlobalCounts, ScratchStandsApart) {
  Counted c;
  const OpTally t = c.run("scratch_store_dwordx2 off, v[4:5], off offset:8");
  EXPECT_EQ(t.scratch_bytes_written, 512u);
  EXPECT_EQ(t.bytes_written, 0u);
  EXPECT_EQ(t.tcp_accesses, 32u);
  EXPECT_FALSE(c.m.group.lines);
  Counted f;
  for (unsigned l = 0; l < lanes; ++l)
    f.m.set_u64(2, l, u64{Dispatch::private_aperture} << 32 | 16);
  const OpTally g = f.run("flat_load_dword v4, v[2:3]");
  EXPECT_EQ(g.scratch_bytes_read, 256u);
  EXPECT_EQ(g.bytes_read, 0u);
}

TEST(GlobalCounts, FlatToLdsCountsClocks) {
  Counted c;
  for (unsigned l = 0; l < lanes; ++l)
    c.m.set_u64(2, l, u64{Dispatch::shared_aperture} << 32 | 16 * l);
  const OpTally t = c.run("flat_load_dword v4, v[2:3]");
  EXPECT_EQ(t.lds_clocks, 8u);
  EXPECT_EQ(t.lds_conflicts, 6u);
  EXPECT_EQ(t.bytes_read, 0u);
}

TEST(GlobalCounts, LoadsIntoLdsReadMemoryOnly) {
  Counted c;
  std::byte* block = c.m.allocate(1024);
  for (unsigned l = 0; l < lanes; ++l)
    c.m.set_u64(2, l, reinterpret_cast<u64>(block) + 4 * l);
  const OpTally t = c.run("global_load_lds_dword v[2:3], off");
  EXPECT_EQ(t.bytes_read, 256u);
  EXPECT_EQ(t.lds_clocks, 0u);
}

} // namespace
