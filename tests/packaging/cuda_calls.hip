// A call of every kind of operator, whose kernels nvcc must be able to compile; with PRODUCTS_ONLY,
// of matmul.
#include <wavetile/attention.hpp>
#include <wavetile/attention_decode.hpp>
#include <wavetile/layer_norm.hpp>
#include <wavetile/matmul.hpp>
#include <wavetile/reduce.hpp>
#include <wavetile/rms_norm.hpp>
#include <wavetile/softmax.hpp>

using namespace wavetile;

#ifndef PRODUCTS_ONLY
status rows(view<const bf16, 2> x, view<bf16, 2> y, view<const bf16, 1> weight,
            view<float, 1> sums) {
  if (const status outcome = softmax(x, y); !outcome)
    return outcome;
  if (const status outcome = rms_norm(norm_arrays{.x = x, .y = y, .weight = weight}); !outcome)
    return outcome;
  if (const status outcome = layer_norm(norm_arrays{.x = x, .y = y, .weight = weight}); !outcome)
    return outcome;
  return reduce(x, sums, op::plus{}, {.axis = 1});
}

status heads(view<const bf16, 4> q, view<const bf16, 4> k, view<const bf16, 4> v, view<bf16, 4> o) {
  if (const status outcome = attention(q, k, v, o); !outcome)
    return outcome;
  return attention_decode(q, k, v, o);
}

#endif

// one tile and the kernel for few rows: the others are the same code
status products(view<const bf16, 2> a, view<const bf16, 2> b, view<bf16, 2> d) {
  if (const status outcome = matmul<matmul_choice::compact>(a, b, d); !outcome)
    return outcome;
  return matmul<matmul_choice::skinny>(a, b, d);
}
