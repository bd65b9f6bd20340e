#include "checks/register_use.hpp"

#include "isa/machine_code.hpp"

#include <llvm/MC/MCInst.h>
#include <llvm/Support/raw_ostream.h>

#include <string>
#include <vector>

namespace wavesim {

namespace {

/// What a dword-sized register of LLVM's is to us.
struct Unit32 {
  enum class Kind : std::uint8_t { other, vector, scalar, scc } kind = Kind::other;
  std::uint16_t number = 0; ///< of a VectorSet or ScalarSet
};

/// LLVM's numbers change from version to version; its names and encodings do not.
Unit32 classify(std::string_view name, unsigned encoding) {
  const auto numbered = [&](std::string_view stem) {
    return name.starts_with(stem) && name.size() > stem.size() &&
           name.find_first_not_of("0123456789", stem.size()) == std::string_view::npos;
  };
  const auto number = static_cast<std::uint16_t>(encoding & 0xff);
  if (numbered("VGPR"))
    return {Unit32::Kind::vector, number};
  if (numbered("AGPR"))
    return {Unit32::Kind::vector, static_cast<std::uint16_t>(VectorSet::agpr0 + number)};
  if (name == "SCC" || name == "SRC_SCC")
    return {Unit32::Kind::scc, 0};
  const bool special = name.starts_with("VCC_") || name.starts_with("EXEC_") ||
                       name == "M0_gfxpre11" || name.ends_with("_vi") ||
                       name.starts_with("XNACK_MASK_") ||
                       (name.starts_with("TTMP") && name.ends_with("_gfx9plus"));
  if (numbered("SGPR") || (special && number < 128))
    return {Unit32::Kind::scalar, number};
  if (name == "M0")
    return {Unit32::Kind::scalar, 124};
  return {};
}

} // namespace

struct RegisterReader::Parts : MachineCode {
  std::vector<Unit32> units; ///< by LLVM's register number

  Parts() {
    units.resize(registers->getNumRegs());
    for (unsigned r = 1; r < registers->getNumRegs(); ++r)
      units[r] = classify(registers->getName(r), registers->getEncodingValue(r));
  }

  /// Calls f(unit) for every dword of a register or tuple.
  template <class F>
  void for_each_unit(llvm::MCRegister reg, F&& f) const {
    if (!reg.isValid())
      return;
    for (const auto part : registers->subregs_inclusive(reg))
      if (const Unit32 u = units[llvm::MCRegister(part).id()]; u.kind != Unit32::Kind::other)
        f(u);
  }

  void add(RegisterUse& use, llvm::MCRegister reg, bool write, bool kept) const {
    for_each_unit(reg, [&](Unit32 u) {
      switch (u.kind) {
      case Unit32::Kind::vector:
        (write ? use.writes : kept ? use.kept : use.reads).add(u.number);
        break;
      case Unit32::Kind::scalar:
        (write ? use.scalar_writes : use.scalar_reads).add(u.number);
        break;
      case Unit32::Kind::scc:
        (write ? use.writes_scc : use.reads_scc) = true;
        break;
      case Unit32::Kind::other:
        break;
      }
    });
  }
};

RegisterReader::RegisterReader() : parts_(std::make_unique<Parts>()) {}
RegisterReader::~RegisterReader() = default;

RegisterUse RegisterReader::read(std::span<const std::byte> bytes, std::uint64_t pc) {
  RegisterUse use;
  llvm::MCInst inst;
  std::uint64_t size = 0;
  const llvm::ArrayRef<std::uint8_t> data(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                          bytes.size());
  if (parts_->disassembler->getInstruction(inst, size, data, pc, llvm::nulls()) !=
      llvm::MCDisassembler::Success)
    return use;
  const llvm::MCInstrDesc& desc = parts_->instructions->get(inst.getOpcode());
  // The opcode's name tells a real accumulator input (v_fmac, v_mfma) from a kept destination.
  const llvm::StringRef name = parts_->instructions->getName(inst.getOpcode());
  const bool accumulates = name.contains("FMAC") || name.contains("DOT") || name.contains("MAC") ||
                           name.contains("SWAP") || name.contains("PK_FMA");
  for (unsigned i = 0; i < inst.getNumOperands(); ++i) {
    const llvm::MCOperand& operand = inst.getOperand(i);
    if (!operand.isReg())
      continue;
    const bool write = i < desc.getNumDefs();
    const bool tied = !write && i < desc.getNumOperands() &&
                      desc.getOperandConstraint(i, llvm::MCOI::TIED_TO) != -1;
    parts_->add(use, operand.getReg(), write, tied && !accumulates);
    // A destination that is tied may be given once only.
    if (write && accumulates && desc.getOperandConstraint(i, llvm::MCOI::TIED_TO) != -1)
      parts_->add(use, operand.getReg(), false, false);
  }
  for (const auto reg : desc.implicit_uses())
    parts_->add(use, reg, false, false);
  for (const auto reg : desc.implicit_defs())
    parts_->add(use, reg, true, false);
  return use;
}

} // namespace wavesim
