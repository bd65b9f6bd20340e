// Operand fields of every format, against what LLVM's printer says about the same bytes; and which
// instructions have no handler.
#include "tests/encodings.hpp"
#include "tests/reference.hpp"

#include "isa/encoding.hpp"
#include "machine/fault.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <random>

using namespace wavesim;
using namespace wavesim::test;

namespace {

Op one(const std::string& text) {
  const Program program(text);
  EXPECT_EQ(program.ops().size(), 1u) << text;
  return program.ops().empty() ? Op{} : program.first();
}

/// "v[4:5]" or "v4"; "s[4:5]", "vcc", "m0" …
std::string vector_name(char file, unsigned reg, unsigned width) {
  const std::string first = std::to_string(reg);
  return width == 1
             ? file + first
             : std::string(1, file) + "[" + first + ":" + std::to_string(reg + width - 1) + "]";
}
std::string scalar_name(unsigned code, unsigned width) {
  static const std::map<std::pair<unsigned, unsigned>, std::string> special = {
      {{102, 2}, "flat_scratch"},
      {{106, 2}, "vcc"},
      {{126, 2}, "exec"},
      {{104, 2}, "xnack_mask"},
      {{102, 1}, "flat_scratch_lo"},
      {{103, 1}, "flat_scratch_hi"},
      {{104, 1}, "xnack_mask_lo"},
      {{105, 1}, "xnack_mask_hi"},
      {{106, 1}, "vcc_lo"},
      {{107, 1}, "vcc_hi"},
      {{124, 1}, "m0"},
      {{126, 1}, "exec_lo"},
      {{127, 1}, "exec_hi"}};
  if (const auto found = special.find({code, width}); found != special.end())
    return found->second;
  if (code >= 108 && code < 124) {
    const unsigned t = code - 108;
    return width == 1 ? "ttmp" + std::to_string(t)
                      : "ttmp[" + std::to_string(t) + ":" + std::to_string(t + width - 1) + "]";
  }
  return vector_name('s', code, width);
}

/// Operands of a printed instruction, without float modifiers and trailing words such as "clamp".
struct Printed {
  std::vector<std::string> operands;
  std::vector<bool> negated, absolute, extended;
};
Printed parse(const std::string& text) {
  Printed p;
  std::string rest = text.substr(std::min(text.size(), mnemonic_of(text).size()));
  std::vector<std::string> parts;
  int depth = 0;
  std::string current;
  for (char c : rest) {
    if (c == '[' || c == '(')
      ++depth;
    if (c == ']' || c == ')')
      --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(current);
      current.clear();
    } else {
      current += c;
    }
  }
  parts.push_back(current);
  for (std::string x : parts) {
    x.erase(0, x.find_first_not_of(" \t"));
    x = x.substr(0, x.find_first_of(" \t"));
    const bool minus = x.size() > 1 && x[0] == '-' &&
                       (std::isalpha(static_cast<unsigned char>(x[1])) || x[1] == '|');
    if (minus)
      x.erase(0, 1);
    const bool bars = x.size() > 2 && x.front() == '|';
    if (bars)
      x = x.substr(1, x.size() - 2);
    const bool sext = x.starts_with("sext(");
    if (sext)
      x = x.substr(5, x.size() - 6);
    if (x.empty())
      continue;
    p.operands.push_back(x);
    p.negated.push_back(minus);
    p.absolute.push_back(bars);
    p.extended.push_back(sext);
  }
  return p;
}

bool is_register(const std::string& x) {
  return !std::isdigit(static_cast<unsigned char>(x[0])) && x[0] != '-' && !x.starts_with("src_") &&
         !x.starts_with("0x");
}

/// The printed operand a source should have; empty when it is a constant.
std::string source_name(const Source& s, unsigned width) {
  switch (s.kind) {
  case Source::Kind::vgpr:
    return vector_name('v', s.reg, width);
  case Source::Kind::agpr:
    return vector_name('a', s.reg, width);
  case Source::Kind::sgpr:
    return scalar_name(s.reg, width);
  default:
    return {};
  }
}

/// Vector ALU operands as printed: destination, scalar destination, sources.
void compare_with_text(const Op& op, const std::string& text) {
  const OpInfo& info = *op.info;
  const Printed p = parse(text);
  std::vector<std::string> want;
  const bool compare = info.flags & op_writes_scalar && info.dst == Type::b64;
  if (compare)
    want.push_back(scalar_name(op.sdst, 2));
  else if (info.flags & op_writes_scalar)
    want.push_back(scalar_name(op.dst, 1));
  else
    want.push_back(vector_name(op.dst_agpr ? 'a' : 'v', op.dst, dwords(info.dst)));
  if (info.flags & op_carry_out)
    want.push_back(scalar_name(op.sdst, 2));
  const std::size_t first_source = want.size();
  std::vector<unsigned> numbers;
  for (unsigned i = 0; i < 3 && info.src[i] != Type::none; ++i) {
    if (i == 2 && info.flags & op_reads_dst)
      continue;
    want.push_back(source_name(op.src[i], dwords(info.src[i])));
    numbers.push_back(i);
  }
  ASSERT_GE(p.operands.size(), want.size()) << text;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i].empty()) {
      EXPECT_FALSE(p.operands[i].starts_with("v")) << text << ": operand " << i;
      continue;
    }
    EXPECT_EQ(p.operands[i], want[i]) << text << ": operand " << i;
    if (i < first_source || op.format == Format::vop3p)
      continue;
    const Type t = info.src[numbers[i - first_source]];
    if (t != Type::f16 && t != Type::f32 && t != Type::f64)
      continue; // the bits exist, but mean nothing and are not printed
    const Source& s = op.src[numbers[i - first_source]];
    EXPECT_EQ(s.neg, p.negated[i]) << text;
    EXPECT_EQ(s.abs, p.absolute[i]) << text;
    EXPECT_EQ(s.sext, p.extended[i]) << text;
  }
  EXPECT_EQ(op.clamp, text.find(" clamp") != std::string::npos) << text;
}

TEST(Decoder, VectorOperandsAgreeWithThePrinter) {
  Decoder decoder;
  engine random(31);
  unsigned compared = 0;
  for (const Encoding& e : all_encodings()) {
    const Format f = format_of(e.words[0]);
    if (f != Format::vop1 && f != Format::vop2 && f != Format::vopc && f != Format::vop3 &&
        f != Format::vop3p)
      continue;
    for (int round = 0; round < 12; ++round) {
      std::array<u32, 2> w = e.words;
      const bool extra = e.bytes == 8;
      const auto even = [&random](unsigned bits) {
        return static_cast<u32>(random()) & ((1u << bits) - 2);
      };
      // Other register numbers, scalars and constants as first source, modifiers.
      if (f == Format::vop3 || f == Format::vop3p) {
        w[0] = (w[0] & ~0xffu) | even(7);
        const u32 scalars[] = {even(6), 106, 126, 128 + even(6), 193, 242, 0x100 | even(8)};
        w[1] = (w[1] & ~0x1ffu) | scalars[random() % 7];
        w[1] = (w[1] & ~(0xffu << 9)) | even(8) << 9;
        if (f == Format::vop3 && random() % 2)
          w[1] ^= static_cast<u32>(random() & 7) << 29;
        if (f == Format::vop3 && random() % 4 == 0)
          w[0] ^= static_cast<u32>(random() & 0xf00);
        if (random() % 4 == 0)
          w[0] ^= 0x8000;
      } else {
        if (f != Format::vopc)
          w[0] = (w[0] & ~(0xffu << 17)) | even(8) << 17;
        if (f != Format::vop1)
          w[0] = (w[0] & ~(0xffu << 9)) | even(8) << 9;
        if (f == Format::vop1)
          w[0] = e.words[0] ^ (even(8) << 17);
        if (extra && ((w[0] & 0x1ff) == 0xf9 || (w[0] & 0x1ff) == 0xfa))
          w[1] =
              (w[1] & ~0xffu) | even(8) | (random() % 2 ? static_cast<u32>(random() & 3) << 20 : 0);
        else if (!extra)
          w[0] = (w[0] & ~0x1ffu) |
                 std::array<u32, 4>{0x100 | even(8), even(6), 106, 130}[random() % 4];
      }
      const auto bytes = std::as_bytes(std::span(w));
      const std::string text = decoder.text(bytes, 0);
      const Op op = decoder.decode(bytes, 0);
      if (text.starts_with("no gfx942") || !op.info || mnemonic_of(text) != e.mnemonic ||
          text.find("Invalid") != std::string::npos)
        continue;
      if (op.info->dst == Type::none || e.mnemonic.starts_with("v_mfma") ||
          e.mnemonic.starts_with("v_smfmac"))
        continue;
      if (e.mnemonic.starts_with("v_fmamk") || e.mnemonic.starts_with("v_madmk"))
        continue; // printed in another order
      compare_with_text(op, text);
      ++compared;
    }
  }
  EXPECT_GT(compared, 5000u);
}

TEST(Decoder, ScalarOperandsAgreeWithThePrinter) {
  Decoder decoder;
  engine random(32);
  unsigned compared = 0;
  for (const Encoding& e : all_encodings()) {
    const Format f = format_of(e.words[0]);
    if (f != Format::sop1 && f != Format::sop2 && f != Format::sopc)
      continue;
    for (int round = 0; round < 20; ++round) {
      std::array<u32, 2> w = e.words;
      const auto code = [&random] {
        const u32 codes[] = {static_cast<u32>(random()) & 62,       106, 124, 126,
                             128 + static_cast<u32>(random() % 64), 193, 242};
        return codes[random() % 7];
      };
      w[0] = (w[0] & ~0xffu) | code();
      if (f != Format::sop1)
        w[0] = (w[0] & ~0xff00u) | code() << 8;
      if (f != Format::sopc)
        w[0] = (w[0] & ~(0x7fu << 16)) | (static_cast<u32>(random()) & 62) << 16;
      const auto bytes = std::as_bytes(std::span(w));
      const std::string text = decoder.text(bytes, 0);
      const Op op = decoder.decode(bytes, 0);
      if (text.starts_with("no gfx942") || !op.info || mnemonic_of(text) != e.mnemonic)
        continue;
      const Printed p = parse(text);
      std::size_t at = 0;
      if (f != Format::sopc && op.info->dst != Type::none) {
        ASSERT_FALSE(p.operands.empty()) << text;
        EXPECT_EQ(p.operands[at++], scalar_name(op.dst, dwords(op.info->dst))) << text;
      }
      for (unsigned i = 0; i < 2 && op.info->src[i] != Type::none && at < p.operands.size();
           ++i, ++at) {
        const std::string want = source_name(op.src[i], dwords(op.info->src[i]));
        if (!want.empty()) {
          EXPECT_EQ(p.operands[at], want) << text;
        } else {
          EXPECT_FALSE(is_register(p.operands[at])) << text;
        }
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000u);
}

TEST(Decoder, MemoryFields) {
  Op op = one("global_load_dwordx2 v[4:5], v2, s[6:7] offset:-24 sc0 nt");
  EXPECT_EQ(op.format, Format::flat);
  EXPECT_EQ(op.segment, Segment::global);
  EXPECT_EQ(op.dst, 4);
  EXPECT_EQ(op.vaddr, 2);
  EXPECT_EQ(op.saddr, 6);
  EXPECT_EQ(op.offset, -24);
  EXPECT_TRUE(op.sc0 && op.nt && !op.sc1);
  op = one("global_store_dword v[2:3], a9, off offset:4095 sc1");
  EXPECT_EQ(op.saddr, 0x7f);
  EXPECT_EQ(op.vdata, 9);
  EXPECT_TRUE(op.data_agpr && op.sc1 && op.has_vaddr);
  EXPECT_EQ(op.offset, 4095);
  op = one("scratch_load_dword v1, off, s3 offset:-4");
  EXPECT_EQ(op.segment, Segment::scratch);
  EXPECT_FALSE(op.has_vaddr);
  EXPECT_EQ(op.saddr, 3);
  EXPECT_EQ(op.offset, -4);
  op = one("scratch_store_dword v2, v7, s3");
  EXPECT_TRUE(op.has_vaddr);
  EXPECT_EQ(op.vaddr, 2);
  EXPECT_EQ(op.vdata, 7);
  op = one("scratch_load_dword v1, off, off offset:16");
  EXPECT_FALSE(op.has_vaddr);
  EXPECT_EQ(op.saddr, 0x7f);
  op = one("flat_atomic_add v1, v[2:3], v5 offset:40 sc0");
  EXPECT_EQ(op.segment, Segment::flat);
  EXPECT_EQ(op.dst, 1);
  EXPECT_EQ(op.vdata, 5);
  EXPECT_EQ(op.offset, 40);
  op = one("ds_write2_b32 v1, v2, v3 offset0:4 offset1:9");
  EXPECT_EQ(op.vaddr, 1);
  EXPECT_EQ(op.vdata, 2);
  EXPECT_EQ(op.vdata1, 3);
  EXPECT_EQ(op.offset0, 4);
  EXPECT_EQ(op.offset1, 9);
  op = one("ds_read_b64 a[4:5], v1 offset:65528");
  EXPECT_EQ(op.offset, 65528);
  EXPECT_TRUE(op.dst_agpr);
  EXPECT_EQ(op.dst, 4);
  op = one("buffer_load_dword v1, v[2:3], s[8:11], s7 idxen offen offset:12 sc0 nt sc1");
  EXPECT_EQ(op.format, Format::mubuf);
  EXPECT_TRUE(op.offen && op.idxen && op.sc0 && op.sc1 && op.nt && !op.lds);
  EXPECT_EQ(op.saddr, 8);
  EXPECT_EQ(op.soffset.kind, Source::Kind::sgpr);
  EXPECT_EQ(op.soffset.reg, 7);
  EXPECT_EQ(op.offset, 12);
  op = one("buffer_store_dword v6, off, s[8:11], 64");
  EXPECT_EQ(op.soffset.kind, Source::Kind::constant);
  EXPECT_EQ(op.soffset.value, 64u);
  EXPECT_FALSE(op.has_vaddr);
  EXPECT_EQ(op.vdata, 6);
  op = one("buffer_load_dword v2, s[8:11], 0 offen lds");
  EXPECT_TRUE(op.lds);
  op = one("s_load_dwordx4 s[8:11], s[2:3], s5 offset:-16");
  EXPECT_EQ(op.saddr, 2);
  EXPECT_EQ(op.dst, 8);
  EXPECT_EQ(op.offset, -16);
  EXPECT_EQ(op.soffset.reg, 5);
  op = one("s_load_dword s8, s[2:3], s5");
  EXPECT_EQ(op.offset, 0);
  EXPECT_EQ(op.soffset.reg, 5);
}

TEST(Decoder, MatrixFields) {
  Op op = one("v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], a[4:5], a[16:31]");
  EXPECT_TRUE(op.dst_agpr);
  EXPECT_EQ(op.src[0].kind, Source::Kind::vgpr);
  EXPECT_EQ(op.src[1].kind, Source::Kind::agpr);
  EXPECT_EQ(op.src[2].kind, Source::Kind::agpr);
  EXPECT_EQ(op.src[2].reg, 16);
  op = one("v_mfma_f32_32x32x1_2b_f32 v[0:31], v32, v33, 1.0 cbsz:1 abid:1 blgp:3");
  EXPECT_FALSE(op.dst_agpr);
  EXPECT_EQ(op.src[2].kind, Source::Kind::constant);
  EXPECT_EQ(op.cbsz, 1);
  EXPECT_EQ(op.abid, 1);
  EXPECT_EQ(op.blgp, 3);
  op = one("v_accvgpr_read_b32 v1, a2");
  EXPECT_EQ(op.src[0].kind, Source::Kind::agpr);
  EXPECT_FALSE(op.dst_agpr);
  op = one("v_accvgpr_write_b32 a1, v2");
  EXPECT_TRUE(op.dst_agpr);
  EXPECT_EQ(op.src[0].kind, Source::Kind::vgpr);
  op = one("v_pk_fma_f16 v1, v2, v3, v4 op_sel:[1,0,1] op_sel_hi:[0,1,1] neg_lo:[1,0,0] "
           "neg_hi:[0,1,0] clamp");
  EXPECT_EQ(op.op_sel, 5);
  EXPECT_EQ(op.op_sel_hi, 6);
  EXPECT_EQ(op.neg_lo, 1);
  EXPECT_EQ(op.neg_hi, 2);
  EXPECT_TRUE(op.clamp);
  EXPECT_FALSE(op.is_plain());
  EXPECT_TRUE(one("v_pk_fma_f16 v1, v2, v3, v4").is_plain());
  EXPECT_TRUE(one("v_pk_add_f16 v1, v2, v3").is_plain());
}

TEST(Decoder, InlineConstants) {
  EXPECT_EQ(inline_constant(128, Type::u32), 0u);
  EXPECT_EQ(inline_constant(192, Type::u32), 64u);
  EXPECT_EQ(inline_constant(193, Type::i64), ~u64{0});
  EXPECT_EQ(inline_constant(208, Type::u32), ~u64{15});
  const double values[] = {0.5, -0.5, 1, -1, 2, -2, 4, -4};
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(inline_constant(240 + i, Type::f64), raw(values[i]));
    EXPECT_EQ(inline_constant(240 + i, Type::f32), raw(static_cast<float>(values[i])));
    EXPECT_EQ(inline_constant(240 + i, Type::u16) & 0xffff,
              0u); // low half of the single-precision value
    EXPECT_EQ(to_double(half{static_cast<u16>(inline_constant(240 + i, Type::f16))}), values[i]);
    EXPECT_EQ(inline_constant(240 + i, Type::v2f16) >> 16, 0u);
    EXPECT_EQ(inline_constant(240 + i, Type::bf16) << 16, raw(static_cast<float>(values[i])));
  }
  EXPECT_EQ(inline_constant(248, Type::f32), 0x3e22f983u);
  EXPECT_EQ(inline_constant(248, Type::f16), 0x3118u);
  EXPECT_EQ(inline_constant(248, Type::f64), 0x3fc45f306dc9c882u);
  EXPECT_EQ(literal_constant(0x80000001, Type::f64), 0x8000000100000000u);
  EXPECT_EQ(literal_constant(0x80000001, Type::i64), 0xffffffff80000001u);
  EXPECT_EQ(literal_constant(0x80000001, Type::b64), 0x80000001u);
}

TEST(Decoder, BranchTargets) {
  const Program program(
      "start:\ns_nop 0\ns_branch start\ns_cbranch_scc0 end\ns_nop 0\nend:\ns_endpgm");
  EXPECT_EQ(program.ops()[1].target, program.begin());
  EXPECT_EQ(program.ops()[2].target, program.ops()[4].pc);
  EXPECT_EQ(program.ops()[1].imm, -2);
}

TEST(Decoder, BytesThatAreNoInstruction) {
  Decoder decoder;
  const std::array<u32, 2> words{0xffffffff, 0xffffffff};
  const Op op = decoder.decode(std::as_bytes(std::span(words)), 0);
  EXPECT_EQ(op.info, nullptr);
  EXPECT_NE(op.execute, nullptr);
  Machine m;
  EXPECT_EXIT(op.execute(m.wave, op), testing::ExitedWithCode(stop_exit_code),
              "no gfx942 instruction: ffffffff");
  // Truncated: four bytes of an eight-byte instruction.
  const std::array<u32, 1> half_of_it{0xd1cb0000};
  EXPECT_EQ(decoder.decode(std::as_bytes(std::span(half_of_it)), 0).info, nullptr);
}

// Each made LLVM 22 read through a null pointer or past a table, one flipped bit away from real
// instructions: literals where a format has none, selects past the table, a literal cut off.
TEST(Decoder, WordsThatLlvmDoesNotSurvive) {
  Decoder decoder;
  constexpr std::array<u32, 2> deadly[] = {
      {0xd12dba2d, 0x43aa6cff}, {0xd3ca7a4e, 0xbbffd39d}, {0xd1eaecdb, 0xe7a5fffd},
      {0xd3e87737, 0x0679fea0}, {0xe006c765, 0xffb6b30b}, {0xeac4d2a0, 0xff0354e1},
      {0xd079e0ff, 0x6eb9716c}, {0xd28900ff, 0x00000501}, {0xd14200ff, 0x00000101},
      {0x7ffe0501, 0x00000000}, {0x674f48f9, 0x0f81cd8d}, {0x0553f8f9, 0x2217b108},
      {0x022dcaf9, 0x27505b23}, {0x666940f9, 0x0e330f38}};
  for (const auto& words : deadly) {
    const auto bytes = std::as_bytes(std::span(words));
    EXPECT_EQ(decoder.decode(bytes, 0).info, nullptr) << decoder.text(bytes, 0);
    EXPECT_TRUE(decoder.text(bytes, 0).starts_with("no gfx942 instruction"));
  }
  const std::array<u32, 1> cut_literal{0xbe8635ff};
  EXPECT_EQ(decoder.decode(std::as_bytes(std::span(cut_literal)), 0).info, nullptr);
  // And a sample of everything, a third of it cut off after four bytes.
  std::mt19937 random(1);
  for (unsigned i = 0; i < 300'000; ++i) {
    std::array<u32, 2> words{static_cast<u32>(random()), static_cast<u32>(random())};
    if (i % 4 == 0) // SDWA and DPP words, which are rare otherwise
      words[0] = (words[0] & 0x7ffffe00) | (i % 8 ? 0xf9 : 0xfa);
    const auto bytes = std::as_bytes(std::span(words));
    decoder.decode(i % 3 ? bytes : bytes.first(4), 0);
  }
}

// LLVM decodes these; executed, they would write behind the registers.
TEST(Decoder, RegistersThatDoNotExist) {
  Decoder decoder;
  const auto stops = [&decoder](u32 word0, u32 word1) {
    const std::array<u32, 2> words{word0, word1};
    const Op op = decoder.decode(std::as_bytes(std::span(words)), 0);
    const std::array<u32, 2> none{0xffffffff, 0xffffffff};
    return op.execute == decoder.decode(std::as_bytes(std::span(none)), 0).execute;
  };
  EXPECT_FALSE(stops(0x7e040501, 0));         // v_readfirstlane_b32 s2, v1
  EXPECT_TRUE(stops(0x7f360501, 0));          // … to code 155
  EXPECT_FALSE(stops(0x7e044d04, 0));         // v_rsq_f64_e32 v[2:3], v[4:5]
  EXPECT_TRUE(stops(0x7ffe4c0a, 0));          // v_rsq_f64_e32 v[255:256], s[10:11]
  EXPECT_TRUE(stops(0x7e3033ff, 0));          // v_rndne_f64_e32 v[24:25], v[255:256]
  EXPECT_TRUE(stops(0xd0ca00c0, 0x00000501)); // v_cmp_eq_u32_e64 to code 192
  EXPECT_TRUE(stops(0xc00a1f40, 0));          // s_load_dwordx4 to code 125, which is reserved
  // Memory operations with more data than one access: the last registers, and those behind them.
  constexpr std::array<u32, 3> memory[] = {
      {0xd86e0000, 0xfe000001, 0xff000001}, // ds_read2_b32 v[254:255], v1
      {0xd8ee0000, 0xfc000001, 0xfe000001}, // ds_read2_b64 v[252:255], v1
      {0xd8f00000, 0xfc000001, 0xfe000001}, // ds_read2st64_b64
      {0xd85c0000, 0xfe030201, 0xff030201}, // ds_wrxchg2_rtn_b32 v[254:255], v1, v2, v3
      {0xd8dc0000, 0xfc040201, 0xfe040201}, // ds_wrxchg2_rtn_b64 v[252:255], v1, v[2:3], v[4:5]
      {0xd8dc0000, 0xfc000001, 0xfe000001}, // … v[252:255], v1, v[0:1], v[0:1]
      {0xd8de0000, 0xfc040201, 0xfe040201}, // ds_wrxchg2st64_rtn_b64
      {0xd8dc0000, 0xfcfe0201, 0xfcff0201}, // ds_wrxchg2_rtn_b64 v[252:255], v1, v[2:3], v[254:255]
      {0xd89c0000, 0x00fe0201, 0x00ff0201}, // ds_write2_b64 v1, v[2:3], v[254:255]
      {0xd8a00000, 0x00fe0201, 0x00ff0201}, // ds_cmpst_b64 v1, v[2:3], v[254:255]
      {0xd8980000, 0x00fe0201, 0x00ff0201}, // ds_mskor_b64 v1, v[2:3], v[254:255]
      {0xd8c00000, 0xfe000201, 0xff000201}, // ds_add_rtn_u64 v[254:255], v1, v[2:3]
      {0xdd898000, 0xfe000201, 0xff000201}, // global_atomic_add_x2 v[254:255], …, sc0
      {0xdd888000, 0x0000fe01, 0x0000ff01}, // global_atomic_add_x2 v1, v[254:255]
      {0xdd048000, 0x0000fe01, 0x0000ff01}, // global_atomic_cmpswap v1, v[254:255]
      {0xdd848000, 0x0000fc01, 0x0000fe01}, // global_atomic_cmpswap_x2 v1, v[252:255]
      {0xdd040000, 0x0000fe02, 0x0000ff02}, // flat_atomic_cmpswap v[2:3], v[254:255]
      {0xdd840000, 0x0000fc02, 0x0000fe02}, // flat_atomic_cmpswap_x2 v[2:3], v[252:255]
      {0xe1040000, 0x8002fe00, 0x8002ff00}, // buffer_atomic_cmpswap v[254:255]
      {0xe1840000, 0x8002fc00, 0x8002fe00}, // buffer_atomic_cmpswap_x2 v[252:255]
  };
  for (const auto& [word0, last, behind] : memory) {
    EXPECT_FALSE(stops(word0, last)) << std::hex << word0 << ' ' << last;
    EXPECT_TRUE(stops(word0, behind)) << std::hex << word0 << ' ' << behind;
  }
  // A field that an instruction does not use may hold anything.
  EXPECT_FALSE(stops(0xdd888000, 0xff000201)); // global_atomic_add_x2 without sc0
}

/// Mnemonics of the README's table "What is left": names between backticks, `*` for any end, of the
/// rows that say "stops". The table is this list, so it cannot be out of date.
std::vector<std::string> left_out_names() {
  std::ifstream file(WAVESIM_README);
  std::vector<std::string> names;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## "))
      inside = line == "## What is left";
    if (!inside || line.find("| stops") == std::string::npos)
      continue;
    for (std::size_t at = 0; (at = line.find('`', at)) != std::string::npos; ++at) {
      const std::size_t end = line.find('`', at + 1);
      names.push_back(line.substr(at + 1, end - at - 1));
      at = end;
    }
  }
  return names;
}

bool covers(const std::string& name, const std::string& mnemonic) {
  return name.ends_with('*') ? mnemonic.starts_with(name.substr(0, name.size() - 1))
                             : mnemonic == name;
}

TEST(Decoder, EveryInstructionHasAHandlerOrStandsInTheReadme) {
  const auto names = left_out_names();
  ASSERT_FALSE(names.empty()) << "no table in " << WAVESIM_README;
  std::set<std::string> known, stops, used;
  for (const Encoding& e : all_encodings()) {
    const std::string base = without_suffix(e.mnemonic);
    known.insert(base);
    const OpInfo* info = op_table().find(base);
    const bool listed = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const bool is = covers(name, base);
      if (is)
        used.insert(name);
      return is;
    });
    if (info && info->handler)
      EXPECT_FALSE(listed) << base << " has a handler, but the README says that it stops";
    else if (!listed)
      ADD_FAILURE() << base << " has no handler, and the README does not say so";
    else if (stops.insert(base).second)
      EXPECT_EXIT(
          {
            Machine m;
            const Op op = Decoder().decode(std::as_bytes(std::span(e.words)), 0);
            op.execute(m.wave, op);
          },
          testing::ExitedWithCode(stop_exit_code), "instruction not supported: " + base);
  }
  EXPECT_GT(known.size(), 1100u);
  for (const std::string& name : names)
    EXPECT_TRUE(used.contains(name)) << name << " of the README is no gfx942 instruction";
  for (const auto& [mnemonic, info] : op_table())
    EXPECT_TRUE(known.contains(std::string(mnemonic))) << mnemonic << " is no gfx942 instruction";
  std::printf("%zu mnemonics, %zu with a handler; left out:\n", known.size(),
              known.size() - stops.size());
  for (const std::string& m : stops)
    std::printf("  %s\n", m.c_str());
}

} // namespace
