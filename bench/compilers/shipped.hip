// Kernels of the library for the comparison of compilers: those that these calls may launch.
#include <wavetile/attention.hpp>
#include <wavetile/layer_norm.hpp>
#include <wavetile/matmul.hpp>
#include <wavetile/reduce.hpp>
#include <wavetile/softmax.hpp>

using namespace wavetile;

status run(float* x, bf16* b) {
  const auto floats = make_view(x, 64, 64);
  const auto halves = make_view(b, 64, 64);
  const auto heads = make_view(b, 1, 1, 64, 128);
  if (auto s = softmax(floats, floats); !s)
    return s;
  if (auto s = softmax(halves, halves); !s)
    return s;
  if (auto s = reduce(floats, make_view(x, 64), op::plus{}, {.axis = 1}); !s)
    return s;
  if (auto s = layer_norm(norm_arrays{.x = halves, .y = halves, .weight = make_view(b, 64)}); !s)
    return s;
  if (auto s = matmul<matmul_choice::large>(halves, halves, halves, {.transpose_b = true}); !s)
    return s;
  return attention(heads, heads, heads, heads);
}
