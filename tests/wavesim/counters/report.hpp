// Counts of finished dispatches, summed by kernel and written as text or JSON.
#pragma once

#include "counters/api.h"
#include "counters/tally.hpp"
#include "isa/op.hpp"
#include "model/bound.hpp"
#include "model/distances.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wavesim {

struct Dispatch;

/// Version of the JSON document; raised when a field changes its meaning or goes away.
inline constexpr int report_version = 1;

/// What a report keeps beside the sums by kernel.
struct ReportOptions {
  bool dispatches = false; ///< every dispatch
  bool model = false;      ///< bound and distances
  bool lines = false;      ///< source lines of instructions
};

struct Counts {
  wavesim_counts total{};             ///< size is not used
  std::map<std::string, OpTally> lds; ///< LDS instructions by mnemonic

  Counts& operator+=(const Counts& other);
};

struct InstructionCounts {
  std::string mnemonic;
  Unit unit = Unit::other;
  OpTally tally;
  IssueCost cost;
  std::string line; ///< "file:line" when lines are kept and the code has them
};

struct KernelCounts {
  std::string mangled, name;
  Counts counts;
  std::map<std::uint64_t, InstructionCounts> code; ///< by offset in the code object's text
  Bound bound;
  LoopNest loops;
  WaitsOfLoads waits; ///< instructions by LoopNest::Instruction::number()

  /// The steady loop by what was executed.
  SteadyLoop steady() const;
};

struct DispatchCounts {
  std::uint64_t serial = 0;
  std::string mangled;
  std::uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  Counts counts;
};

class Report {
public:
  void add(const Dispatch& dispatch, const Tally& tally, const ReportOptions& options);
  void clear();

  Counts total() const;
  const std::map<std::string, KernelCounts>& kernels() const {
    return kernels_;
  } ///< by mangled name
  const std::vector<DispatchCounts>& dispatches() const { return dispatches_; }

private:
  std::map<std::string, KernelCounts> kernels_;
  std::vector<DispatchCounts> dispatches_;
};

/// A table for people.
std::string to_text(const Report& report);

/// The source lines that cost a kernel most; "" when none is known.
std::string lines_text(const KernelCounts& kernel);

/// The document described in counters/README.md, "JSON".
std::string to_json(const Report& report);

/// Name of a unit as the reports print it.
const char* unit_name(Unit unit);

} // namespace wavesim
