// softmax and log_softmax over rows: fp32 and bf16, short rows to rows of a million.
#include "common/data.hpp"
#include "common/device_run.hpp"

#include <wavetile/softmax.hpp>

#include <cmath>

namespace {

using namespace wavetile;

/// The first and last rows against fp64; throws where one is wrong. Bound: half an ulp of the
/// output's type beside 1, and 32 ulps of fp32 for the exponent and the sum.
template <class T>
void verify(const std::vector<T>& x, const std::vector<T>& y, std::int64_t rows,
            std::int64_t columns, bool log) {
  const double rounding = sizeof(T) == 2 ? 0x1p-8 : 0x1p-24;
  for (const std::int64_t row : {std::int64_t{0}, rows - 1}) {
    const T* from = x.data() + row * columns;
    const T* to = y.data() + row * columns;
    double largest = -INFINITY, sum = 0;
    for (std::int64_t c = 0; c < columns; ++c)
      largest = std::max(largest, static_cast<double>(static_cast<float>(from[c])));
    for (std::int64_t c = 0; c < columns; ++c)
      sum += std::exp(static_cast<double>(static_cast<float>(from[c])) - largest);
    for (std::int64_t c = 0; c < columns; ++c) {
      const double shifted = static_cast<double>(static_cast<float>(from[c])) - largest;
      const double expected = log ? shifted - std::log(sum) : std::exp(shifted) / sum;
      const double got = static_cast<double>(static_cast<float>(to[c]));
      const double bound = rounding * std::fabs(expected) +
                           0x1p-19 * (log ? std::fabs(expected) + 1 : std::fabs(expected));
      if (!(std::fabs(got - expected) <= bound))
        throw std::runtime_error("wrong result in row " + std::to_string(row) + ", column " +
                                 std::to_string(c) + ": " + std::to_string(got) + ", expected " +
                                 std::to_string(expected));
    }
  }
}

template <class T>
void run(benchmark::State& state, std::int64_t rows, std::int64_t columns, bool log) {
  const std::int64_t count = rows * columns;
  bench::rotating_array<T> x(count), y(count);
  const std::vector<T> values = bench::normals<T>(count, 17, 2);
  x.fill(values);
  const auto plan_memory = std::int64_t{32} << 20; // enough for every shape here
  bench::rotating_array<unsigned char> workspace(plan_memory);
  const auto launch = [&](std::int64_t turn) {
    const auto in = make_view(static_cast<const T*>(x.at(turn)), rows, columns);
    const auto out = make_view(y.at(turn), rows, columns);
    const softmax_options options{.memory = {workspace.at(turn), plan_memory}};
    bench::check(log ? log_softmax(in, out, options) : softmax(in, out, options));
  };
  launch(0);
  verify(values, y.download(), rows, columns, log);
  const std::int64_t bytes = count * std::int64_t{sizeof(T)};
  bench::measure(state, {.bytes_read = bytes, .bytes_written = bytes}, launch);
}

void register_all() {
  struct shape {
    std::int64_t rows, columns;
  };
  const std::vector<shape> on_gpu = {{131072, 128}, {65536, 1024}, {16384, 4096},  {8192, 8192},
                                     {2048, 32768}, {512, 131072}, {128, 1048576}, {1000003, 50}};
  const std::vector<shape> on_wavesim = {{1024, 128}, {512, 1024}, {64, 4096}, {32, 8192},
                                         {8, 32768},  {2, 131072}, {1003, 50}};
  for (const shape& s : bench::current().simulated ? on_wavesim : on_gpu) {
    const std::string size = std::to_string(s.rows) + "x" + std::to_string(s.columns);
    for (const bool log : {false, true}) {
      const std::string name = log ? "log_softmax/" : "softmax/";
      bench::add(name + "fp32/" + size,
                 [=](benchmark::State& state) { run<float>(state, s.rows, s.columns, log); });
      bench::add(name + "bf16/" + size,
                 [=](benchmark::State& state) { run<bf16>(state, s.rows, s.columns, log); });
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  return bench::run_main(argc, argv, register_all);
}
