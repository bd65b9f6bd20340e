#include "hip/device_printf.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace wavesim::hip {

namespace {

class Arguments {
public:
  explicit Arguments(std::span<const std::uint64_t> words) : words_(words) {}

  std::uint64_t word() {
    if (words_.empty())
      return 0;
    const std::uint64_t x = words_.front();
    words_ = words_.subspan(1);
    return x;
  }

  std::string text() {
    const auto* bytes = reinterpret_cast<const char*>(words_.data());
    const std::size_t length = strnlen(bytes, words_.size_bytes());
    const std::string result(bytes, length);
    words_ = words_.subspan(std::min(words_.size(), length / 8 + 1));
    return result;
  }

private:
  std::span<const std::uint64_t> words_;
};

/// One conversion: "%-*.3lld" as its specification without `*` and the length, the length, the
/// letter.
struct Conversion {
  std::string flags; ///< '%', flags, width and precision
  std::string length;
  char letter = '\0';
};

Conversion parse(std::string_view& rest, Arguments& arguments) {
  Conversion c;
  c.flags = "%";
  rest.remove_prefix(1);
  constexpr std::string_view modifiers = "-+ #0123456789.*";
  while (!rest.empty() && modifiers.find(rest.front()) != std::string_view::npos) {
    if (rest.front() == '*')
      c.flags += std::to_string(static_cast<int>(arguments.word()));
    else
      c.flags += rest.front();
    rest.remove_prefix(1);
  }
  while (!rest.empty() &&
         std::string_view("hlLqjzt").find(rest.front()) != std::string_view::npos) {
    c.length += rest.front();
    rest.remove_prefix(1);
  }
  if (!rest.empty()) {
    c.letter = rest.front();
    rest.remove_prefix(1);
  }
  return c;
}

template <class T>
std::string print(const std::string& format, T x) {
  const int length = std::snprintf(nullptr, 0, format.c_str(), x);
  std::string text(static_cast<std::size_t>(std::max(length, 0)), '\0');
  std::snprintf(text.data(), text.size() + 1, format.c_str(), x);
  return text;
}

std::string convert(const Conversion& c, Arguments& arguments) {
  switch (c.letter) {
  case '%':
    return "%";
  case 'd':
  case 'i': {
    auto x = static_cast<std::int64_t>(arguments.word());
    if (c.length.empty())
      x = static_cast<std::int32_t>(x);
    else if (c.length == "h")
      x = static_cast<std::int16_t>(x);
    else if (c.length == "hh")
      x = static_cast<std::int8_t>(x);
    return print(c.flags + "lld", static_cast<long long>(x));
  }
  case 'u':
  case 'o':
  case 'x':
  case 'X': {
    std::uint64_t x = arguments.word();
    if (c.length.empty())
      x = static_cast<std::uint32_t>(x);
    else if (c.length == "h")
      x = static_cast<std::uint16_t>(x);
    else if (c.length == "hh")
      x = static_cast<std::uint8_t>(x);
    return print(c.flags + "ll" + c.letter, static_cast<unsigned long long>(x));
  }
  case 'c':
    return print(c.flags + "c", static_cast<int>(arguments.word()));
  case 'a':
  case 'A':
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    return print(c.flags + c.letter, std::bit_cast<double>(arguments.word()));
  case 'p':
    return print(c.flags + "p", reinterpret_cast<const void*>(arguments.word()));
  case 's':
    return print(c.flags + "s", arguments.text().c_str());
  case 'n': // nothing can be stored
    arguments.word();
    return {};
  default: // not a conversion: printed as it stands
    return c.flags + c.length + (c.letter ? std::string(1, c.letter) : std::string());
  }
}

} // namespace

std::string format_message(std::span<const std::uint64_t> words) {
  Arguments arguments(words);
  const std::string format = arguments.text();
  std::string_view rest(format);
  std::string out;
  while (!rest.empty()) {
    if (rest.front() == '%') {
      const Conversion c = parse(rest, arguments);
      out += convert(c, arguments);
    } else {
      const auto plain = rest.substr(0, rest.find('%'));
      out += plain;
      rest.remove_prefix(plain.size());
    }
  }
  return out;
}

int print_message(std::span<const std::uint64_t> words) {
  if (words.empty())
    return -1;
  std::FILE* stream = words.front() & 1 ? stderr : stdout;
  const std::string text = format_message(words.subspan(1));
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size()
             ? static_cast<int>(text.size())
             : -1;
}

} // namespace wavesim::hip
