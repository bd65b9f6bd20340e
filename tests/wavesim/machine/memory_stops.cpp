#include "machine/memory_stops.hpp"

#include <fmt/format.h>

namespace wavesim {

void stop_misaligned_atomic(const Wave& wave, const Op& op, unsigned lane, std::uint64_t address,
                            unsigned bytes) {
  stop(wave, op,
       fmt::format("{}-byte atomic of lane {} at address {:#x}, which is not a multiple of {}",
                   bytes, lane, address, bytes));
}

void stop_descriptor(const Wave& wave, const Op& op, const std::uint32_t descriptor[4],
                     const char* why) {
  stop(wave, op,
       fmt::format("buffer descriptor {:08x} {:08x} {:08x} {:08x}: {}", descriptor[0],
                   descriptor[1], descriptor[2], descriptor[3], why));
}

void stop_memory(const Wave& wave, const Op& op, const char* why) {
  stop(wave, op, why);
}

} // namespace wavesim
