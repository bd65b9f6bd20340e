// rocPRIM's device-wide sum and prefix sum of fp32, run once each and checked: `rocprim_device
// reduce|scan COUNT`.
#include "../common/data.hpp"
#include "../common/device_run.hpp"

#include <rocprim/device/device_reduce.hpp>
#include <rocprim/device/device_scan.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

int main(int argc, char** argv) try {
  if (argc != 3)
    throw std::runtime_error("usage: rocprim_device reduce|scan COUNT");
  const bool scan = std::strcmp(argv[1], "scan") == 0;
  const std::int64_t count = std::stoll(argv[2]);
  bench::current().hot = true; // one set of buffers
  const bench::rotating_array<float> out(scan ? count : 1);
  const std::vector<float> values = bench::normals<float>(count, 23);
  bench::rotating_array<float> source(count);
  source.fill(values);
  const auto size = static_cast<std::size_t>(count);
  const auto run = [&](void* memory, std::size_t& bytes) {
    bench::check(scan ? rocprim::inclusive_scan(memory, bytes, source.at(0), out.at(0), size,
                                                rocprim::plus<float>())
                      : rocprim::reduce(memory, bytes, source.at(0), out.at(0), 0.0f, size,
                                        rocprim::plus<float>()),
                 argv[1]);
  };
  std::size_t bytes = 0;
  run(nullptr, bytes);
  const bench::rotating_array<unsigned char> memory(static_cast<std::int64_t>(bytes) + 1);
  run(memory.at(0), bytes);
  const std::vector<float> got = out.download();
  double sum = 0, absolute = 0;
  for (std::size_t i = 0; i < size; ++i) {
    sum += static_cast<double>(values[i]);
    absolute += std::fabs(static_cast<double>(values[i]));
    if ((scan || i + 1 == size) &&
        !(std::fabs(static_cast<double>(got[scan ? i : 0]) - sum) <= 0x1p-18 * absolute))
      throw std::runtime_error("wrong result at " + std::to_string(i));
  }
  std::printf("%s of %lld: right\n", argv[1], static_cast<long long>(count));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "rocprim_device: %s\n", error.what());
  return 1;
}
