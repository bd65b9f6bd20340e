// Parameters of graph nodes, as HIP's structures state them, turned into operations and back.
#pragma once

#include "hip/operation.hpp"

#include <hip/hip_runtime_api.h>

struct ihipGraph;
struct hipGraphNode;

namespace wavesim::hip {

hipError_t kernel_operation(const hipKernelNodeParams* parameters, KernelOperation& operation);
/// Pointers into the node: valid until its parameters change.
void kernel_parameters(KernelOperation& operation, std::vector<void*>& pointers,
                       hipKernelNodeParams& parameters);

hipError_t copy_operation(const hipMemcpy3DParms* parameters, CopyOperation& operation);
hipMemcpy3DParms copy_parameters(const CopyOperation& operation);

hipError_t fill_operation(const hipMemsetParams* parameters, FillOperation& operation);
hipMemsetParams fill_parameters(const FillOperation& operation);

/// Reserves the memory of an allocation node; its address goes to parameters.dptr.
hipError_t allocate_operation(hipMemAllocNodeParams* parameters, std::shared_ptr<void>& memory,
                              AllocateOperation& operation);

/// Any node, from the structure of hipGraphAddNode. `memory`: of an allocation node.
hipError_t any_operation(hipGraphNodeParams* parameters, std::shared_ptr<void>& memory,
                         Operation& operation);

} // namespace wavesim::hip
