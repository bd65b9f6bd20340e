// Bundles of code objects for several architectures, as clang puts them into programs, plain
// ("__CLANG_OFFLOAD_BUNDLE__") or compressed ("CCOB"), and bare code objects.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace wavesim {

/// The memory at `image` that may be read: programs hand over a pointer without a size. Empty when
/// `image` is null or points nowhere.
std::span<const std::byte> readable_from(const void* image);

struct DeviceImage {
  std::vector<std::byte> elf;             ///< the code object for the device, or empty
  std::vector<std::string> architectures; ///< what the bundle holds, for the message
  std::string error;                      ///< why there is no code object
  bool damaged = false;                   ///< the bytes are broken, rather than for other devices
};

/// Finds the code object that suits the device best. Never looks past `bytes`; of a compressed
/// bundle only that code object is kept.
DeviceImage extract_device_image(std::span<const std::byte> bytes);

} // namespace wavesim
