// File and line of an instruction, from the line tables of a code object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace wavesim {

class SourceLines {
public:
  /// Keeps a copy of the file: the caller's may be gone when the first question comes.
  explicit SourceLines(std::span<const std::byte> elf);
  ~SourceLines();
  /// "file:line" of an address of the file, or "". Not thread-safe.
  std::string at(std::uint64_t address);

private:
  struct Parts;
  std::vector<std::byte> elf_;
  std::unique_ptr<Parts> parts_; ///< read at the first question
};

} // namespace wavesim
