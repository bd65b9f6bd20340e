// What the simulated device can run: names of architectures in bundles and in ELF headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wavesim {

/// The device's full name, as hipDeviceProp_t::gcnArchName reports it.
inline constexpr std::string_view device_architecture = "gfx942:sramecc+:xnack-";

/// Why a code object with these ELF flags cannot run on the device, or "".
std::string unfit_for_device(std::uint32_t elf_flags);

/// How well code for `target` ("gfx942", "gfx942:xnack-", "gfx9-4-generic", …) suits the device: 0
/// not at all, larger is better.
int suitability(std::string_view target);

} // namespace wavesim
