// The hidden arguments of a kernel (LLVM's AMDGPU usage guide, code object version 5 and later).
#pragma once

#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace wavesim::hip {

/// Values that do not follow from the dispatch.
struct HiddenArguments {
  std::uint64_t grid_sync = 0; ///< cooperative launches: what the grid barrier counts in
  std::uint64_t hostcall = 0;  ///< buffer of device-side printf and assert
  std::uint64_t heap = 0;      ///< device-side malloc
  std::uint64_t queue = 0;
};

/// Writes every hidden argument the kernel's metadata lists, at its offset, into the segment.
void write_hidden_arguments(std::span<std::byte> segment, const Dispatch& dispatch,
                            const HiddenArguments& values);

/// The 64-byte packet a queue would carry for the dispatch, for kernels that read it.
void write_packet(std::span<std::byte, 64> packet, const Dispatch& dispatch);

} // namespace wavesim::hip
