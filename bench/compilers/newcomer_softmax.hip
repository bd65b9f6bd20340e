// Softmax as a first HIP kernel has it, for the comparison of compilers: a workgroup for each row,
// sums through LDS.
#include <hip/hip_runtime.h>

namespace {
constexpr int group = 256;

__device__ float reduce(float value, float* memory, bool maximum) {
  const int t = threadIdx.x;
  memory[t] = value;
  __syncthreads();
  for (int step = group / 2; step > 0; step /= 2) {
    if (t < step)
      memory[t] = maximum ? fmaxf(memory[t], memory[t + step]) : memory[t] + memory[t + step];
    __syncthreads();
  }
  const float result = memory[0];
  __syncthreads();
  return result;
}
} // namespace

/// Exponentials go to y and are read back from there.
__global__ void newcomer_global(const float* x, float* y, int columns) {
  __shared__ float memory[group];
  const float* from = x + blockIdx.x * columns;
  float* to = y + blockIdx.x * columns;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += group)
    top = fmaxf(top, from[c]);
  top = reduce(top, memory, true);
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += group) {
    to[c] = expf(from[c] - top);
    sum += to[c];
  }
  sum = reduce(sum, memory, false);
  for (int c = threadIdx.x; c < columns; c += group)
    to[c] = to[c] / sum;
}

/// Exponentials stay in an array of the work-item's own, of a size that the compiler knows.
__global__ void newcomer_local(const float* x, float* y, int columns) {
  constexpr int most = 32;
  __shared__ float memory[group];
  float values[most];
  const float* from = x + blockIdx.x * columns;
  float* to = y + blockIdx.x * columns;
  float top = -INFINITY;
  for (int i = 0; i < most; ++i) {
    const int c = threadIdx.x + i * group;
    values[i] = c < columns ? from[c] : -INFINITY;
    top = fmaxf(top, values[i]);
  }
  top = reduce(top, memory, true);
  float sum = 0;
  for (int i = 0; i < most; ++i) {
    values[i] = expf(values[i] - top);
    sum += values[i];
  }
  sum = reduce(sum, memory, false);
  for (int i = 0; i < most; ++i) {
    const int c = threadIdx.x + i * group;
    if (c < columns)
      to[c] = values[i] / sum;
  }
}

/// The same where only the launch knows how much of the array is used.
__global__ void newcomer_indexed(const float* x, float* y, int columns) {
  constexpr int most = 32;
  __shared__ float memory[group];
  float values[most];
  const float* from = x + blockIdx.x * columns;
  float* to = y + blockIdx.x * columns;
  float top = -INFINITY;
  int count = 0;
  for (int c = threadIdx.x; c < columns; c += group) {
    values[count] = from[c];
    top = fmaxf(top, values[count++]);
  }
  top = reduce(top, memory, true);
  float sum = 0;
  for (int i = 0; i < count; ++i) {
    values[i] = expf(values[i] - top);
    sum += values[i];
  }
  sum = reduce(sum, memory, false);
  for (int i = 0; i < count; ++i)
    to[threadIdx.x + i * group] = values[i] / sum;
}
