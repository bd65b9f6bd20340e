// Compiles without a warning under -ffast-math: nothing here runs.
#include <wavetile/reduce.hpp>
#include <wavetile/softmax.hpp>

namespace wavetile::test {

status forward(view<const float, 2> x, view<float, 2> y);
status masked(view<const fp16, 2> x, view<float, 2> y, view<const fp16, 2> mask);
status backward(view<const bf16, 2> y, view<const bf16, 2> dy, view<bf16, 2> dx);
status index(view<const fp16, 2> x, view<int64_t, 1> y);
status extremum(view<const double, 2> x, view<double, 1> y);
status average(view<const float, 2> x, view<float, 1> y);

status forward(view<const float, 2> x, view<float, 2> y) {
  return softmax(x, y);
}
status masked(view<const fp16, 2> x, view<float, 2> y, view<const fp16, 2> mask) {
  return log_softmax(x, y, mask);
}
status backward(view<const bf16, 2> y, view<const bf16, 2> dy, view<bf16, 2> dx) {
  return log_softmax_backward(y, dy, dx);
}
status index(view<const fp16, 2> x, view<int64_t, 1> y) {
  return reduce(x, y, op::arg_maximum{});
}
status extremum(view<const double, 2> x, view<double, 1> y) {
  return reduce(x, y, op::maximum{});
}
status average(view<const float, 2> x, view<float, 1> y) {
  return reduce(x, y, op::mean{});
}

} // namespace wavetile::test
