// Definedness through scalar instructions, branches and EXEC.
#include "checks/uninit_check.hpp"

namespace wavesim {

namespace {

struct Bits {
  std::uint64_t value = 0, defined = ~std::uint64_t{0};
};

Bits read_bits(const UninitState& s, const Wave& wave, const Source& source, bool wide) {
  Bits b;
  switch (source.kind) {
  case Source::Kind::sgpr:
    b.value = wide ? wave.s64(source.reg) : wave.s[source.reg];
    b.defined = wide ? s.pair(source.reg) : s.s(source.reg) | ~Bits{}.value << 32;
    break;
  case Source::Kind::scc:
    b.defined = s.scc ? ~std::uint64_t{0} : 0;
    break;
  default:
    b.value = source.value;
  }
  return b;
}

std::uint64_t combined(const ScalarRule& rule, Bits a, Bits b) {
  if (rule.invert_first)
    a.value = ~a.value;
  if (rule.invert_second)
    b.value = ~b.value;
  const std::uint64_t both = a.defined & b.defined;
  switch (rule.kind) {
  case ScalarRule::Kind::both: // a zero decides
    return both | (a.defined & ~a.value) | (b.defined & ~b.value);
  case ScalarRule::Kind::either: // a one decides
    return both | (a.defined & a.value) | (b.defined & b.value);
  default:
    return both;
  }
}

} // namespace

UninitCheck::Value UninitCheck::all_scalars(const State& s, const OpFacts& facts) const {
  Value v;
  facts.use.scalar_reads.for_each([&](unsigned r) {
    if (r < 128 && s.s(r) != ~0u) {
      v.lanes = 0;
      v.origin = s.s_origin[r];
    }
  });
  if (facts.use.reads_scc && !s.scc)
    v.lanes = 0;
  return v;
}

void UninitCheck::branch(State& s, const Wave& wave, const Op& op, const OpFacts& facts) {
  constexpr const char* what = "an undefined value decides a branch";
  if (facts.scalar.kind == ScalarRule::Kind::branch_scc) {
    if (!s.scc)
      decides(wave, op, what, 0, 0, "SCC");
    s.scc = true;
  } else if (facts.scalar.kind == ScalarRule::Kind::branch_vcc) {
    const Mask defined = s.pair(code_vcc);
    // One bit that is known to be set decides, whatever the others are.
    if (~defined && !(wave.vcc() & defined)) {
      decides(wave, op, what, 0, s.s_origin[code_vcc], "VCC");
      s.set_pair(code_vcc, ~Mask{0});
    }
  }
}

void UninitCheck::scalar(State& s, const Wave& wave, const Op& op, const OpFacts& facts) {
  using Kind = ScalarRule::Kind;
  const ScalarRule& rule = facts.scalar;
  if (op.format == Format::sopp) {
    if (rule.kind != Kind::nothing)
      branch(s, wave, op, facts);
    return;
  }
  // The usual case: nothing undefined goes in, so nothing undefined comes out.
  if (!facts.use.scalar_reads.meets(s.partial_scalars()) && (!facts.use.reads_scc || s.scc)) {
    if (facts.use.scalar_writes.meets(s.partial_scalars()))
      facts.use.scalar_writes.for_each([&](unsigned r) { s.set_s(r, ~0u); });
    s.scc |= facts.use.writes_scc;
    return;
  }
  const Value all = all_scalars(s, facts);
  if (rule.kind == Kind::jump && !all.lanes)
    decides(wave, op, "an undefined value decides a branch", 0, all.origin, "the target");
  Mask defined = all.lanes;
  std::uint64_t origin = all.origin;
  if (rule.bitwise()) {
    const Bits a = read_bits(s, wave, op.src[0], rule.wide);
    const Bits b =
        rule.saves_exec ? Bits{wave.exec(), ~Mask{0}} : read_bits(s, wave, op.src[1], rule.wide);
    defined = combined(rule, a, b);
    if (!rule.wide)
      defined |= ~Mask{0} << 32;
  } else if (rule.kind == Kind::move) {
    defined = read_bits(s, wave, op.src[0], rule.wide).defined;
  } else if (rule.kind == Kind::choose) {
    defined = s.scc ? read_bits(s, wave, op.src[wave.scc ? 0 : 1], rule.wide).defined : 0;
  }
  if (rule.to_exec && (~defined & wave.live)) {
    decides(wave, op, "an undefined value decides EXEC", ~defined & wave.live, origin,
            "the new mask");
    defined = ~Mask{0};
  }
  facts.use.scalar_writes.for_each([&](unsigned r) {
    if (r == code_exec || r == code_exec + 1u)
      return;
    // Instructions that save EXEC leave it in their destination: always defined.
    const Mask bits = rule.saves_exec ? ~Mask{0} : defined;
    const bool high = rule.wide && op.dst + 1u == r;
    s.set_s(r, static_cast<std::uint32_t>(high ? bits >> 32 : bits));
    if (s.s(r) != ~0u)
      s.s_origin[r] = origin ? origin : op.pc;
  });
  if (facts.use.writes_scc)
    s.scc = defined == ~Mask{0} || rule.bitwise() ? defined == ~Mask{0} : all.lanes != 0;
}

} // namespace wavesim
