// A call of the operator: all kernels that it may choose from.
#include <wavetile/wavetile.hpp>

#include <wavetile/softmax.hpp>

wavetile::status run(wavetile::view<const float, 2> x, wavetile::view<float, 2> y,
                     hipStream_t stream) {
  return wavetile::softmax(x, y, {}, stream);
}
