// One decoded gfx942 instruction: everything a handler needs, in fixed places, read from the
// encoding words once. LLVM's MC layer says what the instruction is; the operand fields are taken
// from the encoding itself, whose layout is the same for every instruction of a format.
#pragma once

#include <atomic>
#include <cstdint>

namespace wavesim {

struct Wave;
struct Op;
/// Executes one instruction. The run loop has set Wave::pc to the next instruction before the call;
/// branches overwrite it, s_endpgm / s_barrier / s_sleep set Wave::status.
using Handler = void (*)(Wave&, const Op&);

/// Scalar formats first. SDWA and DPP forms keep vop1/vop2/vopc; flat covers FLAT, GLOBAL and
/// SCRATCH (see Segment).
// clang-format off
enum class Format : std::uint8_t {
  sop1, sop2, sopk, sopc, sopp, smem, vop1, vop2, vopc, vop3, vop3p, ds, flat, mubuf, unsupported
};
// clang-format on

/// The hardware unit an instruction is issued to, as the counters report it.
// clang-format off
enum class Unit : std::uint8_t {
  valu, trans, mfma, salu, smem, lds, vmem, flat, branch, wait, barrier, message, other, count
};
// clang-format on

/// How the bits of an operand are read: it fixes the width in dwords and how inline constants
/// expand.
// clang-format off
enum class Type : std::uint8_t {
  none, b8, b16, b32, b64, b96, b128, f16, f32, f64, i16, u16, i32, u32, i64, u64, v2f16, v2i16,
  v2u16, v2f32, bf16, b256, b512, b1024
};
// clang-format on

/// Number of dwords an operand of this type occupies.
constexpr unsigned dwords(Type t) {
  switch (t) {
  case Type::none:
    return 0;
  case Type::b64:
  case Type::f64:
  case Type::i64:
  case Type::u64:
  case Type::v2f32:
    return 2;
  case Type::b96:
    return 3;
  case Type::b128:
    return 4;
  case Type::b256:
    return 8;
  case Type::b512:
    return 16;
  case Type::b1024:
    return 32;
  default:
    return 1;
  }
}

/// A source operand (9-bit code of the encoding, or an 8-bit scalar code).
struct Source {
  enum class Kind : std::uint8_t { none, vgpr, agpr, sgpr, constant, scc, vccz, execz };
  Kind kind = Kind::none;
  std::uint8_t sel = 6;          ///< SDWA: 0–3 byte, 4–5 word, 6 dword
  std::uint16_t reg = 0;         ///< first register: VGPR/AGPR number, or scalar code 0…127
  bool neg = false, abs = false; ///< VOP3/SDWA/DPP float modifiers (VOP3P: see Op::neg_lo/neg_hi)
  bool sext = false;             ///< SDWA
  std::uint64_t value = 0;       ///< Kind::constant: bits, expanded to the operand's Type
};

enum class Segment : std::uint8_t { none, flat, global, scratch };

/// Static facts of a mnemonic, given where its handler is registered.
struct OpInfo {
  const char* mnemonic = ""; ///< base mnemonic without encoding suffix, e.g. "v_add_f32"
  Handler handler = nullptr;
  Unit unit = Unit::other;
  Type dst = Type::none; ///< result, or data type of a memory operation
  Type src[4] = {Type::none, Type::none, Type::none, Type::none};
  std::uint32_t flags = 0;    ///< OpFlag bits
  std::uint32_t aux = 0;      ///< free for the handler family (sub-operation, shape index, …)
  Handler plain = nullptr;    ///< if set, used instead of `handler` when Op::is_plain()
  const void* body = nullptr; ///< free for the handler family (a row function, a table, …)
};

enum OpFlag : std::uint32_t {
  op_writes_scalar = 1u << 0, ///< VOPC, v_readlane…: the destination is an SGPR (pair)
  op_carry_out = 1u << 1,     ///< writes VCC, or sdst in VOP3 form
  op_carry_in = 1u << 2,      ///< reads VCC, or src2 in VOP3 form
  op_float = 1u << 3,         ///< neg/abs/clamp/omod act as float modifiers
  op_reads_dst = 1u << 4,     ///< v_fmac…: the destination is also an input
  op_load = 1u << 5,
  op_store = 1u << 6,
  op_atomic = 1u << 7, ///< returns the old value when Op::sc0 (flat, mubuf) or by name (ds)
  op_branch = 1u << 8,
  op_ends = 1u << 9,      ///< s_endpgm
  op_indirect = 1u << 10, ///< s_setpc, s_swappc, s_cbranch_*fork: target not in the encoding
  op_float_atomic = 1u << 11,
  op_keeps_high = 1u << 12, ///< 16-bit result that leaves the other half of the register alone
  op_mode_f32 = 1u << 13,   ///< obeys MODE's f32 rounding and denormal fields
  op_mode_f64 = 1u << 14,   ///< obeys MODE's f64/f16 fields
  op_exec_any = 1u << 15,   ///< ignores EXEC (readlane, MFMA, …)
};

/// What the run loop wants to know of an instruction.
enum OpMark : std::uint8_t {
  mark_polls = 1u << 0, ///< a load that other workgroups' stores reach, or an atomic that returns
                        ///< what was there: waiting loops contain it
  mark_waits = 1u << 1, ///< s_waitcnt with a vmcnt
  mark_computes = 1u << 2, ///< neither steers the wave nor asks how far it is
};

/// Fields stand in the order of their use: unrolled kernels have more instructions than the host's
/// caches hold, so a vector operation reads one line of its record and a memory operation two.
struct alignas(64) Op {
  Handler execute = nullptr;
  std::uint16_t dst = 0;    ///< VGPR number, AGPR number (dst_agpr) or scalar code
  std::uint16_t sdst = 106; ///< scalar destination of carry-out and compares (106 = VCC)
  std::uint8_t size = 0;    ///< bytes
  bool dst_agpr = false;
  std::uint8_t marks = 0; ///< OpMark bits, for the run loop
  bool followed = false;  ///< the next array element is the instruction behind (OpStore)
  Source src[4];

  const OpInfo* info = nullptr;
  std::uint32_t id = 0; ///< dense number inside its CodeObject, in order of first decode

  // Memory: DS, FLAT/GLOBAL/SCRATCH, MUBUF
  std::int32_t offset =
      0; ///< signed byte offset (DS: offset0 and offset1 joined for one-address forms)
  std::uint16_t vaddr = 0;               ///< address VGPR
  std::uint16_t vdata = 0;               ///< data VGPR (DS: data0)
  std::uint16_t vdata1 = 0;              ///< DS: data1
  std::uint16_t saddr = 0x7f;            ///< scalar address or V# (scalar code); 0x7f = off
  std::uint8_t offset0 = 0, offset1 = 0; ///< DS two-address forms
  Segment segment = Segment::none;
  bool data_agpr = false; ///< load destination / store data live in AGPRs
  bool sc0 = false, sc1 = false, nt = false, lds = false, gds = false;
  bool offen = false, idxen = false; ///< MUBUF
  bool has_vaddr = true;             ///< scratch forms without a VGPR address (sve = 0)

  // Scalar immediates and branches
  std::int32_t imm = 0;     ///< simm16 (SOPK/SOPP) sign-extended, SMEM offset
  std::uint64_t target = 0; ///< branch target address

  std::uint64_t pc = 0;                  ///< device address (= host address) of the first word
  Source soffset;                        ///< MUBUF, SMEM
  std::uint32_t words[4] = {0, 0, 0, 0}; ///< encoding, literal or SDWA/DPP word included

  Format format = Format::unsupported;

  // Vector modifiers
  bool clamp = false;
  std::uint8_t omod = 0;                                          ///< 0 none, 1 ×2, 2 ×4, 3 ÷2
  std::uint8_t op_sel = 0, op_sel_hi = 0, neg_lo = 0, neg_hi = 0; ///< VOP3P and VOP3 op_sel bits
  std::uint8_t cbsz = 0, abid = 0, blgp = 0;                      ///< matrix instructions
  bool sdwa = false, dpp = false;
  std::uint8_t dst_sel = 6, dst_unused = 0; ///< SDWA
  std::uint16_t dpp_ctrl = 0;
  std::uint8_t row_mask = 0xf, bank_mask = 0xf;
  bool bound_ctrl = false;

  /// Whether the run loop may go on with the next array element and look at nothing.
  bool computes_and_followed() const {
    return (marks & mark_computes) &&
           std::atomic_ref(const_cast<bool&>(followed)).load(std::memory_order_acquire);
  }

  /// No source or result modifier of any kind (VOP3P: each half from its own half).
  bool is_plain() const {
    for (const Source& s : src)
      if (s.neg || s.abs || s.sext || s.sel != 6)
        return false;
    const unsigned high = src[2].kind == Source::Kind::none ? 3 : 7;
    const bool halves = format != Format::vop3p || (op_sel_hi & high) == high;
    return halves && !clamp && !omod && !op_sel && !neg_lo && !neg_hi && !sdwa && !dpp;
  }
};

static_assert(sizeof(Op) == 192);

} // namespace wavesim
