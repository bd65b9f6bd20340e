// The checks of `wavesim --check`, and sets of them.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace wavesim {

enum class Check : std::uint8_t { race, memory, uninit, wait, barrier, hazard, stream };

inline constexpr std::string_view check_names[] = {"race",    "memory", "uninit", "wait",
                                                   "barrier", "hazard", "stream"};

constexpr std::string_view name_of(Check c) {
  return check_names[static_cast<unsigned>(c)];
}

class CheckSet {
public:
  constexpr bool has(Check c) const { return bits_ >> static_cast<unsigned>(c) & 1; }
  constexpr bool empty() const { return bits_ == 0; }
  /// Whether one of them looks at kernels (`stream` is about the order of the host's calls).
  constexpr bool in_kernels() const {
    return (bits_ & ~(1u << static_cast<unsigned>(Check::stream))) != 0;
  }
  constexpr void add(Check c) { bits_ |= 1u << static_cast<unsigned>(c); }
  static constexpr CheckSet all() {
    CheckSet set;
    set.bits_ = (1u << std::size(check_names)) - 1;
    return set;
  }
  friend constexpr bool operator==(CheckSet, CheckSet) = default;

private:
  std::uint32_t bits_ = 0;
};

/// "race,wait" → the set; "" and "all" are all of them. Nothing, with the unknown name in `wrong`,
/// when a name is none.
inline std::optional<CheckSet> parse_checks(std::string_view list, std::string& wrong) {
  CheckSet set;
  if (list.empty())
    return CheckSet::all();
  for (;;) {
    const auto comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    bool known = name == "all";
    if (known)
      set = CheckSet::all();
    for (unsigned i = 0; i < std::size(check_names); ++i)
      if (name == check_names[i]) {
        set.add(static_cast<Check>(i));
        known = true;
      }
    if (!known) {
      wrong = std::string(name);
      return std::nullopt;
    }
    if (comma == std::string_view::npos)
      return set;
    list.remove_prefix(comma + 1);
  }
}

} // namespace wavesim
