// Mnemonics put together from parts need a place to live: OpInfo keeps a pointer.
#pragma once

#include <string>

namespace wavesim {

/// The same text gives the same pointer for the life of the process. Thread-safe.
const char* lasting_name(const std::string& text);

} // namespace wavesim
