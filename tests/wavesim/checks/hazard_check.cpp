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

VectorSet registers(const Source& s, unsigned count) {
  VectorSet set;
  const bool vector = s.kind == Source::Kind::vgpr || s.kind == Source::Kind::agpr;
  const unsigned first = s.kind == Source::Kind::agpr ? VectorSet::agpr0 + s.reg : s.reg;
  for (unsigned i = 0; vector && i < count && first + i < 2 * VectorSet::agpr0; ++i)
    set.add(first + i);
  return set;
}

VectorSet accumulator(const OpFacts& f) {
  return f.mfma->sparse ? f.use.writes : registers(f.op->src[2], f.mfma->d_registers());
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
  const VectorSet operands[2] = {registers(facts.op->src[0], c.a_registers()),
                                 registers(facts.op->src[1], c.b_registers())};
  const VectorSet index = c.sparse ? registers(facts.op->src[2], 1) : VectorSet{};
  const auto waits = [&](const VectorSet& set) { return set.meets(written) && !set.meets(newer); };
  if (waits(operands[0]) || waits(operands[1]) || waits(index)) {
    constexpr const char* rule = "a matrix result read as A or B";
    at_least(p.is_f64() ? (small_f64 ? 6u : 11u) : p.passes + (p.xdl() ? 3u : 2u), rule);
  }
  if (const VectorSet c_registers = accumulator(facts); waits(c_registers)) {
    if (same(c_registers, written)) {
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
  if (p.xdl() && facts.use.writes.meets(accumulator(producer)))
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
      hit |= registers(op.src[i], 1).meets(producer.use.writes);
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

void HazardCheck::step(const Wave& wave, const Op& op, const OpFacts& facts) {
  if (op.pc != next_pc_)
    jumped_ = states_;
  next_pc_ = op.pc + op.size;
  const bool matters = facts.valu || is_memory(facts);
  const unsigned entries = matters && last_slow_ + most_states >= states_ ? slow_entries : 0;
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
      reads |= accumulator(facts);
      if (!past.facts->dot && reads.meets(past.facts->use.writes))
        report(wave, op, past, {2, "a vector result read by a matrix instruction"});
      if (past.facts->use.scalar_writes.has(code_exec) ||
          past.facts->use.scalar_writes.has(code_exec_high))
        report(wave, op, past, {4, "EXEC written by a vector instruction before a matrix one"});
    }
  others_.step(wave, op, facts, states_, jumped_);
  states_ += facts.wait_states;
  if (facts.mfma || facts.dot) {
    slow_[slow_next_++ % slow_entries] = {&facts, states_};
    last_slow_ = states_;
  } else if (facts.valu) {
    vector_[vector_next_++ % vector_entries] = {&facts, states_};
  }
}

} // namespace wavesim
