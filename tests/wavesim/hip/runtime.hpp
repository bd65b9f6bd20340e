// The process as HIP sees it: which devices there are and how kernels are run.
#pragma once

#include "machine/dispatch.hpp"

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace wavesim::hip {

/// Settings from the environment, read once.
struct Settings {
  int devices = 1;      ///< WAVESIM_DEVICES, cut by HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES
  unsigned threads = 1; ///< WAVESIM_THREADS: host threads that run workgroups
  std::uint64_t memory = 0;            ///< WAVESIM_MEMORY: bytes of all devices together
  std::uint64_t hang_instructions = 0; ///< WAVESIM_HANG_INSTRUCTIONS
};
const Settings& settings();

/// How many of `present` devices a list like "0,1" lets through; the rules of HIP_VISIBLE_DEVICES:
/// the list ends at the first entry that is no device.
int visible_devices(const char* list, int present);

/// Device memory of one device in bytes.
std::uint64_t device_memory_bytes();

/// Held while a kernel runs: kernels of different host threads run one after the other.
std::mutex& execution_mutex();

/// Whether `device` is the ordinal of a device.
bool valid_device(int device);

/// A line on stderr about something the program should know ("wavesim: …").
void note(const std::string& text);

} // namespace wavesim::hip
