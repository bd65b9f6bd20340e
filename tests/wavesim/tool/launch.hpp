#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wavesim::tool {

struct Distances {
  std::string file; ///< "" is not asked for
  std::string kernel, json;
  bool every_load = false;
  std::uint64_t least_global = 0, least_lds = 0;
};

struct Launch {
  bool counters = false, per_dispatch = false, lines = false;
  std::string json;     ///< "" is none
  std::string checks;   ///< "" is none, else names with commas between them, or "all"
  unsigned threads = 0; ///< 0 leaves WAVESIM_THREADS alone
  std::vector<std::string> command;
};

/// Sets the environment of the program: where wavesim's library is and what it is to do. Returns
/// what is wrong with the request, or "".
std::string prepare(Launch& launch);

/// Replaces this process by the program. Returns only when that fails: the exit code, after a
/// message.
int execute(const Launch& launch);

/// Prints or writes the distances of the kernels in a file, which the library computes; the exit
/// code.
int report(const Distances& distances);

} // namespace wavesim::tool
