// Memory operations a wave has issued and not yet waited for, as vmcnt and lgkmcnt count them.
//
// Operations of one counter finish in order, so a wait for n leaves the n youngest; but while
// scalar loads, FLAT instructions or messages are among them, only a wait for 0 says anything.
// Registers and memory have their results at once (the executor runs an operation when it is
// issued); what is kept here is who may not look yet.
#pragma once

#include "checks/op_facts.hpp"

#include <cstdint>
#include <vector>

namespace wavesim {

struct OutstandingOp {
  const OpFacts* facts = nullptr;
  std::uint64_t lanes = 0; ///< EXEC when it was issued
  VectorSet registers;     ///< that it will write
  ScalarSet scalars;
  std::uint32_t ticket = 0;                 ///< of the wave, ascending
  std::uint32_t lds_begin = 0, lds_end = 0; ///< LDS bytes that a load straight into LDS writes
};

/// One counter's operations, oldest first.
class Counter {
public:
  void clear() { ops_.clear(), out_of_order_ = 0; }
  bool empty() const { return ops_.empty(); }
  /// A new one, to be filled in.
  OutstandingOp& add(bool out_of_order) {
    out_of_order_ += out_of_order;
    return ops_.emplace_back();
  }
  /// What a wait for `left` leaves; `most` is the counter's largest value, which waits for nothing.
  /// Whether anything finished.
  bool wait(unsigned left, unsigned most);
  const std::vector<OutstandingOp>& ops() const { return ops_; }
  std::vector<OutstandingOp>& ops() { return ops_; }
  bool in_order() const { return out_of_order_ == 0; }

private:
  std::vector<OutstandingOp> ops_;
  unsigned out_of_order_ = 0;
};

/// Where FLAT lanes go: LDS answers lgkmcnt, the rest vmcnt.
struct FlatTargets {
  std::uint64_t lds = 0, memory = 0;
};
FlatTargets flat_targets(const Wave& wave, const Op& op);

class Outstanding {
public:
  static constexpr unsigned most_vector = 63, most_lgkm = 15;

  void clear();
  /// After `op` ran, with the EXEC it ran under. Returns the ticket, 0 when it is not counted.
  std::uint32_t issue(const Wave& wave, const Op& op, const OpFacts& facts, std::uint64_t exec);
  /// s_waitcnt.
  void wait(std::uint32_t simm16);
  /// Whether the operation of that ticket may still be on its way.
  bool has(std::uint32_t ticket) const;

  bool nothing_pending() const { return !pending_; }
  const VectorSet& registers() const { return registers_; }
  const ScalarSet& scalars() const { return scalars_; }
  /// The oldest operation that will write the register; null if none.
  const OutstandingOp* writer_of_vector(unsigned r) const;
  const OutstandingOp* writer_of_scalar(unsigned r) const;
  /// Reported: not to be reported again by everything that follows.
  void forget_vector(unsigned r);
  void forget_scalar(unsigned r);
  const Counter& vector() const { return vector_; }
  const Counter& lgkm() const { return lgkm_; }

private:
  void recount();
  Counter vector_, lgkm_;
  VectorSet registers_;
  ScalarSet scalars_;
  bool pending_ = false; ///< any register at all
  std::uint32_t next_ticket_ = 1;
};

} // namespace wavesim
