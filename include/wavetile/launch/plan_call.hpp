/// \file
/// From a problem to what a call does with it on its stream's device.
#pragma once

#include <wavetile/launch/device.hpp>
#include <wavetile/launch/workspace.hpp>

namespace wavetile::detail {

/// The plan of `problem` on the device of the stream. Its outcome is a failure, too, where the
/// device is not known, or what was lent is wrong by itself or beside the call's `arrays`.
template <class Problem, class... Operands>
auto plan_call(const Problem& problem, const workspace& memory, hipStream_t stream,
               const Operands&... arrays) {
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome) {
    decltype(plan(problem, device)) unknown;
    unknown.outcome = outcome;
    return unknown;
  }
  auto chosen = plan(problem, device);
  if (chosen.outcome)
    chosen.outcome = check_workspace(memory, chosen.workspace_bytes, arrays...);
  return chosen;
}

} // namespace wavetile::detail
