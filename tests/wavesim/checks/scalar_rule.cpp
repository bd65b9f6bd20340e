#include "checks/scalar_rule.hpp"

#include "checks/op_facts.hpp"
#include "machine/wave.hpp"

#include <string_view>

namespace wavesim {

namespace {

using Kind = ScalarRule::Kind;

/// s_and_b32, s_andn2_b64, s_nor_b64, s_and_saveexec_b64, …: bit i of the result comes from bits i.
/// (Whether the result is inverted changes nothing here.)
Kind bitwise_kind(std::string_view name) {
  if (!name.starts_with("s_") || name.find("_b") == std::string_view::npos)
    return Kind::whole;
  name.remove_prefix(2);
  if (name.starts_with("and") || name.starts_with("nand"))
    return Kind::both;
  if (name.starts_with("xor") || name.starts_with("xnor"))
    return Kind::differ;
  if (name.starts_with("or") || name.starts_with("nor"))
    return Kind::either;
  return Kind::whole;
}

} // namespace

ScalarRule scalar_rule(const Op& op, const OpFacts& facts) {
  ScalarRule rule;
  const std::string_view name = op.info->mnemonic;
  if (op.format == Format::sopp) {
    rule.kind = name.starts_with("s_cbranch_scc")                       ? Kind::branch_scc
                : name == "s_cbranch_vccz" || name == "s_cbranch_vccnz" ? Kind::branch_vcc
                                                                        : Kind::nothing;
    return rule;
  }
  rule.to_exec =
      facts.use.scalar_writes.has(code_exec) || facts.use.scalar_writes.has(code_exec + 1);
  rule.saves_exec = name.find("saveexec") != std::string_view::npos ||
                    name.find("wrexec") != std::string_view::npos;
  rule.wide = name.ends_with("64");
  rule.invert_first = name.starts_with("s_andn1") || name.starts_with("s_orn1");
  rule.invert_second = name.starts_with("s_andn2") || name.starts_with("s_orn2");
  rule.kind = bitwise_kind(name);
  if (name == "s_setpc_b64" || name == "s_swappc_b64")
    rule.kind = Kind::jump;
  else if (name.starts_with("s_mov_b") || name.starts_with("s_not_b"))
    rule.kind = Kind::move;
  else if (name.starts_with("s_cselect"))
    rule.kind = Kind::choose;
  return rule;
}

} // namespace wavesim
