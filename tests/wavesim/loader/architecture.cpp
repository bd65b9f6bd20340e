#include "loader/architecture.hpp"

#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>

namespace wavesim {

namespace {

struct Machine {
  std::uint32_t code;
  const char* name;
};
constexpr Machine machines[] = {
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX900, "gfx900"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX906, "gfx906"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX908, "gfx908"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX90A, "gfx90a"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX950, "gfx950"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1030, "gfx1030"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1100, "gfx1100"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1101, "gfx1101"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1102, "gfx1102"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1200, "gfx1200"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1201, "gfx1201"},
    {llvm::ELF::EF_AMDGPU_MACH_AMDGCN_GFX1250, "gfx1250"},
};

} // namespace

std::string unfit_for_device(std::uint32_t flags) {
  using namespace llvm::ELF;
  const std::uint32_t machine = flags & EF_AMDGPU_MACH;
  if (machine != EF_AMDGPU_MACH_AMDGCN_GFX942 && machine != EF_AMDGPU_MACH_AMDGCN_GFX9_4_GENERIC) {
    for (const Machine& m : machines)
      if (m.code == machine)
        return fmt::format("it is built for {}, the device is {}", m.name, device_architecture);
    return fmt::format(
        "it is built for another architecture (ELF machine flag {:#x}), the device is {}", machine,
        device_architecture);
  }
  if ((flags & EF_AMDGPU_FEATURE_XNACK_V4) == EF_AMDGPU_FEATURE_XNACK_ON_V4)
    return fmt::format("it is built for xnack+, the device is {}", device_architecture);
  if ((flags & EF_AMDGPU_FEATURE_SRAMECC_V4) == EF_AMDGPU_FEATURE_SRAMECC_OFF_V4)
    return fmt::format("it is built for sramecc-, the device is {}", device_architecture);
  return {};
}

int suitability(std::string_view target) {
  const auto colon = target.find(':');
  const std::string_view name = target.substr(0, colon);
  int score = name == "gfx942" ? 10 : name == "gfx9-4-generic" ? 1 : 0;
  for (auto at = colon; score != 0 && at != std::string_view::npos;) {
    const auto next = target.find(':', at + 1);
    const std::string_view feature = target.substr(at + 1, next - at - 1);
    if (feature == "xnack-" || feature == "sramecc+")
      ++score; // says more exactly what the device is
    else
      score = 0;
    at = next;
  }
  return score;
}

} // namespace wavesim
