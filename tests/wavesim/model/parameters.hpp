// What the model takes for granted about an MI300X, each number with what speaks for it. Where
// public sources disagree the smaller number stands here: a bound must not promise too much, and a
// distance must not flatter.
#pragma once

#include "counters/rules.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace wavesim::parameters {

/// A SIMD can issue one instruction of a wave every so many clocks.
inline constexpr unsigned slot = 4;
inline constexpr unsigned vector = 4;
inline constexpr unsigned transcendental = 16;
inline constexpr unsigned slow_multiply = 4;
inline constexpr unsigned branch = 4;
inline constexpr unsigned nop = 4; ///< for each wait state of s_nop

inline constexpr unsigned lds_latency = 52;
inline constexpr unsigned lds_port_address = 4; ///< and so many more for each dword stored
inline constexpr unsigned lds_ports = 2;        ///< each shared by two SIMDs
inline constexpr unsigned l1_latency = 118;
inline constexpr unsigned l2_latency = 213;
inline constexpr unsigned mall_latency = 455;
inline constexpr unsigned hbm_latency = 880;
inline constexpr unsigned scalar_latency = 48;

inline constexpr unsigned l1_bytes = 64; ///< per clock and compute unit
inline constexpr unsigned l2_bytes = 64; ///< per clock and compute unit
inline constexpr unsigned clock_mhz = 2100;
inline constexpr unsigned hbm_gigabytes = 5325; ///< per second, whole device
inline constexpr unsigned hbm_sustained_gigabytes = 4100;

struct Parameter {
  std::string_view name;
  unsigned value;
  std::string_view unit;
  Evidence evidence;
  std::string_view source;
};

inline constexpr Parameter table[] = {
    {"issue slot of a SIMD", slot, "clocks", Evidence::derived,
     "rocprofiler-compute docs, compute unit: one SIMD is served each clock, four in turn"},
    {"32-bit, packed 32-bit and fp64 vector instruction", vector, "clocks", Evidence::derived,
     "CDNA3 white paper, peak rates: 64 lanes on 16 wide SIMDs, fp64 at the same rate"},
    {"transcendental instruction", transcendental, "clocks", Evidence::derived,
     "LLVM's schedule of gfx942 (quarter rate); rocprofiler-compute docs"},
    {"32-bit integer multiplication, 64-bit shift", slow_multiply, "clocks", Evidence::assumed,
     "LLVM's schedule of gfx942 has full rate; older chips of the family 16 clocks"},
    {"branch", branch, "clocks", Evidence::assumed,
     "one slot at least; taken branches are said to cost 16 and more"},
    {"s_nop, for each wait state", nop, "clocks", Evidence::derived,
     "LLVM AMDGPU usage guide: a wait state is one issue slot"},
    {"s_waitcnt, s_barrier", 0, "clocks", Evidence::assumed,
     "handled ahead of the pipes (rocprofiler-compute docs); what they cost is not published"},
    {"LDS latency", lds_latency, "clocks", Evidence::measured, "MT4G on MI300X: 51 to 52"},
    {"LDS port, address of an instruction", lds_port_address, "clocks", Evidence::derived,
     "rocprofiler-compute docs, LDS; 4 more for each dword stored; two ports of two SIMDs each"},
    {"vector L1 hit", l1_latency, "clocks", Evidence::measured,
     "RRZE gpu-latency and MT4G on MI300X: 116 to 120"},
    {"L2 hit", l2_latency, "clocks", Evidence::measured, "RRZE gpu-latency on MI300X"},
    {"Infinity Cache hit", mall_latency, "clocks", Evidence::measured,
     "RRZE gpu-latency on MI300X"},
    {"HBM", hbm_latency, "clocks", Evidence::measured, "RRZE gpu-latency on MI300X: 873 to 890"},
    {"scalar cache hit", scalar_latency, "clocks", Evidence::measured, "MT4G on MI300X"},
    {"vector L1, addresses", 1, "look-up a clock", Evidence::measured,
     "published MI300X counters: 16 look-ups a coalesced wave, 64 a scattered one"},
    {"vector L1, data", l1_bytes, "B a clock", Evidence::measured,
     "RRZE gpu-cache on MI300X: 61 B a clock and compute unit"},
    {"L2 to vector L1", l2_bytes, "B a clock", Evidence::assumed,
     "CDNA3 white paper: 2 KB a clock and XCD, 54 B a compute unit when all 38 ask"},
    {"HBM, peak", hbm_gigabytes, "GB/s", Evidence::derived,
     "CDNA3 white paper; 4,100 were reached by BabelStream on MI300X"},
    {"engine clock", clock_mhz, "MHz", Evidence::derived,
     "CDNA3 white paper, peak; dense matrix work was measured at 1,100 to 1,250"},
};

inline constexpr std::span<const Parameter> all = table;

} // namespace wavesim::parameters
