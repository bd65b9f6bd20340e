// Matrix instructions: operands, and the moves between VGPRs and AGPRs.
#include "exec/mfma_kernel.hpp"
#include "exec/operands.hpp"
#include "isa/encoding.hpp"
#include "isa/op_table.hpp"
#include "machine/fault.hpp"

namespace wavesim::WAVESIM_SIMD_NS {
namespace {

MatrixKernel kernels[mfma_facts.size()]; // by OpInfo::aux

MatrixKernel find_kernel(const MfmaFact& fact) {
  for (const auto find : {find_half_kernel, find_narrow_kernel, find_chain_kernel,
                          find_integer_kernel, find_sparse_kernel})
    if (const MatrixKernel kernel = find(fact))
      return kernel;
  return nullptr;
}

/// First row of a register tuple that must lie inside the file.
LaneRow* tuple(Wave& w, const Op& op, bool agpr, unsigned reg, unsigned count) {
  if (reg + count > 256)
    stop(w, op, "a register tuple of the matrix instruction ends beyond 255");
  return agpr ? &w.a[reg] : &w.v[reg];
}

const LaneRow* source_tuple(Wave& w, const Op& op, const Source& s, unsigned count) {
  if (s.kind != Source::Kind::vgpr && s.kind != Source::Kind::agpr)
    stop(w, op, "an operand of the matrix instruction is not in vector registers");
  return tuple(w, op, s.kind == Source::Kind::agpr, s.reg, count);
}

/// EXEC is ignored: all 64 lanes take part.
void execute_mfma(Wave& w, const Op& op) {
  const MfmaFact& fact = mfma_facts[op.info->aux];
  const unsigned count = fact.d_registers();
  MatrixOperands o;
  o.a = source_tuple(w, op, op.src[0], fact.a_registers());
  o.b = source_tuple(w, op, op.src[1], fact.b_registers());
  o.d = tuple(w, op, op.dst_agpr, op.dst, count);
  if (fact.takes_cbsz())
    o.cbsz = op.cbsz, o.abid = op.abid;
  if (fact.takes_blgp())
    o.blgp = op.blgp;
  o.flush_inputs = (w.mode >> 4 & 1) == 0; // f32 denormal field: 0 and 2 flush inputs

  alignas(64) LaneRow space[32];
  if (fact.sparse) {
    o.index = *source_tuple(w, op, op.src[2], 1);
    o.c = o.d;
  } else if (op.src[2].kind == Source::Kind::constant) {
    const unsigned code = op.words[1] >> 18 & 0x1ff;
    const std::uint64_t value = inline_constant(code, fact.is_f64() ? Type::f64 : Type::f32);
    spread(space[0], static_cast<std::uint32_t>(value));
    spread(space[1], static_cast<std::uint32_t>(value >> 32));
    o.c = space;
    o.c_mask = fact.is_f64() ? 1 : 0;
  } else {
    o.c = source_tuple(w, op, op.src[2], count);
    const bool same_file = op.dst_agpr == (op.src[2].kind == Source::Kind::agpr);
    const unsigned distance =
        op.dst > op.src[2].reg ? op.dst - op.src[2].reg : op.src[2].reg - op.dst;
    if (same_file && distance != 0 && distance < count) {
      std::memcpy(space, o.c, count * sizeof(LaneRow));
      o.c = space;
    }
  }
  kernels[op.info->aux](o);
}

void accvgpr_move(Wave& w, const Op& op) {
  Row space;
  store_row(register_row(w, op.dst_agpr, op.dst), source_row(w, op.src[0], space), w.exec());
}

Type block_type(unsigned registers) {
  switch (registers) {
  case 1:
    return Type::b32;
  case 2:
    return Type::b64;
  case 4:
    return Type::b128;
  case 8:
    return Type::b256;
  case 16:
    return Type::b512;
  default:
    return Type::b1024;
  }
}

} // namespace

void register_mfma(OpTable& table) {
  for (std::size_t i = 0; i < mfma_facts.size(); ++i) {
    const MfmaFact& fact = mfma_facts[i];
    kernels[i] = find_kernel(fact);
    OpInfo info;
    info.mnemonic = fact.mnemonic.data();
    info.handler = execute_mfma;
    info.unit = Unit::mfma;
    info.dst = block_type(fact.d_registers());
    info.src[0] = block_type(fact.a_registers());
    info.src[1] = block_type(fact.b_registers());
    info.src[2] = fact.sparse ? Type::b32 : info.dst;
    info.flags = op_exec_any;
    info.aux = static_cast<std::uint32_t>(i);
    table.add(info);
  }
  for (const char* name : {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"}) {
    OpInfo info;
    info.mnemonic = name;
    info.handler = accvgpr_move;
    info.unit = Unit::valu;
    info.dst = info.src[0] = Type::b32;
    table.add(info);
  }
}

} // namespace wavesim::WAVESIM_SIMD_NS
