// rms_norm and layer_norm over rows: bf16 with a weight, with a residual, and fp32.
#include "common/data.hpp"
#include "common/device_run.hpp"

#include <wavetile/layer_norm.hpp>
#include <wavetile/rms_norm.hpp>

#include <cmath>

namespace {

using namespace wavetile;

struct shape {
  std::int64_t rows, columns;
};

enum class form { rms, rms_residual, layer };
constexpr const char* name_of(form f) {
  return f == form::rms ? "rms_norm" : f == form::layer ? "layer_norm" : "rms_norm_residual";
}

template <class T>
double wide(T value) {
  return static_cast<double>(static_cast<float>(value));
}

/// The first and last rows against fp64; throws where one is wrong. Bound: the rounding to T,
/// 2^-20 relative for fp32 arithmetic and 2^-20 of a deviation for the mean.
template <class T>
void verify(form f, const std::vector<T>& x, const std::vector<T>& residual,
            const std::vector<T>& weight, const std::vector<T>& y, const shape& s) {
  const double rounding = sizeof(T) == 2 ? 0x1p-8 : 0x1p-24;
  const auto columns = static_cast<std::size_t>(s.columns);
  std::vector<double> h(columns);
  for (const std::int64_t row : {std::int64_t{0}, s.rows - 1}) {
    const std::size_t first = static_cast<std::size_t>(row) * columns;
    double mean = 0, squares = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      h[c] = wide(x[first + c]);
      if (f == form::rms_residual) // the sum is rounded to T, and that is what is normalised
        h[c] = wide(
            convert<T>(static_cast<float>(x[first + c]) + static_cast<float>(residual[first + c])));
      mean += f == form::layer ? h[c] / static_cast<double>(columns) : 0;
    }
    for (const double value : h)
      squares += (value - mean) * (value - mean);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(columns) + 1e-5);
    for (std::size_t c = 0; c < columns; ++c) {
      const double w = wide(weight[c]), expected = (h[c] - mean) * scale * w;
      const double got = wide(y[first + c]);
      const double bound =
          (rounding + 0x1p-20) * std::fabs(expected) + 0x1p-20 * std::fabs(w) + 0x1p-24;
      if (!(std::fabs(got - expected) <= bound))
        throw std::runtime_error("wrong result in row " + std::to_string(row) + ", column " +
                                 std::to_string(c) + ": " + std::to_string(got) + ", expected " +
                                 std::to_string(expected));
    }
  }
}

template <class T>
void run(benchmark::State& state, form f, const shape& s) {
  const std::int64_t count = s.rows * s.columns;
  const bool has_residual = f == form::rms_residual;
  bench::rotating_array<T> x(count), y(count), weight(s.columns);
  bench::rotating_array<T> residual(has_residual ? count : 1), sum(has_residual ? count : 1);
  const std::vector<T> values = bench::normals<T>(count, 31, 2);
  const std::vector<T> weights = bench::normals<T>(s.columns, 32);
  const std::vector<T> others = bench::normals<T>(has_residual ? count : 1, 33);
  x.fill(values);
  weight.fill(weights);
  residual.fill(others);
  y.poison();
  sum.poison();
  device_info device;
  bench::check(known_device(0, device));
  norm_problem problem;
  problem.kind = f == form::layer ? norm_kind::layer : norm_kind::rms;
  problem.input = problem.output = problem.residual = problem.sum = problem.weight =
      numeric_traits<T>::type;
  problem.has_weight = true;
  problem.has_residual = has_residual;
  problem.rows = s.rows;
  problem.columns = s.columns;
  const std::int64_t lent = plan(problem, device).best_workspace_bytes;
  bench::rotating_array<unsigned char> workspace(lent);
  const auto launch = [&](std::int64_t turn) {
    const norm_options options{.memory = {lent > 0 ? workspace.at(turn) : nullptr, lent}};
    const auto matrix = [&](auto* data) { return make_view(data, s.rows, s.columns); };
    const auto in = matrix(static_cast<const T*>(x.at(turn)));
    const auto out = matrix(y.at(turn));
    const auto w = make_view(static_cast<const T*>(weight.at(turn)), s.columns);
    if (has_residual)
      bench::check(
          rms_norm(norm_arrays{.x = in,
                               .y = out,
                               .weight = w,
                               .residual = matrix(static_cast<const T*>(residual.at(turn))),
                               .sum = matrix(sum.at(turn))},
                   options));
    else if (f == form::layer)
      bench::check(layer_norm(norm_arrays{.x = in, .y = out, .weight = w}, options));
    else
      bench::check(rms_norm(norm_arrays{.x = in, .y = out, .weight = w}, options));
  };
  launch(0);
  verify(f, values, others, weights, y.download(), s);
  const std::int64_t bytes = count * std::int64_t{sizeof(T)} * (has_residual ? 2 : 1);
  bench::measure(
      state, {.bytes_read = bytes + s.columns * std::int64_t{sizeof(T)}, .bytes_written = bytes},
      launch);
}

void register_all() {
  const std::vector<shape> on_gpu = {{131072, 128}, {65536, 1024}, {16384, 4096}, {16384, 5120},
                                     {8192, 8192},  {4096, 16384}, {512, 131072}, {128, 1048576}};
  const std::vector<shape> on_wavesim = {{1024, 128}, {256, 1024}, {64, 4096}, {32, 8192}};
  for (const shape& s : bench::current().simulated ? on_wavesim : on_gpu)
    for (const form f : {form::rms, form::rms_residual, form::layer}) {
      const std::string size = "/" + std::to_string(s.rows) + "x" + std::to_string(s.columns);
      bench::add(std::string(name_of(f)) + "/bf16" + size,
                 [=](benchmark::State& state) { run<bf16>(state, f, s); });
      if (f != form::rms_residual)
        bench::add(std::string(name_of(f)) + "/fp32" + size,
                   [=](benchmark::State& state) { run<float>(state, f, s); });
    }
}

} // namespace

int main(int argc, char** argv) {
  return bench::run_main(argc, argv, register_all);
}
