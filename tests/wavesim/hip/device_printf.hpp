// printf of kernels: the host prints what a lane sent.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace wavesim::hip {

/// The text of a printf: `words` is the format string, zero-terminated and padded to whole words,
/// then the arguments, one word each, strings in place like the format.
std::string format_message(std::span<const std::uint64_t> words);

/// A whole message: a word that says which stream (bit 0: stderr), then what format_message takes.
/// Returns what printf returns.
int print_message(std::span<const std::uint64_t> words);

} // namespace wavesim::hip
