/// \file
/// Memory that an operator needs and never allocates itself.
#pragma once

#include <wavetile/core/status.hpp>
#include <wavetile/kernels/rows/operand.hpp>

namespace wavetile {

/// Device memory lent to one call: in use until the call's work on its stream is done, contents
/// undefined before and after. Two calls that may run at the same time need one each. Aligned to 16
/// bytes, apart from the call's arrays. What a call needs its plan says.
struct workspace {
  void* data = nullptr;
  int64_t bytes = 0;
};

namespace detail {

/// What is lent, whether or not a call of this shape uses it, so that a mistake shows at once: no
/// negative size, and memory that exists and is aligned where there is a size.
inline status check_lent(const workspace& memory) {
  if (memory.bytes < 0)
    return status::failure(status_code::invalid_argument, "memory.bytes", memory.bytes, ">= 0");
  if (memory.bytes == 0)
    return {};
  if (memory.data == nullptr)
    return status::failure(status_code::null_pointer, "memory.data",
                           "null pointer to a workspace with a size");
  const auto address = reinterpret_cast<uintptr_t>(memory.data);
  if (address % 16 != 0)
    return status::failure(status_code::misaligned, "memory.data", static_cast<int64_t>(address),
                           "a multiple of 16 bytes");
  return {};
}

/// Of the `used` bytes nothing lies in one of the call's arrays. That they are enough the plan has
/// checked.
template <class... Operands>
status check_workspace(const workspace& memory, int64_t used, const Operands&... arrays) {
  status outcome = check_lent(memory);
  [[maybe_unused]] const auto check = [&](const kernels::operand& array) { // of a list none
    if (outcome.ok())
      outcome = kernels::check_memory_apart(memory.data, used, array);
  };
  (check(arrays), ...);
  return outcome;
}

} // namespace detail

} // namespace wavetile
