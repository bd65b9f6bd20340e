// Zeros for memory that is used again, without faulting in what was never touched.
#pragma once

#include <cstddef>

namespace wavesim {

/// Makes mapped memory zero; `memory` begins a page. Only pages that exist are cleared: to give
/// them back and have them fresh costs several times as much, on virtual machines a hundred times.
void clear_resident(std::byte* memory, std::size_t bytes);

/// How much of the memory the host backs with pages.
std::size_t resident_bytes(const std::byte* memory, std::size_t bytes);

} // namespace wavesim
