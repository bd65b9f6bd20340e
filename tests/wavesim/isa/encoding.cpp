#include "isa/encoding.hpp"

#include "machine/dispatch.hpp"

namespace wavesim {
namespace {

constexpr unsigned code_sdwa = 249, code_dpp = 250, code_literal = 255;

constexpr std::uint32_t bits(std::uint32_t word, unsigned low, unsigned count) {
  return word >> low & ((1u << count) - 1);
}

struct FloatCode {
  std::uint64_t f64;
  std::uint32_t f32;
  std::uint16_t f16, bf16;
};
// Codes 240…248: ±0.5, ±1, ±2, ±4, 1/(2π).
constexpr FloatCode float_codes[9] = {{0x3fe0000000000000, 0x3f000000, 0x3800, 0x3f00},
                                      {0xbfe0000000000000, 0xbf000000, 0xb800, 0xbf00},
                                      {0x3ff0000000000000, 0x3f800000, 0x3c00, 0x3f80},
                                      {0xbff0000000000000, 0xbf800000, 0xbc00, 0xbf80},
                                      {0x4000000000000000, 0x40000000, 0x4000, 0x4000},
                                      {0xc000000000000000, 0xc0000000, 0xc000, 0xc000},
                                      {0x4010000000000000, 0x40800000, 0x4400, 0x4080},
                                      {0xc010000000000000, 0xc0800000, 0xc400, 0xc080},
                                      {0x3fc45f306dc9c882, 0x3e22f983, 0x3118, 0x3e22}};

/// 64-bit scalar operands are even-aligned pairs.
constexpr bool is_pair(Type t) {
  return t == Type::b64 || t == Type::i64 || t == Type::u64 || t == Type::f64;
}

/// A 9-bit source code (8-bit scalar codes are its lower half).
bool read_source(Source& s, unsigned code, Type t, std::uint32_t literal) {
  s = Source{};
  if (code >= 256) {
    s.kind = Source::Kind::vgpr;
    s.reg = static_cast<std::uint16_t>(code - 256);
  } else if (code < 128) {
    s.kind = Source::Kind::sgpr;
    s.reg = static_cast<std::uint16_t>(is_pair(t) ? code & ~1u : code);
  } else if (code <= 208 || (code >= 240 && code <= 248)) {
    s.kind = Source::Kind::constant;
    s.value = inline_constant(code, t);
  } else if (code >= 235 && code <= 238) { // apertures: only the high dword means something
    constexpr std::uint64_t shared = Dispatch::shared_aperture, priv = Dispatch::private_aperture;
    s.kind = Source::Kind::constant;
    s.value = (code <= 236 ? shared : priv) << 32 | (code % 2 ? 0 : 0xffffffff);
  } else if (code == 251 || code == 252 || code == 253) {
    s.kind = code == 251   ? Source::Kind::vccz
             : code == 252 ? Source::Kind::execz
                           : Source::Kind::scc;
  } else if (code == code_literal) {
    s.kind = Source::Kind::constant;
    s.value = literal_constant(literal, t);
  } else {
    return false; // LDS_DIRECT and reserved codes
  }
  return true;
}

Type type_of(const OpInfo* info, unsigned i) {
  return info ? info->src[i] : Type::b32;
}

void set_vgpr(Source& s, unsigned reg) {
  s = Source{};
  s.kind = Source::Kind::vgpr;
  s.reg = static_cast<std::uint16_t>(reg);
}

void set_sgpr(Source& s, unsigned code) {
  s = Source{};
  s.kind = Source::Kind::sgpr;
  s.reg = static_cast<std::uint16_t>(code);
}

/// The SDWA or DPP word of a VOP1/VOP2/VOPC instruction; src[1] already holds a VGPR or nothing.
bool read_sdwa(Op& op, const OpInfo* info) {
  const std::uint32_t w = op.words[1];
  op.sdwa = true;
  if (!read_source(op.src[0], bits(w, 0, 8) | (bits(w, 23, 1) ? 0 : 256), type_of(info, 0), 0))
    return false;
  op.src[0].sel = static_cast<std::uint8_t>(bits(w, 16, 3));
  op.src[0].sext = bits(w, 19, 1);
  op.src[0].neg = bits(w, 20, 1);
  op.src[0].abs = bits(w, 21, 1);
  if (op.format != Format::vop1) {
    if (bits(w, 31, 1) && !read_source(op.src[1], op.src[1].reg, type_of(info, 1), 0))
      return false;
    op.src[1].sel = static_cast<std::uint8_t>(bits(w, 24, 3));
    op.src[1].sext = bits(w, 27, 1);
    op.src[1].neg = bits(w, 28, 1);
    op.src[1].abs = bits(w, 29, 1);
  }
  if (op.format == Format::vopc) {
    if (bits(w, 15, 1))
      op.sdst = static_cast<std::uint16_t>(bits(w, 8, 7) & ~1u);
  } else {
    op.dst_sel = static_cast<std::uint8_t>(bits(w, 8, 3));
    op.dst_unused = static_cast<std::uint8_t>(bits(w, 11, 2));
    op.clamp = bits(w, 13, 1);
    op.omod = static_cast<std::uint8_t>(bits(w, 14, 2));
  }
  return true;
}

bool read_dpp(Op& op) {
  const std::uint32_t w = op.words[1];
  op.dpp = true;
  set_vgpr(op.src[0], bits(w, 0, 8));
  op.dpp_ctrl = static_cast<std::uint16_t>(bits(w, 8, 9));
  op.bound_ctrl = bits(w, 19, 1);
  op.src[0].neg = bits(w, 20, 1);
  op.src[0].abs = bits(w, 21, 1);
  if (op.format != Format::vop1) {
    op.src[1].neg = bits(w, 22, 1);
    op.src[1].abs = bits(w, 23, 1);
  }
  op.bank_mask = static_cast<std::uint8_t>(bits(w, 24, 4));
  op.row_mask = static_cast<std::uint8_t>(bits(w, 28, 4));
  return true;
}

/// Inputs that the encoding does not spell out: VCC as carry or select, the old destination.
void add_implied(Op& op, const OpInfo* info) {
  if (!info)
    return;
  if (info->flags & op_carry_in && op.format != Format::vop3)
    set_sgpr(op.src[2], code_vcc);
  if (info->flags & op_reads_dst)
    set_vgpr(op.src[2], op.dst);
}

bool read_vop12c(Op& op, const OpInfo* info, std::string_view mnemonic) {
  const std::uint32_t w = op.words[0];
  op.dst = static_cast<std::uint16_t>(bits(w, 17, 8));
  if (op.format != Format::vop1)
    set_vgpr(op.src[1], bits(w, 9, 8));
  if (op.format == Format::vopc)
    op.dst = code_vcc;
  const unsigned code = bits(w, 0, 9);
  bool good;
  if (code == code_sdwa)
    good = read_sdwa(op, info);
  else if (code == code_dpp)
    good = read_dpp(op);
  else
    good = read_source(op.src[0], code, type_of(info, 0), op.words[1]);
  if (op.format == Format::vop2 &&
      (mnemonic.starts_with("v_fmamk") || mnemonic.starts_with("v_madmk"))) {
    op.src[2] = op.src[1]; // d = s0·K + s1
    read_source(op.src[1], code_literal, type_of(info, 1), op.words[1]);
  } else if (op.format == Format::vop2 &&
             (mnemonic.starts_with("v_fmaak") || mnemonic.starts_with("v_madak"))) {
    read_source(op.src[2], code_literal, type_of(info, 2), op.words[1]); // d = s0·s1 + K
  }
  if (op.format == Format::vop1 && mnemonic == "v_accvgpr_mov_b32") {
    op.dst_agpr = true;
    op.src[0].kind = Source::Kind::agpr;
  }
  add_implied(op, info);
  return good;
}

bool read_vop3(Op& op, const OpInfo* info, std::string_view mnemonic) {
  const std::uint32_t w0 = op.words[0], w1 = op.words[1];
  const unsigned opcode = bits(w0, 16, 10);
  op.dst = static_cast<std::uint16_t>(bits(w0, 0, 8));
  op.clamp = bits(w0, 15, 1);
  op.omod = static_cast<std::uint8_t>(bits(w1, 27, 2));
  const bool has_sdst = (opcode >= 0x119 && opcode <= 0x11e) || opcode == 0x1e0 ||
                        opcode == 0x1e1 || opcode == 0x1e8 || opcode == 0x1e9;
  if (has_sdst)
    op.sdst = static_cast<std::uint16_t>(bits(w0, 8, 7) & ~1u);
  else
    op.op_sel = static_cast<std::uint8_t>(bits(w0, 11, 4));
  if (opcode < 0x100)
    op.sdst = static_cast<std::uint16_t>(op.dst & ~1u); // compares
  bool good = true;
  for (unsigned i = 0; i < 3; ++i) {
    if (info && info->src[i] == Type::none)
      continue;
    good &= read_source(op.src[i], bits(w1, 9 * i, 9), type_of(info, i), 0);
    op.src[i].neg = bits(w1, 29 + i, 1);
    op.src[i].abs = !has_sdst && bits(w0, 8 + i, 1);
  }
  if (info && info->flags & op_reads_dst)
    set_vgpr(op.src[2], op.dst);
  if (mnemonic == "v_div_fmas_f32" || mnemonic == "v_div_fmas_f64")
    set_sgpr(op.src[3], code_vcc);
  return good;
}

bool read_vop3p(Op& op, const OpInfo* info, std::string_view mnemonic) {
  const std::uint32_t w0 = op.words[0], w1 = op.words[1];
  op.dst = static_cast<std::uint16_t>(bits(w0, 0, 8));
  bool good = true;
  for (unsigned i = 0; i < 3; ++i) {
    if (info && info->src[i] == Type::none)
      continue;
    good &= read_source(op.src[i], bits(w1, 9 * i, 9), type_of(info, i), 0);
  }
  if (mnemonic == "v_accvgpr_read_b32") {
    op.src[0].kind = Source::Kind::agpr;
    op.op_sel_hi = 7;
  } else if (mnemonic == "v_accvgpr_write_b32") {
    op.dst_agpr = true;
    op.op_sel_hi = 7;
  } else if (mnemonic.starts_with("v_mfma") || mnemonic.starts_with("v_smfmac")) {
    const bool c_agpr = bits(w0, 15, 1) && mnemonic.starts_with("v_mfma");
    const bool agpr[3] = {bits(w1, 27, 1) != 0, bits(w1, 28, 1) != 0, c_agpr};
    for (unsigned i = 0; i < 3; ++i)
      if (agpr[i] && op.src[i].kind == Source::Kind::vgpr)
        op.src[i].kind = Source::Kind::agpr;
    op.dst_agpr = bits(w0, 15, 1);
    op.cbsz = static_cast<std::uint8_t>(bits(w0, 8, 3));
    op.abid = static_cast<std::uint8_t>(bits(w0, 11, 4));
    op.blgp = static_cast<std::uint8_t>(bits(w1, 29, 3));
    op.op_sel_hi = 7;
  } else {
    op.neg_hi = static_cast<std::uint8_t>(bits(w0, 8, 3));
    op.op_sel = static_cast<std::uint8_t>(bits(w0, 11, 3));
    op.op_sel_hi = static_cast<std::uint8_t>(bits(w0, 14, 1) << 2 | bits(w1, 27, 2));
    op.clamp = bits(w0, 15, 1);
    op.neg_lo = static_cast<std::uint8_t>(bits(w1, 29, 3));
  }
  return good;
}

bool read_scalar(Op& op, const OpInfo* info) {
  const std::uint32_t w = op.words[0];
  const std::uint32_t literal = op.words[1];
  const auto simm16 = static_cast<std::int16_t>(bits(w, 0, 16));
  const std::uint64_t target = op.pc + 4 + static_cast<std::uint64_t>(4 * std::int64_t{simm16});
  switch (op.format) {
  case Format::sop2:
    op.dst = op.sdst = static_cast<std::uint16_t>(bits(w, 16, 7));
    return read_source(op.src[0], bits(w, 0, 8), type_of(info, 0), literal) &&
           read_source(op.src[1], bits(w, 8, 8), type_of(info, 1), literal);
  case Format::sop1:
    op.dst = op.sdst = static_cast<std::uint16_t>(bits(w, 16, 7));
    return read_source(op.src[0], bits(w, 0, 8), type_of(info, 0), literal);
  case Format::sopc:
    op.imm = static_cast<std::int32_t>(bits(w, 8, 8)); // s_set_gpr_idx_on: an immediate, not a code
    return read_source(op.src[0], bits(w, 0, 8), type_of(info, 0), literal) &&
           (read_source(op.src[1], bits(w, 8, 8), type_of(info, 1), literal) || !info ||
            info->src[1] == Type::none);
  case Format::sopk:
    op.dst = op.sdst = static_cast<std::uint16_t>(bits(w, 16, 7));
    set_sgpr(op.src[0], op.dst);
    if (op.size == 8)
      read_source(op.src[0], code_literal, Type::b32, literal);
    op.imm = simm16;
    op.target = target;
    return true;
  default: // SOPP
    op.imm = simm16;
    op.target = target;
    return true;
  }
}

bool read_smem(Op& op) {
  const std::uint32_t w0 = op.words[0], w1 = op.words[1];
  op.saddr = static_cast<std::uint16_t>(2 * bits(w0, 0, 6));
  op.dst = op.sdst = static_cast<std::uint16_t>(bits(w0, 6, 7));
  op.sc0 = bits(w0, 16, 1); // GLC
  const bool soe = bits(w0, 14, 1), imm = bits(w0, 17, 1);
  if (imm)
    op.imm = op.offset = static_cast<std::int32_t>(w1 << 11) >> 11; // 21 bits, signed
  if (soe)
    set_sgpr(op.soffset, bits(w1, 25, 7));
  else if (!imm)
    set_sgpr(op.soffset, bits(w1, 0, 7));
  return true;
}

bool read_ds(Op& op) {
  const std::uint32_t w0 = op.words[0], w1 = op.words[1];
  op.offset0 = static_cast<std::uint8_t>(bits(w0, 0, 8));
  op.offset1 = static_cast<std::uint8_t>(bits(w0, 8, 8));
  op.offset = static_cast<std::int32_t>(bits(w0, 0, 16));
  op.gds = bits(w0, 16, 1);
  op.dst_agpr = op.data_agpr = bits(w0, 25, 1);
  op.vaddr = static_cast<std::uint16_t>(bits(w1, 0, 8));
  op.vdata = static_cast<std::uint16_t>(bits(w1, 8, 8));
  op.vdata1 = static_cast<std::uint16_t>(bits(w1, 16, 8));
  op.dst = static_cast<std::uint16_t>(bits(w1, 24, 8));
  return true;
}

bool read_flat(Op& op) {
  const std::uint32_t w0 = op.words[0], w1 = op.words[1];
  constexpr Segment segments[4] = {Segment::flat, Segment::scratch, Segment::global, Segment::none};
  op.segment = segments[bits(w0, 14, 2)];
  op.offset = op.segment == Segment::flat ? static_cast<std::int32_t>(bits(w0, 0, 12))
                                          : static_cast<std::int32_t>(w0 << 19) >> 19;
  op.sc0 = bits(w0, 16, 1);
  op.nt = bits(w0, 17, 1);
  op.sc1 = bits(w0, 25, 1);
  op.vaddr = static_cast<std::uint16_t>(bits(w1, 0, 8));
  op.vdata = static_cast<std::uint16_t>(bits(w1, 8, 8));
  op.saddr = static_cast<std::uint16_t>(bits(w1, 16, 7));
  if (op.segment == Segment::flat)
    op.saddr = 0x7f;
  op.dst_agpr = op.data_agpr = bits(w1, 23, 1);
  op.dst = static_cast<std::uint16_t>(bits(w1, 24, 8));
  op.has_vaddr = op.segment != Segment::scratch || bits(w0, 13, 1);
  return op.segment != Segment::none;
}

bool read_mubuf(Op& op) {
  const std::uint32_t w0 = op.words[0], w1 = op.words[1];
  op.offset = static_cast<std::int32_t>(bits(w0, 0, 12));
  op.offen = bits(w0, 12, 1);
  op.idxen = bits(w0, 13, 1);
  op.sc0 = bits(w0, 14, 1);
  op.sc1 = bits(w0, 15, 1);
  op.lds = bits(w0, 16, 1);
  op.nt = bits(w0, 17, 1);
  op.vaddr = static_cast<std::uint16_t>(bits(w1, 0, 8));
  op.vdata = op.dst = static_cast<std::uint16_t>(bits(w1, 8, 8));
  op.saddr = static_cast<std::uint16_t>(4 * bits(w1, 16, 5));
  op.dst_agpr = op.data_agpr = bits(w1, 23, 1);
  op.has_vaddr = op.offen || op.idxen;
  return read_source(op.soffset, bits(w1, 24, 8), Type::u32, 0);
}

} // namespace

Format format_of(std::uint32_t w) {
  if (w >> 31 == 0) {
    const unsigned top = w >> 25;
    return top == 0x3f ? Format::vop1 : top == 0x3e ? Format::vopc : Format::vop2;
  }
  if (w >> 30 == 2) {
    switch (w >> 23) {
    case 0x17d:
      return Format::sop1;
    case 0x17e:
      return Format::sopc;
    case 0x17f:
      return Format::sopp;
    default:
      return w >> 28 == 0xb ? Format::sopk : Format::sop2;
    }
  }
  switch (w >> 26) {
  case 0x30:
    return Format::smem;
  case 0x34:
    return w >> 23 == 0x1a7 ? Format::vop3p : Format::vop3;
  case 0x36:
    return Format::ds;
  case 0x37:
    return Format::flat;
  case 0x38:
    return Format::mubuf;
  default:
    return Format::unsupported;
  }
}

std::uint64_t inline_constant(unsigned code, Type t) {
  if (code <= 192)
    return code - 128;
  if (code <= 208)
    return ~std::uint64_t{code - 193};
  const FloatCode& f = float_codes[code - 240];
  switch (t) {
  case Type::b64:
  case Type::i64:
  case Type::u64:
  case Type::f64:
    return f.f64;
  case Type::f16:
  case Type::v2f16:
    return f.f16;
  case Type::bf16:
    return f.bf16;
  default:
    return f.f32;
  }
}

std::uint64_t literal_constant(std::uint32_t literal, Type t) {
  switch (t) {
  case Type::f64:
    return std::uint64_t{literal} << 32;
  case Type::i64:
    return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(literal)});
  default:
    return literal;
  }
}

bool read_fields(Op& op, const OpInfo* info, std::string_view mnemonic) {
  switch (op.format) {
  case Format::sop1:
  case Format::sop2:
  case Format::sopk:
  case Format::sopc:
  case Format::sopp:
    return read_scalar(op, info);
  case Format::smem:
    return read_smem(op);
  case Format::vop1:
  case Format::vop2:
  case Format::vopc:
    return read_vop12c(op, info, mnemonic);
  case Format::vop3:
    return read_vop3(op, info, mnemonic);
  case Format::vop3p:
    return read_vop3p(op, info, mnemonic);
  case Format::ds:
    return read_ds(op);
  case Format::flat:
    return read_flat(op);
  case Format::mubuf:
    return read_mubuf(op);
  case Format::unsupported:
    return false;
  }
  return false;
}

} // namespace wavesim
