// The exported side of counters/api.h and model/static_report.h.
#include "counters/session.hpp"
#include "model/static_report.h"
#include "model/static_report.hpp"

#define WAVESIM_COUNTERS_EXPORT extern "C" __attribute__((visibility("default")))

WAVESIM_COUNTERS_EXPORT int wavesim_counters_begin(void) {
  return wavesim::session().begin();
}

WAVESIM_COUNTERS_EXPORT int wavesim_counters_end(wavesim_counts* counts) {
  return wavesim::session().end(counts);
}

WAVESIM_COUNTERS_EXPORT std::size_t wavesim_counters_instructions(wavesim_instruction* out,
                                                                  std::size_t capacity) {
  return wavesim::session().instructions(out, capacity);
}

WAVESIM_COUNTERS_EXPORT int wavesim_distances(const wavesim_distance_request* request) {
  return wavesim::report_distances(*request);
}
