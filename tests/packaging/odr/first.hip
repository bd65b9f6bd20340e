// One of two translation units that use the same parts of the library. Included twice, and before
// HIP's own types.
#include <wavetile/wavetile.hpp>

#include <hip/hip_bf16.h>

#include "../compile/instantiate.hpp"

#include <gtest/gtest.h>

wavetile::status run_second(const library_arrays& arrays, hipStream_t stream);

namespace {

template <class T>
struct managed_array {
  T* data = nullptr;
  explicit managed_array(size_t count) {
    EXPECT_EQ(hipMallocManaged(&data, count * sizeof(T)), hipSuccess);
  }
  ~managed_array() { EXPECT_EQ(hipFree(data), hipSuccess); }
};

TEST(two_translation_units, both_run_the_same_code) {
  constexpr int count = 64;
  managed_array<float> x(count), y(count), sum(1);
  managed_array<wavetile::bf16> narrow(count);
  managed_array<wavetile::fp8_e4m3_fnuz> narrower(count);
  for (int i = 0; i < count; ++i)
    x.data[i] = static_cast<float>(i % 2); // softmax: 1 / (32 (1 + e)), e / (32 (1 + e))
  for (auto* run : {&use_library, &run_second}) {
    *sum.data = -1.0f;
    for (int i = 0; i < count; ++i) {
      y.data[i] = -1.0f;
      narrow.data[i] = wavetile::bf16(-1.0f);
      narrower.data[i] = wavetile::fp8_e4m3_fnuz(-1.0f);
    }
    const wavetile::status result =
        run({x.data, y.data, sum.data, narrow.data, narrower.data}, nullptr);
    ASSERT_TRUE(result.ok()) << result.message();
    ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
    EXPECT_EQ(*sum.data, 32.0f);
    for (int i = 0; i < count; ++i) {
      const double expected = (i % 2 != 0 ? 2.718281828459045 : 1.0) / (32 * 3.718281828459045);
      // relative, in units of 2^-24: the exponent 1, the exponential 2, six additions 6, the
      // quotient 4
      EXPECT_NEAR(y.data[i], expected, 13 * 0x1p-24 * expected) << i;
      EXPECT_EQ(static_cast<float>(narrow.data[i]), x.data[i]) << i;
      EXPECT_EQ(static_cast<float>(narrower.data[i]), x.data[i]) << i;
    }
  }
}

} // namespace
