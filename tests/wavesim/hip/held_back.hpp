// `--check=stream`: work of streams is held back until a call must wait for it, and streams that do
// not depend on each other run in reversed order. A program that lacks a synchronisation then sees
// what it must not rely on; without the check all work runs when it is enqueued.
//
// Order is what HIP promises: within a stream; behind an event that a stream waits for; between the
// legacy default stream and the blocking streams of its device.
#pragma once

#include "hip/operation.hpp"

#include <memory>

namespace wavesim::hip {

struct HeldWork;

/// Whether work is held back at all; settled at the first question.
bool holding_back();

/// Takes the operation over instead of running it.
void hold_back(ihipStream_t& stream, Operation operation);
/// What follows in `stream` comes behind `work` (null: nothing to wait for).
void hold_behind(ihipStream_t& stream, const std::shared_ptr<HeldWork>& work);
/// The latest work of the stream, null if there is none left.
std::shared_ptr<HeldWork> last_held(ihipStream_t& stream);

/// Run what is held back: of one stream, up to one piece of work, everything.
void finish_held(ihipStream_t& stream);
void finish_held(const std::shared_ptr<HeldWork>& work);
void finish_all_held();
/// The stream ends: its work runs, and it is forgotten.
void forget_held(ihipStream_t& stream);

} // namespace wavesim::hip
