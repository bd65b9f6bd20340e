#include "model/device_images.hpp"

#include "loader/fat_binary.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>

namespace wavesim {

namespace {

bool is_host_elf(std::span<const std::byte> bytes) {
  constexpr std::size_t machine_at = 18;
  constexpr std::uint16_t amdgpu = 224;
  std::uint16_t machine = 0;
  if (bytes.size() < machine_at + sizeof machine || std::memcmp(bytes.data(),
                                                                "\x7f"
                                                                "ELF",
                                                                4) != 0)
    return false;
  std::memcpy(&machine, bytes.data() + machine_at, sizeof machine);
  return machine != amdgpu;
}

} // namespace

std::vector<std::vector<std::byte>> device_images(const std::string& file, std::string& error) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) { // which opens, and throws when read
    error = fmt::format("cannot read '{}': it is a folder", file);
    return {};
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    error = fmt::format("cannot read '{}'", file);
    return {};
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  const std::span<const std::byte> all = std::as_bytes(std::span(bytes));
  std::vector<std::vector<std::byte>> found;
  std::string others;
  const auto take = [&](std::span<const std::byte> image) {
    DeviceImage device = extract_device_image(image);
    if (!device.elf.empty())
      found.push_back(std::move(device.elf));
    for (const std::string& architecture : device.architectures)
      if (others.find(architecture) == std::string::npos)
        others += (others.empty() ? "" : ", ") + architecture;
    return !found.empty();
  };
  if (!is_host_elf(all) && take(all)) // a bare code object, or a bundle
    return found;
  const std::string_view text(bytes.data(), bytes.size());
  for (const std::string_view magic : {"__CLANG_OFFLOAD_BUNDLE__", "CCOB"})
    for (auto at = text.find(magic); at != std::string_view::npos; at = text.find(magic, at + 1))
      if (at % 8 == 0) // as the linker places them; anything else is text about bundles
        take(all.subspan(at));
  if (found.empty())
    error = others.empty()
                ? fmt::format("'{}' holds no device code", file)
                : fmt::format("'{}' holds no code for gfx942, only for {}", file, others);
  return found;
}

} // namespace wavesim
