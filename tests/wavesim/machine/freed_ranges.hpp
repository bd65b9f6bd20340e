// The ranges that left the memory map last: for messages about pointers that outlived their memory.
#pragma once

#include "machine/memory_map.hpp"

#include <optional>

namespace wavesim {

void remember_freed(const Range& range);
/// Memory that is handed out again belongs to its new owner: ranges that touch [begin, end) go.
void forget_freed(std::uintptr_t begin, std::uintptr_t end);
/// The youngest remembered range that contained `p`.
std::optional<Range> find_freed(std::uintptr_t p);

} // namespace wavesim
