// The device math library (as compiled for gfx942) against the host's long double functions: a
// cross-section of conversions, fused multiply-adds, transcendental and division instructions.
//
// Bounds are those of the OpenCL specification's table of relative errors, which AMD's device
// library is built to meet; sqrt, division, fmod and rounding are exact.
#include "program.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {

using program::Array;

template <class F, class T>
__global__ void map(F f, const T* a, const T* b, T* r) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  r[i] = f(a[i], b[i]);
}

/// Distance from the exact value in units of the last place of T at that value.
template <class T>
long double ulps(T got, long double exact) {
  const T rounded = static_cast<T>(exact);
  if (got != got || exact != exact)
    return got != got && exact != exact ? 0 : std::numeric_limits<long double>::infinity();
  if (got == rounded)
    return 0;
  if (std::isinf(got) || std::isinf(rounded))
    return std::numeric_limits<long double>::infinity();
  int exponent;
  std::frexp(exact, &exponent);
  const int last = std::max(exponent - std::numeric_limits<T>::digits,
                            std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits);
  return std::fabs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, last);
}

constexpr unsigned block = 256, count = 8192;

/// Values of usual size, small and large ones, and arbitrary bits.
template <class T>
std::vector<T> inputs(unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-10, 10);
  std::vector<T> all(count);
  for (std::size_t i = 0; i < all.size(); ++i) {
    constexpr double scales[] = {1, 1e-3, 1e6};
    all[i] = static_cast<T>(uniform(random) * scales[i % 3]);
    if (i % 4 == 3) {
      const unsigned long long bits = random();
      std::memcpy(&all[i], &bits, sizeof(T));
    }
  }
  return all;
}

template <class T, class Device, class Host>
void check(const char* name, Device device, Host host, long double bound) {
  const auto a = inputs<T>(1), b = inputs<T>(2);
  Array<T> da(a), db(b), dr(a.size());
  map<<<count / block, block>>>(device, da.data(), db.data(), dr.data());
  HIP_OK(hipGetLastError());
  HIP_OK(hipDeviceSynchronize());
  const std::vector<T> r = dr.get();
  unsigned failures = 0;
  for (std::size_t i = 0; i < r.size() && failures < 5; ++i) {
    const long double exact = host(static_cast<long double>(a[i]), static_cast<long double>(b[i]));
    if (ulps(r[i], exact) <= bound)
      continue;
    ++failures;
    ADD_FAILURE() << name << "(" << a[i] << ", " << b[i] << ") is " << r[i] << ", exactly "
                  << exact;
  }
}

// One functor per function: the device side resolves to the overload of T.
#define MATH_FUNCTIONS(X)                                                                          \
  X(sin, 4, 4)                                                                                     \
  X(cos, 4, 4)                                                                                     \
  X(tan, 5, 5)                                                                                     \
  X(exp, 3, 3)                                                                                     \
  X(exp2, 3, 3)                                                                                    \
  X(log, 3, 3)                                                                                     \
  X(log2, 3, 3)                                                                                    \
  X(log10, 3, 3)                                                                                   \
  X(log1p, 2, 2)                                                                                   \
  X(expm1, 3, 3)                                                                                   \
  X(cbrt, 2, 2)                                                                                    \
  X(tanh, 5, 5)                                                                                    \
  X(sinh, 4, 4)                                                                                    \
  X(cosh, 4, 4)                                                                                    \
  X(asin, 4, 4)                                                                                    \
  X(acos, 4, 4)                                                                                    \
  X(atan, 5, 5)                                                                                    \
  X(erf, 16, 16)                                                                                   \
  X(erfc, 16, 16) X(floor, 0, 0) X(ceil, 0, 0) X(trunc, 0, 0) X(rint, 0, 0) X(round, 0, 0)

template <class T>
void one_operand() {
#define CHECK_FUNCTION(f, single, twice)                                                           \
  check<T>(                                                                                        \
      #f, [] __device__(T a, T) { return ::f(a); },                                                \
      [](long double a, long double) { return std::f(a); }, sizeof(T) == 4 ? single : twice);
  MATH_FUNCTIONS(CHECK_FUNCTION)
#undef CHECK_FUNCTION
}

template <class T>
void two_operands() {
  check<T>(
      "pow", [] __device__(T a, T b) { return ::pow(a, b); },
      [](long double a, long double b) { return std::pow(a, b); }, 16);
  check<T>(
      "hypot", [] __device__(T a, T b) { return ::hypot(a, b); },
      [](long double a, long double b) { return std::hypot(a, b); }, 4);
  check<T>(
      "atan2", [] __device__(T a, T b) { return ::atan2(a, b); },
      [](long double a, long double b) { return std::atan2(a, b); }, 6);
  check<T>(
      "fmod", [] __device__(T a, T b) { return ::fmod(a, b); },
      [](long double a, long double b) { return std::fmod(a, b); }, 0);
  // The host's own correctly rounded operations, so that no second rounding is involved.
  check<T>(
      "divide", [] __device__(T a, T b) { return a / b; },
      [](long double a, long double b) {
        return static_cast<long double>(static_cast<T>(a) / static_cast<T>(b));
      },
      0);
  check<T>(
      "sqrt", [] __device__(T a, T) { return ::sqrt(a); },
      [](long double a, long double) {
        return static_cast<long double>(std::sqrt(static_cast<T>(a)));
      },
      0);
}

TEST(DeviceMath, SingleOneOperand) {
  one_operand<float>();
}
TEST(DeviceMath, DoubleOneOperand) {
  one_operand<double>();
}
TEST(DeviceMath, SingleTwoOperands) {
  two_operands<float>();
}
TEST(DeviceMath, DoubleTwoOperands) {
  two_operands<double>();
}

template <class T>
__global__ void divide(const T* a, const T* b, T* quotient, T* remainder) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  quotient[i] = static_cast<T>(a[i] / b[i]);
  remainder[i] = static_cast<T>(a[i] % b[i]);
}

template <class T>
void integer_division() {
  std::mt19937_64 random(5);
  std::vector<T> a(count), b(count);
  const auto any = [&] { return static_cast<T>(random() >> random() % (8 * sizeof(T))); };
  for (std::size_t i = 0; i < count; ++i) {
    a[i] = any();
    b[i] = any();
    if (b[i] == 0 || b[i] == static_cast<T>(-1)) // no division by zero, no overflow
      b[i] = 3;
  }
  Array<T> da(a), db(b), dq(count), dr(count);
  divide<<<count / block, block>>>(da.data(), db.data(), dq.data(), dr.data());
  HIP_OK(hipDeviceSynchronize());
  const auto q = dq.get(), r = dr.get();
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(q[i], static_cast<T>(a[i] / b[i])) << +a[i] << " / " << +b[i];
    ASSERT_EQ(r[i], static_cast<T>(a[i] % b[i])) << +a[i] << " % " << +b[i];
  }
}

TEST(DeviceMath, IntegerDivision) {
  integer_division<signed char>();
  integer_division<unsigned short>();
  integer_division<int>();
  integer_division<unsigned>();
  integer_division<long long>();
  integer_division<unsigned long long>();
}

} // namespace
