// `hazard`: too few wait states between two instructions where the hardware does not interlock,
// counted as LLVM's hazard recogniser counts them: every instruction in between is one, s_nop n is
// n + 1. Matrix and dot instructions are here, all others in issue_hazards.hpp.
#pragma once

#include "checks/issue_hazards.hpp"
#include "checks/op_facts.hpp"

#include <cstdint>

namespace wavesim {

struct Wave;

/// The recent instructions of one wave that others may depend on.
class HazardCheck {
public:
  void start();
  /// Before `op` runs.
  void step(const Wave& wave, const Op& op, const OpFacts& facts);

private:
  struct Past {
    const OpFacts* facts = nullptr;
    std::uint64_t end = 0; ///< wait states issued up to and with it
  };
  struct Need {
    unsigned states = 0;
    const char* rule = "";
  };
  Need by_matrix(const OpFacts& producer, const VectorSet& newer, const OpFacts& facts) const;
  /// `newer`: what matrix instructions behind the producer have written.
  Need after_matrix(const OpFacts& producer, const VectorSet& newer, const OpFacts& facts) const;
  Need after_dot(const OpFacts& producer, const Op& op, const OpFacts& facts) const;
  bool may_follow_slow(const OpFacts& facts) const;
  void note_slow(const OpFacts& facts);
  void report(const Wave& wave, const Op& op, const Past& past, const Need& need);

  static constexpr unsigned slow_entries = 32, vector_entries = 4;
  Past slow_[slow_entries];     ///< matrix and dot instructions
  Past vector_[vector_entries]; ///< other vector instructions
  VectorSet recent_;            ///< registers that the recent ones of slow_ write or accumulate on
  unsigned slow_next_ = 0, vector_next_ = 0;
  std::uint64_t states_ = 0, last_slow_ = 0;
  std::uint64_t next_pc_ = 0, jumped_ = 0; ///< states issued when a branch was last taken
  IssueHazards others_;
};

/// `there` wait states lie between the two, `needed` should. `jumped`: and a branch that was taken:
/// it costs more than the one state it counts for, so this is a note.
void report_hazard(const Wave& wave, const Op& consumer, const OpFacts& producer,
                   std::uint64_t there, unsigned needed, const char* rule, bool jumped);

} // namespace wavesim
