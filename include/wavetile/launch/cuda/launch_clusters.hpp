/// \file
/// Starting kernels whose workgroups form clusters.
#pragma once

#include <wavetile/launch/cuda/lds_grant.hpp>
#include <wavetile/launch/launch.hpp>

#if WAVETILE_CUDA

namespace wavetile {

namespace detail {

/// What `launch_cluster_kernel` starts.
struct cluster_launch {
  int64_t groups;
  int threads;
  int workgroups; ///< of a cluster
  int64_t lds_bytes;
  bool at_once = false;   ///< no more workgroups than the device holds at a time
  void* zeroed = nullptr; ///< where not null: all workgroups run at a time, and find zeros there
  int64_t zeroed_bytes = 0;
};

/// Whether the device holds all workgroups of a launch at a time. A part of a device that has fewer
/// SMs than the device says is known to the launch alone.
inline hipError_t check_held(const void* kernel, const cluster_launch& given, int device) {
  int of_one = 0, units = 0;
  auto error = static_cast<hipError_t>(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &of_one, kernel, given.threads, static_cast<std::size_t>(given.lds_bytes)));
  if (error == hipSuccess)
    error = static_cast<hipError_t>(
        cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device));
  if (error == hipSuccess && int64_t{of_one} * units < given.groups)
    error = static_cast<hipError_t>(cudaErrorCooperativeLaunchTooLarge);
  return error;
}

/// Why `launch_cluster_kernel` did not start a kernel.
inline status cluster_launch_failure(const void* kernel, hipError_t error,
                                     const cluster_launch& given, const launch_shape& shape,
                                     const device_info& device) {
  if (static_cast<cudaError_t>(error) == cudaErrorCooperativeLaunchTooLarge)
    return status::failure(status_code::grid_limit, "memory",
                           "the device, or what this context has of it, cannot hold ")
        .append(given.groups)
        .append(" workgroups at a time, which exchange through it; without a workspace another "
                "kernel runs");
  if (static_cast<cudaError_t>(error) == cudaErrorInvalidClusterSize)
    return status::failure(status_code::grid_limit, "workgroups", "a cluster has ")
        .append(given.workgroups)
        .append(", which the device, or what this context has of it, cannot hold at a time");
  return launch_failure(kernel, error, shape, device);
}

/// On the device of the stream, whatever the current one is.
inline hipError_t launch_cluster_kernel(const void* kernel, const cluster_launch& given,
                                        void** arguments, int device, hipStream_t stream) {
  int current = 0;
  hipError_t error = static_cast<hipError_t>(cudaGetDevice(&current));
  if (error == hipSuccess && device != current)
    error = static_cast<hipError_t>(cudaSetDevice(device));
  if (error == hipSuccess)
    error = static_cast<hipError_t>(
        grant_lds(kernel, static_cast<std::size_t>(given.lds_bytes), device));
  constexpr int portable = 8;
  if (error == hipSuccess && given.workgroups > portable) {
    cudaFuncAttributes now;
    error = static_cast<hipError_t>(cudaFuncGetAttributes(&now, kernel));
    if (error == hipSuccess && now.nonPortableClusterSizeAllowed == 0)
      error = static_cast<hipError_t>(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
  if (error == hipSuccess && given.zeroed != nullptr)
    error = check_held(kernel, given, device);
  if (error == hipSuccess && given.zeroed != nullptr)
    error = static_cast<hipError_t>(
        cudaMemsetAsync(given.zeroed, 0, static_cast<std::size_t>(given.zeroed_bytes), stream));
  if (error == hipSuccess) {
    cudaLaunchAttribute attributes[2] = {};
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(static_cast<unsigned>(given.groups));
    config.blockDim = dim3(static_cast<unsigned>(given.threads));
    config.dynamicSmemBytes = static_cast<size_t>(given.lds_bytes);
    config.stream = stream;
    config.attrs = attributes;
    if (given.zeroed != nullptr) {
      attributes[0].id = cudaLaunchAttributeCooperative;
      attributes[0].val.cooperative = 1;
      config.numAttrs = 1;
    } else if (given.workgroups > 1 || given.at_once) {
      // one that waits for its cluster alone, too: without, synccheck calls its lanes divergent
      attributes[0].id = cudaLaunchAttributeClusterDimension;
      attributes[0].val.clusterDim.x = static_cast<unsigned>(given.workgroups);
      attributes[0].val.clusterDim.y = 1;
      attributes[0].val.clusterDim.z = 1;
      // else SMs stay with room for a workgroup more (trials on an H200: clusters of four at 80 %
      // of a copy, so at 85 %)
      attributes[1].id = cudaLaunchAttributeClusterSchedulingPolicyPreference;
      attributes[1].val.clusterSchedulingPolicyPreference =
          cudaClusterSchedulingPolicyLoadBalancing;
      config.numAttrs = 2;
    }
    if (given.at_once && given.workgroups > 1) { // which SMs lie together differs between devices
      int held = 0;
      error = static_cast<hipError_t>(cudaOccupancyMaxActiveClusters(&held, kernel, &config));
      if (error == hipSuccess && held == 0)
        error = static_cast<hipError_t>(cudaErrorInvalidClusterSize);
      if (held > 0 && int64_t{held} * given.workgroups < given.groups)
        config.gridDim = dim3(static_cast<unsigned>(held * given.workgroups));
    }
    if (error == hipSuccess)
      error = static_cast<hipError_t>(cudaLaunchKernelExC(&config, kernel, arguments));
  }
  if (device != current) {
    const auto restored = static_cast<hipError_t>(cudaSetDevice(current));
    error = error == hipSuccess ? restored : error;
  }
  return error;
}

} // namespace detail

/// Starts `kernel`, whose one parameter is a struct, with a cluster of `workgroups` workgroups of
/// `threads` work-items for each of `rows` rows, in as many dispatches as it takes, in order.
/// `first` is the member by which a dispatch learns its first row. `lds_bytes`: dynamic LDS.
template <class Arguments>
status launch_clusters(void (*kernel)(Arguments), int64_t rows, int workgroups, int threads,
                       int64_t Arguments::*first, Arguments arguments, hipStream_t stream,
                       int64_t lds_bytes) {
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome)
    return outcome;
  const grid_plan grid = plan_groups(rows, threads * workgroups, max_grid_x / workgroups);
  for (int64_t i = 0; i < grid.launches(); ++i) {
    const grid_slice slice = grid.slice(i);
    arguments.*first = slice.first;
    const launch_shape shape{
        .grid = slice.count * workgroups, .block = threads, .lds_bytes = lds_bytes};
    if (const status outcome = detail::check_shape(shape, device); !outcome)
      return outcome;
    void* pointers[] = {&arguments};
    const auto* handle = reinterpret_cast<const void*>(kernel);
    const detail::cluster_launch given{shape.grid.x, threads, workgroups, lds_bytes};
    const hipError_t error =
        detail::launch_cluster_kernel(handle, given, pointers, device.ordinal, stream);
    if (error != hipSuccess)
      return detail::cluster_launch_failure(handle, error, given, shape, device);
  }
  return {};
}

/// Starts `kernel` with up to `groups` workgroups of `threads` work-items in clusters of
/// `workgroups`: as many as the device holds at a time, which take rows in turn. `lds_bytes`:
/// dynamic LDS. `workspace`, where not null, gets zeros, and all `groups` workgroups run at a time,
/// without clusters; `grid_limit`, and no kernel has run, where the device, or the part of it that
/// the context has, does not hold them.
template <class Arguments>
status launch_clusters_in_turn(void (*kernel)(Arguments), int64_t groups, int workgroups,
                               int threads, Arguments arguments, hipStream_t stream,
                               int64_t lds_bytes, void* workspace = nullptr,
                               int64_t workspace_bytes = 0) {
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome)
    return outcome;
  const launch_shape shape{.grid = groups, .block = threads, .lds_bytes = lds_bytes};
  if (const status outcome = detail::check_shape(shape, device); !outcome)
    return outcome;
  void* pointers[] = {&arguments};
  const auto* handle = reinterpret_cast<const void*>(kernel);
  const bool clustered = workspace == nullptr;
  const detail::cluster_launch given{groups,         threads,   clustered ? workgroups : 1,
                                     lds_bytes,      clustered, workspace,
                                     workspace_bytes};
  const hipError_t error =
      detail::launch_cluster_kernel(handle, given, pointers, device.ordinal, stream);
  return error == hipSuccess ? status{}
                             : detail::cluster_launch_failure(handle, error, given, shape, device);
}

} // namespace wavetile

#endif
