#include "isa/validity.hpp"

#include "isa/encoding.hpp"

#include <string_view>

namespace wavesim {
namespace {

constexpr unsigned vector_registers = 256, scalar_codes = 128;
constexpr unsigned code_reserved = 125, code_off = 0x7f;

constexpr unsigned field(std::uint32_t word, unsigned low, unsigned count) {
  return word >> low & ((1u << count) - 1);
}

constexpr bool is_scalar(Format f) {
  return f <= Format::smem;
}

bool scalars_exist(unsigned first, unsigned count) {
  return first + count <= scalar_codes && (first > code_reserved || first + count <= code_reserved);
}
bool vectors_exist(unsigned first, unsigned count) {
  return first + count <= vector_registers;
}

bool source_exists(const Source& s, Type t) {
  switch (s.kind) {
  case Source::Kind::vgpr:
  case Source::Kind::agpr:
    return vectors_exist(s.reg, dwords(t));
  case Source::Kind::sgpr:
    return scalars_exist(s.reg, dwords(t));
  default:
    return true;
  }
}

bool destination_exists(const Op& op) {
  const OpInfo& info = *op.info;
  const bool mask = (info.flags & op_writes_scalar) && info.dst == Type::b64;
  if (mask || info.flags & op_carry_out)
    if (!scalars_exist(op.sdst, 2))
      return false;
  if (mask)
    return true;
  if (is_scalar(op.format) || info.flags & op_writes_scalar)
    return scalars_exist(op.dst, dwords(info.dst));
  return vectors_exist(op.dst, dwords(info.dst));
}

/// Dwords of what memory and registers exchange; `OpInfo::dst` is the width of one access.
struct DataWidths {
  unsigned result = 0, data = 0, data1 = 0; ///< Op::dst, Op::vdata, Op::vdata1
};

DataWidths lds_widths(const OpInfo& info, std::string_view name) {
  const unsigned one = dwords(info.dst);
  const bool exchange2 = name.starts_with("ds_wrxchg2");
  const bool two_results = exchange2 || name.starts_with("ds_read2");
  const bool two_operands = exchange2 || name.starts_with("ds_write2") ||
                            name.starts_with("ds_cmpst") || name.starts_with("ds_mskor") ||
                            name.starts_with("ds_wrap");
  const bool returns = info.flags & op_load || name.find("_rtn_") != std::string_view::npos ||
                       name == "ds_append" || name == "ds_consume";
  DataWidths widths;
  if (returns)
    widths.result = two_results ? 2 * one : one;
  if (info.flags & (op_store | op_atomic))
    widths.data = one;
  if (two_operands)
    widths.data1 = one;
  return widths;
}

DataWidths data_widths(const Op& op) {
  const OpInfo& info = *op.info;
  const std::string_view name = info.mnemonic;
  if (op.format == Format::ds)
    return lds_widths(info, name);
  const unsigned one = dwords(info.dst);
  DataWidths widths;
  if (info.flags & op_load || (info.flags & op_atomic && op.sc0))
    widths.result = one;
  if (info.flags & (op_store | op_atomic)) // cmpswap: the new value and what it is compared with
    widths.data = name.find("_cmpswap") != std::string_view::npos ? 2 * one : one;
  return widths;
}

bool memory_registers_exist(const Op& op) {
  const DataWidths widths = data_widths(op);
  if (!vectors_exist(op.dst, widths.result) || !vectors_exist(op.vdata, widths.data) ||
      !vectors_exist(op.vdata1, widths.data1))
    return false;
  if (op.format == Format::ds)
    return true;
  if (op.format == Format::mubuf)
    return scalars_exist(op.saddr, 4) && vectors_exist(op.vaddr, op.offen && op.idxen ? 2 : 1);
  if (op.segment == Segment::scratch)
    return op.saddr == code_off || scalars_exist(op.saddr, 1);
  return op.saddr == code_off ? vectors_exist(op.vaddr, 2) : scalars_exist(op.saddr, 2);
}

} // namespace

bool llvm_survives(std::uint32_t word0, std::uint32_t word1) {
  constexpr unsigned literal = 255, sdwa = 249, mtbuf = 0x3a;
  constexpr unsigned vop1_readfirstlane = 2, vop3_readfirstlane = 0x142, vop3_readlane = 0x289;
  constexpr unsigned vop3_compares_end = 0x100;
  switch (format_of(word0)) {
  case Format::vop1:
  case Format::vop2:
  case Format::vopc: {
    if (format_of(word0) == Format::vop1 && field(word0, 9, 8) == vop1_readfirstlane &&
        field(word0, 17, 8) == literal)
      return false;
    if (field(word0, 0, 9) != sdwa)
      return true;
    const bool has_result = format_of(word0) != Format::vopc; // compares have a mask there
    return field(word1, 16, 3) != 7 && field(word1, 24, 3) != 7 &&
           (!has_result || (field(word1, 8, 3) != 7 && field(word1, 11, 2) != 3));
  }
  case Format::vop3: {
    const unsigned opcode = field(word0, 16, 10);
    const bool to_scalar =
        opcode < vop3_compares_end || opcode == vop3_readlane || opcode == vop3_readfirstlane;
    if (to_scalar && field(word0, 0, 8) == literal)
      return false;
    [[fallthrough]];
  }
  case Format::vop3p:
    return field(word1, 0, 9) != literal && field(word1, 9, 9) != literal &&
           field(word1, 18, 9) != literal;
  case Format::mubuf:
    return field(word1, 24, 8) != literal;
  default:
    return word0 >> 26 != mtbuf || field(word1, 24, 8) != literal;
  }
}

bool registers_exist(const Op& op) {
  if (op.format == Format::ds || op.format == Format::flat || op.format == Format::mubuf)
    return memory_registers_exist(op);
  for (unsigned i = 0; i < 4; ++i)
    if (!source_exists(op.src[i], op.info->src[i]))
      return false;
  return destination_exists(op);
}

} // namespace wavesim
