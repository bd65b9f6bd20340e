// One kernel, at the size that holds most in registers.
#include <wavetile/wavetile.hpp>

#include <wavetile/softmax.hpp>

namespace wavetile::kernels {
using types = softmax_problem_types<float, float, no_mask, softmax_form::softmax>;
constexpr softmax_config cut = config_for<types>(softmax_kernel::large_workgroup);
template WAVETILE_KERNEL void softmax_workgroup<types, cut>(softmax_arguments<types>);
} // namespace wavetile::kernels
