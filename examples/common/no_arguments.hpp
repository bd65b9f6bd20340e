/// \file
/// The command line of a program that takes no arguments.
#pragma once

#include <cstdio>
#include <optional>
#include <string_view>

namespace example {

/// The exit code of a program that must not go on: 2 after a line about the first argument, 0 after
/// --help, which prints `what` it does. Nothing where there are no arguments.
inline std::optional<int> exit_of_arguments(int argc, char** argv, const char* program,
                                            const char* what) {
  if (argc <= 1)
    return std::nullopt;
  const std::string_view first = argv[1];
  if (argc == 2 && (first == "--help" || first == "-h")) {
    std::printf("%s: %s; it takes no arguments but --help\n", program, what);
    return 0;
  }
  // after --help the second one is too much
  std::fprintf(stderr, "%s: error: there is no argument '%s'; allowed: --help, or none\n", program,
               first == "--help" || first == "-h" ? argv[2] : argv[1]);
  return 2;
}

} // namespace example
