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
  f.upper_data = f.store && name.ends_with("_d16_hi");
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

VectorSet registers(const Source& s, unsigned count) {
  VectorSet set;
  const bool vector = s.kind == Source::Kind::vgpr || s.kind == Source::Kind::agpr;
  const unsigned first = s.kind == Source::Kind::agpr ? VectorSet::agpr0 + s.reg : s.reg;
  for (unsigned i = 0; vector && i < count && first + i < 2 * VectorSet::agpr0; ++i)
    set.add(first + i);
  return set;
}

void describe_matrix(OpFacts& f, const Op& op, std::string_view name) {
  if (const MfmaFact* m = f.mfma = find_mfma(name)) {
    f.matrix = std::make_unique<MatrixUse>();
    f.matrix->a = registers(op.src[0], m->a_registers());
    f.matrix->b = registers(op.src[1], m->b_registers());
    f.matrix->c = m->sparse ? f.use.writes : registers(op.src[2], m->d_registers());
    if (m->sparse)
      f.matrix->index = registers(op.src[2], 1);
  }
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
  f.writes_vectors = !f.use.writes.empty();
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
    describe_matrix(f, op, name);
    if (name == "s_nop")
      f.wait_states = static_cast<std::uint8_t>((op.imm & 0xf) + 1);
    f.issue = issue_role(op, f);
    f.scalar = scalar_rule(op, f);
  }
  facts_[op.id] = std::move(made);
  return *facts_[op.id];
}

} // namespace wavesim
