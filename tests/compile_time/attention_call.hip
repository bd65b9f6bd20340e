// A call of the operator: a kernel for each head.
#include <wavetile/wavetile.hpp>

using input = wavetile::view<const wavetile::bf16, 4>;

wavetile::status run(input q, input k, input v, wavetile::view<wavetile::bf16, 4> o,
                     hipStream_t stream) {
  return wavetile::attention(q, k, v, o, {.causal = true}, stream);
}
