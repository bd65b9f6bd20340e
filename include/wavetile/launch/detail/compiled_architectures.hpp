/// \file
/// Which architectures a program carries code for, read from the program itself.
///
/// No macro tells the host pass what the device passes are for. The file that a kernel's host
/// handle lies in (program or shared library) has the code in its section .hip_fatbin, as a row of
/// bundles whose headers list the targets: see "Clang Offload Bundler" in clang's documentation.
/// Read only to word an error. What nvcc makes is not looked into.
#pragma once

#include <wavetile/core/status.hpp>

#if defined(__linux__)
#include <elf.h>

#include <cstdio>
#include <cstring>
#endif

namespace wavetile::detail {

using architecture_list = fixed_text<160>;

#if defined(__linux__)

/// A file, closed at the end.
class input_file {
public:
  explicit input_file(const char* path) : file_(std::fopen(path, "rb")) {}
  ~input_file() {
    if (file_)
      std::fclose(file_);
  }
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  bool is_open() const { return file_ != nullptr; }
  std::FILE* get() const { return file_; }

  /// Reads exactly `size` bytes at `offset`.
  bool read(uint64_t offset, void* to, size_t size) const {
    return std::fseek(file_, static_cast<long>(offset), SEEK_SET) == 0 &&
           std::fread(to, 1, size, file_) == size;
  }

private:
  std::FILE* file_;
};

/// Path of the file that is mapped at an address; false when there is none.
inline bool mapped_file(const void* address, char (&path)[4096]) {
  const input_file maps("/proc/self/maps");
  if (!maps.is_open())
    return false;
  char line[4096 + 128];
  while (std::fgets(line, sizeof line, maps.get())) {
    unsigned long long begin = 0, end = 0;
    int name = 0;
    if (std::sscanf(line, "%llx-%llx %*s %*s %*s %*s %n", &begin, &end, &name) < 2 || name == 0)
      continue;
    const auto value = reinterpret_cast<uintptr_t>(address);
    if (value < begin || value >= end || line[name] != '/')
      continue;
    line[std::strcspn(line, "\n")] = '\0';
    std::snprintf(path, sizeof path, "%s", line + name);
    return true;
  }
  return false;
}

/// Finds a section by name.
inline bool find_section(const input_file& file, const char* name, Elf64_Shdr& found) {
  Elf64_Ehdr header;
  if (!file.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return false;
  Elf64_Shdr names;
  if (!file.read(header.e_shoff + uint64_t{header.e_shstrndx} * sizeof names, &names, sizeof names))
    return false;
  const size_t length = std::strlen(name) + 1;
  char candidate[32] = {};
  if (length > sizeof candidate)
    return false;
  for (uint64_t i = 0; i < header.e_shnum; ++i)
    if (file.read(header.e_shoff + i * sizeof found, &found, sizeof found) &&
        file.read(names.sh_offset + found.sh_name, candidate, length) &&
        std::memcmp(candidate, name, length) == 0)
      return true;
  return false;
}

/// Appends the architecture of a bundle entry ("hipv4-amdgcn-amd-amdhsa--gfx942:xnack-") unless it
/// is listed already.
inline void list_target(const char* id, architecture_list& list) {
  const char* arch = std::strstr(id, "gfx");
  if (std::strncmp(id, "hip", 3) != 0 || arch == nullptr)
    return;
  for (const char* seen = list.c_str(); (seen = std::strstr(seen, arch)) != nullptr; ++seen) {
    const char after = seen[std::strlen(arch)];
    if (after == ',' || after == '\0')
      return;
  }
  if (list.length() != 0)
    list.append(", ");
  list.append(arch);
}

/// Reads the bundle at `offset`; its size, or 0 when there is none.
inline uint64_t list_bundle(const input_file& file, uint64_t offset, architecture_list& list,
                            bool& compressed) {
  char magic[24] = {};
  if (!file.read(offset, magic, sizeof magic))
    return 0;
  if (std::memcmp(magic, "CCOB", 4) == 0) {
    compressed = true;
    uint16_t version = 0;
    std::memcpy(&version, magic + 4, sizeof version);
    uint64_t size = 0; // 32 bits wide up to version 2
    std::memcpy(&size, magic + 8, version >= 3 ? 8 : 4);
    return version >= 2 ? size : 0;
  }
  if (std::memcmp(magic, "__CLANG_OFFLOAD_BUNDLE__", sizeof magic) != 0)
    return 0;
  uint64_t count = 0;
  uint64_t position = offset + sizeof magic;
  if (!file.read(position, &count, sizeof count) || count > 1024)
    return 0;
  position += sizeof count;
  uint64_t size = 0;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t entry[3]; // offset, size, length of the id
    char id[128] = {};
    if (!file.read(position, entry, sizeof entry) || entry[2] >= sizeof id ||
        !file.read(position + sizeof entry, id, entry[2]))
      return 0;
    list_target(id, list);
    position += sizeof entry + entry[2];
    const uint64_t end = entry[0] + entry[1];
    size = end > size ? end : size;
  }
  const uint64_t header = position - offset;
  return size > header ? size : header;
}

#endif

/// The architectures in the file that `address`, a kernel's host handle, lies in: "gfx90a, gfx942".
/// Says so when they cannot be told.
inline architecture_list compiled_architectures([[maybe_unused]] const void* address) {
  architecture_list list;
#if defined(__linux__)
  bool compressed = false;
  char path[4096];
  Elf64_Shdr section;
  if (mapped_file(address, path)) {
    const input_file file(path);
    if (file.is_open() && find_section(file, ".hip_fatbin", section)) {
      constexpr uint64_t page = 4096; // bundles of different translation units start on pages
      for (uint64_t at = 0; at < section.sh_size;) {
        const uint64_t size = list_bundle(file, section.sh_offset + at, list, compressed);
        at += size == 0 ? page : (size + page - 1) / page * page;
      }
    }
  }
  if (compressed)
    list.append(list.length() != 0 ? ", and in compressed code that is not listed"
                                   : "architectures that its compressed code does not list");
#endif
  if (list.length() == 0)
    list.append(WAVETILE_CUDA ? "others, which nvcc's -arch chose"
                              : "no architecture that could be found");
  return list;
}

} // namespace wavetile::detail
