// Objects of the program that live as long as a graph that refers to them.
#pragma once

#include <hip/hip_runtime_api.h>

struct ihipGraph;

namespace wavesim::hip {

void retain_user_object(ihipGraph& graph, hipUserObject_t object, unsigned count);
/// Drops `count` references; the last one calls the object's destructor.
void release_user_object(hipUserObject_t object, unsigned count);

} // namespace wavesim::hip
