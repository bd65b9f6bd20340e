// Kernels of several element types in one translation unit, all on dynamic LDS: one untyped
// declaration, from which each takes its tile.
#include <wavetile/wavetile.hpp>

#include <gtest/gtest.h>

#include <hip/hip_runtime.h>

namespace {
using namespace wavetile;

extern "C" __shared__ __attribute__((aligned(16))) unsigned char dynamic_lds[];

/// Writes each lane's number to a tile, reads its mirror image, and reports where LDS begins.
template <class T>
__global__ void mirror(T* out, unsigned* misalignment) {
  constexpr layout where = row_major(8, 8, sizeof(T));
  const tile<T, where> numbers(static_cast<void*>(dynamic_lds));
  const int lane = static_cast<int>(threadIdx.x);
  numbers.write(lane / 8, lane % 8, convert<T>(static_cast<float>(lane)));
  __syncthreads();
  out[lane] = numbers.read(7 - lane / 8, 7 - lane % 8);
  using lds_byte = __attribute__((address_space(3))) unsigned char;
  *misalignment = static_cast<unsigned>(reinterpret_cast<uintptr_t>((lds_byte*)dynamic_lds)) % 16;
}

template <class T>
struct dynamic_lds_of : testing::Test {};
using element_types = testing::Types<float, double, fp16>;
TYPED_TEST_SUITE(dynamic_lds_of, element_types);

TYPED_TEST(dynamic_lds_of, is_aligned_and_holds_the_tile) {
  TypeParam* out = nullptr;
  unsigned* misalignment = nullptr;
  ASSERT_EQ(hipMallocManaged(&out, 64 * sizeof(TypeParam)), hipSuccess);
  ASSERT_EQ(hipMallocManaged(&misalignment, sizeof(unsigned)), hipSuccess);
  *misalignment = 99;
  mirror<TypeParam><<<1, 64, 64 * sizeof(TypeParam)>>>(out, misalignment);
  ASSERT_EQ(hipGetLastError(), hipSuccess);
  ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(*misalignment, 0u);
  for (int lane = 0; lane < 64; ++lane)
    EXPECT_EQ(convert<float>(out[lane]), static_cast<float>(63 - lane)) << lane;
  EXPECT_EQ(hipFree(out), hipSuccess);
  EXPECT_EQ(hipFree(misalignment), hipSuccess);
}

} // namespace
