// What changed in HIP's declarations between ROCm 6.4 and 7: types and flags the definitions here
// use.
#pragma once

#include <hip/hip_runtime_api.h>

namespace wavesim::hip {

#if HIP_VERSION >= 70000000
using HostSource = const void*;
using ApiVersion = unsigned int;
#else
using HostSource = void*;
using ApiVersion = int;
#endif

} // namespace wavesim::hip

#ifndef hipHostMallocUncached
#define hipHostMallocUncached 0x10000000
#endif
#ifndef hipExtHostRegisterUncached
#define hipExtHostRegisterUncached 0x80000000
#endif
