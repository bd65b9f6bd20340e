#include "isa/decoder.hpp"

#include "isa/encoding.hpp"
#include "isa/machine_code.hpp"
#include "isa/validity.hpp"
#include "machine/fault.hpp"

#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace wavesim {
namespace {

/// What runs in place of an instruction nobody has implemented, or that is none.
void stop_unsupported(Wave& wave, const Op& op) {
  const auto bytes = std::as_bytes(std::span(op.words)).first(op.size);
  stop(wave, op, "instruction not supported: " + Decoder().text(bytes, op.pc));
}

unsigned marks_of(const Op& op) {
  const OpInfo& info = *op.info;
  const std::string_view mnemonic = info.mnemonic;
  if (((info.flags & op_load) && op.sc1) || ((info.flags & op_atomic) && op.sc0))
    return mark_polls;
  constexpr int vmcnt = 0xc00f; // bits 15:14 and 3:0, all ones for any number
  if (mnemonic == "s_waitcnt")
    return (op.imm & vmcnt) != vmcnt ? mark_waits : mark_computes;
  const bool steers = info.flags & (op_branch | op_ends | op_indirect);
  const bool pipe = info.unit < Unit::branch;
  const bool counts_clocks = mnemonic == "s_memtime" || mnemonic == "s_memrealtime";
  return (pipe && !steers && !counts_clocks) || mnemonic == "s_nop" ? mark_computes : 0;
}

/// "v_add_f32_e32 v0, v1, v2" → "v_add_f32": the same operation in another encoding has one name.
std::string_view base_mnemonic(std::string_view text) {
  text = text.substr(0, std::min(text.find_first_of(" \t\n"), text.size()));
  for (const std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp"})
    if (text.ends_with(suffix))
      text.remove_suffix(suffix.size());
  return text;
}

} // namespace

struct Decoder::Parts : MachineCode {
  const OpTable* table;
  std::unique_ptr<llvm::MCInstPrinter> printer;

  explicit Parts(const OpTable* t) : table(t) {
    printer.reset(target.createMCInstPrinter(triple, asm_info->getAssemblerDialect(), *asm_info,
                                             *instructions, *registers));
  }

  /// Text of the instruction and its size in bytes (0: none).
  std::string print(std::span<const std::byte> bytes, std::uint64_t pc, std::uint64_t& size) {
    // Padded: LLVM 22 does not survive a literal that is cut off.
    std::array<std::uint8_t, 16> data = {};
    std::memcpy(data.data(), bytes.data(), std::min(bytes.size(), data.size()));
    std::uint32_t words[2];
    std::memcpy(words, data.data(), sizeof words);
    llvm::MCInst inst;
    size = 0;
    if (!llvm_survives(words[0], words[1]) ||
        disassembler->getInstruction(inst, size, data, pc, llvm::nulls()) !=
            llvm::MCDisassembler::Success ||
        size > bytes.size()) {
      size = 0;
      return {};
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer->printInst(&inst, pc, "", *subtarget, stream);
    if (text.find("/*Invalid") != std::string::npos) { // an operand of the wrong kind
      size = 0;
      return {};
    }
    const auto begin = text.find_first_not_of(" \t");
    return begin == std::string::npos ? text : text.substr(begin);
  }
};

Decoder::Decoder() : Decoder(simd_level()) {}
Decoder::Decoder(Simd level) : parts_(std::make_unique<Parts>(&op_table(level))) {}
Decoder::~Decoder() = default;

std::string Decoder::text(std::span<const std::byte> bytes, std::uint64_t pc) {
  std::uint64_t size = 0;
  std::string text = parts_->print(bytes, pc, size);
  if (size)
    return text;
  std::string words = "no gfx942 instruction:";
  for (std::size_t i = 0; i + 4 <= std::min<std::size_t>(bytes.size(), 8); i += 4) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + i, 4);
    char hex[16];
    std::snprintf(hex, sizeof hex, " %08x", word);
    words += hex;
  }
  return words;
}

Op Decoder::decode(std::span<const std::byte> bytes, std::uint64_t pc) {
  Op op;
  op.pc = pc;
  op.execute = stop_unsupported;
  std::uint64_t size = 0;
  const std::string text = parts_->print(bytes, pc, size);
  op.size = static_cast<std::uint8_t>(size ? size : std::min<std::size_t>(bytes.size(), 8));
  std::memcpy(op.words, bytes.data(), std::min<std::size_t>(op.size, sizeof op.words));
  if (!size)
    return op;
  op.format = format_of(op.words[0]);
  const std::string_view mnemonic = base_mnemonic(text);
  const OpInfo* info = parts_->table->find(mnemonic);
  op.info = info;
  const bool readable = read_fields(op, info, mnemonic) && (!info || registers_exist(op));
  if (info)
    op.marks = static_cast<std::uint8_t>(marks_of(op));
  if (info && info->handler && readable)
    op.execute = info->plain && op.is_plain() ? info->plain : info->handler;
  return op;
}

} // namespace wavesim
