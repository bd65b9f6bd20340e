// Work of a stream: what runs at once, or becomes a node of a graph while the stream is captured.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

struct ihipModuleSymbol_t;

namespace wavesim::hip {

struct KernelOperation {
  ihipModuleSymbol_t* function = nullptr;
  const void* given_function = nullptr; ///< as the program named it
  dim3 grid, block;
  unsigned shared_bytes = 0;
  bool cooperative = false;
  std::vector<std::byte> arguments; ///< the kernarg segment, hidden arguments not yet filled in
  /// Pointers to the explicit arguments inside `arguments`, as hipKernelNodeParams shows them.
  std::vector<void*> argument_pointers() const;
};

/// A box of `slices` × `rows` × `width` bytes; a plain copy has one slice of one row.
struct CopyOperation {
  void* destination = nullptr;
  const void* source = nullptr;
  std::size_t width = 0, rows = 1, slices = 1;
  std::size_t destination_pitch = 0, source_pitch = 0; ///< bytes from row to row
  std::size_t destination_slice = 0, source_slice = 0; ///< bytes from slice to slice
  hipMemcpyKind kind = hipMemcpyDefault;
};

/// `width` elements a row.
struct FillOperation {
  void* destination = nullptr;
  unsigned value = 0, element_bytes = 1;
  std::size_t width = 0, rows = 1, slices = 1;
  std::size_t pitch = 0, slice = 0;
};

struct HostOperation {
  hipHostFn_t function = nullptr;
  void* data = nullptr;
};

struct EventRecordOperation {
  hipEvent_t event = nullptr;
};

struct EventWaitOperation {
  hipEvent_t event = nullptr;
};

/// Memory of a graph exists from the node's creation until the graph's end: nothing is left to do
/// when the node runs.
struct AllocateOperation {
  hipMemAllocNodeParams parameters = {};
};

struct FreeOperation {
  void* pointer = nullptr;
};

struct GraphOperation {
  std::shared_ptr<ihipGraph> graph;
};

struct EmptyOperation {};

using Operation = std::variant<EmptyOperation, KernelOperation, CopyOperation, FillOperation,
                               HostOperation, EventRecordOperation, EventWaitOperation,
                               AllocateOperation, FreeOperation, GraphOperation>;

/// Runs it to its end on the calling thread.
hipError_t execute(const Operation& operation, int device);

/// What a call on `stream` does with its work: runs it, or adds a node where the stream is
/// captured.
hipError_t enqueue(hipStream_t stream, Operation operation);

/// Plain copy and fill, checked as the calls of that name check: sizes against the allocations the
/// pointers lie in, directions, null pointers.
hipError_t check_copy(const CopyOperation& copy);
hipError_t check_fill(const FillOperation& fill);

} // namespace wavesim::hip
