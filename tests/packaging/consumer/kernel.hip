// The device half: a kernel of the program's own on the library's types.
#include <hip/hip_runtime.h>

#include <wavetile/core/convert.hpp>

#include <vector>

namespace {
constexpr int elements = 200;

__global__ void round_to_bf16(const float* in, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < elements)
    out[i] = static_cast<float>(wavetile::convert<wavetile::bf16>(in[i]));
}
} // namespace

int count_wrong_results() {
  std::vector<float> in(elements), out(elements, -1.0f);
  for (int i = 0; i < elements; ++i)
    in[static_cast<size_t>(i)] = 1.0f / static_cast<float>(i + 1);
  float *device_in = nullptr, *device_out = nullptr;
  const size_t bytes = elements * sizeof(float);
  if (hipMalloc(&device_in, bytes) != hipSuccess || hipMalloc(&device_out, bytes) != hipSuccess ||
      hipMemcpy(device_in, in.data(), bytes, hipMemcpyHostToDevice) != hipSuccess)
    return elements;
  round_to_bf16<<<4, 64>>>(device_in, device_out);
  if (hipMemcpy(out.data(), device_out, bytes, hipMemcpyDeviceToHost) != hipSuccess)
    return elements;
  int wrong = 0;
  for (size_t i = 0; i < elements; ++i)
    wrong += out[i] != static_cast<float>(wavetile::convert<wavetile::bf16>(in[i])) ? 1 : 0;
  (void)hipFree(device_in);
  (void)hipFree(device_out);
  return wrong;
}
