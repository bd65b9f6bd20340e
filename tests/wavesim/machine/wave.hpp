// Architectural state of one wavefront, and of the workgroup it belongs to.
#pragma once

#include "counters/line_set.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace wavesim {

struct Wave;
struct Workgroup;
struct Dispatch;
class CodeObject;
class MemoryMap;
struct Tally;

inline constexpr unsigned lanes = 64;
using LaneRow = std::uint32_t[lanes]; ///< one VGPR: a dword per lane

enum class WaveStatus : std::uint8_t { running, at_barrier, yielded, ended };

/// Scalar operand codes with a meaning of their own.
enum ScalarCode : std::uint16_t {
  code_flat_scratch = 102,
  code_xnack_mask = 104,
  code_vcc = 106,
  code_ttmp0 = 108,
  code_m0 = 124,
  code_exec = 126
};

struct alignas(64) Wave {
  alignas(64) std::uint32_t v[256][lanes]; ///< VGPRs
  alignas(64) std::uint32_t a[256][lanes]; ///< AGPRs
  alignas(
      16) std::uint32_t s[128]; ///< scalar registers by operand code (VCC 106, M0 124, EXEC 126)

  std::uint64_t pc = 0;
  std::uint32_t scc = 0;
  std::uint32_t mode = 0; ///< MODE register: round [3:0], denorm [7:4], dx10_clamp 8, ieee 9, …
  WaveStatus status = WaveStatus::running;
  std::uint8_t index = 0;      ///< wave number inside the workgroup
  std::uint64_t live = 0;      ///< EXEC at entry: lanes that exist
  std::uint64_t retired = 0;   ///< instructions executed so far by this wave
  std::uint32_t gpr_index = 0; ///< s_set_gpr_idx state: 0 off, else bit 31 | M0 fields

  Workgroup* group = nullptr;
  Tally* tally = nullptr;          ///< null when counting is off
  std::byte* scratch = nullptr;    ///< private memory: dword d of lane l at (64 * d + l) * 4
  std::uint32_t scratch_bytes = 0; ///< per lane

  std::uint64_t s64(unsigned code) const {
    std::uint64_t r;
    std::memcpy(&r, &s[code], 8);
    return r;
  }
  void set_s64(unsigned code, std::uint64_t x) { std::memcpy(&s[code], &x, 8); }
  std::uint64_t exec() const { return s64(code_exec); }
  void set_exec(std::uint64_t x) { set_s64(code_exec, x); }
  std::uint64_t vcc() const { return s64(code_vcc); }
  void set_vcc(std::uint64_t x) { set_s64(code_vcc, x); }
};

/// Memory ranges that instructions of this workgroup touched last, so that most accesses need no
/// search: one entry per instruction number modulo `entries`. Valid for one dispatch only.
struct RangeCache {
  static constexpr unsigned entries = 16;
  struct Entry {
    std::uintptr_t begin = 1, end = 0; ///< empty: contains nothing
  };
  Entry entry[entries];
  void clear() {
    for (Entry& e : entry)
      e = Entry{};
  }
};

struct Workgroup {
  const Dispatch* dispatch = nullptr;
  std::uint32_t id[3] = {0, 0, 0};
  std::uint64_t linear = 0;                 ///< index in dispatch order (x fastest)
  std::vector<std::unique_ptr<Wave>> waves; ///< pooled by the scheduler
  unsigned wave_count = 0;
  std::byte* lds = nullptr;          ///< lds_bytes, 64-byte aligned, followed by 64 spare bytes
  std::uint32_t lds_bytes = 0;       ///< static + dynamic, rounded up to the 512-byte granule
  RangeCache ranges;                 ///< to be cleared when a workgroup starts
  bool concurrent = true;            ///< other threads run workgroups of the same dispatch
  bool throws_faults = false;        ///< a wild access is a MemoryFault instead of a stop
  std::unique_ptr<GroupLines> lines; ///< counting: made on first use, see Tally::end_group
};

} // namespace wavesim
