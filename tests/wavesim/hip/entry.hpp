// What every entry point of the HIP interface has in common: the state of the calling thread, and
// the wrapper that records errors.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#define WAVESIM_HIP_EXPORT extern "C" __attribute__((visibility("default")))

namespace wavesim::hip {

struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  hipStream_t stream = nullptr;
};

/// State of the calling host thread.
struct ThreadState {
  int device = 0;
  hipError_t last_error = hipSuccess;  ///< kept until hipGetLastError takes it
  hipError_t last_result = hipSuccess; ///< of the latest call, as hipExtGetLastError reports
  std::vector<CallConfiguration> configurations; ///< between <<<>>> and the launch
  hipStreamCaptureMode capture_mode = hipStreamCaptureModeGlobal;
  std::vector<hipCtx_t> contexts;
  ~ThreadState();
};
ThreadState& thread_state();

/// Records the result of a call. Success and hipErrorNotReady do not replace an earlier error.
hipError_t record(hipError_t result);

/// Whether the process has a device at all; hipErrorNoDevice otherwise.
hipError_t need_device();

/// Runs the work that `--check=stream` holds back, all of it.
void finish_all_held();
bool holding_back();

/// Body of an entry point that needs a device and waits for nothing: what is held back stays so.
template <class Body>
hipError_t call_at_once(Body&& body) {
  try {
    const hipError_t ready = need_device();
    return record(ready == hipSuccess ? body() : ready);
  } catch (const std::bad_alloc&) {
    return record(hipErrorOutOfMemory);
  }
}

/// Body of an entry point that needs a device. It may depend on anything that was enqueued.
template <class Body>
hipError_t call(Body&& body) {
  if (holding_back()) [[unlikely]]
    finish_all_held();
  return call_at_once(std::forward<Body>(body));
}

/// Body of an entry point that works without a device too.
template <class Body>
hipError_t call_without_device(Body&& body) {
  try {
    return record(body());
  } catch (const std::bad_alloc&) {
    return record(hipErrorOutOfMemory);
  }
}

/// Returns from the enclosing function unless `expression` succeeds.
#define WAVESIM_HIP_TRY(expression)                                                                \
  do {                                                                                             \
    if (const hipError_t wavesim_result = (expression); wavesim_result != hipSuccess)              \
      return wavesim_result;                                                                       \
  } while (false)

} // namespace wavesim::hip
