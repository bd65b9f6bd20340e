// Settings that arrive in environment variables. A value that is not allowed ends the process: a
// run under other settings than the ones asked for would pass for the wrong thing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

namespace wavesim {

/// Exit code for settings and arguments that are not allowed.
inline constexpr int bad_usage_exit_code = 2;

/// Exit code where the counters could not be written to the file asked for.
inline constexpr int unwritten_exit_code = 74;

/// Most host threads that run workgroups.
inline constexpr unsigned most_threads = 256;

/// Prints "wavesim: NAME is 'VALUE'; allowed: ALLOWED" and ends the process with
/// bad_usage_exit_code.
[[noreturn]] void refuse_environment(const char* name, const std::string& value,
                                     const std::string& allowed);

/// The decimal number in a variable; nothing where it is unset or empty. `unit` follows the range
/// in the message.
std::optional<std::uint64_t> environment_number(const char* name, std::uint64_t least,
                                                std::uint64_t most, const char* unit = "");

/// Which of `words` a variable holds; nothing where it is unset or empty.
std::optional<std::size_t> environment_word(const char* name,
                                            std::initializer_list<const char*> words);

/// 1 is true; 0, unset and empty are false.
bool environment_flag(const char* name);

} // namespace wavesim
