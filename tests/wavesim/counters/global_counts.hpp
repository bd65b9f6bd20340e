// Counting of accesses to global memory: bytes, look-ups in the vector L1, distinct lines. The
// rules stand in counters/rules.hpp. Out of line for the same reason as LineSet.
#pragma once

#include "counters/tally.hpp"

#include <cstdint>

namespace wavesim {

struct Wave;
struct Op;

/// What an access does to memory. An atomic writes; it also reads when it returns the old value.
enum class Traffic : std::uint8_t { read = 1, write = 2, read_write = 3 };

/// Look-ups of one wave instruction: lanes go in quads of four; a quad takes one look-up for each
/// distinct line that its active lanes touch.
std::uint64_t tcp_accesses(const std::uint64_t* address, std::uint64_t mask, std::uint64_t bytes);

/// Counts `bytes` at address[lane] for each lane of `mask`. Wave::tally must not be null.
void count_global(Wave& wave, const Op& op, const std::uint64_t* address, std::uint64_t mask,
                  std::uint64_t bytes, Traffic traffic);

/// The same for all 64 lanes at base + lane * bytes.
void count_global_run(Wave& wave, const Op& op, std::uint64_t base, std::uint64_t bytes,
                      Traffic traffic);

} // namespace wavesim
