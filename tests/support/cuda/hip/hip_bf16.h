// HIP's names for the bfloat16 type, on CUDA.
#pragma once

#include <cuda_bf16.h>

using __hip_bfloat16 = __nv_bfloat16;
