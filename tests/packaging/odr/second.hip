// The other of two translation units: HIP's types first.
#include <hip/hip_bf16.h>

#include <wavetile/wavetile.hpp>

#include "../compile/instantiate.hpp"

wavetile::status run_second(const library_arrays& arrays, hipStream_t stream) {
  return use_library(arrays, stream);
}
