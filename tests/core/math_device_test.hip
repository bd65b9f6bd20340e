// Scalar functions and bit tests in device code; built a second time with -ffast-math, under which
// all of it must hold as well.
#include "../support/device_buffer.hpp"
#include "../support/random.hpp"

#include <wavetile/core/math.hpp>

#include <hip/hip_runtime.h>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace wavetile {
namespace {

using test::device_buffer;

// The host side of this file is compiled with -ffast-math too: classify by integers only.
bool nan_bits(uint32_t bits) {
  return (bits & 0x7FFFFFFFu) > 0x7F800000u;
}

enum class function { exp2, log2, exp, log, reciprocal, rsqrt };

template <function F>
__device__ float apply(float x) {
  if constexpr (F == function::exp2)
    return wavetile::exp2(x);
  else if constexpr (F == function::log2)
    return wavetile::log2(x);
  else if constexpr (F == function::exp)
    return wavetile::exp(x);
  else if constexpr (F == function::log)
    return wavetile::log(x);
  else if constexpr (F == function::reciprocal)
    return reciprocal(x);
  else
    return wavetile::rsqrt(x);
}

template <function F>
__global__ void function_kernel(const uint32_t* in, uint32_t* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count)
    out[i] = __builtin_bit_cast(uint32_t, apply<F>(__builtin_bit_cast(float, in[i])));
}

template <function F>
std::vector<uint32_t> run(const std::vector<uint32_t>& values) {
  const int count = static_cast<int>(values.size());
  device_buffer<uint32_t> in(values);
  device_buffer<uint32_t> out(values.size());
  function_kernel<F>
      <<<static_cast<unsigned>(divide_up(count, 256)), 256>>>(in.data(), out.data(), count);
  WAVETILE_TEST_HIP(hipGetLastError());
  return out.download();
}

uint32_t bits_of(float value) {
  return __builtin_bit_cast(uint32_t, value);
}

// |got - reference| in units of the reference's last place.
double ulps(uint32_t got, double reference) {
  int exponent = 0;
  (void)std::frexp(reference, &exponent);
  const double unit = std::ldexp(1.0, exponent - 24);
  return std::fabs(static_cast<double>(__builtin_bit_cast(float, got)) - reference) / unit;
}

template <function F, class Reference>
void check(const std::vector<uint32_t>& values, double tolerance, Reference reference) {
  const std::vector<uint32_t> results = run<F>(values);
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(__builtin_bit_cast(float, values[i]));
    EXPECT_LE(ulps(results[i], reference(x)), tolerance) << x;
  }
}

std::vector<uint32_t> uniform_bits(double low, double high, uint64_t seed) {
  test::random_source random(seed);
  std::vector<uint32_t> values;
  for (int i = 0; i < 8192; ++i)
    values.push_back(bits_of(static_cast<float>(low + (high - low) * random.uniform())));
  return values;
}

// Tolerances: the instruction's documented 1 ulp, and half an ulp of the reference's own rounding.
// v_exp_f32: 1 ulp. ex2.approx: 2^-22 of the result, which is 4 ulps at most.
constexpr double exp2_ulps = WAVETILE_CUDA ? 4 : 1.5;

TEST(device_functions, are_as_accurate_as_documented) {
  check<function::exp2>(uniform_bits(-125, 127, 1), exp2_ulps,
                        [](double x) { return std::exp2(x); });
  check<function::log2>(uniform_bits(2, 1e6, 2), 1.5, [](double x) { return std::log2(x); });
  check<function::reciprocal>(uniform_bits(1e-3, 1e3, 3), 1.5, [](double x) { return 1 / x; });
  check<function::rsqrt>(uniform_bits(1e-3, 1e3, 4), 1.5,
                         [](double x) { return 1 / std::sqrt(x); });
  // one more rounding, of x * log2(e), relative to a result of |x| log2(e) binary digits:
  // |x| * 1.4427 * 2^-24 / 2^-24 * ln 2 = |x| ulps at most (twice that just above a power of two)
  check<function::exp>(uniform_bits(-8, 8, 5), exp2_ulps + 2 * 8,
                       [](double x) { return std::exp(x); });
  check<function::log>(uniform_bits(3, 1e6, 6), 3.5, [](double x) { return std::log(x); });
}

TEST(device_functions, exp2_of_special_values) {
  const std::vector<uint32_t> values = {0xFF800000u, 0x7F800000u, bits_of(-200.0f), bits_of(0.0f),
                                        0x80000000u, 0x00000001u, bits_of(128.0f),  0x7FC00000u};
  const std::vector<uint32_t> results = run<function::exp2>(values);
  EXPECT_EQ(results[0], 0u) << "2^-inf";
  EXPECT_EQ(results[1], 0x7F800000u) << "2^inf";
  EXPECT_EQ(results[2], 0u) << "2^-200";
  EXPECT_EQ(results[3], bits_of(1.0f));
  EXPECT_EQ(results[4], bits_of(1.0f));
  EXPECT_EQ(results[5], bits_of(1.0f)) << "a denormal counts as 0";
  EXPECT_EQ(results[6], 0x7F800000u) << "2^128";
  EXPECT_TRUE(nan_bits(results[7]));
}

// bit 0 nan, 1 inf, 2 negative inf, 3 finite; the same for fp64 from bit 8 on
__global__ void classify_kernel(const float* in, const double* wide, uint32_t* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count)
    return;
  const float x = in[i];
  const double y = wide[i];
  uint32_t result = 0;
  result |= is_nan(x) ? 1u : 0u;
  result |= is_inf(x) ? 2u : 0u;
  result |= is_negative_inf(x) ? 4u : 0u;
  result |= is_finite(x) ? 8u : 0u;
  result |= is_nan(y) ? 0x100u : 0u;
  result |= is_inf(y) ? 0x200u : 0u;
  result |= is_negative_inf(y) ? 0x400u : 0u;
  result |= is_finite(y) ? 0x800u : 0u;
  out[i] = result;
}

TEST(device_bits, classify) {
  test::random_source random(7);
  std::vector<uint32_t> narrow;
  std::vector<uint64_t> wide;
  for (int i = 0; i < 4096; ++i) {
    uint64_t bits = random.bits();
    uint64_t high = random.bits();
    if (i % 2 == 0) {
      bits |= 0x7F800000u;
      high |= 0x7FF0000000000000u;
    }
    if (i % 8 == 0) {
      bits &= 0xFF800000u;
      high &= 0xFFF0000000000000u;
    }
    narrow.push_back(static_cast<uint32_t>(bits));
    wide.push_back(high);
  }
  device_buffer<uint32_t> in(narrow);
  device_buffer<uint64_t> in_wide(wide);
  device_buffer<uint32_t> out(narrow.size());
  classify_kernel<<<16, 256>>>(reinterpret_cast<const float*>(in.data()),
                               reinterpret_cast<const double*>(in_wide.data()), out.data(), 4096);
  WAVETILE_TEST_HIP(hipGetLastError());
  const std::vector<uint32_t> results = out.download();
  for (size_t i = 0; i < narrow.size(); ++i) {
    const uint32_t exponent = narrow[i] >> 23 & 0xFF;
    const uint32_t mantissa = narrow[i] % 0x800000u;
    uint32_t expected = 0;
    expected |= exponent == 255 && mantissa != 0 ? 1u : 0u;
    expected |= exponent == 255 && mantissa == 0 ? 2u : 0u;
    expected |= narrow[i] == 0xFF800000u ? 4u : 0u;
    expected |= exponent != 255 ? 8u : 0u;
    const uint64_t exponent64 = wide[i] >> 52 & 0x7FF;
    const uint64_t mantissa64 = wide[i] % (uint64_t{1} << 52);
    expected |= exponent64 == 2047 && mantissa64 != 0 ? 0x100u : 0u;
    expected |= exponent64 == 2047 && mantissa64 == 0 ? 0x200u : 0u;
    expected |= wide[i] == 0xFFF0000000000000u ? 0x400u : 0u;
    expected |= exponent64 != 2047 ? 0x800u : 0u;
    EXPECT_EQ(results[i], expected) << std::hex << narrow[i] << " " << wide[i];
  }
}

__global__ void maximum_kernel(const float* a, const float* b, float* larger, float* smaller,
                               double* wide, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count)
    return;
  larger[i] = maximum(a[i], b[i]);
  smaller[i] = minimum(a[i], b[i]);
  wide[i] = maximum(static_cast<double>(a[i]), static_cast<double>(b[i]));
}

TEST(device_maximum, orders_numbers_and_propagates_nan) {
  const std::vector<uint32_t> special = {0x7FC00000u, 0xFFC00001u, 0x7F800001u, 0x7F800000u,
                                         0xFF800000u, 0x00000000u, 0x3F800000u, 0xC0000000u};
  std::vector<uint32_t> a;
  std::vector<uint32_t> b;
  for (uint32_t x : special)
    for (uint32_t y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  test::random_source random(9);
  while (a.size() < 1024) {
    a.push_back(bits_of(static_cast<float>(random.normal())));
    b.push_back(bits_of(static_cast<float>(random.normal())));
  }
  device_buffer<uint32_t> in_a(a);
  device_buffer<uint32_t> in_b(b);
  device_buffer<uint32_t> larger(a.size());
  device_buffer<uint32_t> smaller(a.size());
  device_buffer<double> wide(a.size());
  maximum_kernel<<<4, 256>>>(reinterpret_cast<const float*>(in_a.data()),
                             reinterpret_cast<const float*>(in_b.data()),
                             reinterpret_cast<float*>(larger.data()),
                             reinterpret_cast<float*>(smaller.data()), wide.data(), 1024);
  WAVETILE_TEST_HIP(hipGetLastError());
  const std::vector<uint32_t> up = larger.download();
  const std::vector<uint32_t> down = smaller.download();
  // orders like the numbers, infinities included
  const auto key = [](uint32_t bits) {
    const int64_t magnitude = bits & 0x7FFFFFFFu;
    return bits >> 31 ? -magnitude : magnitude;
  };
  for (size_t i = 0; i < a.size(); ++i) {
    if (nan_bits(a[i]) || nan_bits(b[i])) {
      EXPECT_TRUE(nan_bits(up[i])) << std::hex << a[i] << " " << b[i];
      EXPECT_TRUE(nan_bits(down[i])) << std::hex << a[i] << " " << b[i];
      continue;
    }
    EXPECT_EQ(key(up[i]), std::max(key(a[i]), key(b[i]))) << std::hex << a[i] << " " << b[i];
    EXPECT_EQ(key(down[i]), std::min(key(a[i]), key(b[i]))) << std::hex << a[i] << " " << b[i];
  }
}

__global__ void select_kernel(const float* in, float* out, int count) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < count)
    out[i] = select(i % 2 == 0, in[i], infinity);
}

TEST(device_bits, select_carries_infinities) {
  const std::vector<uint32_t> values = {0x7FC00000u, 0, 0xFF800000u, 0, 0x3F800000u, 0};
  device_buffer<uint32_t> in(values);
  device_buffer<uint32_t> out(values.size());
  select_kernel<<<1, 64>>>(reinterpret_cast<const float*>(in.data()),
                           reinterpret_cast<float*>(out.data()), 6);
  WAVETILE_TEST_HIP(hipGetLastError());
  const std::vector<uint32_t> results = out.download();
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(results[i], i % 2 == 0 ? values[i] : 0x7F800000u) << i;
}

} // namespace
} // namespace wavetile
