/// \file
/// Memory that an operator needs and never allocates itself.
#pragma once

#include <wavetile/integers.hpp>

namespace wavetile {

/// Device memory lent to one call: in use until the call's work on its stream is done, contents
/// undefined before and after. Two calls that may run at the same time need one each. Aligned to 16
/// bytes. What a call needs its plan says.
struct workspace {
  void* data = nullptr;
  int64_t bytes = 0;
};

} // namespace wavetile
