// Commands as a user types them.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>

namespace wavesim::test {

struct Outcome {
  int code = -1;
  std::string text; ///< stdout and stderr together
};

inline Outcome shell(const std::string& command) {
  Outcome outcome;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe)
    return outcome;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.text.append(buffer.data(), n);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

} // namespace wavesim::test
