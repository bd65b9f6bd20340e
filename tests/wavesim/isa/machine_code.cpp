#include "isa/machine_code.hpp"

#include "machine/fault.hpp"

#include <llvm/Support/TargetSelect.h>

#include <mutex>
#include <string>

namespace wavesim {
namespace {

const llvm::Target& find_target(const llvm::Triple& triple) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    stop("LLVM has no amdgcn target: " + error);
  return *target;
}

} // namespace

MachineCode::MachineCode()
    : target(find_target(triple)), registers(target.createMCRegInfo(triple)),
      asm_info(target.createMCAsmInfo(*registers, triple, options)),
      instructions(target.createMCInstrInfo()),
      subtarget(target.createMCSubtargetInfo(triple, "gfx942", "")),
      context(std::make_unique<llvm::MCContext>(triple, asm_info.get(), registers.get(),
                                                subtarget.get())),
      disassembler(target.createMCDisassembler(*subtarget, *context)) {}

} // namespace wavesim
