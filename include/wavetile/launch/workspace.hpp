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

/// A workspace of which a plan uses `used` bytes exists and is aligned. That it is large enough the
/// plan has checked.
inline status check_workspace(const workspace& memory, int64_t used) {
  if (used == 0)
    return {};
  if (memory.data == nullptr)
    return status::failure(status_code::null_pointer, "workspace.data",
                           "null pointer to a workspace with a size");
  const auto address = reinterpret_cast<uintptr_t>(memory.data);
  if (address % 16 != 0)
    return status::failure(status_code::misaligned, "workspace.data", static_cast<int64_t>(address),
                           "a multiple of 16 bytes");
  return {};
}

/// And, of that memory, nothing lies in one of the call's arrays.
template <class... Operands>
requires(sizeof...(Operands) > 0) status
    check_workspace(const workspace& memory, int64_t used, const Operands&... arrays) {
  status outcome = check_workspace(memory, used);
  const kernels::operand* const list[] = {&arrays...};
  for (const kernels::operand* array : list)
    if (outcome.ok())
      outcome = kernels::check_memory_apart(memory.data, used, *array);
  return outcome;
}

} // namespace detail

} // namespace wavetile
