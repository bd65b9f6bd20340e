#include "quickstart/data.hpp"
#include "quickstart/table.hpp"

#include <wavetile/matmul.hpp>

namespace quickstart {
namespace {

using wavetile::make_view;

#if WAVETILE_CUDA // the 8-bit floats that the GPU multiplies
using fp8 = wavetile::fp8_e4m3_ocp;
#else
using fp8 = wavetile::fp8_e4m3_fnuz;
#endif

struct matmul_case {
  const char* name = "matmul";
  std::int64_t m = 0, n = 0, k = 0;
};

/// d = epilogue(a bᵀ), with rows of b as the columns of the product; `f` is the epilogue in fp64.
template <wavetile::matmul_choice Choice, class T, class D, class Steps>
void matmul_row(table& out, const matmul_case& c, const char* dtype, const Steps& steps,
                double (*f)(double)) {
  const auto a = random_values<T>(c.m * c.k, 3), b = random_values<T>(c.n * c.k, 4);
  const example::device_array<T> device_a{std::span<const T>(a)}, device_b{std::span<const T>(b)};
  const example::device_array<D> device_d(static_cast<std::size_t>(c.m * c.n));
  const auto moved = count([&] {
    return wavetile::matmul<Choice>(make_view(static_cast<const T*>(device_a.data()), c.m, c.k),
                                    make_view(static_cast<const T*>(device_b.data()), c.n, c.k),
                                    make_view(device_d.data(), c.m, c.n),
                                    {.transpose_b = true, .alpha = 0.125}, nullptr, steps);
  });
  const std::vector<D> d = device_d.to_host();
  std::vector<float> wide_b(b.size()), row(static_cast<std::size_t>(c.k));
  for (std::size_t i = 0; i < b.size(); ++i)
    wide_b[i] = static_cast<float>(as_double(b[i]));

  accuracy result;
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::size_t k = 0; k < row.size(); ++k)
      row[k] = static_cast<float>(as_double(a[static_cast<std::size_t>(i * c.k) + k]));
    for (std::int64_t j = 0; j < c.n; ++j) {
      const float* column = wide_b.data() + j * c.k;
      double sum = 0, terms = 0;
      for (std::size_t k = 0; k < row.size(); ++k) {
        const double product = double{row[k]} * double{column[k]};
        sum += product;
        terms += std::abs(product);
      }
      const double expected = f(0.125 * sum);
      // see wavetile::matmul_error_factor; the epilogue has a slope below 1.2
      const double allowed =
          rounding<D> * std::abs(expected) +
          1.2 * wavetile::matmul_error_factor * static_cast<double>(c.k) * 0x1p-24 * 0.125 * terms;
      result.add(as_double(d[static_cast<std::size_t>(i * c.n + j)]), expected, allowed);
    }
  }
  out.row(c.name, shape_of(c.m, c.n) + " x " + std::to_string(c.k), dtype, result, moved,
          (a.size() + b.size()) * sizeof(T) + d.size() * sizeof(D));
}

} // namespace

void matmul_rows(table& out) {
  using enum wavetile::matmul_choice;
  const auto none = wavetile::epilogue::chain();
  const auto same = [](double x) { return x; };
  matmul_row<automatic, wavetile::bf16, wavetile::bf16>(out, {.m = 1000, .n = 1000, .k = 1000},
                                                        "bf16", none, same);
  matmul_row<automatic, wavetile::bf16, wavetile::bf16>(
      out, {.name = "matmul, few rows", .m = 8, .n = 4096, .k = 4096}, "bf16", none, same);
  matmul_row<compact, fp8, float>(out, {.m = 500, .n = 600, .k = 1024}, "fp8", none, same);
  matmul_row<compact, wavetile::fp16, wavetile::fp16>(
      out, {.name = "matmul, gelu", .m = 500, .n = 500, .k = 64}, "fp16",
      wavetile::epilogue::chain(wavetile::epilogue::gelu_erf{}),
      [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); });
}

} // namespace quickstart
