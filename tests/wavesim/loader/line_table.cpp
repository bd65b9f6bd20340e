#include "loader/line_table.hpp"

#include "loader/byte_cursor.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <llvm/ADT/SmallString.h>
#include <llvm/Support/Path.h>

namespace wavesim {

namespace {

constexpr std::size_t longest_name = std::size_t{1} << 14;
// Where this many units are damaged, it is not worth reading on.
constexpr unsigned most_damaged_units = 1000;

// Numbers of the DWARF 5 standard, sections 6.2.4 (header) and 6.2.5 (program), 7.5.6 (forms).
enum Content : std::uint64_t { content_path = 1, content_folder = 2 };
enum Form : std::uint64_t {
  form_data2 = 0x05,
  form_data4 = 0x06,
  form_data8 = 0x07,
  form_string = 0x08,
  form_block = 0x09,
  form_data1 = 0x0b,
  form_strp = 0x0e,
  form_udata = 0x0f,
  form_data16 = 0x1e,
  form_line_strp = 0x1f,
};
enum Opcode : unsigned {
  op_extended = 0,
  op_copy = 1,
  op_advance_pc = 2,
  op_advance_line = 3,
  op_set_file = 4,
  op_const_add_pc = 8,
  op_fixed_advance_pc = 9,
};
enum ExtendedOpcode : unsigned { extended_end_sequence = 1, extended_set_address, extended_file };

std::string_view up_to_zero(std::string_view from) {
  from = from.substr(0, longest_name);
  return from.substr(0, from.find('\0'));
}

bool absolute(std::string_view path) {
  using llvm::sys::path::Style;
  return llvm::sys::path::is_absolute(path, Style::posix) ||
         llvm::sys::path::is_absolute(path, Style::windows);
}

} // namespace

struct LineTable::Parser {
  const LineSections& sections;
  LineTable& table;
  unsigned offset_bytes;     ///< 4 or 8, of offsets and lengths: 32-bit or 64-bit DWARF
  std::size_t& entries_left; ///< of those that all units may have

  // Of the header.
  std::uint64_t instruction_bytes = 1; ///< unit of address steps
  int line_base = 0;
  unsigned line_range = 0, opcode_base = 0;
  std::string_view operand_counts = {}; ///< of the standard opcodes, from 1

  // The state machine.
  Row row = {};
  std::size_t first_row = 0;
  bool ascending = true;

  /// All of a unit behind its length.
  void read(ByteCursor unit) {
    table.version_ = static_cast<unsigned>(unit.number(2));
    if (table.version_ < 2 || table.version_ > 5)
      throw Damage();
    if (table.version_ >= 5)
      unit.take(2); // sizes of an address and of a segment selector
    const std::uint64_t header_bytes = unit.number(offset_bytes);
    read_header(ByteCursor(unit.take(header_bytes)));
    run(unit);
    std::sort(table.sequences_.begin(), table.sequences_.end(),
              [](const Sequence& a, const Sequence& b) {
                return a.end != b.end ? a.end < b.end : a.first < b.first;
              });
  }

  /// Before anything is kept.
  void count_entries(std::uint64_t count) const {
    if (count > entries_left)
      throw Damage();
    entries_left -= count;
  }

  void read_header(ByteCursor header) {
    instruction_bytes = header.byte();
    if (table.version_ >= 4)
      header.byte(); // operations in an instruction: a code of VLIW machines
    header.byte();   // whether rows start as statements
    line_base = static_cast<std::int8_t>(header.byte());
    line_range = header.byte();
    opcode_base = header.byte();
    if (line_range == 0 || opcode_base == 0)
      throw Damage();
    operand_counts = header.take(opcode_base - 1);
    if (table.version_ >= 5) {
      for (const File& folder : read_entries(header))
        table.folders_.push_back(folder.name);
      table.files_ = read_entries(header);
      return;
    }
    const auto more = [&] {
      if (header.left().starts_with('\0')) {
        header.byte();
        return false;
      }
      return true;
    };
    while (more()) {
      count_entries(1);
      table.folders_.push_back(header.string());
    }
    while (more())
      add_old_file(header);
  }

  /// A file in the form that DWARF 2 to 4 have.
  void add_old_file(ByteCursor& from) const {
    const auto name = from.string();
    const std::uint64_t folder = from.unsigned_leb();
    from.unsigned_leb(); // time
    from.unsigned_leb(); // size
    count_entries(1);
    table.files_.push_back({name, folder});
  }

  /// DWARF 5: a list of folders or of files, behind the description of its entries.
  std::vector<File> read_entries(ByteCursor& header) const {
    struct Field {
      std::uint64_t content, form;
    };
    std::vector<Field> fields(header.byte());
    for (Field& field : fields) {
      field.content = header.unsigned_leb();
      field.form = header.unsigned_leb();
    }
    const std::uint64_t count = header.unsigned_leb();
    // Every field takes a byte or more.
    if (count != 0 && (fields.empty() || count > header.left().size() / fields.size()))
      throw Damage();
    count_entries(count);
    std::vector<File> entries(count);
    for (File& entry : entries)
      for (const Field& field : fields)
        if (field.content == content_path)
          entry.name = read_name(header, field.form);
        else if (field.content == content_folder)
          entry.folder = read_field(header, field.form);
        else
          read_field(header, field.form); // times, sizes, checksums, the source itself
    return entries;
  }

  std::string_view read_name(ByteCursor& header, std::uint64_t form) const {
    if (form == form_string)
      return header.string();
    if (form != form_line_strp && form != form_strp)
      throw Damage();
    const std::uint64_t offset = header.number(offset_bytes);
    const auto& section = form == form_strp ? sections.strings : sections.line_strings;
    if (offset >= section.size())
      throw Damage();
    return section.substr(offset);
  }

  /// The value, where it is a number.
  std::uint64_t read_field(ByteCursor& header, std::uint64_t form) const {
    switch (form) {
    case form_udata:
      return header.unsigned_leb();
    case form_data1:
      return header.number(1);
    case form_data2:
      return header.number(2);
    case form_data4:
      return header.number(4);
    case form_data8:
      return header.number(8);
    case form_data16:
      header.take(16);
      return 0;
    case form_block:
      header.take(header.unsigned_leb());
      return 0;
    case form_string:
      header.string();
      return 0;
    case form_strp:
    case form_line_strp:
      return header.number(offset_bytes);
    default:
      throw Damage();
    }
  }

  /// Every step takes a byte or more and adds a row at most, so any program comes to its end.
  void run(ByteCursor program) {
    start_sequence();
    while (!program.empty()) {
      const unsigned opcode = program.byte();
      if (opcode >= opcode_base) {
        const unsigned step = opcode - opcode_base;
        row.address += step / line_range * instruction_bytes;
        row.line += static_cast<std::uint32_t>(line_base + static_cast<int>(step % line_range));
        add_row();
      } else if (opcode == op_extended) {
        run_extended(ByteCursor(program.take(program.unsigned_leb())));
      } else {
        run_standard(opcode, program);
      }
    }
    table.rows_.resize(first_row); // rows of a sequence without an end
  }

  void run_standard(unsigned opcode, ByteCursor& program) {
    switch (opcode) {
    case op_copy:
      add_row();
      break;
    case op_advance_pc:
      row.address += program.unsigned_leb() * instruction_bytes;
      break;
    case op_advance_line:
      row.line += static_cast<std::uint32_t>(program.signed_leb());
      break;
    case op_set_file: {
      const std::uint64_t file = program.unsigned_leb();
      if (file > std::numeric_limits<std::uint32_t>::max())
        throw Damage();
      row.file = static_cast<std::uint32_t>(file);
      break;
    }
    case op_const_add_pc:
      row.address += (255 - opcode_base) / line_range * instruction_bytes;
      break;
    case op_fixed_advance_pc:
      row.address += program.number(2);
      break;
    default: // nothing that is asked for: columns, statements, blocks …
      for (auto operands = static_cast<unsigned char>(operand_counts[opcode - 1]); operands;
           --operands)
        program.unsigned_leb();
    }
  }

  void run_extended(ByteCursor operation) {
    switch (operation.byte()) {
    case extended_end_sequence:
      add_row();
      end_sequence();
      break;
    case extended_set_address:
      if (operation.left().size() > sizeof row.address)
        throw Damage();
      row.address = operation.number(operation.left().size());
      break;
    case extended_file:
      add_old_file(operation);
      break;
    default: // discriminators, and what others added
      break;
    }
  }

  void start_sequence() {
    row = {0, 1, 1};
    first_row = table.rows_.size();
    ascending = true;
  }

  void add_row() {
    count_entries(1);
    auto& rows = table.rows_;
    ascending &= rows.size() == first_row || row.address >= rows.back().address;
    rows.push_back(row);
  }

  /// Keeps what can be right: addresses that go up, by more than nothing.
  void end_sequence() {
    const auto& rows = table.rows_;
    const std::uint64_t begin = rows[first_row].address, end = rows.back().address;
    if (ascending && begin < end)
      table.sequences_.push_back({begin, end, first_row, rows.size() - 1});
    else
      table.rows_.resize(first_row);
    start_sequence();
  }
};

std::vector<LineTable> LineTable::read(const LineSections& sections, std::size_t most) {
  std::vector<LineTable> tables;
  unsigned damaged_units = 0;
  ByteCursor lines(sections.lines);
  try {
    while (!lines.empty() && damaged_units < most_damaged_units) {
      unsigned offset_bytes = 4;
      std::uint64_t unit_bytes = lines.number(4);
      if (unit_bytes == 0xffffffff) {
        offset_bytes = 8;
        unit_bytes = lines.number(8);
      }
      const ByteCursor unit(lines.take(unit_bytes));
      LineTable table;
      try {
        Parser{sections, table, offset_bytes, most}.read(unit);
      } catch (const Damage&) {
        ++damaged_units;
        continue;
      }
      if (!table.sequences_.empty())
        tables.push_back(std::move(table));
    }
  } catch (const Damage&) { // of a length: no other unit can be found
  }
  return tables;
}

const LineTable::Row* LineTable::row_at(std::uint64_t address) const {
  const auto sequence =
      std::upper_bound(sequences_.begin(), sequences_.end(), address,
                       [](std::uint64_t x, const Sequence& s) { return x < s.end; });
  if (sequence == sequences_.end() || address < sequence->begin)
    return nullptr;
  const Row* first = rows_.data() + sequence->first;
  return std::upper_bound(first + 1, rows_.data() + sequence->last, address,
                          [](std::uint64_t x, const Row& row) { return x < row.address; }) -
         1;
}

std::string LineTable::at(std::uint64_t address) const {
  const Row* row = row_at(address);
  if (!row || row->line == 0)
    return {};
  const std::string path = path_of(row->file);
  return path.empty() ? path : fmt::format("{}:{}", path, row->line);
}

std::string LineTable::path_of(std::uint32_t file) const {
  // Files count from 0 in DWARF 5 and from 1 before it, like folders, of which DWARF 5 has the one
  // that the compiler ran in as the first and earlier tables do not have that.
  const unsigned base = version_ >= 5 ? 0 : 1;
  if (file < base || file - base >= files_.size())
    return {};
  const File& entry = files_[file - base];
  const std::string_view name = up_to_zero(entry.name);
  if (name.empty() || absolute(name))
    return std::string(name);
  std::string_view folder, outer;
  if (entry.folder >= base && entry.folder - base < folders_.size())
    folder = up_to_zero(folders_[entry.folder - base]);
  if (version_ >= 5 && entry.folder != 0 && !folders_.empty() && !absolute(folder))
    outer = up_to_zero(folders_.front());
  llvm::SmallString<128> path;
  llvm::sys::path::append(path, outer, folder, name);
  return std::string(path);
}

} // namespace wavesim
