// HIP's own element types stand wherever ours do, and mean the same numbers.
#include "../support/device_buffer.hpp"
#include "../support/random.hpp"

#include <wavetile/core/vec.hpp>

#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>
#include <vector>

namespace wavetile {
namespace {

using test::device_buffer;

static_assert(std::is_same_v<storage_t<__half>, fp16>);
static_assert(std::is_same_v<storage_t<const __hip_bfloat16>, bf16>);
static_assert(std::is_same_v<storage_t<hip_bfloat16>, bf16> && sizeof(hip_bfloat16) == 2);
static_assert(std::is_same_v<storage_t<_Float16>, fp16>);
static_assert(std::is_same_v<storage_t<__bf16>, bf16>);
static_assert(std::is_same_v<storage_t<__hip_fp8_e4m3_fnuz>, fp8_e4m3_fnuz>);
static_assert(std::is_same_v<storage_t<__hip_fp8_e5m2_fnuz>, fp8_e5m2_fnuz>);
static_assert(std::is_same_v<storage_t<__hip_fp8_e4m3>, fp8_e4m3_ocp>);
static_assert(std::is_same_v<storage_t<__hip_fp8_e5m2>, fp8_e5m2_ocp>);
static_assert(sizeof(__half) == sizeof(fp16) && sizeof(__hip_bfloat16) == sizeof(bf16) &&
              sizeof(__hip_fp8_e4m3_fnuz) == 1 && sizeof(__hip_fp8_e5m2) == 1);
static_assert(std::is_same_v<accumulator_t<__half>, float>);
static_assert(numeric<__half> && numeric<__hip_fp8_e5m2_fnuz>);

bool same_number(float a, float b) {
  return float_bits(a) == float_bits(b) || (is_nan(a) && is_nan(b));
}

TEST(hip_types, fp16_agrees_over_all_codes) {
  for (unsigned code = 0; code < 65536; ++code) {
    const fp16 ours = fp16::from_bits(static_cast<uint16_t>(code));
    const __half theirs = from_storage<__half>(ours);
    EXPECT_EQ(to_storage(theirs).bits, code);
    EXPECT_TRUE(same_number(static_cast<float>(ours), __half2float(theirs))) << code;
  }
}

TEST(hip_types, fp8_agree_over_all_codes) {
  for (unsigned code = 0; code < 256; ++code) {
    const auto check = [&]<class Theirs>(Theirs) {
      const auto ours = storage_t<Theirs>::from_bits(static_cast<uint8_t>(code));
      const Theirs theirs = from_storage<Theirs>(ours);
      EXPECT_TRUE(same_number(static_cast<float>(ours), static_cast<float>(theirs))) << code;
    };
    check(__hip_fp8_e4m3_fnuz{});
    check(__hip_fp8_e5m2_fnuz{});
    check(__hip_fp8_e4m3{});
    check(__hip_fp8_e5m2{});
  }
}

TEST(hip_types, convert_accepts_them_on_both_sides) {
  EXPECT_EQ(to_storage(convert<__half>(1.5f)).bits, 0x3E00);
  EXPECT_EQ(convert<float>(__float2half(2.5f)), 2.5f);
  EXPECT_EQ(to_storage(convert<__hip_bfloat16>(__float2half(2.5f))).bits, 0x4020);
  EXPECT_EQ(to_storage(convert<__hip_fp8_e4m3_fnuz>(1.0f)).bits, 0x40);
  EXPECT_EQ(convert<int8_t>(convert<__hip_fp8_e4m3>(3.0f)), 3);
  EXPECT_EQ(to_storage(convert<_Float16>(1.0)).bits, 0x3C00);
}

TEST(hip_types, fp8_rounds_as_theirs) {
  test::random_source random(31);
  for (int i = 0; i < 200000; ++i) {
    const float value = static_cast<float>(random.normal() * std::exp2(24 * random.uniform() - 16));
    EXPECT_EQ(fp8_e4m3_fnuz(value).bits, to_storage(__hip_fp8_e4m3_fnuz(value)).bits) << value;
    EXPECT_EQ(fp8_e5m2_fnuz(value).bits, to_storage(__hip_fp8_e5m2_fnuz(value)).bits) << value;
    EXPECT_EQ(fp8_e4m3_ocp(value).bits, to_storage(__hip_fp8_e4m3(value)).bits) << value;
    EXPECT_EQ(fp8_e5m2_ocp(value).bits, to_storage(__hip_fp8_e5m2(value)).bits) << value;
  }
}

// HIP's 16-bit conversions are compared on the device: on the host those of bf16 need a newer
// compiler library than some systems have.
__global__ void halves_kernel(const float* values, uint32_t* differences) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto code = static_cast<uint16_t>(i);
  const float value = values[i];
  const auto same = [](float a, float b) {
    return float_bits(a) == float_bits(b) || (is_nan(a) && is_nan(b));
  };
  uint32_t result = 0;
  if (!same(static_cast<float>(bf16::from_bits(code)),
            __bfloat162float(from_storage<__hip_bfloat16>(bf16::from_bits(code)))))
    result |= 1;
  if (!same(static_cast<float>(fp16::from_bits(code)),
            __half2float(from_storage<__half>(fp16::from_bits(code)))))
    result |= 2;
  if (bf16(value).bits != to_storage(__float2bfloat16(value)).bits && !is_nan(value))
    result |= 4;
  if (fp16(value).bits != to_storage(__float2half(value)).bits && !is_nan(value))
    result |= 8;
  differences[i] = result;
}

TEST(hip_types, halves_agree_on_the_device) {
  std::vector<float> values;
  test::random_source random(37);
  for (int i = 0; i < 65536; ++i) // half of them in the range of fp16, many of those ties
    values.push_back(i % 2 == 0 ? float_from_bits(static_cast<uint32_t>(random.bits()))
                                : std::ldexp(static_cast<float>(random.bits() % 8192),
                                             static_cast<int>(i % 40) - 37));
  device_buffer<float> in(values);
  device_buffer<uint32_t> out(values.size());
  halves_kernel<<<256, 256>>>(in.data(), out.data());
  WAVETILE_TEST_HIP(hipGetLastError());
  EXPECT_EQ(out.download(), std::vector<uint32_t>(65536, 0u));
}

// one element in, one out, all through HIP's types and vectors of them
template <class T>
__global__ void halve_kernel(const T* in, T* out) {
  const int i = 4 * static_cast<int>(threadIdx.x);
  vec<float, 4> values = convert<float>(load_vec<4>(storage_pointer(in + i)));
  for (int j = 0; j < 4; ++j)
    values[j] *= 0.5f;
  store_vec(storage_pointer(out + i), convert<storage_t<T>>(values));
}

template <class T>
void check_kernel() {
  std::vector<T> values;
  for (int i = 0; i < 256; ++i)
    values.push_back(convert<T>(static_cast<float>(i % 16)));
  device_buffer<T> in(values);
  device_buffer<T> out(values.size());
  halve_kernel<<<1, 64>>>(in.data(), out.data());
  WAVETILE_TEST_HIP(hipGetLastError());
  const std::vector<T> results = out.download();
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(convert<float>(results[static_cast<size_t>(i)]),
              convert<float>(convert<T>(static_cast<float>(i % 16) * 0.5f)));
}

TEST(hip_types, work_in_kernels) {
  check_kernel<__half>();
  check_kernel<__hip_bfloat16>();
  check_kernel<__hip_fp8_e4m3_fnuz>();
  check_kernel<__hip_fp8_e5m2_fnuz>();
  check_kernel<__hip_fp8_e4m3>();
  check_kernel<__hip_fp8_e5m2>();
  check_kernel<_Float16>();
}

} // namespace
} // namespace wavetile
