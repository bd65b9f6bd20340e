// faulty CODE FAULT: ends with exit code CODE after a kernel with that fault. FAULT is "race" (two
// waves write different values to one dword of LDS), "same" (the same value: reported, but no
// fault), "past" (a store behind an allocation), "stale" (a store to freed memory; another
// allocation of its size has been made since) or "none".
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

} // namespace

int main(int argc, char** argv) {
  if (argc != 3)
    return 99;
  constexpr unsigned count = 64;
  unsigned* out = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&out), count * sizeof(unsigned)) != hipSuccess)
    return 98;
  if (std::strcmp(argv[2], "race") == 0 || std::strcmp(argv[2], "same") == 0)
    overlap<<<1, 128>>>(out, argv[2][0] == 'r');
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
