// Definedness through scalar instructions, branches and EXEC.
#include "checks/uninit_check.hpp"

#include <bit>
#include <fmt/format.h>
#include <string_view>

namespace wavesim {

namespace {

enum class Bitwise { none, both, either, differ };

struct BitRule {
  Bitwise kind = Bitwise::none;
  bool invert_first = false, invert_second = false;
};

/// s_and_b32, s_andn2_b64, s_nor_b64, s_and_saveexec_b64, …: bit i of the result comes from bits i.
/// (Whether the result is inverted changes nothing here.)
BitRule bit_rule(std::string_view name) {
  if (!name.starts_with("s_") || name.find("_b") == std::string_view::npos)
    return {};
  name.remove_prefix(2);
  const bool first = name.starts_with("andn1") || name.starts_with("orn1");
  const bool second = name.starts_with("andn2") || name.starts_with("orn2");
  if (name.starts_with("and") || name.starts_with("nand"))
    return {Bitwise::both, first, second};
  if (name.starts_with("xor") || name.starts_with("xnor"))
    return {Bitwise::differ};
  if (name.starts_with("or") || name.starts_with("nor"))
    return {Bitwise::either, first, second};
  return {};
}

struct Bits {
  std::uint64_t value = 0, defined = ~std::uint64_t{0};
};

Bits read_bits(const UninitState& s, const Wave& wave, const Source& source, bool wide) {
  Bits b;
  switch (source.kind) {
  case Source::Kind::sgpr:
    b.value = wide ? wave.s64(source.reg) : wave.s[source.reg];
    b.defined = wide ? s.pair(source.reg) : s.s[source.reg] | ~Bits{}.value << 32;
    break;
  case Source::Kind::scc:
    b.defined = s.scc ? ~std::uint64_t{0} : 0;
    break;
  default:
    b.value = source.value;
  }
  return b;
}

std::uint64_t combined(const BitRule& rule, Bits a, Bits b) {
  if (rule.invert_first)
    a.value = ~a.value;
  if (rule.invert_second)
    b.value = ~b.value;
  const std::uint64_t both = a.defined & b.defined;
  switch (rule.kind) {
  case Bitwise::both: // a zero decides
    return both | (a.defined & ~a.value) | (b.defined & ~b.value);
  case Bitwise::either: // a one decides
    return both | (a.defined & a.value) | (b.defined & b.value);
  default:
    return both;
  }
}

} // namespace

UninitCheck::Value UninitCheck::all_scalars(const State& s, const OpFacts& facts) const {
  Value v;
  facts.use.scalar_reads.for_each([&](unsigned r) {
    if (r < 128 && s.s[r] != ~0u) {
      v.lanes = 0;
      v.origin = s.s_origin[r];
    }
  });
  if (facts.use.reads_scc && !s.scc)
    v.lanes = 0;
  return v;
}

void UninitCheck::scalar(State& s, const Wave& wave, const Op& op, const OpFacts& facts) {
  const std::string_view name = op.info->mnemonic;
  const auto branch = [&](std::uint64_t origin, const char* what) {
    decides(wave, op, "an undefined value decides a branch", 0, origin, what);
  };
  if (op.format == Format::sopp) {
    if (name.starts_with("s_cbranch_scc")) {
      if (!s.scc)
        branch(0, "SCC");
      s.scc = true;
    } else if (name == "s_cbranch_vccz" || name == "s_cbranch_vccnz") {
      const Mask defined = s.pair(code_vcc);
      // One bit that is known to be set decides, whatever the others are.
      if (~defined && !(wave.vcc() & defined)) {
        branch(s.s_origin[code_vcc], "VCC");
        s.set_pair(code_vcc, ~Mask{0});
      }
    }
    return;
  }
  const Value all = all_scalars(s, facts);
  if ((name == "s_setpc_b64" || name == "s_swappc_b64") && !all.lanes)
    branch(all.origin, "the target");
  const bool to_exec =
      facts.use.scalar_writes.has(code_exec) || facts.use.scalar_writes.has(code_exec + 1);
  const BitRule rule = bit_rule(name);
  const bool saves = name.find("saveexec") != std::string_view::npos ||
                     name.find("wrexec") != std::string_view::npos;
  const bool wide = name.ends_with("64");
  Mask defined = all.lanes;
  std::uint64_t origin = all.origin;
  if (rule.kind != Bitwise::none) {
    const Bits a = read_bits(s, wave, op.src[0], wide);
    const Bits b = saves ? Bits{wave.exec(), ~Mask{0}} : read_bits(s, wave, op.src[1], wide);
    defined = combined(rule, a, b);
    if (!wide)
      defined |= ~Mask{0} << 32;
  } else if (name.starts_with("s_mov_b") || name.starts_with("s_not_b")) {
    defined = read_bits(s, wave, op.src[0], wide).defined;
  } else if (name.starts_with("s_cselect")) {
    defined = s.scc ? read_bits(s, wave, op.src[wave.scc ? 0 : 1], wide).defined : 0;
  }
  if (to_exec && (~defined & wave.live)) {
    decides(wave, op, "an undefined value decides EXEC", ~defined & wave.live, origin,
            "the new mask");
    defined = ~Mask{0};
  }
  facts.use.scalar_writes.for_each([&](unsigned r) {
    if (r == code_exec || r == code_exec + 1u)
      return;
    // Instructions that save EXEC leave it in their destination: always defined.
    const Mask bits = saves ? ~Mask{0} : defined;
    const bool high = wide && op.dst + 1u == r;
    s.s[r] = static_cast<std::uint32_t>(high ? bits >> 32 : bits);
    if (s.s[r] != ~0u)
      s.s_origin[r] = origin ? origin : op.pc;
  });
  if (facts.use.writes_scc)
    s.scc =
        defined == ~Mask{0} || rule.kind != Bitwise::none ? defined == ~Mask{0} : all.lanes != 0;
}

} // namespace wavesim
