// Stops of memory instructions whose messages need numbers. Out of line so that no formatting code
// is compiled for a SIMD level.
#pragma once

#include "machine/fault.hpp"

#include <cstdint>

namespace wavesim {

/// An atomic whose address is not a multiple of its size: the hardware reports a memory violation.
[[noreturn]] void stop_misaligned_atomic(const Wave& wave, const Op& op, unsigned lane,
                                         std::uint64_t address, unsigned bytes);

/// A buffer instruction with a descriptor of a kind that is not implemented; `why` names it.
[[noreturn]] void stop_descriptor(const Wave& wave, const Op& op, const std::uint32_t descriptor[4],
                                  const char* why);

/// Something about a memory instruction that is not implemented.
[[noreturn]] void stop_memory(const Wave& wave, const Op& op, const char* why);

} // namespace wavesim
