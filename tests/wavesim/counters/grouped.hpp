#pragma once

#include <cstdint>
#include <string>

namespace wavesim {

/// 1234567 as "1,234,567".
inline std::string grouped(std::uint64_t x) {
  std::string digits = std::to_string(x);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

} // namespace wavesim
