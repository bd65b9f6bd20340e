#include "machine/environment.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace wavesim {

namespace {

/// Empty where the variable is unset.
std::string_view text_of(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

} // namespace

void refuse_environment(const char* name, const std::string& value, const std::string& allowed) {
  std::fflush(stdout);
  fmt::print(stderr, "wavesim: {} is '{}'; allowed: {}\n", name, value, allowed);
  std::fflush(stderr);
  std::_Exit(bad_usage_exit_code);
}

std::optional<std::uint64_t> environment_number(const char* name, std::uint64_t least,
                                                std::uint64_t most, const char* unit) {
  const std::string_view text = text_of(name);
  if (text.empty())
    return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    refuse_environment(
        name, std::string(text),
        fmt::format("a number from {} to {}{}{}", least, most, *unit != '\0' ? " " : "", unit));
  return number;
}

std::optional<std::size_t> environment_word(const char* name,
                                            std::initializer_list<const char*> words) {
  const std::string_view text = text_of(name);
  if (text.empty())
    return std::nullopt;
  std::string allowed;
  std::size_t number = 0;
  for (const char* word : words) {
    if (text == word)
      return number;
    ++number;
    allowed += (allowed.empty() ? "" : ", ") + std::string(word);
  }
  refuse_environment(name, std::string(text), allowed);
}

bool environment_flag(const char* name) {
  return environment_word(name, {"0", "1"}).value_or(0) == 1;
}

} // namespace wavesim
