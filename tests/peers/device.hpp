// Calls an algorithm of rocPRIM twice, as its interface wants: for the size of its temporary
// memory, and with that memory.
#pragma once

#include "program.hpp"

#include <cstddef>

namespace program {

/// `algorithm(temporary, bytes)` returns a hipError_t.
template <class Algorithm>
void run_with_temporary(Algorithm algorithm) {
  std::size_t bytes = 0;
  ASSERT_EQ(algorithm(nullptr, bytes), hipSuccess);
  ASSERT_GT(bytes, 0u);
  const Array<std::byte> temporary(bytes);
  ASSERT_EQ(algorithm(static_cast<void*>(temporary.data()), bytes), hipSuccess);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
}

} // namespace program
