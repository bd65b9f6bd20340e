/// \file
/// Enumerators by name. An enumeration's type holds numbers that none of its enumerators has, when
/// somebody casts or leaves memory as it was.
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile::detail {

/// The name with the enumerator's number, or "unknown".
template <int Count, class Enum>
constexpr const char* name_in(const char* const (&names)[Count], Enum value) {
  const auto number = static_cast<uint32_t>(value);
  return number < Count ? names[number] : "unknown";
}

} // namespace wavetile::detail
