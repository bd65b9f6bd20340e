// Stops: wavesim never guesses. Whatever it cannot execute faithfully ends the process with what it
// was, where (kernel, workgroup, wave, instruction, source line when -g is there) and why.
#pragma once

#include "isa/op.hpp"

#include <cstdint>
#include <string>

namespace wavesim {

inline constexpr int stop_exit_code =
    70; ///< EX_SOFTWARE: wavesim itself, or the kernel, cannot go on

/// Prints "wavesim: stop: <why>" with the place and ends the process with stop_exit_code.
[[noreturn]] void stop(const Wave& wave, const Op& op, const std::string& why);

/// The same for code compiled for one SIMD level, which must not bring along its own copies of
/// std::string's functions. "{}" in `why` stands for the number.
[[noreturn]] void stop(const Wave& wave, const Op& op, const char* why);
[[noreturn]] void stop(const Wave& wave, const Op& op, const char* why, std::uint64_t number);

/// The same where no instruction is at hand: `pc` is where the wave stands.
[[noreturn]] void stop(const Wave& wave, std::uint64_t pc, const std::string& why);

/// The same without a wave (loading, launching).
[[noreturn]] void stop(const std::string& why);

/// Asked for the exit code before a stop ends the process, given the one it would have; may be
/// null.
extern int (*at_stop)(int code);

/// A lane's wild access, thrown where the workgroup asks for it (Workgroup::throws_faults).
struct MemoryFault {
  unsigned lane = 0;
  std::uint64_t address = 0;
  unsigned bytes = 0;
  const char* what = "";
  std::string where; ///< what lies near
};

/// A lane touched memory it may not: `what` is "read" or "write".
[[noreturn]] void memory_fault(const Wave& wave, const Op& op, unsigned lane, std::uint64_t address,
                               unsigned bytes, const char* what);

/// "kernel …, workgroup …, wave …, at … (instruction, source line)", as the stops print it; one
/// fact a line.
std::string describe(const Wave& wave, std::uint64_t pc);

/// A C++ name for people: `_Z3addPf` is "add(float*)"; anything else comes back as it is.
std::string demangled(const std::string& name);

} // namespace wavesim
