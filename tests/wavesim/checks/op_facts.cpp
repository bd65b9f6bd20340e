#include "checks/op_facts.hpp"

#include <cstring>
#include <string_view>

namespace wavesim {

namespace {

RegisterUse registers_of(const Op& op) {
  static std::mutex mutex;
  static auto* reader = new RegisterReader;
  const std::lock_guard lock(mutex);
  return reader->read(std::as_bytes(std::span(op.words)).first(op.size), op.pc);
}

void describe_lds(OpFacts& f, const Op& op, std::string_view name) {
  f.lds_memory = (f.load || f.store || f.atomic) && !op.gds;
  f.addtid = name.find("addtid") != std::string_view::npos;
  f.counts_lanes = name == "ds_append" || name == "ds_consume";
  const bool pair = name.starts_with("ds_read2") || name.starts_with("ds_write2") ||
                    name.starts_with("ds_wrxchg2");
  if (!pair) {
    f.piece_offset[0] = static_cast<std::uint32_t>(op.offset);
    return;
  }
  const std::uint32_t unit = f.bytes * (name.find("st64") != std::string_view::npos ? 64u : 1u);
  f.piece_offset[0] = op.offset0 * unit;
  f.piece_offset[1] = op.offset1 * unit;
  f.pieces = op.offset0 == op.offset1 ? 1 : 2;
}

void describe_matrix(OpFacts& f, std::string_view name) {
  f.mfma = find_mfma(name);
  f.dot = name.starts_with("v_dot");
  f.fma_f64 = name == "v_fma_f64" || name == "v_fmac_f64";
}

Counted counted_as(const Op& op, std::string_view name) {
  switch (op.format) {
  case Format::ds:
    return Counted::lds;
  case Format::smem: // cache control and the like return nothing
    return op.info->dst == Type::none || (op.info->flags & op_store) ? Counted::none
                                                                     : Counted::scalar;
  case Format::flat:
    return op.segment == Segment::flat ? Counted::flat : Counted::vector;
  case Format::mubuf: // LLVM does not count invalidations
    return name == "buffer_inv" ? Counted::none : Counted::vector;
  default:
    return op.info->unit == Unit::message ? Counted::message : Counted::none;
  }
}

} // namespace

const OpFacts& FactTable::make(const Op& op) {
  if (op.id >= facts_.size())
    facts_.resize(op.id + 64);
  auto made = std::make_unique<OpFacts>();
  OpFacts& f = *made;
  f.op = &op;
  std::memcpy(f.words, op.words, sizeof f.words);
  f.use = registers_of(op);
  if (op.info) {
    const std::string_view name = op.info->mnemonic;
    const std::uint32_t flags = op.info->flags;
    f.load = flags & op_load;
    f.store = flags & op_store;
    f.atomic = flags & op_atomic;
    f.bytes = static_cast<std::uint8_t>(op.info->aux);
    f.counted = counted_as(op, name);
    f.lds_direct = op.lds || name.find("_load_lds_") != std::string_view::npos;
    f.waitcnt = name == "s_waitcnt";
    f.barrier = name == "s_barrier";
    f.ends = flags & op_ends;
    f.reads_all_lanes =
        (flags & op_exec_any) || name == "v_readlane_b32" || name == "v_readfirstlane_b32";
    switch (op.format) {
    case Format::vop1:
    case Format::vop2:
    case Format::vopc:
    case Format::vop3:
    case Format::vop3p:
      f.valu = true;
      break;
    default:
      break;
    }
    if (op.format == Format::ds)
      describe_lds(f, op, name);
    describe_matrix(f, name);
    if (name == "s_nop")
      f.wait_states = static_cast<std::uint8_t>((op.imm & 0xf) + 1);
    f.issue = issue_role(op, f);
  }
  facts_[op.id] = std::move(made);
  return *facts_[op.id];
}

} // namespace wavesim
