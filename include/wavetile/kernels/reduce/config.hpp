/// \file
/// The ways the reduction kernels are cut.
#pragma once

#include <wavetile/arch/device_target.hpp>
#include <wavetile/core/enumerator.hpp>

namespace wavetile {

/// The kernels, each by its name.
enum class reduce_kernel : uint8_t {
  row_lanes,     ///< rows of neighbouring elements: 1 to 64 lanes of a wave for each
  row_workgroup, ///< a workgroup for each row
  row_split,     ///< several workgroups a row: partial results to the workspace, then a second step
  columns,       ///< results next to each other: lanes along them, waves down the reduced axis
  columns_split, ///< several workgroups down the reduced axis, workspace, second step
  all_split,     ///< everything, rows apart: workgroups take rows in turn, workspace, second step
  all_workgroup, ///< everything, rows apart, by one workgroup
};
inline constexpr int reduce_kernel_count = 7;

constexpr const char* name_of(reduce_kernel kernel) {
  constexpr const char* names[] = {"row_lanes",     "row_workgroup", "row_split",    "columns",
                                   "columns_split", "all_split",     "all_workgroup"};
  return detail::name_in(names, kernel);
}

/// One cut of the kernels. A template argument.
struct reduce_config {
  int waves = 256 / wave_size; ///< of a workgroup
  int at_once = 4;             ///< 16-byte chunks each lane has in flight

  /// The cut for values of this many bytes: large ones leave fewer registers for loads. (Two chunks
  /// of 16-bit elements with 64-bit indices take more comparison masks than scalar registers hold.)
  static constexpr reduce_config for_values(int value_bytes) {
    return {256 / wave_size, value_bytes > 8 ? 1 : 4};
  }

  /// Chunks of a short row that go to one lane before the row gets another. On gfx942 lanes combine
  /// at an instruction a step, on NVIDIA GPUs at a shuffle through shared memory's pipeline, while
  /// loads are what a lane should have many of.
  constexpr int chunks_a_lane() const { return wave_size == 32 ? at_once : 1; }

  constexpr int threads() const { return waves * wave_size; }
  friend constexpr bool operator==(const reduce_config&, const reduce_config&) = default;
};

} // namespace wavetile

#if WAVETILE_CUDA
// nvcc 13.0 names the type of a template argument by its mangled name in the host's stubs
using _ZN8wavetile13reduce_configE = wavetile::reduce_config;
#endif
