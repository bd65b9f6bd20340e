// s_sendmsg reaches the host side through a hook, so that exec/ knows nothing of host services.
#pragma once

#include <cstdint>

namespace wavesim {

struct Wave;
struct Op;

inline constexpr std::uint32_t message_interrupt = 1; ///< device printf and hostcalls announce work

/// Called for every s_sendmsg with its 16-bit immediate; null does nothing. Set before a launch.
using MessageHook = void (*)(Wave&, const Op&, std::uint32_t message);
extern MessageHook message_hook;

} // namespace wavesim
