/// \file
/// Which rows a cluster of workgroups takes on NVIDIA GPUs, and how they are cut.
///
/// On compute capability 9.0 up to 16 workgroups run at a time on neighbouring SMs and write
/// to each other's LDS. Each holds a part of the row in its LDS, filled by bulk copies, and they
/// exchange the statistics.
///
/// Rows up to 1 MB are taken in turn by clusters that stay: LDS of each workgroup is a ring of
/// several rows' parts, and a row's results are written when later rows have been measured, so that
/// neither copies nor stores wait for an exchange (`row_ring`). Of longer rows a workgroup holds
/// one part, and where an SM has room for two, they share it; with a workspace they are taken in
/// turn, too, by 64 workgroups that exchange statistics through it. (H200, share of a copy:
/// norms of 131,072 elements 84 to 89 % in rings, 77 to 79 % with a cluster for each row and three
/// workgroups an SM; of 1,048,576 bf16 70 to 84 % through memory, 56 to 64 % without. Prefetching a
/// later row to L2 was up to 16 points slower than not to.)
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

/// How a workgroup takes its parts of rows in turn: 16 waves take a part in `steps` steps, in each
/// of which a lane takes 64 bytes; one more wave hands out what they found, and others gather what
/// other workgroups have: one in a cluster, three in turn where that comes through memory.
struct row_ring {
  int steps;
  bool through_memory = false;

  static constexpr int waves = 16;
  static constexpr int lane_bytes = 64;
  constexpr int gatherers() const { return through_memory ? 3 : 1; }
  constexpr int threads() const { return (waves + 1 + gatherers()) * 32; }
  constexpr int64_t part_bytes() const { return int64_t{waves} * 32 * lane_bytes * steps; }
  constexpr int rows() const { return 6 / steps; } ///< whose parts LDS holds
  constexpr int behind() const {
    return steps == 1 ? 2 : 1;
  } ///< rows measured before one's results
  /// Rows whose statistics are kept: so many that none is overwritten that a workgroup may still
  /// need. Who measures row i has written i - behind - 1, for which all others have measured that,
  /// and written i - 2 behind - 2.
  constexpr int statistics() const { return 2 * behind() + 2; }
  /// Parts, then barriers, then statistics.
  constexpr int64_t lds_bytes() const {
    return rows() * part_bytes() + (rows() * waves + 3 * statistics()) * 8 +
           statistics() * (2 * waves + 1) * 16;
  }
  /// Workspace of so many workgroups of a launch through memory.
  constexpr int64_t workspace_bytes(int64_t workgroups) const {
    return workgroups * statistics() * 32;
  }
};

inline constexpr int row_rings = 2; ///< cuts 0 and 1: rings of one and two steps
inline constexpr int row_cluster_cuts = 5;
inline constexpr int most_clustered = 16; ///< workgroups of a cluster; above 8 not on every device
inline constexpr int most_through_memory = 64;

/// Cuts beyond the rings: parts of 64 KB, of 16-bit rows that one workgroup takes (H200: LayerNorm
/// of 16,384 bf16 at 90 % of a copy so, at 80 % in rings), and of 128 and 256 KB. `light`: more
/// waves that take less at a time, where an element costs more arithmetic than memory.
constexpr row_cluster_cut row_cluster_cut_of(int number, bool light) {
  if (number == row_rings)
    return light ? row_cluster_cut{8, 64, 4, 4, 3} : row_cluster_cut{4, 128, 4, 4, 3};
  return number == row_rings + 1 ? row_cluster_cut{8, 128, 4, 3, 2}
                                 : row_cluster_cut{8, 128, 8, 6, 1};
}

/// What a row becomes. Without workgroups: it is not for clusters.
struct row_cluster {
  int workgroups = 0;
  int cut = 0;
  int threads = 0;         ///< of a workgroup
  int lane_bytes = 0;      ///< that a lane takes of a part or, of longer rows, at a time
  int64_t part_chunks = 0; ///< of each workgroup but the last ones
  int64_t lds_bytes = 0;   ///< dynamic LDS of a workgroup
  bool reads_again = false;
  int64_t workspace_bytes = 0; ///< through memory; 0: a cluster

  constexpr bool in_turn() const { return cut < row_rings; }
  /// Workgroups of a launch: in turn as many as the device may hold, else for each row.
  constexpr int64_t groups(int64_t rows, int cu_count) const {
    const int64_t most = in_turn() ? cu_count / workgroups : rows;
    return workgroups * (rows < most ? rows : (most < 1 ? 1 : most));
  }
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

/// Whether clusters of so many workgroups find place, `groups` of them on an SM: more than 8 must
/// fit into one of the groups of SMs that a device is made of, here at most 8.
constexpr bool has_room_for_cluster(const device_info& device, int64_t workgroups, int groups) {
  return workgroups <= 8 ? int64_t{device.cu_count} * groups >= workgroups
                         : workgroups <= most_clustered &&
                               device.cu_count >= 8 * divide_up(int64_t{16}, int64_t{groups});
}

/// Chunks of each part in a ring but the last ones: whole lines of 128 bytes, of which any part
/// that LDS has room for is a multiple.
constexpr int64_t ring_part_chunks(int64_t chunks, int chunk_bytes, int workgroups) {
  return round_up(divide_up(chunks, int64_t{workgroups}), int64_t{128 / chunk_bytes});
}

/// The cluster for rows of `chunks` chunks of `chunk_bytes`, if they are longer than `least_bytes`.
/// `halves`: of 16-bit elements; but for `light` those are spread over more workgroups before they
/// take two steps, which leaves room for as much again as a step in registers.
constexpr row_cluster row_cluster_for(const device_info& device, int64_t chunks, int chunk_bytes,
                                      int64_t least_bytes, bool halves, bool light) {
  row_cluster result;
  const int64_t bytes = chunks * chunk_bytes;
  if (bytes <= least_bytes || !has_cluster_code(device))
    return result;
  const struct {
    int workgroups, steps;
    bool spread;
  } rings[] = {{1, 2, false}, {2, 2, false}, {4, 1, true}, {8, 1, true},
               {8, 2, false}, {16, 1, true}, {16, 2, true}};
  const bool alone = halves && bytes <= row_cluster_cut_of(row_rings, light).part_bytes();
  for (const auto& one : rings) {
    const row_ring ring{one.steps};
    if (alone || (halves && !light && !one.spread) || bytes > one.workgroups * ring.part_bytes() ||
        !has_room_for_cluster(device, one.workgroups, 1))
      continue;
    result.workgroups = one.workgroups;
    result.cut = one.steps - 1;
    result.lane_bytes = ring.steps * ring.lane_bytes;
    result.threads = ring.threads();
    result.part_chunks = ring_part_chunks(chunks, chunk_bytes, one.workgroups);
    result.lds_bytes = ring.lds_bytes();
    return result;
  }
  for (int number = alone ? row_rings : row_rings + 1; number < row_cluster_cuts; ++number) {
    const row_cluster_cut cut = row_cluster_cut_of(number, light);
    const int64_t workgroups = divide_up(bytes, cut.part_bytes());
    if (!has_room_for_cluster(device, workgroups, cut.groups))
      continue;
    const int64_t step_chunks = cut.step_bytes() / chunk_bytes;
    result.workgroups = static_cast<int>(workgroups);
    result.cut = number;
    result.lane_bytes = cut.lane_bytes;
    result.threads = cut.threads();
    result.part_chunks = divide_up(chunks, workgroups);
    const int64_t steps = divide_up(result.part_chunks, step_chunks);
    result.reads_again = steps > cut.held;
    result.lds_bytes = row_cluster_header(cut, result.workgroups) +
                       (steps < cut.held ? steps : cut.held) * cut.step_bytes();
    return result;
  }
  return result;
}

/// The same for `rows` rows longer than rings of clusters take, by workgroups that must run at a
/// time, one on an SM, and need a workspace, no more than for the rows there are.
constexpr row_cluster row_cluster_through_memory(const device_info& device, int64_t rows,
                                                 int64_t chunks, int chunk_bytes) {
  row_cluster result;
  const int64_t bytes = chunks * chunk_bytes;
  constexpr row_ring ring{1, true};
  if (!has_cluster_code(device) || bytes <= 2 * most_clustered * ring.part_bytes())
    return result;
  if (bytes > most_through_memory * ring.part_bytes() || device.cu_count < most_through_memory)
    return result;
  result.workgroups = most_through_memory;
  result.cut = ring.steps - 1;
  result.lane_bytes = ring.steps * ring.lane_bytes;
  result.threads = ring.threads();
  result.part_chunks = ring_part_chunks(chunks, chunk_bytes, most_through_memory);
  result.lds_bytes = ring.lds_bytes();
  result.workspace_bytes = ring.workspace_bytes(result.groups(rows, device.cu_count));
  return result;
}

#else

constexpr row_cluster row_cluster_through_memory(const device_info&, int64_t, int64_t, int) {
  return {};
}
constexpr row_cluster row_cluster_for(const device_info&, int64_t, int, int64_t, bool, bool) {
  return {};
}

#endif

} // namespace wavetile::kernels
