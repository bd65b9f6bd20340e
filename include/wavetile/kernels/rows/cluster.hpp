/// \file
/// Which rows a cluster of workgroups takes on NVIDIA GPUs, and how they are cut.
///
/// On compute capability 9.0 up to 16 workgroups run at a time on neighbouring SMs and write
/// to each other's LDS. Each holds a part of the row in its LDS, filled by bulk copies; one barrier
/// of them all exchanges the statistics. Registers need not hold the row, and several workgroups
/// of other rows share the SM and load while this one waits. (Trials on an H200: one workgroup an
/// SM that loads its next row meanwhile was up to ten points of a copy behind three.)
#pragma once

#include <wavetile/arch/device_info.hpp>
#include <wavetile/core/math.hpp>

namespace wavetile::kernels {

/// How a workgroup takes its part: `steps` steps at most, in each of which a lane takes
/// `lane_bytes`. LDS holds `held` of the steps; of longer parts the others are read again, most
/// often from L2.
struct row_cluster_cut {
  int waves;
  int lane_bytes;
  int steps;
  int held;
  int groups; ///< workgroups an SM is to hold

  constexpr int threads() const { return waves * 32; }
  constexpr int64_t step_bytes() const { return int64_t{threads()} * lane_bytes; }
  constexpr int64_t part_bytes() const { return steps * step_bytes(); }
};

inline constexpr int row_cluster_cuts = 3;
inline constexpr int most_clustered = 16; ///< workgroups of a cluster; above 8 not on every device

/// The cuts: parts of 64, 128 and 256 KB. `light`: more waves that take less at a time, where an
/// element costs more arithmetic than memory.
constexpr row_cluster_cut row_cluster_cut_of(int number, bool light) {
  if (number == 0)
    return light ? row_cluster_cut{8, 64, 4, 4, 3} : row_cluster_cut{4, 128, 4, 4, 3};
  return number == 1 ? row_cluster_cut{8, 128, 4, 3, 2} : row_cluster_cut{8, 128, 8, 6, 1};
}

/// What a row becomes. Without workgroups: it is not for clusters.
struct row_cluster {
  int workgroups = 0;
  int cut = 0;
  int64_t part_chunks = 0; ///< of each workgroup but the last ones
  int64_t lds_bytes = 0;   ///< dynamic LDS of a workgroup
  bool reads_again = false;
};

/// LDS in front of what is held: statistics of all waves of the cluster, two barriers a slot.
constexpr int64_t row_cluster_header(const row_cluster_cut& cut, int workgroups) {
  return round_up(int64_t{workgroups} * cut.waves * 16 + int64_t{cut.waves} * cut.held * 16,
                  int64_t{128});
}

#if WAVETILE_CUDA

/// Whether the code that this program has for a device is for one with clusters: of all that it is
/// compiled for, the device runs what is nearest below it.
constexpr bool has_cluster_code([[maybe_unused]] const device_info& device) {
#if defined(__CUDA_ARCH_LIST__)
  constexpr int compiled[] = {__CUDA_ARCH_LIST__};
  for (const int arch : compiled)
    if (arch == 900)
      return device.arch() == architecture::sm90;
#endif
  return false;
}

/// The cluster for rows of `chunks` chunks of `chunk_bytes`, if they are longer than `least_bytes`.
constexpr row_cluster row_cluster_for(const device_info& device, bool light, int64_t chunks,
                                      int chunk_bytes, int64_t least_bytes) {
  row_cluster result;
  const int64_t bytes = chunks * chunk_bytes;
  if (bytes <= least_bytes || !has_cluster_code(device))
    return result;
  for (int number = 0; number < row_cluster_cuts; ++number) {
    const row_cluster_cut cut = row_cluster_cut_of(number, light);
    const int64_t workgroups = divide_up(bytes, cut.part_bytes());
    // more than 8 must fit into one of the groups of SMs that a device is made of, here at most 8
    const bool fits = (workgroups <= 8 && int64_t{device.cu_count} * cut.groups >= workgroups) ||
                      (workgroups <= most_clustered &&
                       device.cu_count >= 8 * divide_up(int64_t{16}, int64_t{cut.groups}));
    if (!fits)
      continue;
    const int64_t step_chunks = cut.step_bytes() / chunk_bytes;
    result.workgroups = static_cast<int>(workgroups);
    result.cut = number;
    result.part_chunks = divide_up(chunks, workgroups);
    const int64_t steps = divide_up(result.part_chunks, step_chunks);
    result.reads_again = steps > cut.held;
    result.lds_bytes = row_cluster_header(cut, result.workgroups) +
                       (steps < cut.held ? steps : cut.held) * cut.step_bytes();
    return result;
  }
  return result;
}

#else

constexpr row_cluster row_cluster_for(const device_info&, bool, int64_t, int, int64_t) {
  return {};
}

#endif

} // namespace wavetile::kernels
