// Sizes and offsets of what travels between host and device, as a constant that check_sizes.py
// reads from the code of each pass.
#include <wavetile/wavetile.hpp>

#include <wavetile/matmul.hpp>
#include <wavetile/reduce.hpp>
#include <wavetile/softmax.hpp>

#include <hip/hip_runtime.h>

#include <cstddef>

namespace {
using namespace wavetile;
using matrix_view = view<const bf16, 2>;
using row_arguments = kernels::softmax_arguments<
    kernels::softmax_problem_types<bf16, float, kernels::no_mask, softmax_form::softmax>>;
using product_arguments = kernels::matmul_arguments<
    kernels::matmul_types<bf16, bf16, bf16, bf16, epilogue::steps<epilogue::quantize>>>;
} // namespace

#if WAVETILE_DEVICE_PASS
__device__
#endif
    extern const unsigned parameter_sizes[];
#if WAVETILE_DEVICE_PASS
__device__
#endif
    const unsigned parameter_sizes[] = {
        sizeof(matrix_view),
        offsetof(matrix_view, data),
        offsetof(matrix_view, extent),
        offsetof(matrix_view, stride),
        sizeof(view<double, 4>),
        sizeof(vec<fp16, 8>),
        alignof(vec<fp16, 8>),
        sizeof(vec<float, 4>),
        alignof(vec<float, 4>),
        sizeof(bf16),
        sizeof(fp16),
        sizeof(fp8_e4m3_fnuz),
        sizeof(target),
        offsetof(target, lds),
        sizeof(layout),
        sizeof(layout_choice),
        sizeof(device_info),
        sizeof(status),
        sizeof(row_arguments),
        offsetof(row_arguments, map),
        offsetof(row_arguments, causal),
        offsetof(row_arguments, partials),
        sizeof(softmax_plan),
        sizeof(softmax_options),
        sizeof(reduce_plan),
        sizeof(reduce_options),
        sizeof(product_arguments),
        offsetof(product_arguments, order),
        offsetof(product_arguments, epilogue),
        sizeof(matmul_plan),
        sizeof(matmul_options),
        sizeof(grid_slice),
        targets::gfx942.wave_size,
        targets::gfx942.lds_bytes,
};
