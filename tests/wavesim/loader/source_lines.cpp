#include "loader/source_lines.hpp"

#include <fmt/format.h>
#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBufferRef.h>

namespace wavesim {

struct SourceLines::Parts {
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> dwarf;
};

SourceLines::SourceLines(std::span<const std::byte> elf) : elf_(elf.begin(), elf.end()) {}
SourceLines::~SourceLines() = default;

std::string SourceLines::at(std::uint64_t address) {
  // Damaged debug information costs the line, nothing else.
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  if (!parts_) {
    parts_ = std::make_unique<Parts>();
    const llvm::StringRef bytes(reinterpret_cast<const char*>(elf_.data()), elf_.size());
    auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, ""));
    if (!object) {
      llvm::consumeError(object.takeError());
    } else {
      parts_->object = std::move(*object);
      parts_->dwarf = llvm::DWARFContext::create(
          *parts_->object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "",
          ignore, ignore);
    }
  }
  if (!parts_->dwarf)
    return {};
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  const llvm::DILineInfoSpecifier wanted(Kind::AbsoluteFilePath, llvm::DINameKind::None);
  const auto line = parts_->dwarf->getLineInfoForAddress(
      {address, llvm::object::SectionedAddress::UndefSection}, wanted);
  if (!line || line->Line == 0 || line->FileName == llvm::DILineInfo::BadString)
    return {};
  return fmt::format("{}:{}", line->FileName, line->Line);
}

} // namespace wavesim
