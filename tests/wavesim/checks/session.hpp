// The checks the environment asks for: WAVESIM_CHECK=race,wait,… (set by `wavesim --check`).
#pragma once

#include "checks/check_kind.hpp"

namespace wavesim {

class ObserverFactory;

/// Read once. An unknown name stops the process.
CheckSet enabled_checks();

/// For RunOptions::observers: null when no check looks at instructions.
ObserverFactory* check_observers();

/// Prints the closing table at the end of the process and returns its exit code: `code`, or
/// findings_exit_code when something was found.
int finish_checks(int code);

} // namespace wavesim
