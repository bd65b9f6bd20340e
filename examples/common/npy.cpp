#include "npy.hpp"

#include <wavetile/core/convert.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

static_assert(std::endian::native == std::endian::little);

namespace npy {
namespace {

struct type_entry {
  element type;
  const char* code; ///< as in a header, without the byte order
  const char* name;
  std::size_t size;
};
constexpr std::array types{type_entry{element::float16, "f2", "float16", 2},
                           type_entry{element::float32, "f4", "float32", 4},
                           type_entry{element::float64, "f8", "float64", 8},
                           type_entry{element::int8, "i1", "int8", 1},
                           type_entry{element::int32, "i4", "int32", 4},
                           type_entry{element::int64, "i8", "int64", 8},
                           type_entry{element::uint8, "u1", "uint8", 1},
                           type_entry{element::boolean, "b1", "bool", 1}};

const type_entry& entry_of(element type) {
  return *std::find_if(types.begin(), types.end(), [&](const auto& e) { return e.type == type; });
}

constexpr std::string_view magic = "\x93NUMPY";

/// Reads the header's Python dictionary: string, boolean and integer-tuple values under known keys.
class header_reader {
public:
  header_reader(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  array read() {
    array result;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (key == "descr") {
        result.type = type_of(quoted());
        has_descr = true;
      } else if (key == "fortran_order") {
        fortran_order_ = boolean();
        has_order = true;
      } else if (key == "shape") {
        result.shape = tuple();
        has_shape = true;
      } else {
        fail("unknown key '" + key + "' in the header");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape)
      fail("the header lacks 'descr', 'fortran_order' or 'shape'");
    if (fortran_order_ && result.shape.size() > 1)
      fail("the array is in Fortran order; save numpy.ascontiguousarray(x) instead");
    return result;
  }

private:
  [[noreturn]] void fail(const std::string& why) const { throw error(path_ + ": " + why); }

  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
      ++at_;
  }
  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail(std::string("malformed header, expected '") + c + "'");
  }
  std::string quoted() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote == '[')
      fail("structured element types are not supported");
    const auto end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : text_.npos;
    if (end == text_.npos)
      fail("malformed header, expected a quoted string");
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}})
      if (text_.substr(at_).starts_with(word)) {
        at_ += std::strlen(word);
        return value;
      }
    fail("malformed header, expected True or False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> result;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t value = 0;
      const std::size_t first = at_;
      while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
        if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10)
          fail("an extent of the shape is too large");
        value = value * 10 + (text_[at_++] - '0');
      }
      if (at_ == first)
        fail("malformed header, expected an extent of the shape");
      result.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return result;
  }
  element type_of(const std::string& descr) const {
    if (descr.size() == 3 && descr[0] != '>')
      for (const auto& entry : types)
        if (descr.substr(1) == entry.code)
          return entry.type;
    fail("element type '" + descr +
         "' is not supported, only little-endian float16/32/64, int8/32/64, uint8 and bool");
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  bool fortran_order_ = false;
};

/// Bytes of the elements, or nothing when the shape does not fit in memory.
std::optional<std::uint64_t> bytes_of(const array& values) {
  std::uint64_t bytes = size_of(values.type);
  if (std::find(values.shape.begin(), values.shape.end(), 0) != values.shape.end())
    return 0;
  for (const std::int64_t extent : values.shape)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes) ||
        bytes > std::uint64_t{1} << 46)
      return std::nullopt;
  return bytes;
}

template <class T>
T load(const array& values, std::int64_t i) {
  T result;
  std::memcpy(&result, values.data.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return result;
}

} // namespace

std::size_t size_of(element type) {
  return entry_of(type).size;
}
const char* name_of(element type) {
  return entry_of(type).name;
}

bool is_float(element type) {
  return type == element::float16 || type == element::float32 || type == element::float64;
}

std::int64_t array::size() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape)
    count *= extent;
  return count;
}

std::int64_t array::integer(std::int64_t i) const {
  switch (type) {
  case element::int8:
    return load<std::int8_t>(*this, i);
  case element::int32:
    return load<std::int32_t>(*this, i);
  case element::int64:
    return load<std::int64_t>(*this, i);
  case element::uint8:
    return load<std::uint8_t>(*this, i);
  case element::boolean:
    return load<std::uint8_t>(*this, i) != 0;
  default:
    throw error(std::string("integer elements expected, found ") + name_of(type));
  }
}

double array::number(std::int64_t i) const {
  switch (type) {
  case element::float16:
    return wavetile::convert<float>(load<wavetile::fp16>(*this, i));
  case element::float32:
    return load<float>(*this, i);
  case element::float64:
    return load<double>(*this, i);
  default:
    return static_cast<double>(integer(i));
  }
}

array read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw error(path + ": cannot be opened: " + std::strerror(errno));
  char start[8] = {};
  file.read(start, sizeof start);
  if (!file || std::string_view(start, magic.size()) != magic)
    throw error(path + ": not a .npy file (it does not start with \\x93NUMPY)");
  const int version = start[6];
  if (version < 1 || version > 3)
    throw error(path + ": .npy version " + std::to_string(version) + " is not supported, only 1–3");
  std::uint32_t length = 0; // two bytes in version 1, four afterwards
  file.read(reinterpret_cast<char*>(&length), version == 1 ? 2 : 4);
  constexpr std::uint32_t longest_header = 1u << 20;
  if (!file || length > longest_header)
    throw error(path + ": truncated or malformed header");
  std::string header(length, '\0');
  file.read(header.data(), static_cast<std::streamsize>(length));
  if (!file)
    throw error(path + ": truncated header");
  array result = header_reader(path, header).read();

  const auto bytes = bytes_of(result);
  if (!bytes)
    throw error(path + ": the shape " + shape_text(result.shape) + " is too large");
  const auto data_start = file.tellg();
  file.seekg(0, std::ios::end);
  const auto present = static_cast<std::uint64_t>(file.tellg() - data_start);
  if (present != *bytes)
    throw error(path + ": " + std::to_string(present) + " bytes of data, but shape " +
                shape_text(result.shape) + " of " + name_of(result.type) + " takes " +
                std::to_string(*bytes));
  file.seekg(data_start);
  result.data.resize(*bytes);
  file.read(reinterpret_cast<char*>(result.data.data()), static_cast<std::streamsize>(*bytes));
  if (!file)
    throw error(path + ": could not be read to its end");
  return result;
}

void write(const std::string& path, const array& values) {
  const auto& entry = entry_of(values.type);
  const char order = entry.size == 1 ? '|' : '<';
  std::string header = std::string("{'descr': '") + order + entry.code +
                       "', 'fortran_order': False, 'shape': " + shape_text(values.shape) + ", }";
  // magic, version and length take 10 bytes; the data starts at a multiple of 64
  header.append(63 - (10 + header.size()) % 64, ' ');
  header.push_back('\n');
  const auto length = static_cast<std::uint16_t>(header.size());

  namespace fs = std::filesystem;
  const auto write_to = [&](std::FILE* file) {
    const auto put = [&](const void* bytes, std::size_t size) {
      return size == 0 || std::fwrite(bytes, size, 1, file) == 1;
    };
    const bool good = put(magic.data(), magic.size()) && put("\x01\x00", 2) && put(&length, 2) &&
                      put(header.data(), header.size()) &&
                      put(values.data.data(), values.data.size()) && std::fflush(file) == 0;
    const int why = errno;
    if (std::fclose(file) != 0 && good)
      throw error(path + ": cannot be written: " + std::strerror(errno));
    if (!good)
      throw error(path + ": cannot be written: " + std::strerror(why));
  };

  std::error_code outcome;
  const fs::file_status present = fs::status(path, outcome);
  if (fs::is_directory(present))
    throw error(path + ": cannot be written: it is a folder");
  if (fs::exists(present) && !fs::is_regular_file(present)) {
    // A pipe or a device has nothing that could be kept, and must stay what it is.
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file)
      throw error(path + ": cannot be written: " + std::strerror(errno));
    write_to(file);
    return;
  }
  const std::string target = resolved(path);
  std::string beside;
  std::FILE* file = nullptr;
  for (int number = 0; !file; ++number) { // "x": a name that nobody has
    beside = target + ".part" + std::to_string(number);
    file = std::fopen(beside.c_str(), "wbx");
    if (!file && errno != EEXIST)
      throw error(path + ": cannot be written: " + std::strerror(errno));
  }
  try {
    write_to(file);
    if (fs::exists(present))
      fs::permissions(beside, present.permissions());
    fs::rename(beside, target);
  } catch (const fs::filesystem_error& problem) {
    std::remove(beside.c_str());
    throw error(path + ": cannot be written: " + problem.code().message());
  } catch (const error&) {
    std::remove(beside.c_str());
    throw;
  }
}

std::string resolved(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;
  std::error_code outcome;
  fs::path file = fs::absolute(path, outcome);
  for (int link = 0; link < most_links && fs::is_symlink(file, outcome); ++link)
    file = file.parent_path() / fs::read_symlink(file, outcome);
  const fs::path folder = fs::weakly_canonical(file.parent_path(), outcome);
  return (outcome ? file : folder / file.filename()).string();
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i != 0 ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace npy
