#pragma once

#include <string>
#include <vector>

namespace wavesim::tool {

struct Launch {
  bool counters = false, per_dispatch = false;
  std::string json;     ///< "" is none
  unsigned threads = 0; ///< 0 leaves WAVESIM_THREADS alone
  std::vector<std::string> command;
};

/// Sets the environment of the program: where wavesim's library is and what it is to do. Returns
/// what is wrong with the request, or "".
std::string prepare(Launch& launch);

/// Replaces this process by the program. Returns only when that fails: the exit code, after a
/// message.
int execute(const Launch& launch);

} // namespace wavesim::tool
