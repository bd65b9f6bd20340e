#include "checks/issue_hazards.hpp"

#include "checks/hazard_check.hpp"
#include "machine/wave.hpp"

namespace wavesim {

namespace {

using Role = IssueRole;

constexpr unsigned most_states = 5;

struct Need {
  unsigned states = 0;
  const char* rule = "";
};

ScalarSet without_exec(ScalarSet set) {
  set.remove(code_exec);
  set.remove(code_exec + 1);
  return set;
}

bool has_pair(const ScalarSet& set, unsigned code) {
  return set.has(code) || set.has(code + 1);
}

unsigned hardware_register(const Op& op) {
  return static_cast<unsigned>(op.imm) & 0x3f;
}

VectorSet data_of(const OpFacts& store) {
  VectorSet set;
  const Op& op = *store.op;
  const unsigned first = op.data_agpr ? VectorSet::agpr0 + op.vdata : op.vdata;
  for (unsigned i = 0; i < store.issue.data_dwords && first + i < 2 * VectorSet::agpr0; ++i)
    set.add(first + i);
  return set;
}

/// The strictest rule between the two.
Need between(const OpFacts& producer, const Op& op, const OpFacts& facts) {
  Need need;
  const auto at_least = [&](unsigned states, const char* rule) {
    if (states > need.states)
      need = {states, rule};
  };
  const Role &p = producer.issue, &c = facts.issue;
  if (p.is(Role::vector_scalar)) {
    const ScalarSet written = without_exec(producer.use.scalar_writes);
    const bool read = written.meets(without_exec(facts.use.scalar_reads));
    if (c.vmem && read)
      at_least(5, "a scalar register that a vector instruction wrote read by a memory instruction");
    if (facts.valu && read)
      at_least(2, "a scalar register that a vector instruction wrote read by another");
    if (c.lane_access && op.src[1].kind == Source::Kind::sgpr && written.has(op.src[1].reg))
      at_least(4, "a scalar register that a vector instruction wrote selects a lane");
    if (c.div_fmas && has_pair(written, code_vcc))
      at_least(4, "VCC written by a vector instruction before v_div_fmas");
    if (c.uses_vccz && has_pair(written, code_vcc))
      at_least(5, "VCC written by a vector instruction before a use of VCCZ as a source");
  }
  if (p.is(Role::vector_exec)) {
    if (op.dpp && facts.valu)
      at_least(5, "EXEC written by a vector instruction before a DPP one");
    if (c.lane_access)
      at_least(4, "EXEC written by a vector instruction before v_readlane or v_writelane");
    if (c.uses_execz)
      at_least(5, "EXEC written by a vector instruction before a use of EXECZ as a source");
  }
  if (facts.valu && facts.use.reads.meets(producer.use.writes)) {
    if (op.dpp)
      at_least(2, "a vector register read by DPP right after it was written");
    if (c.reads_lane && producer.valu)
      at_least(1, "a vector result read by v_readlane");
    if (p.is(Role::transcendental) && !c.is(Role::transcendental))
      at_least(1, "a transcendental result read by another vector instruction");
    if (p.is(Role::part_of_dword))
      at_least(1, "a result placed in a part of a register read");
  }
  if (p.is(Role::wide_store) && facts.valu && facts.use.writes.meets(data_of(producer)))
    at_least(2, "data of a store of more than 8 bytes overwritten");
  if (p.is(Role::set_register) && c.minds >> Role::set_register & 1 &&
      hardware_register(*producer.op) == hardware_register(op))
    at_least(2, "a hardware register accessed right after s_setreg");
  if (p.is(Role::scalar_m0) && c.minds >> Role::scalar_m0 & 1)
    at_least(1, "M0 written by a scalar instruction before one that takes it as it is");
  return need;
}

} // namespace

void IssueHazards::step(const Wave& wave, const Op& op, const OpFacts& facts, std::uint64_t states,
                        std::uint64_t jumped) {
  // A store that has been waited for has read its data.
  if (facts.waitcnt && (static_cast<std::uint32_t>(op.imm) & 0xc00f) == 0)
    for (Past& past : past_)
      if (past.facts && past.facts->issue.is(Role::wide_store))
        past.facts = nullptr;
  bool near = false;
  for (unsigned left = facts.issue.minds; left; left &= left - 1) {
    const std::uint64_t last = last_[__builtin_ctz(left)];
    near |= last != 0 && states - last < most_states;
  }
  if (near) [[unlikely]]
    for (const Past& past : past_) {
      if (!past.facts || states - past.end >= most_states ||
          !(past.facts->issue.makes & facts.issue.minds))
        continue;
      const Need need = between(*past.facts, op, facts);
      if (const std::uint64_t there = states - past.end; there < need.states)
        report_hazard(wave, op, *past.facts, there, need.states, need.rule, past.end <= jumped);
    }
  if (facts.issue.makes == 0)
    return;
  const std::uint64_t end = states + facts.wait_states;
  past_[next_++ % entries] = {&facts, end};
  for (unsigned left = facts.issue.makes; left; left &= left - 1)
    last_[__builtin_ctz(left)] = end;
}

} // namespace wavesim
