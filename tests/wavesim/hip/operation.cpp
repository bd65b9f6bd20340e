#include "hip/operation.hpp"

#include "hip/device_memory.hpp"
#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/held_back.hpp"
#include "hip/kernel_launch.hpp"
#include "hip/stream.hpp"

#include <cstring>

namespace wavesim::hip {

namespace {

hipError_t run(const EmptyOperation&, int) {
  return hipSuccess;
}

hipError_t run(const CopyOperation& copy, int) {
  auto* to = static_cast<std::byte*>(copy.destination);
  const auto* from = static_cast<const std::byte*>(copy.source);
  for (std::size_t slice = 0; slice < copy.slices; ++slice)
    for (std::size_t row = 0; row < copy.rows; ++row)
      std::memmove(to + slice * copy.destination_slice + row * copy.destination_pitch,
                   from + slice * copy.source_slice + row * copy.source_pitch, copy.width);
  return hipSuccess;
}

template <class T>
void fill_row(std::byte* row, unsigned value, std::size_t width) {
  const T element = static_cast<T>(value);
  for (std::size_t i = 0; i < width; ++i)
    std::memcpy(row + i * sizeof(T), &element, sizeof(T));
}

hipError_t run(const FillOperation& fill, int) {
  auto* to = static_cast<std::byte*>(fill.destination);
  for (std::size_t slice = 0; slice < fill.slices; ++slice)
    for (std::size_t row = 0; row < fill.rows; ++row) {
      std::byte* at = to + slice * fill.slice + row * fill.pitch;
      if (fill.element_bytes == 1)
        std::memset(at, static_cast<int>(fill.value & 0xff), fill.width);
      else if (fill.element_bytes == 2)
        fill_row<std::uint16_t>(at, fill.value, fill.width);
      else
        fill_row<std::uint32_t>(at, fill.value, fill.width);
    }
  return hipSuccess;
}

hipError_t run(const HostOperation& host, int) {
  host.function(host.data);
  return hipSuccess;
}

hipError_t run(const EventRecordOperation& record, int) {
  // A graph may outlive its events.
  return handles<ihipEvent_t>().alive(record.event) ? record_event(*record.event)
                                                    : hipErrorInvalidHandle;
}
hipError_t run(const EventWaitOperation&, int) {
  return hipSuccess;
}
hipError_t run(const AllocateOperation&, int) {
  return hipSuccess;
}
hipError_t run(const FreeOperation&, int) {
  return hipSuccess;
}
hipError_t run(const GraphOperation& child, int device) {
  return run_graph(child.graph->order(), device);
}
hipError_t run(const KernelOperation& kernel, int device) {
  return run_kernel(kernel, device);
}

/// Bytes from the first to behind the last of a box.
std::size_t extent(std::size_t width, std::size_t rows, std::size_t slices, std::size_t pitch,
                   std::size_t slice) {
  if (width == 0 || rows == 0 || slices == 0)
    return 0;
  return (slices - 1) * slice + (rows - 1) * pitch + width;
}

/// Whether `bytes` bytes at the pointer are inside one allocation; memory that is nobody's
/// allocation is the program's own.
hipError_t check_extent(const void* pointer, std::size_t bytes, bool& known) {
  const auto range = MemoryMap::instance().lookup(reinterpret_cast<std::uintptr_t>(pointer));
  known = range.has_value();
  if (!known) // freed, or beyond an allocation
    return DeviceMemory::instance().in_arena(pointer) ? hipErrorInvalidValue : hipSuccess;
  return range->end - reinterpret_cast<std::uintptr_t>(pointer) >= bytes ? hipSuccess
                                                                         : hipErrorInvalidValue;
}

} // namespace

hipError_t check_copy(const CopyOperation& copy) {
  if (copy.kind < hipMemcpyHostToHost ||
      (copy.kind > hipMemcpyDefault && copy.kind != hipMemcpyDeviceToDeviceNoCU))
    return hipErrorInvalidMemcpyDirection;
  if (!copy.destination || !copy.source)
    return hipErrorInvalidValue;
  bool to_known = false, from_known = false;
  WAVESIM_HIP_TRY(check_extent(
      copy.destination,
      extent(copy.width, copy.rows, copy.slices, copy.destination_pitch, copy.destination_slice),
      to_known));
  WAVESIM_HIP_TRY(check_extent(
      copy.source, extent(copy.width, copy.rows, copy.slices, copy.source_pitch, copy.source_slice),
      from_known));
  // Two pointers the device does not know can only be host memory.
  const bool host_only = copy.kind == hipMemcpyHostToHost || copy.kind == hipMemcpyDefault;
  return to_known || from_known || host_only ? hipSuccess : hipErrorInvalidValue;
}

hipError_t check_fill(const FillOperation& fill) {
  if (!fill.destination)
    return hipErrorInvalidValue;
  bool known = false;
  WAVESIM_HIP_TRY(check_extent(
      fill.destination,
      extent(fill.width * fill.element_bytes, fill.rows, fill.slices, fill.pitch, fill.slice),
      known));
  return known ? hipSuccess : hipErrorInvalidValue;
}

hipError_t execute(const Operation& operation, int device) {
  return std::visit([&](const auto& work) { return run(work, device); }, operation);
}

hipError_t enqueue(hipStream_t handle, Operation operation) {
  ihipStream_t* stream = stream_of(handle);
  if (!stream)
    return hipErrorInvalidHandle;
  {
    const std::lock_guard lock(graph_mutex());
    if (stream->capture) {
      Capture& capture = *stream->capture;
      if (capture.invalidated)
        return hipErrorStreamCaptureInvalidated;
      stream->tail = {capture.graph->add(std::move(operation), stream->tail)};
      return hipSuccess;
    }
    WAVESIM_HIP_TRY(check_implicit(*stream));
  }
  if (holding_back()) [[unlikely]] {
    hold_back(*stream, std::move(operation));
    return hipSuccess;
  }
  return execute(operation, stream->device);
}

} // namespace wavesim::hip
