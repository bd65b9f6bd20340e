// The ranges that left the memory map last: for messages about pointers that outlived their memory.
#pragma once

#include "machine/memory_map.hpp"

#include <optional>

namespace wavesim {

void remember_freed(const Range& range);
/// The youngest remembered range that contained `p`.
std::optional<Range> find_freed(std::uintptr_t p);

} // namespace wavesim
