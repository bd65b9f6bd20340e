#include "hip/kernel_launch.hpp"

#include "checks/session.hpp"
#include "counters/session.hpp"
#include "counters/tally.hpp"
#include "hip/entry.hpp"
#include "hip/hostcall.hpp"
#include "hip/kernel_arguments.hpp"
#include "hip/registry.hpp"
#include "hip/runtime.hpp"
#include "machine/fault.hpp"
#include "machine/memory_map.hpp"
#include "machine/occupancy.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace wavesim::hip {

namespace {

/// Memory that the runtime itself shows to a running kernel. One kernel runs at a time.
struct LaunchMemory {
  static constexpr std::size_t kernarg_bytes =
      (1 << 20) + 4096; // wide scalar loads read past the end
  std::byte* kernarg = nullptr;
  std::byte* packet = nullptr;
  std::byte* queue = nullptr;
  std::byte* grid_sync = nullptr;

  LaunchMemory() {
    constexpr std::size_t bytes = kernarg_bytes + 4096;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      throw std::bad_alloc();
    kernarg = static_cast<std::byte*>(memory);
    packet = kernarg + kernarg_bytes;
    queue = packet + 64;
    grid_sync = packet + 1024;
    const auto begin = reinterpret_cast<std::uintptr_t>(kernarg);
    MemoryMap::instance().add({begin, begin + bytes, RangeKind::kernarg, 0, 0});
    // amd_queue_t holds the apertures' upper halves; kernels for older hardware read them there.
    put(queue + 64, Dispatch::shared_aperture);
    put(queue + 68, Dispatch::private_aperture);
  }

  template <class T>
  static void put(std::byte* at, T x) {
    std::memcpy(at, &x, sizeof x);
  }

  /// What __ockl_grid_sync works on: counters at 32, number of workgroups at 40.
  void reset_grid_sync(std::uint64_t groups, std::uint64_t items) {
    std::memset(grid_sync, 0, 128);
    put(grid_sync, reinterpret_cast<std::uintptr_t>(grid_sync + 64)); // barrier of several grids
    put(grid_sync + 12, std::uint32_t{1});                            // grids
    put(grid_sync + 24, items);
    put(grid_sync + 40, static_cast<std::uint32_t>(groups));
  }
};

LaunchMemory& launch_memory() {
  static auto* memory = new LaunchMemory;
  return *memory;
}

std::uint64_t product(dim3 d) {
  return std::uint64_t{d.x} * d.y * d.z;
}

std::string shape(dim3 d) {
  return fmt::format("({}, {}, {})", d.x, d.y, d.z);
}

} // namespace

std::uint32_t& stack_limit() {
  static std::uint32_t bytes = Dispatch().stack_bytes;
  return bytes;
}

hipError_t check_launch(const ihipModuleSymbol_t& function, dim3 grid, dim3 block,
                        std::size_t shared_bytes, bool cooperative, LaunchCall call) {
  const Kernel& kernel = *function.kernel;
  const auto refuse = [&](hipError_t error, const std::string& why) {
    note(fmt::format("launch of {} refused: {}", demangled(kernel.name), why));
    return error;
  };
  const hipError_t bad_shape =
      call == LaunchCall::runtime ? hipErrorInvalidConfiguration : hipErrorInvalidValue;
  if (product(grid) == 0)
    return refuse(bad_shape, fmt::format("grid {} has no workgroups", shape(grid)));
  if (product(block) == 0)
    return refuse(bad_shape, fmt::format("block {} has no work-items", shape(block)));
  constexpr unsigned limit = device_limits::workgroup_threads;
  if (block.x > limit || block.y > limit || block.z > limit || product(block) > limit)
    return refuse(bad_shape,
                  fmt::format("block {} has more than {} work-items", shape(block), limit));
  const std::uint64_t items[3] = {std::uint64_t{grid.x} * block.x, std::uint64_t{grid.y} * block.y,
                                  std::uint64_t{grid.z} * block.z};
  for (const std::uint64_t n : items)
    if (n > UINT32_MAX)
      return refuse(bad_shape,
                    fmt::format("{} work-items along one axis; the most are 2^32 - 1", n));
  if (shared_bytes > device_limits::lds_bytes - kernel.lds_bytes)
    return refuse(hipErrorInvalidValue,
                  fmt::format("{} bytes of static and {} of dynamic LDS; a workgroup has {}",
                              kernel.lds_bytes, shared_bytes, device_limits::lds_bytes));
  if (product(block) > kernel.max_workgroup)
    return refuse(hipErrorLaunchFailure,
                  fmt::format("{} work-items, but the kernel is compiled for at most {} "
                              "(__launch_bounds__)",
                              product(block), kernel.max_workgroup));
  const unsigned per_unit = groups_per_compute_unit(kernel, static_cast<unsigned>(product(block)),
                                                    static_cast<std::uint32_t>(shared_bytes));
  if (per_unit == 0)
    return refuse(hipErrorLaunchOutOfResources, "a workgroup does not fit a compute unit");
  if (cooperative && product(grid) > std::uint64_t{per_unit} * device_limits::compute_units)
    return refuse(hipErrorCooperativeLaunchTooLarge,
                  fmt::format("{} workgroups cannot be resident at once; {} can", product(grid),
                              std::uint64_t{per_unit} * device_limits::compute_units));
  return hipSuccess;
}

hipError_t gather_arguments(const Kernel& kernel, void* const* pointers, void* const* extra,
                            std::vector<std::byte>& segment) {
  segment.assign(kernel.kernarg_bytes, std::byte{0});
  std::size_t explicit_end = 0;
  for (const KernelArgument& a : kernel.arguments)
    if (!a.is_hidden())
      explicit_end = std::max<std::size_t>(explicit_end, a.offset + a.size);
  const auto refuse = [&](const std::string& why) {
    note(fmt::format("launch of {} refused: {}", demangled(kernel.name), why));
    return hipErrorInvalidValue;
  };
  if (extra) {
    if (pointers)
      return refuse("arguments given twice, as pointers and as a buffer");
    const void* buffer = nullptr;
    const std::size_t* bytes = nullptr;
    for (auto* item = extra; *item != HIP_LAUNCH_PARAM_END; item += 2) {
      if (*item == HIP_LAUNCH_PARAM_BUFFER_POINTER)
        buffer = item[1];
      else if (*item == HIP_LAUNCH_PARAM_BUFFER_SIZE)
        bytes = static_cast<const std::size_t*>(item[1]);
      else
        return refuse(fmt::format("{} in `extra` is no HIP_LAUNCH_PARAM", *item));
    }
    if (!bytes || (!buffer && *bytes != 0) || *bytes < explicit_end || *bytes > segment.size())
      return refuse(fmt::format("a buffer of {} bytes of arguments; the kernel's have {}",
                                bytes ? *bytes : 0, explicit_end));
    std::copy_n(static_cast<const std::byte*>(buffer), *bytes, segment.begin());
    return hipSuccess;
  }
  std::size_t index = 0;
  for (const KernelArgument& a : kernel.arguments) {
    if (a.is_hidden())
      continue;
    if (!pointers || !pointers[index])
      return refuse(fmt::format("argument {} is missing", index));
    std::memcpy(segment.data() + a.offset, pointers[index++], a.size);
  }
  return hipSuccess;
}

std::vector<void*> KernelOperation::argument_pointers() const {
  std::vector<void*> pointers;
  for (const KernelArgument& a : function->kernel->arguments)
    if (!a.is_hidden())
      pointers.push_back(const_cast<std::byte*>(arguments.data() + a.offset));
  return pointers;
}

hipError_t run_kernel(const KernelOperation& operation, int device) {
  static_cast<void>(device);
  const std::lock_guard running(execution_mutex());
  {
    // A graph may outlive the modules of its kernels.
    const std::lock_guard lock(registry().mutex);
    if (!registry().live_functions.contains(operation.function))
      return hipErrorInvalidHandle;
  }
  const Kernel& kernel = *operation.function->kernel;
  static std::uint64_t serial = 0;
  LaunchMemory& memory = launch_memory();

  Dispatch dispatch;
  dispatch.kernel = &kernel;
  const dim3 grid = operation.grid, block = operation.block;
  const std::uint32_t grid_axes[3] = {grid.x, grid.y, grid.z};
  const std::uint32_t block_axes[3] = {block.x, block.y, block.z};
  std::copy_n(grid_axes, 3, dispatch.grid);
  std::copy_n(block_axes, 3, dispatch.block);
  dispatch.dynamic_lds = operation.shared_bytes;
  dispatch.kernarg = memory.kernarg;
  dispatch.packet = reinterpret_cast<std::uintptr_t>(memory.packet);
  dispatch.queue = reinterpret_cast<std::uintptr_t>(memory.queue);
  dispatch.cooperative = operation.cooperative;
  dispatch.serial = ++serial;
  dispatch.stack_bytes = stack_limit();

  memory.reset_grid_sync(product(grid), product(grid) * product(block));
  std::copy(operation.arguments.begin(), operation.arguments.end(), memory.kernarg);
  HiddenArguments hidden;
  hidden.grid_sync = operation.cooperative ? reinterpret_cast<std::uintptr_t>(memory.grid_sync) : 0;
  hidden.queue = dispatch.queue;
  if (std::any_of(kernel.arguments.begin(), kernel.arguments.end(),
                  [](const KernelArgument& a) { return a.kind == "hidden_hostcall_buffer"; }))
    hidden.hostcall = hostcall_buffer();
  write_hidden_arguments({memory.kernarg, operation.arguments.size()}, dispatch, hidden);
  write_packet(std::span<std::byte, 64>(memory.packet, 64), dispatch);
  dispatch.memory = MemoryMap::instance().snapshot();

  RunOptions options;
  options.threads = settings().threads;
  options.hang_instructions = settings().hang_instructions;
  options.count = session().counting();
  options.observers = check_observers();
  const auto tally = run(dispatch, options);
  if (tally)
    session().add(dispatch, *tally);
  return hipSuccess;
}

} // namespace wavesim::hip
