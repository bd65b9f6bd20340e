// One kernel launch and the scheduler that runs it.
#pragma once

#include "machine/wave.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace wavesim {

struct Kernel;
class MemorySnapshot;
class ObserverFactory;

struct Dispatch {
  const Kernel* kernel = nullptr;
  std::uint32_t grid[3] = {1, 1, 1};  ///< workgroups
  std::uint32_t block[3] = {1, 1, 1}; ///< work-items
  std::uint32_t dynamic_lds = 0;
  const std::byte* kernarg =
      nullptr;              ///< filled segment, hidden arguments included, registered memory
  std::uint64_t packet = 0; ///< address of a 64-byte AQL packet, for kernels that read it
  std::uint64_t queue = 0;  ///< address of a queue descriptor, for kernels that read it
  bool cooperative = false; ///< all workgroups resident at once
  std::shared_ptr<const MemorySnapshot> memory;
  std::uint64_t serial = 0;          ///< number of the dispatch in the process
  std::uint32_t stack_bytes = 16384; ///< private memory per lane of kernels with a dynamic stack
  // Bounds for aperture tests of FLAT addresses: bits [63:32] of the apertures.
  static constexpr std::uint32_t shared_aperture = 0x10000;
  static constexpr std::uint32_t private_aperture = 0x20000;
};

struct RunOptions {
  unsigned threads = 1;
  bool count = false;
  ObserverFactory* observers = nullptr;            ///< null: nobody watches
  std::uint64_t hang_instructions = 4'000'000'000; ///< no progress for so many is a reported hang
};

/// Runs the dispatch to its end on the calling thread (and helpers). Workgroups run in parallel
/// only when the kernel cannot observe it (see README); the result is the same for every thread
/// count. Returns the counts (empty unless options.count).
std::unique_ptr<Tally> run(const Dispatch&, const RunOptions&);

} // namespace wavesim
