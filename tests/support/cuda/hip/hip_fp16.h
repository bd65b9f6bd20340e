// HIP's names for the half type, on CUDA.
#pragma once

#include <cuda_fp16.h>
