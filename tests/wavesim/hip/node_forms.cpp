#include "hip/node_forms.hpp"

#include "hip/copy_forms.hpp"
#include "hip/device_memory.hpp"
#include "hip/entry.hpp"
#include "hip/graph.hpp"
#include "hip/handles.hpp"
#include "hip/kernel_launch.hpp"
#include "hip/runtime.hpp"
#include "hip/stream.hpp"

namespace wavesim::hip {

hipError_t kernel_operation(const hipKernelNodeParams* parameters, KernelOperation& operation) {
  if (!parameters || !parameters->func)
    return hipErrorInvalidValue;
  const hipKernelNodeParams& p = *parameters;
  ihipModuleSymbol_t* function = nullptr;
  WAVESIM_HIP_TRY(resolve_function(p.func, thread_state().device, function));
  WAVESIM_HIP_TRY(
      check_launch(*function, p.gridDim, p.blockDim, p.sharedMemBytes, false, LaunchCall::runtime));
  operation.function = function;
  operation.given_function = p.func;
  operation.grid = p.gridDim;
  operation.block = p.blockDim;
  operation.shared_bytes = p.sharedMemBytes;
  return gather_arguments(*function->kernel, p.kernelParams, p.extra, operation.arguments);
}

void kernel_parameters(KernelOperation& operation, std::vector<void*>& pointers,
                       hipKernelNodeParams& parameters) {
  pointers = operation.argument_pointers();
  parameters.blockDim = operation.block;
  parameters.gridDim = operation.grid;
  parameters.sharedMemBytes = operation.shared_bytes;
  parameters.func = const_cast<void*>(operation.given_function);
  parameters.kernelParams = pointers.data();
  parameters.extra = nullptr;
}

hipError_t copy_operation(const hipMemcpy3DParms* parameters, CopyOperation& operation) {
  WAVESIM_HIP_TRY(copy_3d(parameters, operation));
  return check_copy(operation);
}

hipMemcpy3DParms copy_parameters(const CopyOperation& c) {
  const auto side = [&](void* pointer, std::size_t pitch, std::size_t slice) {
    hipPitchedPtr p = {};
    p.ptr = pointer;
    p.pitch = pitch ? pitch : c.width;
    p.xsize = c.width;
    p.ysize = pitch && slice ? slice / pitch : c.rows;
    return p;
  };
  hipMemcpy3DParms p = {};
  p.dstPtr = side(c.destination, c.destination_pitch, c.destination_slice);
  p.srcPtr = side(const_cast<void*>(c.source), c.source_pitch, c.source_slice);
  p.extent.width = c.width;
  p.extent.height = c.rows;
  p.extent.depth = c.slices;
  p.kind = c.kind;
  return p;
}

hipError_t fill_operation(const hipMemsetParams* parameters, FillOperation& operation) {
  if (!parameters)
    return hipErrorInvalidValue;
  const hipMemsetParams& p = *parameters;
  if ((p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) || p.width == 0 ||
      p.height == 0)
    return hipErrorInvalidValue;
  WAVESIM_HIP_TRY(fill_2d(p.dst, p.pitch, p.value, p.elementSize, p.width, p.height, operation));
  return check_fill(operation);
}

hipMemsetParams fill_parameters(const FillOperation& f) {
  hipMemsetParams p = {};
  p.dst = f.destination;
  p.elementSize = f.element_bytes;
  p.height = f.rows;
  p.pitch = f.pitch;
  p.value = f.value;
  p.width = f.width;
  return p;
}

hipError_t allocate_operation(hipMemAllocNodeParams* parameters, std::shared_ptr<void>& memory,
                              AllocateOperation& operation) {
  if (!parameters || parameters->bytesize == 0 ||
      parameters->poolProps.location.type != hipMemLocationTypeDevice ||
      !valid_device(parameters->poolProps.location.id))
    return hipErrorInvalidValue;
  DeviceMemory& device = DeviceMemory::instance();
  void* pointer = device.allocate(parameters->bytesize, RangeKind::device,
                                  parameters->poolProps.location.id, 0, true);
  if (!pointer)
    return hipErrorOutOfMemory;
  memory = std::shared_ptr<void>(pointer, [](void* p) { DeviceMemory::instance().release(p); });
  parameters->dptr = pointer;
  operation.parameters = *parameters;
  return hipSuccess;
}

hipError_t any_operation(hipGraphNodeParams* parameters, std::shared_ptr<void>& memory,
                         Operation& operation) {
  if (!parameters)
    return hipErrorInvalidValue;
  hipGraphNodeParams& p = *parameters;
  const auto made = [&](hipError_t result, auto&& work) {
    if (result == hipSuccess)
      operation = std::forward<decltype(work)>(work);
    return result;
  };
  switch (p.type) {
  case hipGraphNodeTypeKernel: {
    KernelOperation work;
    const hipError_t result = kernel_operation(&p.kernel, work);
    return made(result, std::move(work));
  }
  case hipGraphNodeTypeMemcpy: {
    CopyOperation work;
    const hipError_t result = copy_operation(&p.memcpy.copyParams, work);
    return made(result, work);
  }
  case hipGraphNodeTypeMemset: {
    FillOperation work;
    const hipError_t result = fill_operation(&p.memset, work);
    return made(result, work);
  }
  case hipGraphNodeTypeHost:
    return made(p.host.fn ? hipSuccess : hipErrorInvalidValue,
                HostOperation{p.host.fn, p.host.userData});
  case hipGraphNodeTypeGraph:
    if (!ihipGraph::alive(p.graph.graph))
      return hipErrorInvalidValue;
    return made(hipSuccess, GraphOperation{p.graph.graph->clone()});
  case hipGraphNodeTypeEmpty:
    return made(hipSuccess, EmptyOperation{});
  case hipGraphNodeTypeWaitEvent:
    return made(handles<ihipEvent_t>().alive(p.eventWait.event) ? hipSuccess : hipErrorInvalidValue,
                EventWaitOperation{p.eventWait.event});
  case hipGraphNodeTypeEventRecord:
    return made(handles<ihipEvent_t>().alive(p.eventRecord.event) ? hipSuccess
                                                                  : hipErrorInvalidValue,
                EventRecordOperation{p.eventRecord.event});
  case hipGraphNodeTypeMemAlloc: {
    AllocateOperation work;
    const hipError_t result = allocate_operation(&p.alloc, memory, work);
    return made(result, work);
  }
  case hipGraphNodeTypeMemFree:
    return made(p.free.dptr ? hipSuccess : hipErrorInvalidValue, FreeOperation{p.free.dptr});
  default:
    return hipErrorNotSupported;
  }
}

} // namespace wavesim::hip
