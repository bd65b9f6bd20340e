// The answer of functions that are not supported.
#pragma once

namespace wavesim::hip {

/// Says so on stderr, once per function; returns hipErrorNotSupported after recording it.
int unsupported(const char* function);

} // namespace wavesim::hip
