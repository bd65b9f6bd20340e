// Kernels whose assembly matrix_assembly_test.cpp reads: operands from LDS, one instruction per
// step, results to global memory.
#include <wavetile/matrix/global_operand.hpp>
#include <wavetile/matrix/mma.hpp>

using namespace wavetile;

/// Two reads of each operand and as many matrix instructions as they feed.
template <class A, class B, matrix_shape Shape>
WAVETILE_DEVICE void two_reads(const A* in_a, const B* in_b, accumulator_t<A>* out) {
  using fragments = product_fragments<Shape, A, B>;
  using read_a = lds_operand<typename fragments::a>;
  using read_b = lds_operand<typename fragments::b>;
  using tile_a = tile<A, row_major(Shape.m, 2 * read_a::depth, sizeof(A))>;
  using tile_b = tile<B, row_major(Shape.n, 2 * read_b::depth, sizeof(B))>;
  WAVETILE_SHARED typename tile_a::storage memory_a;
  WAVETILE_SHARED typename tile_b::storage memory_b;
  const tile_a ta(memory_a);
  const tile_b tb(memory_b);
  const int lane = thread_id();
  for (int i = lane; i < 2 * wave_size; i += wave_size) { // 2048 bytes each, 16 a lane
    ta.write_at(i * 16, load_vec<vec_width<A>>(in_a + i * vec_width<A>));
    tb.write_at(i * 16, load_vec<vec_width<B>>(in_b + i * vec_width<B>));
  }
  __builtin_amdgcn_s_barrier();
  typename fragments::accumulator sum{};
  mma(sum, read_a::load(ta, 0, 0), read_b::load(tb, 0, 0));
  mma(sum, read_a::load(ta, 0, read_a::depth), read_b::load(tb, 0, read_b::depth));
  store_accumulator(make_view(out, Shape.m, Shape.n), sum, 0, 0, lane);
}

#define KERNEL(name, a, b, shape)                                                                  \
  extern "C" WAVETILE_KERNEL __attribute__((amdgpu_flat_work_group_size(64, 64))) void name(       \
      const a* in_a, const b* in_b, accumulator_t<a>* out) {                                       \
    two_reads<a, b, shape<a>>(in_a, in_b, out);                                                    \
  }

KERNEL(fp64_16, double, double, shape_16x16)
KERNEL(fp32_16, float, float, shape_16x16)
KERNEL(fp32_32, float, float, shape_32x32)
KERNEL(fp16_16, fp16, fp16, shape_16x16)
KERNEL(fp16_32, fp16, fp16, shape_32x32)
KERNEL(bf16_16, bf16, bf16, shape_16x16)
KERNEL(bf16_32, bf16, bf16, shape_32x32)
KERNEL(int8_16, int8_t, int8_t, shape_16x16)
KERNEL(int8_32, int8_t, int8_t, shape_32x32)
KERNEL(fp8_fp8_16, fp8_e4m3_fnuz, fp8_e4m3_fnuz, shape_16x16)
KERNEL(fp8_bf8_16, fp8_e4m3_fnuz, fp8_e5m2_fnuz, shape_16x16)
KERNEL(bf8_fp8_16, fp8_e5m2_fnuz, fp8_e4m3_fnuz, shape_16x16)
KERNEL(bf8_bf8_16, fp8_e5m2_fnuz, fp8_e5m2_fnuz, shape_16x16)
KERNEL(fp8_fp8_32, fp8_e4m3_fnuz, fp8_e4m3_fnuz, shape_32x32)
KERNEL(fp8_bf8_32, fp8_e4m3_fnuz, fp8_e5m2_fnuz, shape_32x32)
KERNEL(bf8_fp8_32, fp8_e5m2_fnuz, fp8_e4m3_fnuz, shape_32x32)
KERNEL(bf8_bf8_32, fp8_e5m2_fnuz, fp8_e5m2_fnuz, shape_32x32)
