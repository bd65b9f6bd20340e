// Sums and maxima over rows, columns and everything: fp32 and bf16.
#include "common/data.hpp"
#include "common/device_run.hpp"

#include <wavetile/reduce.hpp>

#include <cmath>

namespace {

using namespace wavetile;

struct shape {
  std::int64_t rows, columns;
};

/// Results of the first and last row, column, or all, against fp64. Bound of a sum in fp32: a
/// balanced tree over at most 2^21 chains of additions loses less than 64 ulps of the absolute sum.
template <class T>
void verify(const std::vector<T>& x, const std::vector<float>& y, const shape& s, int axis,
            bool maximum) {
  const std::int64_t results = axis == all_axes ? 1 : axis == 1 ? s.rows : s.columns;
  for (const std::int64_t r : {std::int64_t{0}, results - 1}) {
    const std::int64_t first = axis == 1 ? r * s.columns : r;
    const std::int64_t step = axis == 0 ? s.columns : 1;
    const std::int64_t count = axis == all_axes ? s.rows * s.columns
                               : axis == 1      ? s.columns
                                                : s.rows;
    const T* from = x.data() + first;
    const float got = y.data()[r];
    double sum = 0, absolute = 0, largest = -INFINITY;
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(static_cast<float>(from[i * step]));
      sum += value;
      absolute += std::fabs(value);
      largest = std::max(largest, value);
    }
    const double expected = maximum ? largest : sum;
    const double bound = maximum ? 0 : 0x1p-18 * absolute;
    if (!(std::fabs(static_cast<double>(got) - expected) <= bound))
      throw std::runtime_error("wrong result " + std::to_string(r) + ": " + std::to_string(got) +
                               ", expected " + std::to_string(expected));
  }
}

template <class T>
void run(benchmark::State& state, const shape& s, int axis, bool maximum) {
  const std::int64_t count = s.rows * s.columns;
  const std::int64_t results = axis == all_axes ? 1 : axis == 1 ? s.rows : s.columns;
  bench::rotating_array<T> x(count);
  bench::rotating_array<float> y(results);
  const std::vector<T> values = bench::normals<T>(count, 23);
  x.fill(values);
  const auto workspace_bytes = std::int64_t{32} << 20;
  bench::rotating_array<unsigned char> workspace(workspace_bytes);
  const auto launch = [&](std::int64_t turn) {
    const auto in = make_view(static_cast<const T*>(x.at(turn)), s.rows, s.columns);
    const auto out = make_view(y.at(turn), results);
    const reduce_options options{.axis = axis, .memory = {workspace.at(turn), workspace_bytes}};
    bench::check(maximum ? reduce(in, out, op::maximum{}, options)
                         : reduce(in, out, op::plus{}, options));
  };
  launch(0);
  verify(values, y.download(), s, axis, maximum);
  bench::measure(state,
                 {.bytes_read = count * std::int64_t{sizeof(T)},
                  .bytes_written = results * std::int64_t{sizeof(float)}},
                 launch);
}

void register_all() {
  const std::vector<shape> on_gpu = {
      {131072, 128}, {65536, 1024}, {8192, 8192}, {512, 131072}, {128, 1048576}};
  const std::vector<shape> on_wavesim = {{1024, 128}, {512, 1024}, {32, 8192}, {2, 131072}};
  struct form {
    const char* name;
    int axis;
  };
  for (const shape& s : bench::current().simulated ? on_wavesim : on_gpu)
    for (const form& f : {form{"rows", 1}, form{"columns", 0}, form{"all", all_axes}})
      for (const bool maximum : {false, true}) {
        const std::string name = std::string(maximum ? "max/" : "sum/") + f.name;
        const std::string size = "/" + std::to_string(s.rows) + "x" + std::to_string(s.columns);
        bench::add(name + "/fp32" + size,
                   [=](benchmark::State& state) { run<float>(state, s, f.axis, maximum); });
        bench::add(name + "/bf16" + size,
                   [=](benchmark::State& state) { run<bf16>(state, s, f.axis, maximum); });
      }
}

} // namespace

int main(int argc, char** argv) {
  return bench::run_main(argc, argv, register_all);
}
