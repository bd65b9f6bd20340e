// Kernels with one fault each, and their sound twins, for test_memory_checks. The comments at the
// ends of lines are how the test finds the lines it expects in a report.
#include <hip/hip_runtime.h>

extern "C" {

// ---- race: 256 work-items, four waves

__global__ void race_missing_barrier(unsigned* out) {
  __shared__ unsigned buffer[256];
  volatile unsigned* shared = buffer;
  const unsigned i = threadIdx.x;
  shared[i] = i;            // missing_barrier write
  out[i] = shared[255 - i]; // missing_barrier read
}

__global__ void race_none(unsigned* out) {
  __shared__ unsigned buffer[256];
  const unsigned i = threadIdx.x;
  buffer[i] = i;
  __syncthreads();
  out[i] = buffer[255 - i];
}

// The second round writes what the first one still reads.
__global__ void race_second_round(unsigned* out) {
  __shared__ unsigned buffer[256];
  volatile unsigned* shared = buffer;
  const unsigned i = threadIdx.x;
  for (unsigned round = 0; round < 2; ++round) {
    shared[i] = i + round; // second_round write
    __syncthreads();
    out[i] = shared[255 - i]; // second_round read
  }
}

__global__ void race_two_writers(unsigned* out) {
  __shared__ unsigned buffer[64];
  volatile unsigned* shared = buffer;
  shared[threadIdx.x % 64] = threadIdx.x; // two_writers
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x % 64];
}

__global__ void race_same_value(unsigned* out) {
  __shared__ unsigned flag;
  if (threadIdx.x == 0)
    flag = 0;
  __syncthreads();
  if (threadIdx.x % 64 == 5)
    flag = 7; // same_value
  __syncthreads();
  out[threadIdx.x] = flag;
}

// The lower halves of the registers differ, and are not stored.
__global__ void race_same_upper_half(unsigned* out) {
  __shared__ unsigned short half;
  using address = __attribute__((address_space(3))) unsigned short*;
  if (threadIdx.x % 64 == 5)
    asm volatile("ds_write_b16_d16_hi %0, %1" // same_upper_half
                 :
                 : "v"((address)&half), "v"(7u << 16 | threadIdx.x)
                 : "memory");
  __syncthreads();
  out[threadIdx.x] = half;
}

// Neighbouring bytes of one dword belong to different waves.
__global__ void race_bytes(unsigned char* out) {
  __shared__ unsigned char bytes[256];
  const unsigned i = threadIdx.x, mine = i % 64 * 4 + i / 64;
  bytes[mine] = static_cast<unsigned char>(i);
  __syncthreads();
  out[i] = bytes[i];
}

__global__ void race_atomics(unsigned* out) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  atomicAdd(&sum, threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = sum;
}

__global__ void race_atomic_and_read(unsigned* out) {
  __shared__ unsigned sum;
  volatile unsigned* shared = &sum;
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  if (threadIdx.x < 64)
    atomicAdd(&sum, 1u); // atomic_and_read atomic
  else
    out[threadIdx.x] = *shared; // atomic_and_read read
}

// s_barrier opens while the writes of the waves are still on their way.
__global__ void race_not_waited_for(unsigned* out) {
  __shared__ unsigned buffer[256];
  const unsigned i = threadIdx.x;
  unsigned value;
  buffer[i] = 0;
  __syncthreads();
  const unsigned mine = i * 4, other = (255 - i) * 4;
  asm volatile("ds_write_b32 %1, %3\n" // not_waited_for
               "s_barrier\n"
               "ds_read_b32 %0, %2\n"
               "s_waitcnt lgkmcnt(0)"
               : "=&v"(value)
               : "v"(mine), "v"(other), "v"(i)
               : "memory");
  __syncthreads();
  out[i] = value + buffer[i];
}

// A load from memory straight into LDS, and another wave's read: no barrier, or one that the load
// is still on its way behind.
__global__ void race_lds_direct(unsigned* out, const unsigned* in, unsigned barrier) {
  __shared__ unsigned buffer[64];
  volatile unsigned* shared = buffer;
  const unsigned* p = in + threadIdx.x % 64;
  if (__builtin_amdgcn_readfirstlane(threadIdx.x) == 0)
    asm volatile("s_mov_b32 m0, 0\n"
                 "s_nop 0\n"
                 "global_load_lds_dword %0, off" // lds_direct write
                 ::"v"(p)
                 : "memory");
  if (barrier == 0)
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  else
    asm volatile("s_barrier" ::: "memory");
  if (threadIdx.x >= 64)
    out[threadIdx.x] = shared[threadIdx.x % 64]; // lds_direct read
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
}

// ---- wait: one wave

__global__ void wait_use(unsigned* out, const unsigned* in) {
  unsigned x;
  const unsigned* p = in + threadIdx.x;
  asm volatile("global_load_dword %0, %1, off" : "=&v"(x) : "v"(p)); // wait_use load
  asm volatile("v_add_u32 %0, 1, %0" : "+v"(x));                     // wait_use use
  asm volatile("s_waitcnt vmcnt(0)");
  out[threadIdx.x] = x;
}

__global__ void wait_overwrite(unsigned* out, const unsigned* in) {
  unsigned x;
  const unsigned* p = in + threadIdx.x;
  asm volatile("global_load_dword %0, %1, off" : "=&v"(x) : "v"(p)); // wait_overwrite load
  asm volatile("v_mov_b32 %0, 1" : "+v"(x));                         // wait_overwrite write
  asm volatile("s_waitcnt vmcnt(0)");
  out[threadIdx.x] = x;
}

// Two loads; a wait for all but one is enough for the first, not for the second.
__global__ void wait_for_one(unsigned* out, const unsigned* in, unsigned second) {
  unsigned x, y;
  const unsigned* p = in + threadIdx.x;
  asm volatile("global_load_dword %0, %2, off\n"
               "global_load_dword %1, %2, off offset:256\n" // wait_for_one load
               "s_waitcnt vmcnt(1)"
               : "=&v"(x), "=&v"(y)
               : "v"(p));
  asm volatile("v_add_u32 %0, 1, %0" : "+v"(x));
  if (second)
    asm volatile("v_add_u32 %0, 1, %0" : "+v"(y)); // wait_for_one use
  asm volatile("s_waitcnt vmcnt(0)" : "+v"(y));
  out[threadIdx.x] = x + y;
}

__global__ void wait_lds(unsigned* out) {
  __shared__ unsigned buffer[64];
  buffer[threadIdx.x] = threadIdx.x;
  unsigned x;
  const unsigned at = threadIdx.x * 4;
  asm volatile("s_waitcnt lgkmcnt(0)\n"
               "ds_read_b32 %0, %1"
               : "=&v"(x)
               : "v"(at)
               : "memory");                      // wait_lds load
  asm volatile("v_add_u32 %0, 1, %0" : "+v"(x)); // wait_lds use
  asm volatile("s_waitcnt lgkmcnt(0)");
  out[threadIdx.x] = x + (buffer[0] & 0);
}

// A scalar load is among the LDS reads: a wait for one operation says nothing.
__global__ void wait_mixed(unsigned* out, const unsigned* in) {
  __shared__ unsigned buffer[64];
  buffer[threadIdx.x] = threadIdx.x;
  unsigned x, s;
  const unsigned at = threadIdx.x * 4;
  asm volatile("s_waitcnt lgkmcnt(0)\n"
               "ds_read_b32 %0, %2\n"
               "s_load_dword %1, %3, 0x0\n"
               "s_waitcnt lgkmcnt(1)"
               : "=&v"(x), "=&s"(s)
               : "v"(at), "s"(in)
               : "memory");
  asm volatile("v_add_u32 %0, 1, %0" : "+v"(x)); // wait_mixed use
  asm volatile("s_waitcnt lgkmcnt(0)");
  out[threadIdx.x] = x + s + (buffer[0] & 0);
}

__global__ void wait_scalar(unsigned* out, const unsigned* in) {
  unsigned s;
  asm volatile("s_load_dword %0, %1, 0x0" : "=&s"(s) : "s"(in)); // wait_scalar load
  asm volatile("s_add_u32 %0, %0, 1" : "+s"(s)::"scc");          // wait_scalar use
  asm volatile("s_waitcnt lgkmcnt(0)");
  out[threadIdx.x] = s;
}

// What an atomic on LDS returns.
__global__ void wait_lds_atomic(unsigned* out) {
  __shared__ unsigned buffer[64];
  buffer[threadIdx.x] = threadIdx.x;
  unsigned x;
  const unsigned at = threadIdx.x * 4;
  asm volatile("s_waitcnt lgkmcnt(0)\n"
               "ds_add_rtn_u32 %0, %1, %1"
               : "=&v"(x)
               : "v"(at)
               : "memory");
  asm volatile("v_add_u32 %0, 1, %0" : "+v"(x)); // wait_lds_atomic use
  asm volatile("s_waitcnt lgkmcnt(0)");
  out[threadIdx.x] = x + (buffer[0] & 0);
}

__global__ void wait_lds_direct(unsigned* out, const unsigned* in, unsigned waits) {
  __shared__ unsigned buffer[64];
  const unsigned* p = in + threadIdx.x;
  const unsigned at = threadIdx.x * 4;
  unsigned x;
  asm volatile("s_mov_b32 m0, 0\n"
               "s_nop 0\n"
               "global_load_lds_dword %0, off" // wait_lds_direct load
               ::"v"(p)
               : "memory");
  if (waits)
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
  asm volatile("ds_read_b32 %0, %1" : "=&v"(x) : "v"(at) : "memory"); // wait_lds_direct read
  asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)" : "+v"(x));
  out[threadIdx.x] = x + (buffer[0] & 0);
}

// ---- memory

__global__ void memory_lds_outside(unsigned* out, unsigned index) {
  __shared__ unsigned buffer[96];
  volatile unsigned* shared = buffer;
  shared[threadIdx.x] = 1;
  out[threadIdx.x] = shared[index + threadIdx.x]; // lds_outside
}

// The same as DS instructions.
__global__ void memory_lds_outside_ds(unsigned* out, unsigned index) {
  __shared__ unsigned buffer[96];
  buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = buffer[index + (threadIdx.x ^ 1)]; // lds_outside_ds
}

__global__ void memory_outside(unsigned* out, unsigned first) {
  out[first + threadIdx.x] = 5; // memory_outside
}

__global__ void memory_misaligned(char* out) {
  char* at = out + 4 * threadIdx.x + (threadIdx.x == 3);
  *reinterpret_cast<volatile unsigned*>(at) = 1; // misaligned
}

__global__ void memory_misaligned_lds(unsigned* out) {
  __shared__ unsigned buffer[96];
  buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  unsigned x;
  const unsigned at = 4 * threadIdx.x + (threadIdx.x == 3 ? 2 : 0);
  asm volatile("ds_read_b32 %0, %1\ns_waitcnt lgkmcnt(0)" // misaligned_lds
               : "=v"(x)
               : "v"(at), "v"(buffer)
               : "memory");
  out[threadIdx.x] = x;
}

__global__ void memory_misaligned_lds_atomic(unsigned* out) {
  __shared__ unsigned buffer[96];
  buffer[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const unsigned at = 4 * threadIdx.x + (threadIdx.x == 3 ? 2 : 0);
  asm volatile("ds_add_u32 %0, %1\ns_waitcnt lgkmcnt(0)" // misaligned_lds_atomic
               :
               : "v"(at), "v"(1u), "v"(buffer)
               : "memory");
  out[threadIdx.x] = buffer[threadIdx.x];
}

__global__ void memory_misaligned_atomic(char* out) {
  char* at = out + 4 * threadIdx.x + (threadIdx.x == 3);
  asm volatile("global_atomic_add %0, %1, off\ns_waitcnt vmcnt(0)" // misaligned_atomic
               :
               : "v"(at), "v"(1u)
               : "memory");
}

__global__ void memory_private_outside(unsigned* out) {
  unsigned x;
  const unsigned at = threadIdx.x == 5 ? 1u << 24 : 0;
  volatile unsigned mine[4] = {1, 2, 3, 4};
  asm volatile("scratch_load_dword %0, %1, off\ns_waitcnt vmcnt(0)" // private_outside
               : "=v"(x)
               : "v"(at)
               : "memory");
  out[threadIdx.x] = x + mine[threadIdx.x & 3];
}

__global__ void memory_scalar(unsigned* out, const unsigned* in) {
  out[threadIdx.x] = threadIdx.x + in[0]; // memory_scalar
}

// ---- barrier

__global__ void barrier_lanes_off(unsigned* out) {
  if (threadIdx.x % 64 < 60)
    __builtin_amdgcn_s_barrier(); // lanes_off
  out[threadIdx.x] = 1;
}

__global__ void barrier_wave_ended(unsigned* out) {
  if (threadIdx.x / 64 == 1)
    return;
  __builtin_amdgcn_s_barrier(); // wave_ended
  out[threadIdx.x] = 1;
}

__global__ void barrier_different(unsigned* out) {
  if (__builtin_amdgcn_readfirstlane(threadIdx.x / 64)) {
    out[threadIdx.x] = 1;
    __builtin_amdgcn_s_barrier(); // different first
  } else {
    out[threadIdx.x] = 2;
    asm volatile("");
    __builtin_amdgcn_s_barrier(); // different second
    asm volatile("s_nop 1");
  }
}

__global__ void barrier_deadlock(unsigned* flag) {
  if (threadIdx.x >= 64)
    while (__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {
    }
  __syncthreads(); // deadlock
}
}
