// A code object in memory: segments mapped and registered, relocations applied, symbols listed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wavesim {

class ElfImage {
public:
  struct Symbol {
    std::uint64_t address = 0, size = 0;
  };
  struct Function {
    std::uint64_t begin = 0, end = 0;
    std::string name;
  };

  /// Null with a sentence in `error` when the bytes are not a complete gfx942 code object.
  static std::unique_ptr<ElfImage> load(std::span<const std::byte> elf, std::string& error);
  ~ElfImage();
  ElfImage(const ElfImage&) = delete;
  ElfImage& operator=(const ElfImage&) = delete;

  /// The bytes [address, address + size), or empty when they are not all inside one segment.
  std::span<std::byte> bytes(std::uint64_t address, std::uint64_t size) const;
  std::uint64_t text_begin() const { return text_begin_; }
  std::uint64_t text_end() const { return text_end_; }
  /// What is added to an address of the file to give one of memory.
  std::uint64_t bias() const { return reinterpret_cast<std::uintptr_t>(base_) - low_; }

  /// Exported objects and functions by name (kernel descriptors are objects named "….kd").
  const std::map<std::string, Symbol, std::less<>>& symbols() const { return symbols_; }
  /// Functions by address, local ones included.
  const std::vector<Function>& functions() const { return functions_; }
  /// Contents of the notes that hold AMDGPU metadata: one for each module that was linked, where a
  /// device program was linked of several (-fgpu-rdc).
  const std::vector<std::string>& metadata() const { return metadata_; }
  /// Whether [address, address + 8) is written by relocations only.
  bool read_only_after_relocation(std::uint64_t address) const;
  bool has_debug_lines() const { return has_debug_lines_; }

private:
  struct Reader;
  struct Segment {
    std::uint64_t begin = 0, end = 0; ///< addresses of memory
  };
  ElfImage() = default;

  std::byte* base_ = nullptr;
  std::size_t mapped_ = 0;
  std::uint64_t low_ = 0;
  std::uint64_t text_begin_ = 0, text_end_ = 0;
  std::vector<Segment> segments_; ///< by address, disjoint
  std::vector<Segment> relro_;
  std::map<std::string, Symbol, std::less<>> symbols_;
  std::vector<Function> functions_;
  std::vector<std::string> metadata_;
  bool has_debug_lines_ = false;
};

} // namespace wavesim
