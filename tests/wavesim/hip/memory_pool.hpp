// Stream-ordered allocation. Work runs at once, so memory is there when it is asked for and gone
// when it is freed; what pools add is accounting and attributes.
#pragma once

namespace wavesim::hip {

/// To be called when memory is released by whatever call: takes it off its pool's account.
void leave_pool(const void* pointer);

} // namespace wavesim::hip
