// MessagePack as a tree, read with LLVM's streaming reader. (LLVM's own document class takes keys
// and counts on trust, which damaged files do not deserve.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wavesim {

struct PackNode {
  enum class Kind { nothing, number, text, array, map };
  Kind kind = Kind::nothing;
  std::uint64_t number = 0; ///< booleans as 0 and 1; negative numbers are nothing
  std::string text;
  std::vector<PackNode> array;   ///< elements of an array, values of a map
  std::vector<std::string> keys; ///< of a map; entries whose key is no text are left out

  /// The entry of a map, or null.
  const PackNode* find(std::string_view key) const;
};

/// False when the bytes are not one complete value.
bool read_pack(std::string_view bytes, PackNode& root);

} // namespace wavesim
