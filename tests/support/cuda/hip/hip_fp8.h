// HIP's names for the fp8 types, on CUDA, which has those of OCP only.
#pragma once

#include <cuda_fp8.h>

using __hip_fp8_e4m3 = __nv_fp8_e4m3;
using __hip_fp8_e5m2 = __nv_fp8_e5m2;
