#include "checks/issue_role.hpp"

#include "checks/op_facts.hpp"
#include "machine/wave.hpp"

#include <string_view>

namespace wavesim {

namespace {

bool writes_scalar_pair(const ScalarSet& set, unsigned code) {
  return set.has(code) || set.has(code + 1);
}

bool reads_m0_late(const OpFacts& facts, const Op& op, std::string_view name) {
  return name.starts_with("s_movrel") || name.starts_with("s_sendmsg") ||
         name.starts_with("ds_gws_") || facts.addtid || facts.lds_direct || op.gds;
}

} // namespace

IssueRole issue_role(const Op& op, const OpFacts& facts) {
  IssueRole r;
  if (!op.info)
    return r;
  const std::string_view name = op.info->mnemonic;
  const auto makes = [&](IssueRole::Producer p) {
    r.makes = static_cast<std::uint16_t>(r.makes | 1u << p);
  };
  const auto minds = [&](IssueRole::Producer p) {
    r.minds = static_cast<std::uint16_t>(r.minds | 1u << p);
  };
  const bool scalar = op.format <= Format::sopp;
  r.vmem = op.format == Format::flat || op.format == Format::mubuf;

  if (facts.valu) {
    ScalarSet written = facts.use.scalar_writes;
    if (writes_scalar_pair(written, code_exec))
      makes(IssueRole::vector_exec);
    written.remove(code_exec);
    written.remove(code_exec + 1);
    if (!written.empty())
      makes(IssueRole::vector_scalar);
    if (op.info->unit == Unit::trans)
      makes(IssueRole::transcendental);
    // op_sel of VOP3P chooses among sources only.
    if (op.sdwa ? op.dst_sel != 6 : op.format == Format::vop3 && op.op_sel & 8)
      makes(IssueRole::part_of_dword);
  }
  if (!facts.use.writes.empty())
    makes(facts.valu ? IssueRole::vector_result : IssueRole::other_result);
  if (r.vmem && (facts.store || facts.atomic)) {
    const unsigned dwords = name.find("cmpswap_x2") != std::string_view::npos ? 4u
                            : facts.store                                     ? facts.bytes / 4u
                                                                              : 2u;
    // Buffers with soffset in a register take longer to issue and are safe.
    if (dwords > 2 && (op.format != Format::mubuf || op.soffset.kind != Source::Kind::sgpr)) {
      makes(IssueRole::wide_store);
      r.data_dwords = static_cast<std::uint8_t>(dwords);
    }
  }
  if (name.starts_with("s_setreg"))
    makes(IssueRole::set_register);
  if (scalar && facts.use.scalar_writes.has(code_m0))
    makes(IssueRole::scalar_m0);

  ScalarSet read = facts.use.scalar_reads;
  read.remove(code_exec);
  read.remove(code_exec + 1);
  if ((facts.valu || r.vmem) && !read.empty())
    minds(IssueRole::vector_scalar);
  if (facts.valu) {
    r.reads_lane = name == "v_readlane_b32" || name == "v_readfirstlane_b32";
    r.lane_access = r.reads_lane || name == "v_writelane_b32";
    r.div_fmas = name.starts_with("v_div_fmas");
    for (const Source& s : op.src) {
      r.uses_vccz |= s.kind == Source::Kind::vccz;
      r.uses_execz |= s.kind == Source::Kind::execz;
    }
    if (r.uses_vccz)
      minds(IssueRole::vector_scalar);
    if (op.dpp || r.lane_access || r.uses_execz)
      minds(IssueRole::vector_exec);
    if (op.dpp || r.reads_lane)
      minds(IssueRole::vector_result);
    if (op.dpp)
      minds(IssueRole::other_result);
    if (!r.is(IssueRole::transcendental))
      minds(IssueRole::transcendental);
    minds(IssueRole::part_of_dword);
    minds(IssueRole::wide_store);
  }
  if (name.starts_with("s_setreg") || name == "s_getreg_b32")
    minds(IssueRole::set_register);
  if (reads_m0_late(facts, op, name))
    minds(IssueRole::scalar_m0);
  return r;
}

} // namespace wavesim
