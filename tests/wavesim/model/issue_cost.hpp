// What issuing one instruction costs its wave, and what it does to the wave's counters of
// outstanding memory operations (vmcnt, lgkmcnt).
#pragma once

#include <cstdint>

namespace wavesim {

struct Op;

/// The part of a compute unit that the clocks of an instruction occupy.
enum class Pipe : std::uint8_t {
  unknown,         ///< not looked at yet
  front_end,       ///< s_waitcnt, s_barrier: none
  slot,            ///< one issue slot of the wave; the unit behind works on its own
  vector,          ///< vector ALU
  matrix,          ///< matrix unit; the vector ALU is free after the issue slot
  matrix_blocking, ///< fp32 and fp64 inputs: the vector ALU is busy all the time
};

/// Loads whose distance to the wait is watched.
enum class LoadKind : std::uint8_t { none, global, lds, scalar, scratch };
inline constexpr unsigned load_kinds = 5;
const char* load_kind_name(LoadKind kind);

struct IssueCost {
  Pipe pipe = Pipe::unknown;
  LoadKind load = LoadKind::none;
  bool vm = false, lgkm = false; ///< counted by vmcnt, lgkmcnt
  bool unordered = false;        ///< of lgkmcnt only 0 says anything while it is outstanding
  bool wait = false;             ///< s_waitcnt: the next two hold
  std::uint8_t vm_left = 63, lgkm_left = 15;
  std::uint16_t clocks = 0;
};

IssueCost issue_cost(const Op& op);

} // namespace wavesim
