#include "checks/hazard_check.hpp"

#include "checks/findings.hpp"
#include "machine/wave.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

namespace wavesim {

namespace {

/// The longest of all: a 16-pass matrix instruction to a reader of its result.
constexpr std::uint64_t most_states = 19;

bool is_written(const Source& s, const VectorSet& written) {
  return (s.kind == Source::Kind::vgpr && written.has(s.reg)) ||
         (s.kind == Source::Kind::agpr && written.has(VectorSet::agpr0 + s.reg));
}

bool same(const VectorSet& a, const VectorSet& b) {
  return std::equal(std::begin(a.word), std::end(a.word), std::begin(b.word));
}

bool is_memory(const OpFacts& f) {
  const Format format = f.op->format;
  return format == Format::ds || format == Format::flat || format == Format::mubuf;
}

} // namespace

void HazardCheck::start() {
  *this = HazardCheck{};
}

/// A matrix instruction that depends on one before it.
HazardCheck::Need HazardCheck::by_matrix(const OpFacts& producer, const VectorSet& newer,
                                         const OpFacts& facts) const {
  const MfmaFact &p = *producer.mfma, &c = *facts.mfma;
  const VectorSet& written = producer.use.writes;
  const bool small_f64 = p.is_f64() && p.m == 4;
  Need need;
  const auto at_least = [&](unsigned states, const char* rule) {
    if (states > need.states)
      need = {states, rule};
  };
  const MatrixUse& operands = *facts.matrix;
  const auto waits = [&](const VectorSet& set) { return set.meets(written) && !set.meets(newer); };
  if (waits(operands.a) || waits(operands.b) || waits(operands.index)) {
    constexpr const char* rule = "a matrix result read as A or B";
    at_least(p.is_f64() ? (small_f64 ? 6u : 11u) : p.passes + (p.xdl() ? 3u : 2u), rule);
  }
  if (waits(operands.c)) {
    if (same(operands.c, written)) {
      constexpr const char* rule = "a matrix result accumulated on in place";
      if (small_f64 && c.is_f64() && c.m == 4)
        at_least(4, rule);
      else if (p.passes == 2)
        at_least(2, rule);
    } else {
      constexpr const char* rule = "a matrix result read in part as C";
      if (p.is_f64())
        at_least(c.xdl() ? 0u : small_f64 ? 4u : 9u, rule);
      else if (p.xdl())
        at_least(p.passes + 1u, rule);
      else if (!c.xdl())
        at_least(p.passes, rule);
    }
  }
  return need;
}

/// A vector or memory instruction that depends on a matrix instruction before it.
HazardCheck::Need HazardCheck::after_matrix(const OpFacts& producer, const VectorSet& newer,
                                            const OpFacts& facts) const {
  const MfmaFact& p = *producer.mfma;
  const bool small_f64 = p.is_f64() && p.m == 4;
  Need need;
  const auto at_least = [&](unsigned states, const char* rule) {
    if (states > need.states)
      need = {states, rule};
  };
  VectorSet read = facts.use.reads, written = facts.use.writes;
  read |= facts.use.kept;
  for (unsigned i = 0; i < 8; ++i) {
    read.word[i] &= ~newer.word[i];
    written.word[i] &= ~newer.word[i];
  }
  if (read.meets(producer.use.writes)) {
    if (!p.is_f64())
      at_least(p.passes + (p.xdl() ? 3u : 2u), "a matrix result read");
    else if (is_memory(facts))
      at_least(small_f64 ? 9 : 18, "a matrix result read by a memory instruction");
    else
      at_least(small_f64 ? 6 : 11, "a matrix result read");
  }
  if (written.meets(producer.use.writes))
    at_least(p.is_f64() ? (small_f64 ? 6u : 11u) : p.passes + (p.xdl() ? 3u : 2u),
             "a matrix result overwritten");
  if (p.xdl() && facts.use.writes.meets(producer.matrix->c))
    at_least(p.passes - 1u, "C of a running matrix instruction overwritten");
  if (p.is_f64() && facts.fma_f64)
    at_least(2, "v_fma_f64 behind a f64 matrix instruction");
  return need;
}

HazardCheck::Need HazardCheck::after_dot(const OpFacts& producer, const Op& op,
                                         const OpFacts& facts) const {
  const bool same_opcode = std::string_view(producer.op->info->mnemonic) == op.info->mnemonic;
  bool hit = false;
  if (!same_opcode)
    hit = facts.use.reads.meets(producer.use.writes) || facts.use.writes.meets(producer.use.writes);
  else
    for (unsigned i = 0; i < 2; ++i)
      hit |= is_written(op.src[i], producer.use.writes);
  return hit ? Need{3, "a dot product's result used by another operation"} : Need{};
}

void report_hazard(const Wave& wave, const Op& consumer, const OpFacts& producer,
                   std::uint64_t there, unsigned needed, const char* rule, bool jumped) {
  Sighting s;
  s.note = jumped;
  s.check = Check::hazard;
  s.what = rule;
  s.group = wave.group;
  s.here = {"consumer", consumer.pc, wave.index, wave.exec()};
  s.other = {"producer", producer.op->pc, wave.index, 0};
  s.detail = fmt::format("{} wait states between the two, {} are needed{}", there, needed,
                         jumped ? "; but a taken branch is among them" : "");
  Findings::instance().add(s);
}

void HazardCheck::report(const Wave& wave, const Op& op, const Past& past, const Need& need) {
  if (const std::uint64_t there = states_ - past.end; there < need.states)
    report_hazard(wave, op, *past.facts, there, need.states, need.rule, past.end <= jumped_);
}

/// Whether one of the recent matrix and dot instructions may be a producer for this one.
bool HazardCheck::may_follow_slow(const OpFacts& facts) const {
  if (facts.mfma || facts.fma_f64)
    return true;
  return (facts.valu || is_memory(facts)) &&
         (facts.use.reads.meets(recent_) || facts.use.writes.meets(recent_) ||
          facts.use.kept.meets(recent_));
}

/// A matrix or dot instruction, which ends with `states_`.
void HazardCheck::note_slow(const OpFacts& facts) {
  const auto add = [&](const OpFacts& f) {
    recent_ |= f.use.writes;
    if (f.matrix)
      recent_ |= f.matrix->c;
  };
  if (last_slow_ + most_states < states_)
    recent_ = {};
  // Now and then those that are long over are dropped.
  if (slow_next_ % (slow_entries / 2) == 0) {
    recent_ = {};
    for (const Past& past : slow_)
      if (past.facts && past.end + most_states >= states_)
        add(*past.facts);
  }
  add(facts);
  slow_[slow_next_++ % slow_entries] = {&facts, states_};
  last_slow_ = states_;
}

void HazardCheck::step(const Wave& wave, const Op& op, const OpFacts& facts) {
  if (op.pc != next_pc_)
    jumped_ = states_;
  next_pc_ = op.pc + op.size;
  const unsigned entries =
      last_slow_ + most_states >= states_ && may_follow_slow(facts) ? slow_entries : 0;
  // From the latest back: an operand waits for the last of several producers.
  VectorSet newer;
  for (unsigned back = 1; back <= entries; ++back) {
    const Past& past = slow_[(slow_next_ - back) % slow_entries];
    if (!past.facts || past.end + most_states < states_)
      break;
    const OpFacts& producer = *past.facts;
    if (producer.dot)
      report(wave, op, past, after_dot(producer, op, facts));
    else
      report(wave, op, past,
             facts.mfma ? by_matrix(producer, newer, facts) : after_matrix(producer, newer, facts));
    newer |= producer.use.writes;
  }
  if (facts.mfma)
    for (const Past& past : vector_) {
      if (!past.facts)
        continue;
      constexpr unsigned code_exec_high = code_exec + 1;
      VectorSet reads = facts.use.reads;
      reads |= facts.matrix->c;
      if (!past.facts->dot && reads.meets(past.facts->use.writes))
        report(wave, op, past, {2, "a vector result read by a matrix instruction"});
      if (past.facts->use.scalar_writes.has(code_exec) ||
          past.facts->use.scalar_writes.has(code_exec_high))
        report(wave, op, past, {4, "EXEC written by a vector instruction before a matrix one"});
    }
  others_.step(wave, op, facts, states_, jumped_);
  states_ += facts.wait_states;
  if (facts.mfma || facts.dot) {
    note_slow(facts);
  } else if (facts.valu) {
    vector_[vector_next_++ % vector_entries] = {&facts, states_};
  }
}

} // namespace wavesim
