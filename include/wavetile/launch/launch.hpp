/// \file
/// Starting kernels from the host.
#pragma once

#include <wavetile/core/type_traits.hpp>
#include <wavetile/launch/detail/compiled_architectures.hpp>
#include <wavetile/launch/device.hpp>
#include <wavetile/launch/grid_plan.hpp>

namespace wavetile {

/// Sizes in up to three dimensions, in 64 bits so that what is too large is refused and not cut.
struct extent3 {
  int64_t x = 1;
  int64_t y = 1;
  int64_t z = 1;

  constexpr extent3() = default;
  constexpr extent3(int64_t x_, int64_t y_ = 1, int64_t z_ = 1) : x(x_), y(y_), z(z_) {}
};

/// Shape of one dispatch.
struct launch_shape {
  extent3 grid;          ///< workgroups; 0 in any dimension: nothing is launched, successfully
  extent3 block;         ///< work-items of a workgroup
  int64_t lds_bytes = 0; ///< dynamic LDS
};

namespace detail {

/// Checks a shape against the device before the runtime sees it.
constexpr status check_shape(const launch_shape& shape, const device_info& device) {
  const extent3& block = shape.block;
  const extent3& grid = shape.grid;
  const int64_t most = device.max_workgroup_size;
  const struct {
    const char* name;
    int64_t value;
    int64_t least;
    int64_t highest;
    status_code code;
    const char* allowed;
  } checks[] = {
      {"block.x", block.x, 1, most, status_code::invalid_argument, "1 to "},
      {"block.y", block.y, 1, most, status_code::invalid_argument, "1 to "},
      {"block.z", block.z, 1, most, status_code::invalid_argument, "1 to "},
      {"grid.x", grid.x, 0, max_grid_x, status_code::grid_limit, "0 to "},
      {"grid.y", grid.y, 0, max_grid_yz, status_code::grid_limit, "0 to "},
      {"grid.z", grid.z, 0, max_grid_yz, status_code::grid_limit, "0 to "},
      {"lds_bytes", shape.lds_bytes, 0, device.lds_bytes, status_code::lds_limit, "0 to "},
  };
  for (const auto& check : checks)
    if (check.value < check.least || check.value > check.highest)
      return status::failure(check.value < check.least ? status_code::invalid_argument : check.code,
                             check.name, check.value, check.allowed)
          .append(check.highest);
  const int64_t work_items = block.x * block.y * block.z;
  if (work_items > most)
    return status::above_limit(status_code::invalid_argument, "block", work_items, most,
                               "work-items");
  // No product overflows: block <= 1024, grid.x < 2^31, and the division bounds what follows.
  int64_t groups = grid.x * grid.y;
  if (groups > max_dispatch_work_items ||
      (grid.z != 0 && groups > max_dispatch_work_items / grid.z) ||
      groups * grid.z > max_dispatch_work_items / work_items) {
    return status::failure(status_code::grid_limit, "grid", "")
        .append(grid.x)
        .append(" x ")
        .append(grid.y)
        .append(" x ")
        .append(grid.z)
        .append(" workgroups of ")
        .append(work_items)
        .append(" work-items, allowed: <= ")
        .append(max_dispatch_work_items)
        .append(" work-items in one dispatch");
  }
  return {};
}

/// Why the runtime refused a kernel, in more words than its own.
inline status launch_failure(const void* kernel, hipError_t error, const launch_shape& shape,
                             const device_info& device) {
  if (means_no_code(error))
    return status::failure(status_code::wrong_architecture, "device", "it is ")
        .append(device.arch_name)
        .append(", this program has code for ")
        .append(compiled_architectures(kernel).c_str());
  hipFuncAttributes attributes;
  if (hipFuncGetAttributes(&attributes, kernel) == hipSuccess) {
    const int64_t total = static_cast<int64_t>(attributes.sharedSizeBytes) + shape.lds_bytes;
    if (total > device.lds_bytes)
      return status::above_limit(status_code::lds_limit, "lds_bytes", total, device.lds_bytes,
                                 "bytes, static and dynamic together");
    const int64_t work_items = shape.block.x * shape.block.y * shape.block.z;
    if (work_items > attributes.maxThreadsPerBlock)
      return status::above_limit(status_code::invalid_argument, "block", work_items,
                                 attributes.maxThreadsPerBlock,
                                 "work-items, which the kernel was compiled for");
  }
  return runtime_failure("hipLaunchKernel", error);
}

inline dim3 to_dim3(const extent3& extent) {
  return dim3(static_cast<uint32_t>(extent.x), static_cast<uint32_t>(extent.y),
              static_cast<uint32_t>(extent.z));
}

} // namespace detail

/// Starts `kernel` on `stream` with these arguments, which are converted to its parameter types.
///
///     wavetile::launch(scale_rows<config>, {.grid = rows, .block = 256}, stream, x, y, rows);
///
/// Asynchronous and ordered by the stream; runs on the stream's device whatever the current device
/// is, and leaves that as it was. Nothing is allocated and nothing synchronises, so it may be
/// captured into a graph. The first launch on a device asks for its properties; later ones ask
/// nothing (`known_device`).
///
/// Fails before anything is started, naming argument, value and limit, when the device is none that
/// the library knows or the program has code for (both named), the block has no or more work-items
/// than the device or the kernel permits, the grid exceeds 65535 in y or z or 2^32 - 1 work-items
/// in all (split it with `plan_groups`), or LDS exceeds the device's limit. A shape with 0
/// workgroups launches nothing and succeeds.
///
/// The status is that of this launch alone: an error that an earlier call left pending is neither
/// reported nor cleared here. (Runtimes before ROCm 7 forget a pending error in any successful
/// call; CUDA's does when a kernel is first granted more than 48 KiB of LDS on a device.)
template <class... Parameters>
status launch(void (*kernel)(Parameters...), const launch_shape& shape, hipStream_t stream,
              detail::type_identity_t<Parameters>... arguments) {
  const void* handle = reinterpret_cast<const void*>(kernel);
  if (handle == nullptr)
    return status::failure(status_code::null_pointer, "kernel", "it is null");
  device_info device;
  if (const status outcome = stream_device(stream, device); !outcome)
    return outcome;
  if (const status outcome = check_device(device); !outcome)
    return outcome;
  if (const status outcome = detail::check_shape(shape, device); !outcome)
    return outcome;
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0)
    return {};
  // one more than needed, as an array cannot be empty
  const void* pointers[sizeof...(Parameters) + 1] = {&arguments..., nullptr};
  const hipError_t error =
      hipLaunchKernel(handle, detail::to_dim3(shape.grid), detail::to_dim3(shape.block),
                      const_cast<void**>(pointers), static_cast<size_t>(shape.lds_bytes), stream);
  return error == hipSuccess ? status{} : detail::launch_failure(handle, error, shape, device);
}

/// Starts a kernel whose first parameter is a `grid_slice` once for every dispatch of a plan, in
/// order. An empty plan launches nothing and succeeds. When a launch fails the earlier ones have
/// been started.
template <class... Parameters>
status launch(void (*kernel)(grid_slice, Parameters...), const grid_plan& plan, int64_t lds_bytes,
              hipStream_t stream, detail::type_identity_t<Parameters>... arguments) {
  for (int64_t i = 0; i < plan.launches(); ++i) {
    const grid_slice slice = plan.slice(i);
    const launch_shape shape{.grid = slice.count, .block = plan.block, .lds_bytes = lds_bytes};
    if (const status outcome = launch(kernel, shape, stream, slice, arguments...); !outcome)
      return outcome;
  }
  return {};
}

} // namespace wavetile
