// The many parameter lists of HIP's copies and fills, as operations.
#pragma once

#include "hip/operation.hpp"

#include <hip/hip_runtime_api.h>

namespace wavesim::hip {

CopyOperation plain_copy(void* destination, const void* source, std::size_t bytes,
                         hipMemcpyKind kind);

hipError_t copy_2d(void* destination, std::size_t destination_pitch, const void* source,
                   std::size_t source_pitch, std::size_t width, std::size_t rows,
                   hipMemcpyKind kind, CopyOperation& copy);
hipError_t copy_2d(const hip_Memcpy2D* parameters, CopyOperation& copy);
hipError_t copy_3d(const hipMemcpy3DParms* parameters, CopyOperation& copy);
hipError_t copy_3d(const HIP_MEMCPY3D* parameters, CopyOperation& copy);

/// A copy to or from `offset` bytes into a device variable.
hipError_t copy_symbol(const void* symbol, std::size_t offset, void* destination,
                       const void* source, std::size_t bytes, hipMemcpyKind kind, int device,
                       CopyOperation& copy);

hipError_t fill_2d(void* destination, std::size_t pitch, unsigned value, unsigned element_bytes,
                   std::size_t width, std::size_t rows, FillOperation& fill);

/// Checks and enqueues; empty work does nothing.
/// `waits`: the work has been done when this returns. Copies from or to memory that is not pinned
/// have been done in any case.
hipError_t submit(const CopyOperation& copy, hipStream_t stream, bool waits = true);
hipError_t submit(const FillOperation& fill, hipStream_t stream, bool waits = true);

} // namespace wavesim::hip
