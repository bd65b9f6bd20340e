// Line tables of DWARF: which line of which file each address of the code comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wavesim {

/// The sections that line tables are made of. Their bytes outlive every LineTable read from them.
struct LineSections {
  std::string_view lines;        ///< .debug_line
  std::string_view line_strings; ///< .debug_line_str
  std::string_view strings;      ///< .debug_str
};

/// One unit of .debug_line, of DWARF 2 to 5. Nothing in it is trusted: no read leaves its unit or
/// section, every step costs the unit a byte, and what is kept has a limit.
class LineTable {
public:
  /// A few bytes of a compressed section can stand for very many; code has far fewer than these.
  static constexpr std::size_t most_entries = std::size_t{1} << 25;

  /// The tables of all units, in their order. A damaged unit is left out; behind one whose length
  /// cannot be right nothing can be found any more.
  /// Of rows, files and folders, `most` are kept at most; the unit that has more is damaged.
  static std::vector<LineTable> read(const LineSections& sections, std::size_t most = most_entries);

  /// "file:line" of an address, the file as an absolute path where the table knows one, or "".
  std::string at(std::uint64_t address) const;

private:
  struct Parser;
  struct Row {
    std::uint64_t address;
    std::uint32_t line, file;
  };
  /// Rows of ascending addresses, the last of which is that behind the code.
  struct Sequence {
    std::uint64_t begin, end; ///< addresses
    std::size_t first, last;  ///< rows
  };
  struct File {
    std::string_view name; ///< up to its zero, which is looked for when the name is asked for
    std::uint64_t folder;
  };

  const Row* row_at(std::uint64_t address) const;
  std::string path_of(std::uint32_t file) const;

  unsigned version_ = 0;
  std::vector<std::string_view> folders_; ///< as File::name
  std::vector<File> files_;
  std::vector<Row> rows_;
  std::vector<Sequence> sequences_; ///< by end
};

} // namespace wavesim
