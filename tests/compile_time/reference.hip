// Kernels that have nothing of the library: what a compiler takes for them is how fast the machine
// optimises.
#include <hip/hip_runtime.h>

template <int Count, int Steps>
__global__ void work(const float* from, float* to, int stride) {
  float values[Count];
#pragma unroll
  for (int i = 0; i < Count; ++i)
    values[i] = from[static_cast<int>(threadIdx.x) + i * stride];
#pragma unroll
  for (int step = 1; step <= Steps; ++step) {
#pragma unroll
    for (int i = 0; i < Count; ++i)
      values[i] = values[i] * values[(i + step) % Count] + values[(i * 3 + step) % Count];
    if (stride % (step + 1) == 0)
      __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < Count; ++i)
    to[static_cast<int>(threadIdx.x) + i * stride] = values[i];
}

template __global__ void work<32, 12>(const float*, float*, int);
template __global__ void work<40, 12>(const float*, float*, int);
template __global__ void work<48, 12>(const float*, float*, int);
template __global__ void work<56, 12>(const float*, float*, int);
template __global__ void work<64, 12>(const float*, float*, int);
template __global__ void work<72, 12>(const float*, float*, int);
template __global__ void work<80, 12>(const float*, float*, int);
template __global__ void work<88, 10>(const float*, float*, int);
template __global__ void work<96, 10>(const float*, float*, int);
template __global__ void work<112, 8>(const float*, float*, int);
