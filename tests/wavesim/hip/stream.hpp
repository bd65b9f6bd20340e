// Streams and events. Work runs when it is enqueued, in the order of the calls, so a stream is
// never behind; what is left are handles, properties and capture into graphs.
#pragma once

#include "hip/operation.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace wavesim::hip {

struct HeldWork; // held_back.hpp

/// A capture under way: streams that take part add their work to one graph.
struct Capture {
  std::uint64_t id = 0;
  hipStreamCaptureMode mode = hipStreamCaptureModeGlobal;
  std::thread::id thread;
  ihipStream_t* origin = nullptr;
  std::unique_ptr<ihipGraph> owned; ///< null when capturing into a graph of the program
  ihipGraph* graph = nullptr;
  bool invalidated = false;
  bool active = true;
};

} // namespace wavesim::hip

struct ihipStream_t {
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  bool null_stream = false;
  std::uint64_t id = 0;
  std::shared_ptr<wavesim::hip::Capture> capture;
  std::vector<hipGraphNode*> tail; ///< captured nodes that the next one depends on
  ~ihipStream_t();
};

struct ihipEvent_t {
  unsigned flags = 0;
  int device = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;     ///< of the host, when it was recorded
  std::shared_ptr<wavesim::hip::Capture> capture; ///< recorded in a captured stream
  std::vector<hipGraphNode*> tail;
  std::shared_ptr<wavesim::hip::HeldWork> held; ///< the record itself, while it is held back
};

namespace wavesim::hip {

/// Guards capture state and graphs.
std::recursive_mutex& graph_mutex();

/// The stream behind a handle; the default stream of the current device or thread for the special
/// handles. Null when the handle is not alive.
ihipStream_t* stream_of(hipStream_t handle);

/// hipErrorStreamCapture… when the calling thread may not make such a call while streams are
/// captured. `unsafe`: a call that is forbidden while any capture of a mode that says so is under
/// way (an allocation, for example); otherwise only calls on `stream` matter.
hipError_t check_capture_unsafe();
/// A synchronous call on the stream: an error if it is being captured, which also ends the capture.
hipError_t check_not_captured(ihipStream_t& stream);
/// Work on the legacy default stream would wait for captured streams.
hipError_t check_implicit(ihipStream_t& stream);

hipError_t record_event(ihipEvent_t& event);

} // namespace wavesim::hip
