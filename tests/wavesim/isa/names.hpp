// Mnemonics put together from parts need a place to live: OpInfo keeps a pointer.
#pragma once

namespace wavesim {

/// `stem` + `middle` + `tail`; the same text gives the same pointer for the life of the process.
/// Thread-safe. (Out of line, so that code of one SIMD level brings no string functions along.)
const char* lasting_name(const char* stem, const char* middle, const char* tail = "");

} // namespace wavesim
