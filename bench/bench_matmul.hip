// Matrix products: square, deep, few rows; bf16 in full, one kernel each of fp16, fp8 and int8.
#include "common/data.hpp"
#include "common/device_run.hpp"

#include "matmul_peers.hpp"

#include <wavetile/matmul.hpp>

#include <cmath>

namespace {

using namespace wavetile;

/// D = A Bᵀ, B of n x k elements, as weights of a layer lie in memory; or A B, B of k x n.
struct shape {
  std::int64_t m, n, k;
  bool b_transposed = true;

  std::string text() const {
    return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
           (b_transposed ? "" : "/NN");
  }
};

#if WAVETILE_CUDA
using fp8 = fp8_e4m3_ocp;
#else
using fp8 = fp8_e4m3_fnuz;
#endif

template <class T>
double wide(T value) {
  if constexpr (std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::int32_t>)
    return static_cast<double>(value);
  else
    return static_cast<double>(static_cast<float>(value));
}

/// int8 takes integers of two digits; a product of K = 2^13 of them stays far below 2^31.
template <class T>
std::vector<T> values(std::int64_t count, std::uint64_t seed) {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    std::vector<T> result;
    for (const float x : bench::normals<float>(count, seed, 30))
      result.push_back(static_cast<T>(x > 127 ? 127 : x < -127 ? -127 : x));
    return result;
  } else {
    return bench::normals<T>(count, seed);
  }
}

/// 128 elements, the corners among them, against fp64; throws where one is wrong. Bound:
/// `matmul_error_factor` and the rounding to D; int32 is exact.
template <class T, class D>
void verify(const std::vector<T>& a, const std::vector<T>& b, const std::vector<D>& d,
            const shape& s) {
  constexpr bool exact = std::is_same_v<D, std::int32_t>;
  constexpr double rounding = exact ? 0 : sizeof(D) == 4 ? 0x1p-24 : sizeof(D) == 2 ? 0x1p-8 : 0;
  for (std::int64_t i = 0; i < 128; ++i) {
    const std::int64_t row = i == 1 ? s.m - 1 : i * 7919 % s.m;
    const std::int64_t column = i % 3 == 1 ? s.n - 1 - i * 104729 % s.n : i * 1299709 % s.n;
    double sum = 0, terms = 0;
    for (std::int64_t k = 0; k < s.k; ++k) {
      const double product =
          wide(a[static_cast<std::size_t>(row * s.k + k)]) *
          wide(b[static_cast<std::size_t>(s.b_transposed ? column * s.k + k : k * s.n + column)]);
      sum += product;
      terms += std::fabs(product);
    }
    const double got = wide(d[static_cast<std::size_t>(row * s.n + column)]);
    const double bound = exact
                             ? 0
                             : rounding * std::fabs(sum) +
                                   matmul_error_factor * static_cast<double>(s.k) * 0x1p-24 * terms;
    if (!(std::fabs(got - sum) <= bound))
      throw std::runtime_error("wrong result in row " + std::to_string(row) + ", column " +
                               std::to_string(column) + ": " + std::to_string(got) + ", expected " +
                               std::to_string(sum));
  }
}

/// `Launch` is `(a, b, d, shape)` with device pointers.
template <class T, class D, class Launch>
void run(benchmark::State& state, const shape& s, int flops_per_clock, const Launch& product) {
  bench::rotating_array<T> a(s.m * s.k), b(s.n * s.k);
  bench::rotating_array<D> d(s.m * s.n);
  const std::vector<T> values_a = values<T>(s.m * s.k, 41), values_b = values<T>(s.n * s.k, 42);
  a.fill(values_a);
  b.fill(values_b);
  d.poison();
  const auto launch = [&](std::int64_t turn) {
    product(static_cast<const T*>(a.at(turn)), static_cast<const T*>(b.at(turn)), d.at(turn), s);
  };
  launch(0);
  verify(values_a, values_b, d.download(), s);
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  bench::measure(state,
                 {.bytes_read = (s.m + s.n) * s.k * std::int64_t{sizeof(T)},
                  .bytes_written = s.m * s.n * std::int64_t{sizeof(D)},
                  .flops = 2 * number(s.m) * number(s.n) * number(s.k),
                  .flops_per_clock = flops_per_clock},
                 launch);
}

template <matmul_choice Choice, class T, class D>
void add(const char* type, const shape& s, int flops_per_clock) {
  bench::add(std::string("matmul/") + type + "/" + s.text(), [=](benchmark::State& state) {
    constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20;
    const bench::rotating_array<unsigned char> workspace(workspace_bytes);
    run<T, D>(state, s, flops_per_clock, [&](const T* a, const T* b, D* d, const shape& of) {
      bench::check(matmul<Choice>(
          make_view(a, of.m, of.k),
          of.b_transposed ? make_view(b, of.n, of.k) : make_view(b, of.k, of.n),
          make_view(d, of.m, of.n),
          {.transpose_b = of.b_transposed, .memory = {workspace.at(0), workspace_bytes}}));
    });
  });
}

void register_all() {
  using enum matmul_choice;
#if WAVETILE_CUDA
  std::vector<shape> on_gpu;
  for (const bool b_transposed : {true, false}) {
    for (const std::int64_t side : {1024, 2048, 4096, 8192})
      on_gpu.push_back({side, side, side, b_transposed});
    for (const std::int64_t rows : {1, 2, 4, 8, 16, 32})
      on_gpu.push_back({rows, 13312, 16384, b_transposed});
  }
#else
  const std::vector<shape> on_gpu = {{4096, 4096, 4096}, {8192, 8192, 8192}, {8192, 8192, 1024},
                                     {1024, 1024, 8192}, {4864, 4096, 8192}, {16, 8192, 8192},
                                     {1, 8192, 8192}};
#endif
  const std::vector<shape> on_wavesim = {{512, 512, 512},   {256, 256, 2048}, {300, 400, 500},
                                         {4864, 4096, 512}, {16, 1024, 1024}, {1, 1024, 1024}};
  const bool simulated = bench::current().simulated;
  for (const shape& s : simulated ? on_wavesim : on_gpu) {
    add<automatic, bf16, bf16>("bf16", s, bench::matrix_16_bit);
    bench::for_each_matmul_peer(
        s.b_transposed, [&](const std::string& name, const bench::bf16_product& product) {
          bench::add(name + "/bf16/" + s.text(), [=](benchmark::State& state) {
            run<bf16, bf16>(state, s, bench::matrix_16_bit,
                            [&](const bf16* a, const bf16* b, bf16* d, const shape& of) {
                              product(a, b, d, of.m, of.n, of.k);
                            });
          });
        });
  }
  const std::vector<shape> square = {simulated ? shape{512, 512, 512} : shape{8192, 8192, 8192}};
  for (const shape& s : square) {
    add<automatic, fp16, fp16>("fp16", s, bench::matrix_16_bit);
    add<large, fp8, bf16>("fp8", s, bench::matrix_8_bit);
    add<large, std::int8_t, std::int32_t>("int8", s, bench::matrix_8_bit);
  }
}

} // namespace

int main(int argc, char** argv) {
  return bench::run_main(argc, argv, register_all);
}
