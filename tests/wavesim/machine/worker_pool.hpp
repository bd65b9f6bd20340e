// Threads that run workgroups. Started at the first parallel dispatch and kept.
#pragma once

#include <functional>

namespace wavesim {

/// Calls `work(i)` for i in [0, count) at once, i = 0 on the calling thread, and returns when all
/// have returned. One call at a time (the caller holds the launch lock). Survives fork(): a child
/// starts threads of its own.
void run_on_workers(unsigned count, const std::function<void(unsigned)>& work);

} // namespace wavesim
