// The hazards of gfx942 that are not about matrix instructions: pairs of scalar, vector and memory
// instructions that need wait states in between, as LLVM's hazard recogniser counts them and AMD's
// ISA documents list them ("manually inserted wait states").
#pragma once

#include "checks/op_facts.hpp"

#include <cstdint>

namespace wavesim {

struct Wave;

/// The recent instructions of one wave that such a hazard may begin with.
class IssueHazards {
public:
  /// Before `op` runs; `states`: wait states issued before it, `jumped`: before the last branch
  /// ended.
  void step(const Wave& wave, const Op& op, const OpFacts& facts, std::uint64_t states,
            std::uint64_t jumped);

private:
  struct Past {
    const OpFacts* facts = nullptr;
    std::uint64_t end = 0; ///< wait states issued up to and with it
  };
  static constexpr unsigned entries = 8; ///< more than the longest distance
  Past past_[entries];
  unsigned next_ = 0;
  std::uint64_t last_[IssueRole::producers] = {}; ///< by kind of producer: the last one's end, or 0
};

} // namespace wavesim
