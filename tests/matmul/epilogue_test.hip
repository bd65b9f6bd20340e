// Epilogues, alone and chained, against fp64.
#define WAVETILE_TEST_FEW_KERNELS
#include "matmul_case.hpp"

#include <limits>

namespace {

using namespace wavetile;
using namespace wavetile::test;

// Values of any function whose argument is off by what matmul may be off by: all functions here
// have a slope of at most 1.2 between the arguments that occur, and their own arithmetic a relative
// error of 2^-18.
template <class Run>
testing::AssertionResult
matches(Run& run, const std::function<double(double, std::int64_t, std::int64_t)>& f) {
  const auto expected = run.reference();
  const auto got = run.result();
  using D = std::remove_cvref_t<decltype(got[0])>;
  std::vector<double> values, bounds;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i) / run.test.n % run.test.m;
    const auto column = static_cast<std::int64_t>(i) % run.test.n;
    values.push_back(f(expected[i].value, row, column));
    const double product = Run::allowed(expected[i], run.test.k) -
                           result_rounding<D>::relative * std::fabs(expected[i].value);
    bounds.push_back(1.2 * product + result_rounding<D>::absolute +
                     (result_rounding<D>::relative + 0x1p-18) * std::fabs(values.back()) + 0x1p-22);
  }
  const auto outcome = verify_within(got, values, [&](std::size_t i) { return bounds[i]; });
  return outcome ? testing::AssertionSuccess()
                 : testing::AssertionFailure() << run.test.text() << ": " << outcome.message;
}

using run_16 = matmul_run<bf16, bf16, float>;
// a small product: arguments between -4 and 4, where activations do something
matmul_case shape(const char* kernel) {
  return {.m = 13, .n = 75, .k = 21, .alpha = 0.25, .pad_d = 3, .kernel = kernel};
}
double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

class matmul_epilogue : public testing::TestWithParam<const char*> {};

#if WAVETILE_CUDA // nvcc has device lambdas only with --extended-lambda
struct negative_below_function {
  __device__ float operator()(float x, std::int64_t row, std::int64_t column) const {
    return column > row ? x : -x;
  }
};
constexpr negative_below_function negative_below;
#else
constexpr auto negative_below = [] __device__(float x, std::int64_t row, std::int64_t column) {
  return column > row ? x : -x;
};
#endif

/// One of the activations, chosen when the kernel runs: one set of kernels for all of them.
struct any_activation {
  static constexpr const char* name = "any_activation";
  int which;

  template <int N>
  __device__ vec<float, N> apply(const vec<float, N>& x, epilogue::place& at) const {
    switch (which) {
    case 0:
      return epilogue::relu{}.apply(x, at);
    case 1:
      return epilogue::gelu_erf{}.apply(x, at);
    case 2:
      return epilogue::gelu_tanh{}.apply(x, at);
    case 3:
      return epilogue::silu{}.apply(x, at);
    default:
      return epilogue::clamp{-0.5f, 0.75f}.apply(x, at);
    }
  }
};

TEST_P(matmul_epilogue, activations) {
  double (*const functions[])(double) = {
      [](double x) { return x > 0 ? x : 0.0; }, [](double x) { return x * normal_cdf(x); },
      [](double x) {
        return 0.5 * x *
               (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
      },
      [](double x) { return x / (1 + std::exp(-x)); },
      [](double x) { return x < -0.5   ? -0.5
                            : x > 0.75 ? 0.75
                                       : x; }};
  for (int which = 0; which < 5; ++which) {
    run_16 run(shape(GetParam()));
    ASSERT_TRUE(run.run(epilogue::chain(any_activation{which})).ok());
    EXPECT_TRUE(matches(run, [&](double x, std::int64_t, std::int64_t) {
      return functions[which](x);
    })) << which;
  }
}

TEST_P(matmul_epilogue, chain_in_order) {
  auto t = shape(GetParam());
  t.batches = 2; // with a residual of its own for each
  run_16 run(t);
  device_buffer<bf16> of_columns(random_normals<bf16>(static_cast<std::size_t>(t.n), 1));
  device_buffer<float> of_rows(random_normals<float>(static_cast<std::size_t>(t.m), 2));
  stored_matrices<fp16> added(t.batches, t.m, t.n, 5, 1);
  random_source source(3);
  added.fill([&] { return random_element<fp16>(source); });
  const auto columns = of_columns.download();
  const auto rows = of_rows.download();
  const auto steps = epilogue::chain(
      epilogue::bias_columns{static_cast<const bf16*>(of_columns.data())},
      epilogue::bias_rows{static_cast<const float*>(of_rows.data())}, epilogue::scale_by{0.5f},
      epilogue::residual{view<const fp16, 3>(added.as_batch())},
      epilogue::apply_function{negative_below});
  const status outcome = run.run(steps);
  ASSERT_TRUE(outcome.ok()) << outcome.message();
  std::int64_t count = 0;
  EXPECT_TRUE(matches(run, [&](double x, std::int64_t row, std::int64_t column) {
    const double sum = x + as_double(columns[static_cast<std::size_t>(column)]) +
                       as_double(rows[static_cast<std::size_t>(row)]);
    const double result = 0.5 * sum + as_double(added.host(count++ / (t.m * t.n), row, column));
    return column > row ? result : -result;
  }));
}

TEST_P(matmul_epilogue, swiglu_joins_pairs_of_columns) {
  for (const int splits : {1, 2}) {
    auto t = shape(GetParam());
    t.n = 74;
    t.k = 600;
    t.alpha = 0.05;
    t.splits = splits;
    run_16 run(t, 2);
    ASSERT_TRUE(run.run(epilogue::chain(epilogue::swiglu{})).ok());
    const auto expected = run.reference();
    const auto got = run.result();
    ASSERT_EQ(got.size() * 2, expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto &gate = expected[2 * i], &value = expected[2 * i + 1];
      const double s = gate.value / (1 + std::exp(-gate.value));
      const double e_gate = run_16::allowed(gate, t.k), e_value = run_16::allowed(value, t.k);
      const double bound = 1.2 * e_gate * (std::fabs(value.value) + e_value) +
                           std::fabs(s) * e_value + 0x1p-18 * std::fabs(s * value.value) + 0x1p-22;
      ASSERT_NEAR(as_double(got[i]), s * value.value, bound) << i;
    }
  }
  // an odd number of columns has no pairs
  auto t = shape(GetParam());
  run_16 run(t, 2);
  const status outcome = run.run(epilogue::chain(epilogue::swiglu{}));
  EXPECT_EQ(outcome.code(), status_code::unsupported_shape) << outcome.message();
  EXPECT_TRUE(run.d.buffer().untouched());
}

template <class D>
void quantised(const char* kernel) {
  auto t = shape(kernel);
  t.alpha = 4;
  matmul_run<bf16, bf16, D> run(t);
  device_buffer<float> scale(std::vector<float>{1.25f}), amax(std::vector<float>{0.0f});
  ASSERT_TRUE(run.run(epilogue::chain(epilogue::quantize{scale.data(), amax.data()})).ok());
  const auto expected = run.reference();
  const auto got = run.result();
  double largest = 0;
  const double most = as_double(numeric_traits<D>::highest());
  const double least = as_double(numeric_traits<D>::lowest());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double scaled = 1.25 * expected[i].value;
    const double value = scaled > most ? most : scaled < least ? least : scaled;
    largest = std::fmax(largest, std::fabs(expected[i].value));
    const double bound = result_rounding<D>::relative * std::fabs(value) +
                         result_rounding<D>::absolute +
                         1.3 * matmul_error_factor * 21 * 0x1p-24 * expected[i].magnitude;
    // where rounding turns, an error of the product makes one of a whole unit
    ASSERT_NEAR(as_double(got[i]), value, bound) << i;
  }
  EXPECT_NEAR(as_double(amax.download()[0]), largest, 1e-4 * largest);
}

TEST_P(matmul_epilogue, quantised_results_saturate_and_know_their_maximum) {
  quantised<std::int8_t>(GetParam());
  quantised<fp8_e4m3>(GetParam());
}

TEST_P(matmul_epilogue, maxima_accumulate_and_keep_nans) {
  auto t = shape(GetParam());
  t.m = 2;
  matmul_run<bf16, bf16, fp8_e4m3> run(t);
  device_buffer<float> amax(std::vector<float>{1e6f});
  const auto steps = epilogue::chain(epilogue::quantize{nullptr, amax.data()});
  ASSERT_TRUE(run.run(steps).ok());
  EXPECT_EQ(amax.download()[0], 1e6f);
  run.a.fill([] { return bf16(std::numeric_limits<float>::quiet_NaN()); });
  ASSERT_TRUE(run.run(steps).ok());
  EXPECT_TRUE(std::isnan(amax.download()[0]));
}

INSTANTIATE_TEST_SUITE_P(kernels, matmul_epilogue, testing::Values("compact", "skinny"),
                         [](const auto& which) { return std::string(which.param); });

// ---- steps on int32 ----------------------------------------------------------------------------

template <class Step>
WAVETILE_KERNEL void apply_step(Step step, const std::int32_t* in, std::int32_t* out) {
  epilogue::place at{};
  store_vec(out, step.apply(load_vec<4>(in), at));
}

template <class Step>
std::vector<std::int32_t> applied(const Step& step, const std::vector<std::int32_t>& in) {
  device_buffer<std::int32_t> from(in), to(4);
  const status outcome = launch(apply_step<Step>, {.grid = 1, .block = 1}, nullptr, step,
                                static_cast<const std::int32_t*>(from.data()), to.data());
  EXPECT_TRUE(outcome.ok()) << outcome.message();
  return to.download();
}

TEST(matmul_epilogue_int32, factors_and_bounds_are_rounded_once_and_saturate) {
  using values = std::vector<std::int32_t>;
  constexpr std::int32_t lowest = -2147483647 - 1, highest = 2147483647;
  constexpr float inf = std::numeric_limits<float>::infinity();
  const values in{400, -3, 5, 0};
  EXPECT_EQ(applied(epilogue::scale_by{0.5f}, in), (values{200, -2, 2, 0})); // ties to even
  EXPECT_EQ(applied(epilogue::scale_by{1e10f}, in), (values{highest, lowest, highest, 0}));
  EXPECT_EQ(applied(epilogue::clamp{-0.6f, 3.4f}, in), (values{3, -1, 3, 0}));
  EXPECT_EQ(applied(epilogue::clamp{-inf, inf}, in), in);
}

} // namespace
