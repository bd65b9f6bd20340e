// Kernels whose assembly instruction_count_test.cpp reads. Each loads one value a lane, does one
// thing, and stores it; `nothing` is what that costs by itself.
#include <wavetile/wave/reduce.hpp>
#include <wavetile/wave/shuffle.hpp>

using namespace wavetile;

#define KERNEL(name, type, expression)                                                             \
  extern "C" WAVETILE_KERNEL void name(const type* __restrict in, type* __restrict out) {          \
    const type x = in[thread_id()];                                                                \
    out[thread_id()] = expression;                                                                 \
  }

KERNEL(nothing, float, x)
KERNEL(nothing64, double, x)

KERNEL(reduce_2, float, wave::reduce<2>(x))
KERNEL(reduce_4, float, wave::reduce<4>(x))
KERNEL(reduce_8, float, wave::reduce<8>(x))
KERNEL(reduce_16, float, wave::reduce<16>(x))
KERNEL(reduce_32, float, wave::reduce<32>(x))
KERNEL(reduce_64, float, wave::reduce(x))

KERNEL(all_reduce_2, float, wave::all_reduce<2>(x))
KERNEL(all_reduce_4, float, wave::all_reduce<4>(x))
KERNEL(all_reduce_8, float, wave::all_reduce<8>(x))
KERNEL(all_reduce_16, float, wave::all_reduce<16>(x))
KERNEL(all_reduce_32, float, wave::all_reduce<32>(x))
KERNEL(all_reduce_64, float, wave::all_reduce(x))

KERNEL(all_reduce_int, int32_t, wave::all_reduce<16>(x))
KERNEL(all_reduce_int_minimum, int32_t, wave::all_reduce<16>(x, op::minimum{}))
KERNEL(reduce_maximum, float, wave::reduce(x, op::maximum{}))
KERNEL(all_reduce_maximum, float, wave::all_reduce<16>(x, op::maximum{}))
KERNEL(reduce_double, double, wave::reduce(x))
KERNEL(reduce_arg_maximum, indexed<float>, wave::reduce(x, op::arg_maximum{}))

KERNEL(scan_int, int32_t, wave::inclusive_scan(x))
KERNEL(scan_float, float, wave::inclusive_scan(x))
KERNEL(scan_float_8, float, wave::inclusive_scan<8>(x))

KERNEL(xor_1, float, wave::shuffle_xor<1>(x))
KERNEL(xor_2, float, wave::shuffle_xor<2>(x))
KERNEL(xor_3, float, wave::shuffle_xor<3>(x))
KERNEL(xor_4, float, wave::shuffle_xor<4>(x))
KERNEL(xor_7, float, wave::shuffle_xor<7>(x))
KERNEL(xor_8, float, wave::shuffle_xor<8>(x))
KERNEL(xor_15, float, wave::shuffle_xor<15>(x))
KERNEL(xor_16, float, wave::shuffle_xor<16>(x))
KERNEL(xor_32, float, wave::shuffle_xor<32>(x))
KERNEL(up_1, float, wave::shuffle_up<1>(x))
KERNEL(up_3_of_16, float, (wave::shuffle_up<3, 16>(x)))
