// Conversions in device code against the host's, which are tested against an enumerated reference:
// the same bits for every code, every rounding edge and random numbers, one by one and by vector.
#include "../support/device_buffer.hpp"
#include "../support/random.hpp"
#include "small_float_oracle.hpp"

#include <wavetile/core/math.hpp>
#include <wavetile/core/vec.hpp>

#include <hip/hip_runtime.h>

#include <gtest/gtest.h>

#include <vector>

namespace wavetile {
namespace {

using test::device_buffer;

template <class T>
using code_type = decltype(T::bits);

template <class T>
__global__ void decode_kernel(const T* codes, float* values, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count)
    values[i] = static_cast<float>(codes[i]);
}

template <class T>
__global__ void decode_vec_kernel(const T* codes, float* values, int count) {
  const int i = 8 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count)
    store_vec(values + i, convert<float>(load_vec<8>(codes + i)));
}

template <class T>
__global__ void encode_kernel(const float* values, T* codes, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count)
    codes[i] = T(values[i]);
}

template <class T>
__global__ void encode_vec_kernel(const float* values, T* codes, int count) {
  const int i = 8 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count)
    store_vec(codes + i, convert<T>(load_vec<8>(values + i)));
}

unsigned blocks(int threads) {
  return static_cast<unsigned>(divide_up(threads, 256));
}

template <class T>
class device_small_float : public testing::Test {};
using small_floats =
    testing::Types<fp16, bf16, fp8_e4m3_fnuz, fp8_e5m2_fnuz, fp8_e4m3_ocp, fp8_e5m2_ocp>;
TYPED_TEST_SUITE(device_small_float, small_floats);

template <class T>
std::vector<T> all_codes() {
  std::vector<T> codes;
  for (int code = 0; code < (sizeof(T) == 1 ? 256 : 65536); ++code)
    codes.push_back(T::from_bits(static_cast<code_type<T>>(code)));
  return codes;
}

// The payload of a decoded NaN is nobody's business; fp16 and bf16 keep theirs, except that
// NVIDIA's conversions of fp32 to fp16 and bf16, and of fp16 to fp32, know one NaN only.
template <class T>
constexpr bool keeps_payloads = sizeof(T) == 2 && !(WAVETILE_CUDA && std::is_same_v<T, fp16>);

template <class T>
void expect_same_values(const std::vector<T>& codes, const std::vector<float>& values) {
  for (size_t i = 0; i < codes.size(); ++i) {
    const float expected = static_cast<float>(codes[i]);
    if (is_nan(expected) && !keeps_payloads<T>)
      EXPECT_TRUE(is_nan(values[i])) << i;
    else
      EXPECT_EQ(float_bits(values[i]), float_bits(expected)) << i;
  }
}

TYPED_TEST(device_small_float, decodes_every_code) {
  const std::vector<TypeParam> codes = all_codes<TypeParam>();
  const int count = static_cast<int>(codes.size());
  device_buffer<TypeParam> in(codes);
  device_buffer<float> out(codes.size());
  decode_kernel<<<blocks(count), 256>>>(in.data(), out.data(), count);
  WAVETILE_TEST_HIP(hipGetLastError());
  expect_same_values(codes, out.download());

  out.poison();
  decode_vec_kernel<<<blocks(count / 8), 256>>>(in.data(), out.data(), count);
  WAVETILE_TEST_HIP(hipGetLastError());
  expect_same_values(codes, out.download());
}

std::vector<float> hard_numbers(const test::small_float_oracle& oracle, uint64_t seed) {
  std::vector<float> values = oracle.edges();
  test::random_source random(seed);
  for (int i = 0; i < 65536; ++i) {
    values.push_back(float_from_bits(static_cast<uint32_t>(random.bits())));
    values.push_back(static_cast<float>(random.normal() * std::exp2(48 * random.uniform() - 30)));
  }
  for (uint32_t payload : {1u, 0x1FFFu, 0x2000u, 0x3FFFFFu, 0x400000u, 0x7FFFFFu})
    for (uint32_t sign : {0u, 0x80000000u})
      values.push_back(float_from_bits(sign | 0x7F800000u | payload));
  while (values.size() % 8 != 0)
    values.push_back(1.0f);
  return values;
}

template <class T>
test::small_float_oracle oracle_of() {
  if constexpr (std::is_same_v<T, fp16>)
    return test::fp16_oracle();
  else if constexpr (std::is_same_v<T, bf16>)
    return test::bf16_oracle();
  else if constexpr (std::is_same_v<T, fp8_e4m3_fnuz>)
    return test::e4m3_fnuz_oracle();
  else if constexpr (std::is_same_v<T, fp8_e5m2_fnuz>)
    return test::e5m2_fnuz_oracle();
  else if constexpr (std::is_same_v<T, fp8_e4m3_ocp>)
    return test::e4m3_ocp_oracle();
  else
    return test::e5m2_ocp_oracle();
}

template <class T>
void expect_same_codes(const std::vector<float>& values, const std::vector<T>& codes) {
  for (size_t i = 0; i < values.size(); ++i)
    if (WAVETILE_CUDA && sizeof(T) == 2 && is_nan(values[i]))
      EXPECT_TRUE(is_nan(static_cast<float>(codes[i]))) << float_bits(values[i]);
    else
      EXPECT_EQ(codes[i].bits, T(values[i]).bits) << values[i] << " " << float_bits(values[i]);
}

TYPED_TEST(device_small_float, encodes_edges_and_random_numbers) {
  const std::vector<float> values = hard_numbers(oracle_of<TypeParam>(), 17);
  const int count = static_cast<int>(values.size());
  device_buffer<float> in(values);
  device_buffer<TypeParam> out(values.size());
  encode_kernel<<<blocks(count), 256>>>(in.data(), out.data(), count);
  WAVETILE_TEST_HIP(hipGetLastError());
  expect_same_codes(values, out.download());

  out.poison();
  encode_vec_kernel<<<blocks(count / 8), 256>>>(in.data(), out.data(), count);
  WAVETILE_TEST_HIP(hipGetLastError());
  expect_same_codes(values, out.download());
}

template <bf16_rounding Rounding>
__global__ void bf16_kernel(const float* values, bf16* codes, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count)
    codes[i] = round_to_bf16<Rounding>(values[i]);
}

template <bf16_rounding Rounding>
void check_rounding(const std::vector<float>& values) {
  const int count = static_cast<int>(values.size());
  device_buffer<float> in(values);
  device_buffer<bf16> out(values.size());
  bf16_kernel<Rounding><<<blocks(count), 256>>>(in.data(), out.data(), count);
  WAVETILE_TEST_HIP(hipGetLastError());
  const std::vector<bf16> codes = out.download();
  for (size_t i = 0; i < values.size(); ++i) {
    if (WAVETILE_CUDA && is_nan(values[i])) {
      EXPECT_TRUE(is_nan(static_cast<float>(codes[i]))) << float_bits(values[i]);
      continue;
    }
    EXPECT_EQ(codes[i].bits, round_to_bf16<Rounding>(values[i]).bits) << float_bits(values[i]);
  }
}

TEST(device_bf16, named_roundings) {
  const std::vector<float> values = hard_numbers(test::bf16_oracle(), 19);
  check_rounding<bf16_rounding::nearest_even>(values);
  check_rounding<bf16_rounding::nearest_away>(values);
  check_rounding<bf16_rounding::truncate>(values);
  check_rounding<bf16_rounding::nearest_even_finite>(values);
}

template <class To, class From>
__global__ void convert_kernel(const From* from, To* to, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count)
    to[i] = convert<To>(from[i]);
}

template <class To, class From>
void check_convert(const std::vector<From>& values) {
  const int count = static_cast<int>(values.size());
  device_buffer<From> in(values);
  device_buffer<To> out(values.size());
  convert_kernel<<<blocks(count), 256>>>(in.data(), out.data(), count);
  WAVETILE_TEST_HIP(hipGetLastError());
  const std::vector<To> results = out.download();
  for (size_t i = 0; i < values.size(); ++i) {
    const To expected = convert<To>(values[i]);
    EXPECT_EQ(std::memcmp(&results[i], &expected, sizeof expected), 0)
        << i << ": " << testing::PrintToString(values[i]);
  }
}

TEST(device_convert, wide_types) {
  test::random_source random(23);
  std::vector<double> doubles = {0.0, -0.0, 1e-320, 1e300, -1e300, 2.5, 1.5, -0.5, 65520.0};
  std::vector<float> floats = {0.0f, 0.5f, 1.5f, 2.5f, 127.5f, 1e30f, -1e30f, quiet_nan, infinity};
  std::vector<int64_t> integers = {0, -1, INT64_MAX, INT64_MIN};
  std::vector<int32_t> words = {0, 127, 128, -129, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4000; ++i) {
    doubles.push_back(random.normal() * std::exp2(200 * random.uniform() - 100));
    floats.push_back(static_cast<float>(random.normal() * std::exp2(70 * random.uniform() - 3)));
    integers.push_back(static_cast<int64_t>(random.bits() >> (random.bits() % 64)));
    words.push_back(static_cast<int32_t>(random.bits() >> (random.bits() % 64)));
  }
  check_convert<fp16>(doubles);
  check_convert<bf16>(doubles);
  check_convert<fp8_e4m3_fnuz>(doubles);
  check_convert<float>(doubles);
  check_convert<int32_t>(doubles);
  check_convert<fp16>(integers);
  check_convert<bf16>(integers);
  check_convert<float>(integers);
  check_convert<int8_t>(words);
  check_convert<fp16>(words);
  check_convert<int8_t>(floats);
  check_convert<int32_t>(floats);
  check_convert<int64_t>(floats);
  check_convert<double>(floats);
}

} // namespace
} // namespace wavetile
