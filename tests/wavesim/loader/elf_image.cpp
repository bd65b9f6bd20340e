#include "loader/elf_image.hpp"

#include "loader/architecture.hpp"
#include "machine/memory_map.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <llvm/Object/ELF.h>
#include <stdexcept>
#include <sys/mman.h>

namespace wavesim {

namespace {

using File = llvm::object::ELFFile<llvm::object::ELF64LE>;
using llvm::object::ELF64LE;

/// Every defect of the file ends here; load() turns it into its sentence.
[[noreturn]] void reject(const std::string& why) {
  throw std::runtime_error(why);
}

template <class T>
T value(llvm::Expected<T> expected, const char* what) {
  if (!expected)
    reject(fmt::format("{}: {}", what, llvm::toString(expected.takeError())));
  return std::move(*expected);
}

// More than the address space a code object may sensibly span (their calls reach ±2 GiB).
constexpr std::uint64_t largest_span = std::uint64_t{4} << 30;
constexpr std::uint64_t page = 4096;

// ELF64 relocation numbers of AMDGPU (LLVM's AMDGPU usage guide).
enum Relocation : std::uint32_t {
  r_none = 0,
  r_abs32_lo = 1,
  r_abs32_hi = 2,
  r_abs64 = 3,
  r_rel32 = 4,
  r_rel64 = 5,
  r_abs32 = 6,
  r_rel32_lo = 10,
  r_rel32_hi = 11,
  r_relative64 = 13,
};

} // namespace

struct ElfImage::Reader {
  ElfImage& image;
  const File& file;

  void read() {
    check_header();
    map_segments();
    for (const auto& section : value(file.sections(), "section table")) {
      if (section.sh_type == llvm::ELF::SHT_DYNSYM)
        read_symbols(section, true);
      else if (section.sh_type == llvm::ELF::SHT_SYMTAB)
        read_symbols(section, false);
      else if (section.sh_type == llvm::ELF::SHT_RELA && (section.sh_flags & llvm::ELF::SHF_ALLOC))
        relocate(section);
      else if (section.sh_type == llvm::ELF::SHT_NOTE)
        read_notes(section);
      // The name table of a damaged file may be anywhere; a missing name is no reason to refuse.
      auto name = file.getSectionName(section);
      if (!name)
        llvm::consumeError(name.takeError());
      else if (*name == ".debug_line")
        image.has_debug_lines_ = true;
    }
    std::sort(image.functions_.begin(), image.functions_.end(),
              [](const Function& a, const Function& b) { return a.begin < b.begin; });
  }

  void check_header() const {
    const auto& header = file.getHeader();
    if (header.e_machine != llvm::ELF::EM_AMDGPU)
      reject(fmt::format("ELF machine {:#x} is not AMDGPU", std::uint16_t{header.e_machine}));
    if (header.e_ident[llvm::ELF::EI_OSABI] != llvm::ELF::ELFOSABI_AMDGPU_HSA)
      reject("the operating system ABI is not AMDGPU HSA");
    if (header.e_type != llvm::ELF::ET_DYN)
      reject("it is not linked (ELF type is not ET_DYN)");
    const std::string unfit = unfit_for_device(header.e_flags);
    if (!unfit.empty())
      reject(unfit);
  }

  void map_segments() {
    struct Load {
      std::uint64_t begin, end, offset, file_bytes;
      std::uint32_t flags;
    };
    std::vector<Load> loads;
    const std::uint64_t file_size = file.getBufSize();
    for (const auto& p : value(file.program_headers(), "program headers")) {
      if (p.p_type != llvm::ELF::PT_LOAD || p.p_memsz == 0)
        continue;
      const std::uint64_t begin = p.p_vaddr, bytes = p.p_memsz, stored = p.p_filesz,
                          offset = p.p_offset;
      if (stored > bytes || offset > file_size || stored > file_size - offset)
        reject("a segment lies outside the file");
      if (begin > largest_span || bytes > largest_span)
        reject("a segment is larger than a code object can be");
      loads.push_back({begin, begin + bytes, offset, stored, p.p_flags});
    }
    if (loads.empty())
      reject("there is nothing to load");
    std::sort(loads.begin(), loads.end(),
              [](const Load& a, const Load& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < loads.size(); ++i)
      if (loads[i].begin < loads[i - 1].end)
        reject("segments overlap");

    image.low_ = loads.front().begin / page * page;
    const std::uint64_t span = (loads.back().end - image.low_ + page - 1) / page * page;
    void* memory = mmap(nullptr, span, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      reject(fmt::format("no memory for {} bytes", span));
    image.base_ = static_cast<std::byte*>(memory);
    image.mapped_ = span;
    for (const Load& load : loads) {
      const std::uint64_t address = load.begin + image.bias();
      std::memcpy(reinterpret_cast<void*>(address), file.base() + load.offset, load.file_bytes);
      const Segment segment{address, load.end + image.bias()};
      image.segments_.push_back(segment);
      const bool executable = (load.flags & llvm::ELF::PF_X) != 0;
      if (executable && image.text_begin_ == 0)
        image.text_begin_ = segment.begin, image.text_end_ = segment.end;
      Range range;
      range.begin = segment.begin;
      range.end = segment.end;
      range.kind = (load.flags & llvm::ELF::PF_W) ? RangeKind::global_variable : RangeKind::code;
      MemoryMap::instance().add(range);
    }
    for (const auto& p : value(file.program_headers(), "program headers"))
      if (p.p_type == llvm::ELF::PT_GNU_RELRO && p.p_vaddr < largest_span &&
          p.p_memsz < largest_span)
        image.relro_.push_back({p.p_vaddr + image.bias(), p.p_vaddr + p.p_memsz + image.bias()});
    if (image.text_begin_ % 4 != 0)
      reject("the code is not aligned to 4 bytes");
  }

  void read_symbols(const File::Elf_Shdr& section, bool exported) {
    const auto names = value(file.getStringTableForSymtab(section), "symbol names");
    for (const auto& symbol : value(file.symbols(&section), "symbol table")) {
      if (symbol.st_shndx == llvm::ELF::SHN_UNDEF || symbol.st_shndx == llvm::ELF::SHN_ABS)
        continue;
      const auto type = symbol.getType();
      const std::uint64_t address = symbol.st_value + image.bias();
      const std::uint64_t size = symbol.st_size;
      if (exported && (type == llvm::ELF::STT_OBJECT || type == llvm::ELF::STT_FUNC) &&
          !(size != 0 && image.bytes(address, size).empty()))
        image.symbols_.try_emplace(value(symbol.getName(names), "symbol name").str(),
                                   Symbol{address, size});
      if (!exported && type == llvm::ELF::STT_FUNC && size < largest_span)
        image.functions_.push_back(
            {address, address + size, value(symbol.getName(names), "symbol name").str()});
    }
  }

  void read_notes(const File::Elf_Shdr& section) {
    llvm::Error error = llvm::Error::success();
    for (const auto& note : file.notes(section, error))
      if (note.getName() == "AMDGPU" && note.getType() == llvm::ELF::NT_AMDGPU_METADATA)
        // An alignment of 0 or 1 stands for 4.
        image.metadata_.push_back(
            note.getDescAsStringRef(std::max<std::uint64_t>(section.sh_addralign, 4)).str());
    if (error)
      reject(fmt::format("notes: {}", llvm::toString(std::move(error))));
  }

  std::uint64_t symbol_value(const File::Elf_Rela& rela, const File::Elf_Shdr& symbols) const {
    const auto* symbol = value(file.getRelocationSymbol(rela, &symbols), "relocation");
    if (!symbol)
      return image.bias();
    if (symbol->st_shndx == llvm::ELF::SHN_ABS)
      return symbol->st_value;
    if (symbol->st_shndx != llvm::ELF::SHN_UNDEF)
      return symbol->st_value + image.bias();
    if (symbol->getBinding() == llvm::ELF::STB_WEAK)
      return 0;
    const auto names = value(file.getStringTableForSymtab(symbols), "symbol names");
    reject(fmt::format("undefined symbol {}", value(symbol->getName(names), "symbol name").str()));
  }

  void relocate(const File::Elf_Shdr& section) {
    const auto* symbols = value(file.getSection(section.sh_link), "relocation section");
    for (const auto& rela : value(file.relas(section), "relocations")) {
      const std::uint32_t type = rela.getType(false);
      if (type == r_none)
        continue;
      const std::uint64_t place = rela.r_offset + image.bias();
      const auto addend = static_cast<std::uint64_t>(std::int64_t{rela.r_addend});
      const std::uint64_t target =
          addend + (type == r_relative64 ? image.bias() : symbol_value(rela, *symbols));
      switch (type) {
      case r_abs64:
      case r_relative64:
        store(place, target);
        break;
      case r_rel64:
        store(place, target - place);
        break;
      case r_abs32:
      case r_abs32_lo:
        store(place, static_cast<std::uint32_t>(target));
        break;
      case r_abs32_hi:
        store(place, static_cast<std::uint32_t>(target >> 32));
        break;
      case r_rel32:
      case r_rel32_lo:
        store(place, static_cast<std::uint32_t>(target - place));
        break;
      case r_rel32_hi:
        store(place, static_cast<std::uint32_t>((target - place) >> 32));
        break;
      default:
        reject(fmt::format("relocation type {} is unknown", type));
      }
    }
  }

  template <class T>
  void store(std::uint64_t place, T x) const {
    const auto to = image.bytes(place, sizeof x);
    if (to.empty())
      reject("a relocation lies outside the segments");
    std::memcpy(to.data(), &x, sizeof x);
  }
};

std::unique_ptr<ElfImage> ElfImage::load(std::span<const std::byte> elf, std::string& error) {
  std::unique_ptr<ElfImage> image(new ElfImage);
  try {
    const llvm::StringRef bytes(reinterpret_cast<const char*>(elf.data()), elf.size());
    if (!bytes.starts_with(llvm::StringRef("\x7f"
                                           "ELF\x02\x01",
                                           6)))
      reject("it does not start like a 64-bit little-endian ELF file");
    const auto file = value(File::create(bytes), "ELF header");
    Reader{*image, file}.read();
  } catch (const std::exception& defect) {
    error = fmt::format("not a usable gfx942 code object: {}", defect.what());
    return nullptr;
  }
  return image;
}

ElfImage::~ElfImage() {
  for (const Segment& s : segments_)
    MemoryMap::instance().remove(s.begin);
  if (base_)
    munmap(base_, mapped_);
}

std::span<std::byte> ElfImage::bytes(std::uint64_t address, std::uint64_t size) const {
  for (const Segment& s : segments_)
    if (address >= s.begin && address < s.end && size <= s.end - address)
      return {reinterpret_cast<std::byte*>(address), size};
  return {};
}

bool ElfImage::read_only_after_relocation(std::uint64_t address) const {
  return std::any_of(relro_.begin(), relro_.end(), [&](const Segment& s) {
    return address >= s.begin && address < s.end && s.end - address >= 8;
  });
}

} // namespace wavesim
