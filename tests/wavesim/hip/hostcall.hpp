// Calls from running kernels to the host: printf and assert. The device side is in ROCm's device
// library (ockl): a wave takes a packet off a stack of free ones, fills it, puts it on a stack of
// ready ones, sends a message, and waits until the host has cleared the packet's ready bit.
#pragma once

#include <cstdint>

namespace wavesim::hip {

/// Address of the buffer, for hidden_hostcall_buffer; made at the first call, which also starts to
/// listen for messages.
std::uint64_t hostcall_buffer();

} // namespace wavesim::hip
