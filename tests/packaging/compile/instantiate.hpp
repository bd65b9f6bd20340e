// One use of each part of the library, for the programs that only have to compile.
#pragma once
#include <wavetile/wavetile.hpp>

#include <hip/hip_runtime.h>

namespace {

__global__ void convert_all(const float* in, wavetile::bf16* narrow, wavetile::fp16* half,
                            wavetile::fp8_e4m3_fnuz* small_one, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count)
    return;
  narrow[i] = wavetile::convert<wavetile::bf16>(in[i]);
  half[i] = wavetile::convert<wavetile::fp16>(in[i]);
  small_one[i] = wavetile::convert<wavetile::fp8_e4m3_fnuz>(in[i]);
}

} // namespace

inline wavetile::status use_library(const float* in, wavetile::bf16* narrow, wavetile::fp16* half,
                                    wavetile::fp8_e4m3_fnuz* small_one) {
  convert_all<<<1, 64>>>(in, narrow, half, small_one, 64);
  if (hipGetLastError() != hipSuccess)
    return wavetile::status::failure(wavetile::status_code::runtime_error, "launch", "failed");
  return {};
}
