#include "model/issue_cost.hpp"

#include "isa/mfma_facts.hpp"
#include "isa/op.hpp"
#include "model/parameters.hpp"

#include <string_view>

namespace wavesim {

namespace {

bool slow_multiply(std::string_view name) {
  return name.starts_with("v_mul_lo_u32") || name.starts_with("v_mul_hi_") ||
         name.starts_with("v_mad_u64") || name.starts_with("v_mad_i64") ||
         name == "v_lshlrev_b64" || name == "v_lshrrev_b64" || name == "v_ashrrev_i64";
}

void read_wait(IssueCost& cost, const Op& op) {
  const auto bits = static_cast<std::uint32_t>(op.imm);
  cost.wait = true;
  cost.vm_left = static_cast<std::uint8_t>((bits >> 14 & 3) << 4 | (bits & 15));
  cost.lgkm_left = static_cast<std::uint8_t>(bits >> 8 & 15);
}

void memory_cost(IssueCost& cost, const Op& op) {
  const bool loads = (op.info->flags & op_load) != 0;
  switch (op.info->unit) {
  case Unit::lds:
    cost.lgkm = true;
    cost.load = loads ? LoadKind::lds : LoadKind::none;
    break;
  case Unit::smem:
    cost.lgkm = cost.unordered = true;
    cost.load = loads ? LoadKind::scalar : LoadKind::none;
    break;
  case Unit::flat:
    // Served by LDS or by memory, so counted by both.
    cost.lgkm = cost.unordered = true;
    [[fallthrough]];
  default:
    cost.vm = std::string_view(op.info->mnemonic) != "buffer_inv";
    if (loads)
      cost.load = op.segment == Segment::scratch ? LoadKind::scratch : LoadKind::global;
  }
}

} // namespace

const char* load_kind_name(LoadKind kind) {
  switch (kind) {
  case LoadKind::global:
    return "global";
  case LoadKind::lds:
    return "lds";
  case LoadKind::scalar:
    return "scalar";
  case LoadKind::scratch:
    return "scratch";
  case LoadKind::none:
    break;
  }
  return "";
}

IssueCost issue_cost(const Op& op) {
  IssueCost cost;
  cost.pipe = Pipe::slot;
  cost.clocks = parameters::slot;
  if (!op.info)
    return cost;
  const std::string_view name = op.info->mnemonic;
  switch (op.info->unit) {
  case Unit::valu:
    cost.pipe = Pipe::vector;
    cost.clocks = slow_multiply(name) ? parameters::slow_multiply : parameters::vector;
    break;
  case Unit::trans:
    cost.pipe = Pipe::vector;
    cost.clocks = parameters::transcendental;
    break;
  case Unit::mfma:
    if (const MfmaFact* fact = find_mfma(name)) {
      cost.pipe = fact->xdl() ? Pipe::matrix : Pipe::matrix_blocking;
      cost.clocks = static_cast<std::uint16_t>(fact->clocks());
    }
    break;
  case Unit::branch:
    cost.clocks = parameters::branch;
    break;
  case Unit::wait:
    cost.pipe = Pipe::front_end;
    cost.clocks = 0;
    if (name == "s_waitcnt")
      read_wait(cost, op);
    if (name == "s_nop") {
      cost.pipe = Pipe::slot;
      cost.clocks =
          static_cast<std::uint16_t>(parameters::nop * (static_cast<unsigned>(op.imm & 15) + 1));
    }
    break;
  case Unit::barrier:
    cost.pipe = Pipe::front_end;
    cost.clocks = 0;
    break;
  case Unit::message:
    cost.lgkm = cost.unordered = true;
    break;
  case Unit::lds:
  case Unit::smem:
  case Unit::vmem:
  case Unit::flat:
    memory_cost(cost, op);
    break;
  case Unit::other: // s_setprio, s_endpgm
    cost.pipe = Pipe::front_end;
    cost.clocks = 0;
    break;
  case Unit::salu:
  case Unit::count:
    break;
  }
  return cost;
}

} // namespace wavesim
