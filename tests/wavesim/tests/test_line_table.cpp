// Line tables written byte by byte: what is read from good ones, that nothing is from damaged ones.
#include "loader/line_table.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace wavesim::test {
namespace {

/// Appends little-endian values.
struct Writer {
  std::string bytes;
  Writer& number(std::uint64_t x, unsigned width) {
    for (unsigned i = 0; i < width; ++i)
      bytes += static_cast<char>(x >> 8 * i);
    return *this;
  }
  Writer& text(const std::string& s) {
    bytes += s;
    return number(0, 1);
  }
  Writer& leb(std::uint64_t x) {
    for (; x >= 0x80; x >>= 7)
      number((x & 0x7f) | 0x80, 1);
    return number(x, 1);
  }
  Writer& raw(const std::string& s) {
    bytes += s;
    return *this;
  }
};

constexpr std::uint64_t code = 0x1000;
const std::string line_strings("/build\0/include\0.\0", 18), strings("x.h\0", 4);

/// Behind opcode_base: steps of 4 bytes, line steps from -3 in a range of 12.
std::string header_start(unsigned version) {
  Writer w;
  w.number(4, 1);
  if (version >= 4)
    w.number(1, 1);
  w.number(1, 1).number(0xfd, 1).number(12, 1).number(13, 1);
  for (const unsigned operands : {0u, 1u, 1u, 1u, 1u, 0u, 0u, 0u, 1u, 0u, 0u, 1u})
    w.number(operands, 1);
  return w.bytes;
}

enum : unsigned { strp = 0x0e, string = 0x08 };

void path(Writer& w, unsigned form, const char* name, unsigned offset_bytes) {
  if (form == string)
    w.text(name);
  else
    w.number(0, offset_bytes);
}

/// Folders /build, /include and "."; files 0 and 1 main.hip, 2 /include/x.h, 3 ./y.h; or all of
/// them x.h, where names are in .debug_str.
std::string header5(unsigned offset_bytes = 4, unsigned form = string) {
  Writer w;
  w.raw(header_start(5));
  w.number(1, 1).leb(1).leb(0x1f).leb(3); // paths: line_strp
  w.number(0, offset_bytes).number(7, offset_bytes).number(16, offset_bytes);
  // Files of four fields: path, folder as udata, MD5 as data16, a block of anything.
  w.number(4, 1).leb(1).leb(form).leb(2).leb(0x0f).leb(5).leb(0x1e).leb(0x2fff).leb(0x09).leb(4);
  const auto file = [&](const char* name, unsigned folder) {
    path(w, form, name, offset_bytes);
    w.leb(folder).raw(std::string(16, '5')).leb(3).raw("abc");
  };
  file("main.hip", 0);
  file("main.hip", 0);
  file("x.h", 1);
  file("y.h", 2);
  return w.bytes;
}

/// Folders /include and relative.
std::string header4(unsigned version) {
  Writer w;
  w.raw(header_start(version)).text("/include").text("relative").number(0, 1);
  w.text("main.hip").leb(0).leb(0).leb(0);
  w.text("x.h").leb(1).leb(0).leb(0);
  w.text("y.h").leb(2).leb(0).leb(0);
  return w.number(0, 1).bytes;
}

/// From 0x1000 main.hip:11, from 0x1008 x.h:9, from 0x100c no line, from 0x1010 y.h:200, and the
/// end at 0x1062. Every opcode but define_file.
std::string program(std::uint64_t begin = code) {
  Writer w;
  w.number(0, 1).leb(9).number(2, 1).number(begin, 8);       // set_address
  w.number(3, 1).leb(10).number(5, 1).leb(700).number(1, 1); // line +10, a column, copy
  w.number(0, 1).leb(2).number(4, 1).leb(3);                 // a discriminator
  w.number(6, 1).number(7, 1).number(10, 1).number(11, 1);   // without operands
  w.number(12, 1).leb(5);                                    // an ISA
  w.number(4, 1).leb(2).number(13 + 2 * 12 + 1, 1);          // file 2; 2 steps, line -2
  w.number(3, 1).leb(0x77).number(2, 1).leb(1).number(1, 1); // line -9, 1 step, copy
  w.number(3, 1).leb(200).number(4, 1).leb(3);               // line +200, file 3
  w.number(13 + 12 + 3, 1);                                  // 1 step, line +0
  w.number(8, 1).number(9, 1).number(2, 2);                  // 20 steps of const_add_pc, 2 bytes
  return w.number(0, 1).leb(1).number(1, 1).bytes;           // end_sequence
}

std::string unit(unsigned version, const std::string& header, const std::string& run,
                 unsigned offset_bytes = 4) {
  Writer body, w;
  body.number(version, 2);
  if (version >= 5)
    body.number(8, 1).number(0, 1);
  body.number(header.size(), offset_bytes).raw(header).raw(run);
  if (offset_bytes == 8)
    w.number(0xffffffff, 4);
  return w.number(body.bytes.size(), offset_bytes).raw(body.bytes).bytes;
}

/// Lines at an address of sections each of which is as long as it says and alone in its memory, so
/// that a read past its end is one of the heap's.
class Lines {
public:
  explicit Lines(const std::string& lines, std::size_t most = LineTable::most_entries)
      : lines_(lines.begin(), lines.end()),
        tables_(LineTable::read({{lines_.data(), lines_.size()},
                                 {line_strings_.data(), line_strings_.size()},
                                 {strings_.data(), strings_.size()}},
                                most)) {}
  std::size_t tables() const { return tables_.size(); }
  std::string at(std::uint64_t address) const {
    for (const auto& table : tables_)
      if (auto line = table.at(address); !line.empty())
        return line;
    return {};
  }

private:
  std::vector<char> lines_, line_strings_{line_strings.begin(), line_strings.end()},
      strings_{strings.begin(), strings.end()};
  std::vector<LineTable> tables_;
};

TEST(LineTable, EveryVersion) {
  for (const unsigned version : {2u, 3u, 4u, 5u})
    for (const unsigned offset_bytes : {4u, 8u}) {
      const bool five = version == 5;
      const Lines lines(
          unit(version, five ? header5(offset_bytes) : header4(version), program(), offset_bytes));
      const std::string main = five ? "/build/main.hip:11" : "main.hip:11";
      EXPECT_EQ(lines.at(0xfff), "");
      EXPECT_EQ(lines.at(0x1000), main);
      EXPECT_EQ(lines.at(0x1007), main);
      EXPECT_EQ(lines.at(0x1008), "/include/x.h:9");
      EXPECT_EQ(lines.at(0x100c), "");
      EXPECT_EQ(lines.at(0x1010), five ? "/build/./y.h:200" : "relative/y.h:200");
      EXPECT_EQ(lines.at(0x1061), lines.at(0x1010));
      EXPECT_EQ(lines.at(0x1062), "");
    }
}

TEST(LineTable, NamesInOtherSections) {
  EXPECT_EQ(Lines(unit(5, header5(4, strp), program())).at(code), "/build/x.h:11");
}

TEST(LineTable, FileOfTheProgram) {
  Writer w; // define_file: the fourth, of /include
  w.number(0, 1).leb(8).number(3, 1).text("new").leb(1).leb(0).leb(0).number(4, 1).leb(4);
  // The first row's file; later ones have their own.
  EXPECT_EQ(Lines(unit(4, header4(4), w.bytes + program())).at(code), "/include/new:11");
}

TEST(LineTable, UnitsAndSequences) {
  const auto one = unit(5, header5(), program(0x4000) + program(code));
  const auto two = unit(4, header4(4), program(0x2000));
  const Lines lines(one + two);
  EXPECT_EQ(lines.tables(), 2u);
  EXPECT_EQ(lines.at(0x1000), "/build/main.hip:11");
  EXPECT_EQ(lines.at(0x4000), "/build/main.hip:11");
  EXPECT_EQ(lines.at(0x2000), "main.hip:11");
}

/// Nothing is known of a damaged unit; one behind it is read.
void expect_dropped(const std::string& damaged) {
  const Lines lines(damaged + unit(5, header5(), program(0x2000)));
  EXPECT_EQ(lines.at(code), "");
  EXPECT_EQ(lines.at(0x2000), "/build/main.hip:11");
}

TEST(DamagedLineTable, Truncated) {
  const auto good = unit(5, header5(), program());
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes)
    EXPECT_EQ(Lines(good.substr(0, bytes)).tables(), 0u) << bytes;
  // Header and program that end early though their lengths agree.
  const auto header = header5();
  for (std::size_t bytes = 0; bytes < header.size(); ++bytes)
    expect_dropped(unit(5, header.substr(0, bytes), program()));
  const auto run = program();
  for (std::size_t bytes = 0; bytes < run.size(); ++bytes)
    expect_dropped(unit(5, header, run.substr(0, bytes)));
  for (std::size_t bytes = 0; bytes < header4(4).size(); ++bytes)
    expect_dropped(unit(4, header4(4).substr(0, bytes), program()));
}

TEST(DamagedLineTable, Lengths) {
  const auto good = unit(5, header5(), program());
  for (const std::uint64_t bytes : {0x7fffffffull, 0xfffffff0ull, 0xffffffffull}) {
    auto damaged = good;
    damaged.replace(8, 4, Writer().number(bytes, 4).bytes); // header_length
    expect_dropped(damaged);
    damaged = good;
    damaged.replace(0, 4, Writer().number(bytes, 4).bytes); // unit_length
    EXPECT_EQ(Lines(damaged).tables(), 0u);
  }
  auto wide = unit(5, header5(8), program(), 8);
  wide.replace(4, 8, std::string(8, '\xff'));
  EXPECT_EQ(Lines(wide).tables(), 0u);
}

TEST(DamagedLineTable, Versions) {
  for (const unsigned version : {0u, 1u, 6u, 0xffffu})
    expect_dropped(unit(version, header5(), program()));
}

TEST(DamagedLineTable, CountsThatExceedTheSection) {
  for (const std::uint64_t count :
       {std::uint64_t{1000}, std::uint64_t{1} << 60, ~std::uint64_t{}}) {
    Writer folders, files, empty, fields;
    folders.raw(header_start(5)).number(1, 1).leb(1).leb(string).leb(count).text("/build");
    files.raw(header_start(5)).number(0, 1).leb(0).number(1, 1).leb(1).leb(string).leb(count);
    files.text("main.hip").text("main.hip");
    // Entries that take no bytes would never come to their end.
    empty.raw(header_start(5)).number(0, 1).leb(count).number(0, 1).leb(count);
    fields.raw(header_start(5)).number(255, 1).leb(1).leb(string);
    for (const Writer* w : {&folders, &files, &empty, &fields})
      expect_dropped(unit(5, w->bytes, program()));
  }
}

TEST(DamagedLineTable, Forms) {
  // A path that is no string, one at an offset outside its section, a form that is none. With 0x5f,
  // one bit from line_strp, LLVM's reader of these tables crashed.
  for (const unsigned form : {0x0fu, 0x09u, 0x1fu, 0x25u, 0x5fu, 0xffffu}) {
    Writer w;
    w.raw(header_start(5)).number(1, 1).leb(1).leb(form).leb(1).number(0x70000000, 4);
    expect_dropped(unit(5, w.number(0, 8).bytes, program()));
  }
  // A block that is longer than the header.
  Writer w;
  w.raw(header_start(5)).number(1, 1).leb(5).leb(0x09).leb(1).leb(~std::uint64_t{});
  expect_dropped(unit(5, w.number(0, 8).bytes, program()));
}

TEST(DamagedLineTable, Programs) {
  auto header = header5();
  header[4] = 0; // line_range: special opcodes divide by it
  expect_dropped(unit(5, header, program()));
  header = header5();
  header[5] = 0; // opcode_base
  expect_dropped(unit(5, header, program()));
  const std::string end("\0\1\1", 3), start = program().substr(0, 11);
  const auto run = [&](const std::string& text) { expect_dropped(unit(5, header5(), text)); };
  run(start + "\1" + std::string("\0\0", 2) + end);          // an extended opcode of no bytes
  run(start + "\1" + std::string("\0\x7f\1", 3));            // one that the section does not hold
  run(start + "\1\2" + std::string(100000, '\x80') + end);   // a number without an end
  run(start + "\1\4" + std::string(9, '\xff') + "\1" + end); // a file of 64 bits
  run(std::string("\0\12\2", 3) + std::string(9, '\1') + "\1\2\4" + end); // address of 9 bytes
  run(std::string(100000, '\1'));                                         // rows without an end
  run(start + "\1" + end);                                                // no code
  run(start + "\2\4\1" + start + "\1\2\1" + end); // an address that goes back
  // What a file's or folder's number leads to is looked at when a line is asked for.
  for (const std::uint64_t file : {0x7full, 0xffffffffull})
    run(start + Writer().number(4, 1).leb(file).number(1, 1).number(2, 1).leb(4).bytes + end);
}

TEST(DamagedLineTable, MoreThanIsKept) {
  // Seven entries of the header, then a row for each opcode.
  const auto rows =
      unit(5, header5(),
           program().substr(0, 11) + std::string(1000, '\1') + std::string("\2\4\0\1\1", 5));
  EXPECT_EQ(Lines(rows, 7 + 1001).tables(), 1u);
  EXPECT_EQ(Lines(rows, 7 + 1000).tables(), 0u);
  EXPECT_EQ(Lines(rows, 6).tables(), 0u);
  // Many damaged units: reading ends.
  const auto good = unit(5, header5(), program());
  std::string empty_units(4 * 999, '\0');
  EXPECT_EQ(Lines(empty_units + good).tables(), 1u);
  EXPECT_EQ(Lines(empty_units + std::string(4, '\0') + good).tables(), 0u);
}

TEST(DamagedLineTable, AnyBits) {
  std::mt19937 random(7);
  const std::string good[] = {unit(5, header5(), program()), unit(4, header4(4), program()),
                              unit(5, header5(8, strp), program(), 8)};
  std::size_t known = 0;
  for (unsigned i = 0; i < 6000; ++i) {
    auto bytes = good[i % 3];
    for (unsigned k = 0; k < 1 + i % 5; ++k)
      bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
    const Lines lines(bytes);
    for (std::uint64_t address = code; address < 0x1070; address += 4)
      known += !lines.at(address).empty();
  }
  EXPECT_GT(known, 0u);
}

} // namespace
} // namespace wavesim::test
