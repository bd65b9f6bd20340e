// The other of two translation units: HIP's types first.
#include <hip/hip_bf16.h>

#include <wavetile/wavetile.hpp>

#include "../compile/instantiate.hpp"

wavetile::status run_second(const float* in, wavetile::bf16* narrow, wavetile::fp16* half,
                            wavetile::fp8_e4m3_fnuz* tiny) {
  return use_library(in, narrow, half, tiny);
}
