// faulty CODE FAULT: ends with exit code CODE after a kernel with that fault. FAULT is "race" (two
// waves write different values to one dword of LDS), "same" (the same value: reported, but no
// fault), "same_race" (both), "past" (a store behind an allocation), "stale" (a store to freed
// memory; another allocation of its size has been made since), "odd" (a misaligned load: legal, a
// note), "odd_race" (that and a race) or "none".
#include <hip/hip_runtime.h>

#include <cstdlib>
#include <cstring>

namespace {

__global__ void overlap(unsigned* out, unsigned differ) {
  __shared__ unsigned cell;
  cell = threadIdx.x / 64 * differ;
  __syncthreads();
  if (threadIdx.x == 0)
    *out = cell;
}

__global__ void store(unsigned* out, unsigned index) {
  out[index] = 1;
}

__global__ void load_misaligned(unsigned* out) {
  const char* bytes = reinterpret_cast<const char*>(out) + 2;
  unsigned value;
  asm volatile("global_load_dword %0, %1, off\n\ts_waitcnt vmcnt(0)" : "=v"(value) : "v"(bytes));
  out[threadIdx.x] = value;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3)
    return 99;
  constexpr unsigned count = 64;
  unsigned* out = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&out), count * sizeof(unsigned)) != hipSuccess)
    return 98;
  if (std::strncmp(argv[2], "odd", 3) == 0) {
    if (hipMemset(out, 0, count * sizeof(unsigned)) != hipSuccess)
      return 98;
    load_misaligned<<<1, 1>>>(out);
    if (std::strcmp(argv[2], "odd_race") == 0)
      overlap<<<1, 128>>>(out, 1);
  } else if (std::strncmp(argv[2], "same", 4) == 0) {
    overlap<<<1, 128>>>(out, 0);
    if (std::strcmp(argv[2], "same_race") == 0)
      overlap<<<1, 128>>>(out, 1);
  } else if (std::strcmp(argv[2], "race") == 0)
    overlap<<<1, 128>>>(out, 1);
  else
    store<<<1, 1>>>(out, std::strcmp(argv[2], "past") == 0 ? count : 0);
  if (std::strcmp(argv[2], "stale") == 0) {
    unsigned *stale = nullptr, *next = nullptr;
    if (hipMalloc(reinterpret_cast<void**>(&stale), 4096) != hipSuccess ||
        hipFree(stale) != hipSuccess ||
        hipMalloc(reinterpret_cast<void**>(&next), 4096) != hipSuccess)
      return 98;
    store<<<1, 1>>>(stale, 0);
    if (hipFree(next) != hipSuccess)
      return 98;
  }
  if (hipDeviceSynchronize() != hipSuccess || hipFree(out) != hipSuccess)
    return 97;
  return std::atoi(argv[1]);
}
