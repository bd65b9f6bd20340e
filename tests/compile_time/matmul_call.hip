// A call of the operator: all layouts and all kernels that it may choose from.
#include <wavetile/wavetile.hpp>

wavetile::status run(wavetile::view<const wavetile::bf16, 2> a,
                     wavetile::view<const wavetile::bf16, 2> b, wavetile::view<wavetile::bf16, 2> d,
                     hipStream_t stream) {
  return wavetile::matmul(a, b, d, {}, stream);
}
