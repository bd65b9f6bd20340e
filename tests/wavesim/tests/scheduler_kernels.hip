// Device code of test_scheduler and test_loader: compiled to a bare code object, so that the tests
// run it without the HIP front end.
#include <hip/hip_runtime.h>

__device__ int device_counter = 7;
__constant__ int constant_table[4] = {10, 20, 30, 40};

extern "C" {

__global__ void ids(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned size = blockDim.x * blockDim.y * blockDim.z;
  unsigned* item = out + 6 * (block * size + thread);
  item[0] = blockIdx.x;
  item[1] = blockIdx.y;
  item[2] = blockIdx.z;
  item[3] = threadIdx.x;
  item[4] = threadIdx.y;
  item[5] = threadIdx.z;
}

// Only non-returning integer additions: workgroups may run in any order.
__global__ void histogram(unsigned* bins, const unsigned* values, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    atomicAdd(&bins[values[i] % 16], 1u);
}

// Two kinds of atomics that do not commute with each other.
__global__ void add_then_max(unsigned* x) {
  atomicAdd(x, 3u);
  atomicMax(x, blockIdx.x);
}

__global__ void float_sum(float* sum, const float* values) {
  unsafeAtomicAdd(sum, values[blockIdx.x * blockDim.x + threadIdx.x]);
}

// Who comes first gets the lowest number.
__global__ void tickets(unsigned* next, unsigned* mine) {
  if (threadIdx.x == 0)
    mine[blockIdx.x] = atomicAdd(next, 1u);
}

// Every workgroup waits for the next one: in index order none could ever finish.
__global__ void wait_for_next(unsigned* flags, unsigned* values) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x == 0) {
    unsigned value = 1;
    if (b + 1 < gridDim.x) {
      while (__hip_atomic_load(&flags[b + 1], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {
      }
      value = values[b + 1] + 1;
    }
    values[b] = value;
    __hip_atomic_store(&flags[b], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
  }
}

// A grid barrier made by hand, passed `rounds` times.
__global__ void hand_made_barrier(unsigned* arrived, unsigned* seen, unsigned rounds) {
  for (unsigned round = 1; round <= rounds; ++round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __hip_atomic_fetch_add(arrived, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
      while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) <
             round * gridDim.x)
        __builtin_amdgcn_s_sleep(1);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    seen[blockIdx.x] = __hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}

// Waves of one workgroup wait for each other through LDS.
__global__ void chain_through_lds(unsigned* out) {
  __shared__ unsigned turn;
  if (threadIdx.x == 0)
    turn = blockDim.x / 64 - 1;
  __syncthreads();
  const unsigned wave = threadIdx.x / 64;
  while (__hip_atomic_load(&turn, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) != wave) {
  }
  if (threadIdx.x % 64 == 0) {
    out[blockIdx.x * (blockDim.x / 64) + wave] = wave;
    __hip_atomic_store(&turn, wave - 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
  }
}

__global__ void reduce_lds(unsigned* out, const unsigned* in) {
  __shared__ unsigned part[256];
  const unsigned i = threadIdx.x;
  part[i] = in[blockIdx.x * blockDim.x + i];
  for (unsigned half = blockDim.x / 2; half != 0; half /= 2) {
    __syncthreads();
    if (i < half)
      part[i] += part[i + half];
  }
  if (i == 0)
    out[blockIdx.x] = part[0];
}

__global__ void spin_forever(unsigned* flag) {
  while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {
  }
}

// Wave 0 waits at a barrier that wave 1 never reaches.
__global__ void lost_at_barrier(unsigned* flag) {
  if (threadIdx.x >= 64)
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {
    }
  __syncthreads();
}

// Leaves a mark in a register and in LDS that the next kernel must not find.
__global__ void mark_registers(unsigned* out) {
  extern __shared__ unsigned dynamic[];
  dynamic[threadIdx.x] = 0x1234567;
  asm volatile("v_mov_b32 v90, 0x1234567\n s_mov_b32 s60, 0x1234567" ::: "v90", "s60");
  out[threadIdx.x] = dynamic[threadIdx.x];
}

__global__ void read_registers(unsigned* out) {
  extern __shared__ unsigned dynamic[];
  unsigned vector, scalar;
  asm volatile("v_mov_b32 %0, v90\n v_mov_b32 %1, s60"
               : "=&v"(vector), "=&v"(scalar)::"v90", "s60");
  out[3 * threadIdx.x] = vector;
  out[3 * threadIdx.x + 1] = scalar;
  out[3 * threadIdx.x + 2] =
      __hip_atomic_load(&dynamic[threadIdx.x], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

// Leaves its caller's caller through functions that are not inlined.
__device__ __attribute__((noinline)) unsigned twice(unsigned x) {
  asm volatile("");
  return 2 * x;
}
__global__ void direct_call(unsigned* out) {
  out[threadIdx.x] = twice(threadIdx.x);
}

// The function called depends on the argument.
__device__ __attribute__((noinline)) unsigned thrice(unsigned x) {
  return 3 * x;
}
__global__ void indirect_call(unsigned* out, int which) {
  unsigned (*function)(unsigned) = which ? twice : thrice;
  asm volatile("" : "+s"(function));
  out[threadIdx.x] = function(threadIdx.x);
}

__global__ void recursion(unsigned* out, unsigned depth);

__global__ void variables(int* out) {
  out[0] = device_counter;
  out[1] = constant_table[blockIdx.x & 3];
}

__global__ void out_of_bounds(unsigned* p, unsigned long long offset) {
  p[offset + threadIdx.x] = 1;
}
}

__device__ __attribute__((noinline)) unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
extern "C" __global__ void recursion(unsigned* out, unsigned depth) {
  out[threadIdx.x] = fibonacci(depth + threadIdx.x % 3);
}
