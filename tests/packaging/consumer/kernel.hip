// The device half: a kernel of the program's own on the library's types, and an operator.
#include <hip/hip_runtime.h>

#include <wavetile/softmax.hpp>

#include <cmath>
#include <vector>

namespace {
constexpr int elements = 200;

__global__ void round_to_bf16(const float* in, float* out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < elements)
    out[i] = static_cast<float>(wavetile::convert<wavetile::bf16>(in[i]));
}
} // namespace

/// Compares with results made on the host: rounding to bf16 bit for bit, softmax to 13 units of
/// 2^-24.
int count_wrong_results() {
  std::vector<float> in(elements), rounded(elements, -1.0f), weights(elements, -1.0f);
  for (int i = 0; i < elements; ++i)
    in[static_cast<size_t>(i)] = 1.0f / static_cast<float>(i + 1);
  float *device_in = nullptr, *device_out = nullptr;
  const size_t bytes = elements * sizeof(float);
  if (hipMalloc(&device_in, bytes) != hipSuccess || hipMalloc(&device_out, bytes) != hipSuccess ||
      hipMemcpy(device_in, in.data(), bytes, hipMemcpyHostToDevice) != hipSuccess)
    return elements;

  round_to_bf16<<<4, 64>>>(device_in, device_out);
  if (hipMemcpy(rounded.data(), device_out, bytes, hipMemcpyDeviceToHost) != hipSuccess)
    return elements;
  const auto row = [](auto* data) { return wavetile::make_view(data, elements); };
  const auto outcome =
      wavetile::softmax(row(static_cast<const float*>(device_in)), row(device_out));
  if (!outcome.ok() ||
      hipMemcpy(weights.data(), device_out, bytes, hipMemcpyDeviceToHost) != hipSuccess)
    return elements;

  double sum = 0;
  for (const float x : in)
    sum += std::exp(static_cast<double>(x) - 1);
  int wrong = 0;
  for (size_t i = 0; i < elements; ++i) {
    const double weight = std::exp(static_cast<double>(in[i]) - 1) / sum;
    wrong += rounded[i] != static_cast<float>(wavetile::convert<wavetile::bf16>(in[i])) ? 1 : 0;
    wrong += std::fabs(weights[i] - weight) > 13 * 0x1p-24 * weight ? 1 : 0;
  }
  (void)hipFree(device_in);
  (void)hipFree(device_out);
  return wrong;
}
