#include "loader/source_lines.hpp"

#include "loader/line_table.hpp"

#include <deque>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Object/Decompressor.h>
#include <llvm/Object/ELF.h>
#include <optional>

namespace wavesim {

namespace {

using File = llvm::object::ELFFile<llvm::object::ELF64LE>;

// Damaged debug information costs the line, nothing else.
template <class T>
std::optional<T> value(llvm::Expected<T> expected) {
  if (expected)
    return std::move(*expected);
  llvm::consumeError(expected.takeError());
  return std::nullopt;
}

// A compressed section says how large it gets; more than this is damage.
constexpr std::uint64_t largest_section = std::uint64_t{1} << 28;

} // namespace

struct SourceLines::Parts {
  std::deque<llvm::SmallVector<char, 0>> decompressed; ///< what sections are views of
  LineSections sections;
  std::vector<LineTable> tables;

  explicit Parts(llvm::StringRef elf) {
    const auto file = value(File::create(elf));
    if (!file)
      return;
    const auto headers = value(file->sections());
    if (!headers)
      return;
    for (const auto& header : *headers) {
      const auto name = value(file->getSectionName(header));
      if (!name)
        continue;
      if (*name == ".debug_line")
        sections.lines = contents(*file, header);
      else if (*name == ".debug_line_str")
        sections.line_strings = contents(*file, header);
      else if (*name == ".debug_str")
        sections.strings = contents(*file, header);
    }
    tables = LineTable::read(sections);
  }

  std::string_view contents(const File& file, const File::Elf_Shdr& header) {
    const auto bytes = value(file.getSectionContents(header));
    if (!bytes)
      return {};
    const llvm::StringRef stored(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (!(header.sh_flags & llvm::ELF::SHF_COMPRESSED))
      return stored;
    auto section = value(llvm::object::Decompressor::create("", stored, true, true));
    if (!section || section->getDecompressedSize() > largest_section)
      return {};
    auto& whole = decompressed.emplace_back();
    if (auto error = section->resizeAndDecompress(whole)) {
      llvm::consumeError(std::move(error));
      return {};
    }
    return {whole.data(), whole.size()};
  }
};

SourceLines::SourceLines(std::span<const std::byte> elf) : elf_(elf.begin(), elf.end()) {}
SourceLines::~SourceLines() = default;

std::string SourceLines::at(std::uint64_t address) {
  if (!parts_)
    parts_ = std::make_unique<Parts>(
        llvm::StringRef(reinterpret_cast<const char*>(elf_.data()), elf_.size()));
  for (const LineTable& table : parts_->tables)
    if (auto line = table.at(address); !line.empty())
      return line;
  return {};
}

} // namespace wavesim
