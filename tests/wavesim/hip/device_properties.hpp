// The simulated device: an AMD Instinct MI300X in SPX mode, as HIP reports it. Figures from AMD's
// CDNA3 white paper and MI300X data sheet; memory is what this host can give.
#pragma once

#include <hip/hip_runtime_api.h>

namespace wavesim::hip {

/// Facts that are no part of hipDeviceProp_t.
namespace mi300x {
inline constexpr int xccs = 8;
inline constexpr int wall_clock_khz = 100'000; ///< s_memrealtime counts at 100 MHz
inline constexpr int chip_id = 0x74a1;         ///< PCI device id
} // namespace mi300x

hipDeviceProp_t device_properties(int device);

/// One attribute; hipErrorInvalidValue when it is unknown.
hipError_t device_attribute(int* value, hipDeviceAttribute_t attribute, int device);

} // namespace wavesim::hip
