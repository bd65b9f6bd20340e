// The exported side of counters/api.h.
#include "counters/session.hpp"

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
