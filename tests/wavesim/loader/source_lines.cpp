#include "loader/source_lines.hpp"

#include <fmt/format.h>
#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugLine.h>
#include <llvm/DebugInfo/DWARF/DWARFUnit.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBufferRef.h>

namespace wavesim {

namespace {

// Damaged debug information costs the line, nothing else.
void ignore(llvm::Error error) {
  llvm::consumeError(std::move(error));
}

/// The folder the compiler ran in, from which relative ones count: DWARF 5 lists it first.
const char* compilation_folder(const llvm::DWARFDebugLine::Prologue& prologue) {
  if (prologue.getVersion() < 5 || prologue.IncludeDirectories.empty())
    return "";
  auto text = prologue.IncludeDirectories.front().getAsCString();
  if (text)
    return *text;
  ignore(text.takeError());
  return "";
}

} // namespace

struct SourceLines::Parts {
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> dwarf;
  std::vector<llvm::DWARFDebugLine::LineTable> tables;

  explicit Parts(llvm::StringRef elf) {
    auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(elf, ""));
    if (!file) {
      ignore(file.takeError());
      return;
    }
    object = std::move(*file);
    dwarf = llvm::DWARFContext::create(
        *object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "", ignore, ignore);
    read_tables();
  }

  /// Line tables alone: LLVM 22 does not survive damaged entries of .debug_info.
  void read_tables() {
    const llvm::DWARFObject& sections = dwarf->getDWARFObj();
    llvm::DWARFDataExtractor data(sections, sections.getLineSection(), dwarf->isLittleEndian(), 8);
    llvm::DWARFUnitVector no_units;
    llvm::DWARFDebugLine::SectionParser parser(data, *dwarf,
                                               llvm::make_range(no_units.begin(), no_units.end()));
    while (!parser.done())
      tables.push_back(parser.parseNext(ignore, ignore));
  }
};

SourceLines::SourceLines(std::span<const std::byte> elf) : elf_(elf.begin(), elf.end()) {}
SourceLines::~SourceLines() = default;

std::string SourceLines::at(std::uint64_t address) {
  if (!parts_)
    parts_ = std::make_unique<Parts>(
        llvm::StringRef(reinterpret_cast<const char*>(elf_.data()), elf_.size()));
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  for (const auto& table : parts_->tables) {
    llvm::DILineInfo line;
    if (table.getFileLineInfoForAddress({address, llvm::object::SectionedAddress::UndefSection},
                                        false, compilation_folder(table.Prologue),
                                        Kind::AbsoluteFilePath, line) &&
        line.Line != 0 && line.FileName != llvm::DILineInfo::BadString)
      return fmt::format("{}:{}", line.FileName, line.Line);
  }
  return {};
}

} // namespace wavesim
