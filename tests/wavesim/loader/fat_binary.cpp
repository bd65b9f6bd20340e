#include "loader/fat_binary.hpp"

#include "loader/architecture.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Object/OffloadBundle.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <sys/sysinfo.h>

namespace wavesim {

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view plain_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view compressed_magic = "CCOB";
constexpr std::string_view elf_magic = "\x7f"
                                       "ELF";

[[noreturn]] void damaged(const std::string& why) {
  throw std::runtime_error(why);
}

bool starts_with(Bytes bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

template <class T>
T read(Bytes bytes, std::uint64_t at) {
  if (at > bytes.size() || sizeof(T) > bytes.size() - at)
    damaged("the bundle ends too early");
  T x;
  std::memcpy(&x, bytes.data() + at, sizeof x);
  return x;
}

Bytes part(Bytes bytes, std::uint64_t at, std::uint64_t size, const char* what) {
  if (at > bytes.size() || size > bytes.size() - at)
    damaged(fmt::format("{} lies outside the {} bytes there are", what, bytes.size()));
  return bytes.subspan(at, size);
}

/// "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-" → "gfx942:xnack-"; "" for entries that are not for HIP.
std::string_view target_of(std::string_view id) {
  if (!id.starts_with("hip"))
    return {};
  const auto triple = id.find("amdhsa-");
  if (triple == std::string_view::npos)
    return {};
  auto target = id.substr(triple + 7);
  while (target.starts_with('-'))
    target.remove_prefix(1);
  return target;
}

void extract_plain(Bytes bundle, DeviceImage& image) {
  std::uint64_t at = plain_magic.size();
  const auto entries = read<std::uint64_t>(bundle, at);
  at += 8;
  int best = 0;
  Bytes chosen;
  for (std::uint64_t i = 0; i < entries; ++i) {
    const auto offset = read<std::uint64_t>(bundle, at);
    const auto size = read<std::uint64_t>(bundle, at + 8);
    const auto id_bytes = read<std::uint64_t>(bundle, at + 16);
    const Bytes id = part(bundle, at + 24, id_bytes, "the name of an entry");
    at += 24 + id_bytes;
    const auto target = target_of({reinterpret_cast<const char*>(id.data()), id.size()});
    if (target.empty())
      continue;
    image.architectures.emplace_back(target);
    const int score = suitability(target);
    if (score > best && size != 0) {
      best = score;
      chosen = part(bundle, offset, size, "the code object");
    }
  }
  image.elf.assign(chosen.begin(), chosen.end());
}

/// Length of the compressed bundle from its own header, and of what comes out of it.
struct CompressedSizes {
  std::uint64_t stored = 0, inflated = 0;
};

CompressedSizes compressed_sizes(Bytes bytes) {
  // Magic, u16 version, u16 method; then total size (from version 2 on) and inflated size, of 32
  // bits up to version 2 and of 64 bits from version 3 on; then a hash.
  const auto version = read<std::uint16_t>(bytes, 4);
  switch (version) {
  case 1:
    return {bytes.size(), read<std::uint32_t>(bytes, 8)};
  case 2:
    return {read<std::uint32_t>(bytes, 8), read<std::uint32_t>(bytes, 12)};
  case 3:
    return {read<std::uint64_t>(bytes, 8), read<std::uint64_t>(bytes, 16)};
  default:
    damaged(fmt::format("version {} of the compressed bundle is unknown", version));
  }
}

void extract_compressed(Bytes bytes, DeviceImage& image) {
  const CompressedSizes sizes = compressed_sizes(bytes);
  struct sysinfo host = {};
  sysinfo(&host);
  // LLVM allocates what the header says before it looks at the data.
  if (sizes.inflated > std::uint64_t{host.totalram} * host.mem_unit)
    damaged(
        fmt::format("the compressed bundle claims {} bytes inflated, more than the host's memory",
                    sizes.inflated));
  const Bytes stored = part(bytes, 0, sizes.stored, "the compressed bundle");
  const auto buffer = llvm::MemoryBuffer::getMemBuffer(
      llvm::StringRef(reinterpret_cast<const char*>(stored.data()), stored.size()), "", false);
  auto inflated = llvm::object::CompressedOffloadBundle::decompress(*buffer);
  if (!inflated)
    damaged(fmt::format("the compressed bundle: {}", llvm::toString(inflated.takeError())));
  const Bytes plain(reinterpret_cast<const std::byte*>((*inflated)->getBufferStart()),
                    (*inflated)->getBufferSize());
  if (!starts_with(plain, plain_magic))
    damaged("there is no bundle inside the compressed one");
  extract_plain(plain, image);
}

/// The end of a bare code object: the furthest its own tables reach.
std::uint64_t elf_extent(Bytes bytes) {
  const auto header = read<llvm::ELF::Elf64_Ehdr>(bytes, 0);
  std::uint64_t end = sizeof header;
  const auto grow = [&](std::uint64_t at, std::uint64_t size) {
    part(bytes, at, size, "a part of the code object");
    end = std::max(end, at + size);
  };
  grow(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(llvm::ELF::Elf64_Phdr));
  grow(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(llvm::ELF::Elf64_Shdr));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto p = read<llvm::ELF::Elf64_Phdr>(
        bytes, header.e_phoff + std::uint64_t{i} * sizeof(llvm::ELF::Elf64_Phdr));
    grow(p.p_offset, p.p_filesz);
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto s = read<llvm::ELF::Elf64_Shdr>(
        bytes, header.e_shoff + std::uint64_t{i} * sizeof(llvm::ELF::Elf64_Shdr));
    if (s.sh_type != llvm::ELF::SHT_NOBITS)
      grow(s.sh_offset, s.sh_size);
  }
  return end;
}

std::string missing_text(const std::vector<std::string>& architectures) {
  std::string list;
  for (const std::string& a : architectures)
    list += (list.empty() ? "" : ", ") + a;
  return fmt::format("no code for {} in the program; it has code for: {}", device_architecture,
                     list.empty() ? "no device" : list);
}

} // namespace

std::span<const std::byte> readable_from(const void* image) {
  // The kernel's own list of mappings: neighbouring readable ones count as one piece.
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "r"),
                                                       &std::fclose);
  const auto address = reinterpret_cast<std::uintptr_t>(image);
  std::uintptr_t end = 0;
  char line[512];
  while (maps && std::fgets(line, sizeof line, maps.get())) {
    std::uintptr_t from = 0, to = 0;
    char readable = '-';
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c", &from, &to, &readable) != 3)
      continue;
    if (end == 0 ? (from <= address && address < to) : from == end) {
      if (readable != 'r')
        break;
      end = to;
    } else if (end != 0) {
      break;
    }
  }
  if (end == 0)
    return {};
  return {static_cast<const std::byte*>(image), end - address};
}

DeviceImage extract_device_image(std::span<const std::byte> bytes) {
  DeviceImage image;
  try {
    if (starts_with(bytes, elf_magic)) {
      const Bytes elf = bytes.first(elf_extent(bytes));
      image.elf.assign(elf.begin(), elf.end());
      return image; // the ELF reader says what it is for
    }
    if (starts_with(bytes, compressed_magic))
      extract_compressed(bytes, image);
    else if (starts_with(bytes, plain_magic))
      extract_plain(bytes, image);
    else
      damaged("it is neither a bundle nor a code object");
    if (image.elf.empty())
      image.error = missing_text(image.architectures);
  } catch (const std::exception& defect) {
    image.elf.clear();
    image.damaged = true;
    image.error = fmt::format("damaged device code: {}", defect.what());
  }
  return image;
}

} // namespace wavesim
