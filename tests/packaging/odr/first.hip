// One of two translation units that use the same parts of the library. Included twice, and before
// HIP's own types.
#include <wavetile/wavetile.hpp>

#include <hip/hip_bf16.h>

#include "../compile/instantiate.hpp"

#include <gtest/gtest.h>

wavetile::status run_second(const float* in, wavetile::bf16* narrow, wavetile::fp16* half,
                            wavetile::fp8_e4m3_fnuz* tiny);

namespace {

template <class T>
struct managed_array {
  T* data = nullptr;
  explicit managed_array(size_t count) { (void)hipMallocManaged(&data, count * sizeof(T)); }
  ~managed_array() { (void)hipFree(data); }
};

TEST(two_translation_units, both_run_the_same_code) {
  managed_array<float> in(64);
  managed_array<wavetile::bf16> narrow(64);
  managed_array<wavetile::fp16> half(64);
  managed_array<wavetile::fp8_e4m3_fnuz> tiny(64);
  ASSERT_NE(tiny.data, nullptr);
  for (int i = 0; i < 64; ++i)
    in.data[i] = static_cast<float>(i) / 64.0f;
  for (auto* run : {&use_library, &run_second}) {
    for (int i = 0; i < 64; ++i)
      narrow.data[i] = wavetile::bf16(-1.0f);
    const wavetile::status result = run(in.data, narrow.data, half.data, tiny.data);
    ASSERT_TRUE(result.ok()) << result.message();
    ASSERT_EQ(hipDeviceSynchronize(), hipSuccess);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(static_cast<float>(narrow.data[i]), in.data[i]) << i; // exact: 6 bits
  }
}

} // namespace
