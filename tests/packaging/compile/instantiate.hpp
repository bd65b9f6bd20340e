// One use of each part of the library, for the programs that only have to compile or link.
#pragma once
#include <wavetile/wavetile.hpp>

#include <wavetile/reduce.hpp>
#include <wavetile/softmax.hpp>

#include <hip/hip_runtime.h>

namespace {

/// A kernel of the program's own on the lower layers.
__global__ void narrow_all(const float* in, wavetile::bf16* narrow,
                           wavetile::fp8_e4m3_fnuz* narrower) {
  const int i = wavetile::thread_id();
  narrow[i] = wavetile::convert<wavetile::bf16>(in[i]);
  narrower[i] = wavetile::convert<wavetile::fp8_e4m3_fnuz>(in[i]);
}

} // namespace

/// Arrays of 64 elements; one of `y` and `sum`.
struct library_arrays {
  const float* x;
  float* y;
  float* sum;
  wavetile::bf16* narrow;
  wavetile::fp8_e4m3_fnuz* narrower;
};

/// Softmax of x, the sum of x, and x in other formats.
inline wavetile::status use_library(const library_arrays& arrays, hipStream_t stream) {
  const auto x = wavetile::make_view(arrays.x, 1, 64);
  if (const auto outcome = wavetile::softmax(x, wavetile::make_view(arrays.y, 1, 64), {}, stream);
      !outcome)
    return outcome;
  if (const auto outcome = wavetile::reduce(x, wavetile::make_view(arrays.sum, 1),
                                            wavetile::op::plus{}, {.axis = -1}, stream);
      !outcome)
    return outcome;
  return wavetile::launch(&narrow_all, {.grid = 1, .block = 64}, stream, arrays.x, arrays.narrow,
                          arrays.narrower);
}

/// Instantiates what has kernels of its own beside these; not called.
inline wavetile::status compile_norms(const library_arrays& arrays, hipStream_t stream) {
  const auto x = wavetile::make_view(arrays.x, 1, 64);
  const auto y = wavetile::make_view(arrays.y, 1, 64);
  if (const auto outcome =
          wavetile::rms_norm(wavetile::norm_arrays{.x = x, .y = y}, {.epsilon = 1e-6f}, stream);
      !outcome)
    return outcome;
  return wavetile::layer_norm(
      wavetile::norm_arrays{.x = x,
                            .y = wavetile::make_view(arrays.narrower, 1, 64),
                            .weight = wavetile::make_view(arrays.narrow, 64),
                            .scales = wavetile::make_view(arrays.sum, 1)},
      {}, stream);
}
