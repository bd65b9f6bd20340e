// Every counter's rule in one place, with what speaks for it. "measured": the rule reproduces
// published hardware counters; "derived": it follows from documented facts; "assumed": by analogy
// or choice. Only rules that are not assumed name the rocprofv3 counter they stand for.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wavesim {

enum class Evidence : std::uint8_t { measured, derived, assumed };

constexpr std::string_view evidence_name(Evidence e) {
  switch (e) {
  case Evidence::measured:
    return "measured";
  case Evidence::derived:
    return "derived";
  case Evidence::assumed:
    return "assumed";
  }
  return "";
}

struct Rule {
  std::string_view counter;
  std::string_view rule;
  Evidence evidence;
  std::string_view source;
  std::string_view hardware = ""; ///< rocprofv3 counter of the same meaning
};

inline constexpr Rule rule_table[] = {
    {"waves", "workgroups x ceil(work-items of a workgroup / 64)", Evidence::derived,
     "LLVM AMDGPU usage guide", "SQ_WAVES"},
    {"instructions.*",
     "one for each wave instruction executed, whatever EXEC holds; by the unit it is issued to; "
     "s_waitcnt, s_nop, s_sleep (wait) and s_barrier (barrier) stand apart because they take no "
     "pipe",
     Evidence::derived, "rocprofiler-compute docs, pipeline descriptions"},
    {"instructions.valu", "vector ALU without transcendental and matrix instructions",
     Evidence::assumed, "a choice: the hardware's VALU counters have other borders"},
    {"instructions.valu + trans + mfma", "all instructions of the vector ALU, matrix included",
     Evidence::derived, "AMD's list of MI300 counters: VALU instructions including matrix FMA",
     "SQ_INSTS_VALU"},
    {"instructions.mfma", "matrix instructions, sparse ones too", Evidence::derived,
     "AMD's list of MI300 counters", "SQ_INSTS_MFMA"},
    {"instructions.salu", "scalar ALU; s_setprio and the like, waits and barriers are not in it",
     Evidence::assumed, "a choice: what the hardware's counter leaves out is not published"},
    {"instructions.smem", "scalar loads, s_memtime, cache control", Evidence::derived,
     "AMD's list of MI300 counters", "SQ_INSTS_SMEM"},
    {"instructions.vmem", "global_*, scratch_*, buffer_*; flat_* is counted as flat",
     Evidence::assumed, "a choice: the hardware counts by encoding"},
    {"instructions.vmem + flat", "all instructions of vector memory", Evidence::derived,
     "AMD's list of MI300 counters: vector memory, both flat and buffer instructions",
     "SQ_INSTS_VMEM"},
    {"instructions.lds", "ds_*, lane permutations included; flat_* to LDS is counted as flat",
     Evidence::derived, "AMD's list of MI300 counters: LDS instructions, on MI300 without flat",
     "SQ_INSTS_LDS"},
    {"instructions.branch", "branches, taken or not, calls and returns", Evidence::derived,
     "AMD's list of MI300 counters", "SQ_INSTS_BRANCH"},
    {"mfma_flops", "2 x m x n x k x blocks of each instruction (sparse: as if dense)",
     Evidence::derived,
     "AMD matrix instruction calculator; the hardware's counters by type count units of 512"},
    {"mfma_clocks", "4 clocks for each pass of each instruction", Evidence::derived,
     "AMD matrix instruction calculator; CDNA3 white paper peak rates", "SQ_VALU_MFMA_BUSY_CYCLES"},
    {"issue-to-wait distance",
     "clocks by which the end of a wave's issued work moves between a load and the first s_waitcnt "
     "that forces it; nothing else takes time",
     Evidence::assumed, "a model: its clocks stand among the parameters"},
    {"bound, clocks of a unit",
     "the sum of what its instructions take, per workgroup; vector memory: the larger of look-ups "
     "and bytes / 64; LDS: the larger of banks and ports",
     Evidence::assumed, "a model: its clocks stand among the parameters"},
    {"bytes_read, bytes_written",
     "active lanes x bytes of a lane, of vector instructions to global memory (buffers: what is in "
     "bounds); scalar loads are left out",
     Evidence::derived, "by definition"},
    {"bytes of atomics", "written once, and read once when the old value is returned",
     Evidence::assumed, "a choice"},
    {"lines_read, lines_written",
     "distinct 128-byte lines that active lanes touch, per dispatch and per workgroup; a lower "
     "bound "
     "of L2 traffic, no cache is simulated",
     Evidence::derived, "128-byte lines: CDNA3 white paper p. 9-10"},
    {"tcp_accesses, one dword a lane",
     "lanes go in quads of four; a quad takes one look-up for each distinct 128-byte line that its "
     "active lanes touch: 16 for a coalesced wave, 64 for a scattered one",
     Evidence::measured, "published MI300X counters: 32,768 and 131,072 for 2,048 waves",
     "TCP_TOTAL_ACCESSES_sum"},
    {"tcp_accesses, other widths",
     "the same quads and lines: 16 bytes a lane are still 16 look-ups", Evidence::assumed,
     "by analogy"},
    {"tcp_accesses, stores and atomics", "as loads of the same lanes", Evidence::assumed,
     "by analogy"},
    {"tcp_accesses, scratch", "one for each quad, dword and distinct offset", Evidence::assumed,
     "swizzled layout: LLVM AMDGPU usage guide"},
    {"lds_clocks, ds_read_b32 and ds_write_b32",
     "two phases (lanes 0-31, 32-63); a phase takes as many clocks as the most distinct dwords "
     "wanted "
     "from one of 32 banks",
     Evidence::measured,
     "published MI300X counters 1,081,344 active and 1,015,808 conflict; stride timings",
     "SQ_LDS_IDX_ACTIVE"},
    {"lds_clocks, ds_read_b64 and ds_write_b64", "four phases of 16 consecutive lanes",
     Evidence::measured, "published MI300 bank-conflict tests", "SQ_LDS_IDX_ACTIVE"},
    {"lds_clocks, ds_read_b128",
     "eight phases of lanes {0-3,20-23} {4-7,16-19} {8-11,28-31} {12-15,24-27}, then the same + 32",
     Evidence::measured, "published MI300 bank-conflict tests; CK documentation",
     "SQ_LDS_IDX_ACTIVE"},
    {"lds_clocks, ds_write_b128", "eight phases of eight consecutive lanes", Evidence::derived,
     "CK documentation; ROCm blog on LDS bank conflicts", "SQ_LDS_IDX_ACTIVE"},
    {"lds_clocks, ds_read_b96 and ds_write_b96", "phases of b128", Evidence::assumed,
     "measured on gfx950 only"},
    {"lds_clocks, 1- and 2-byte accesses", "as b32: lanes of one dword share it", Evidence::derived,
     "published conflict counts of a u16 transpose, 14 and 6 per access (device not named)",
     "SQ_LDS_IDX_ACTIVE"},
    {"lds_clocks, read2 and write2 forms",
     "two accesses of the single width; equal offsets are one access", Evidence::derived,
     "kernel optimisation guide of shark-ai for b64; b32 by analogy", "SQ_LDS_IDX_ACTIVE"},
    {"lds_clocks, atomics",
     "as b32 or b64, but lanes of one dword are served one after the other; append and consume: "
     "one "
     "clock",
     Evidence::assumed, "one atomic unit per bank: audit of the CDNA3 ISA manual"},
    {"lds_clocks, EXEC not full",
     "inactive lanes ask for nothing, but a phase without active lanes still takes one clock; EXEC "
     "= 0 "
     "takes none",
     Evidence::assumed, "a choice between bounds that differ by the empty phases"},
    {"lds_clocks, swizzle, permute, loads into LDS", "none: no bank is indexed", Evidence::derived,
     "rocprofiler-compute docs, LDS"},
    {"lds_clocks, flat_* to LDS", "as the DS access of the same width", Evidence::assumed,
     "by analogy"},
    {"lds_conflicts", "lds_clocks minus the number of phases", Evidence::measured,
     "the same MI300X counters", "SQ_LDS_BANK_CONFLICT"},
};

inline constexpr std::span<const Rule> rules = rule_table;

} // namespace wavesim
