#include "device_run.hpp"

#include <cstdio>
#include <cstring>
#include <limits>

namespace bench {
namespace {

struct event_pair {
  hipEvent_t begin{}, end{};
  event_pair() {
    check(hipEventCreate(&begin), "hipEventCreate");
    check(hipEventCreate(&end), "hipEventCreate");
  }
  ~event_pair() {
    (void)hipEventDestroy(begin);
    (void)hipEventDestroy(end);
  }
  event_pair(const event_pair&) = delete;
  event_pair& operator=(const event_pair&) = delete;

  /// Seconds that the device spent between the events around `work`.
  double seconds(const std::function<void()>& work) {
    check(hipEventRecord(begin, nullptr), "hipEventRecord");
    work();
    check(hipEventRecord(end, nullptr), "hipEventRecord");
    check(hipEventSynchronize(end), "hipEventSynchronize");
    float milliseconds = 0;
    check(hipEventElapsedTime(&milliseconds, begin, end), "hipEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }
};

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

bool failed = false; ///< a benchmark, by a wrong result or an error

constexpr int warm_up_turns = 3;
constexpr int copy_turns = 15;

/// Median seconds of a copy that reads and writes as many bytes in all; once for each size.
double copy_seconds(std::int64_t moved_bytes) {
  static std::map<std::int64_t, double> known;
  const std::int64_t bytes = std::max<std::int64_t>(moved_bytes / 2, 1);
  const auto found = known.find(bytes);
  if (found != known.end())
    return found->second;
  const rotating_array<unsigned char> from(bytes), to(bytes);
  event_pair events;
  std::vector<double> times;
  for (int turn = 0; turn < warm_up_turns + copy_turns; ++turn) {
    const double seconds = events.seconds([&] {
      check(hipMemcpyAsync(to.at(turn), from.at(turn), static_cast<std::size_t>(bytes),
                           hipMemcpyDeviceToDevice, nullptr),
            "hipMemcpyAsync");
    });
    if (turn >= warm_up_turns)
      times.push_back(seconds);
  }
  return known[bytes] = quantile(times, 0.5);
}

void report_counts(benchmark::State& state, std::int64_t bytes_read, std::int64_t bytes_written,
                   const wavesim_counts& counts) {
  const auto set = [&state](const char* name, std::uint64_t value) {
    state.counters[name] = static_cast<double>(value);
  };
  std::uint64_t instructions = 0;
  for (int unit = 0; unit < wavesim_unit_count; ++unit)
    instructions += counts.instructions[unit];
  set("sim_instructions", instructions);
  set("sim_valu", counts.instructions[wavesim_unit_valu] + counts.instructions[wavesim_unit_trans]);
  set("sim_mfma", counts.instructions[wavesim_unit_mfma]);
  set("sim_lds_conflicts", counts.lds_conflicts);
  set("sim_lds_clocks", counts.lds_clocks);
  set("sim_bytes", counts.bytes_read + counts.bytes_written);
  state.counters["sim_bytes/minimum"] =
      static_cast<double>(counts.bytes_read + counts.bytes_written) /
      static_cast<double>(std::max<std::int64_t>(bytes_read + bytes_written, 1));
}

/// On wavesim times mean nothing, so none are shown.
class counts_reporter : public benchmark::BenchmarkReporter {
public:
  bool ReportContext(const Context&) override {
    std::printf("wavesim: simulated counts of one run each, no times\n");
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      std::printf("%-44s", run.run_name.function_name.c_str());
      if (run.error_occurred)
        std::printf(" %s", run.error_message.c_str());
      for (const auto& [name, counter] : run.counters)
        std::printf(" %s=%.10g", name.c_str(), counter.value);
      std::printf("\n");
    }
  }
};

void describe_device() {
  int device = 0;
  check(hipGetDevice(&device), "hipGetDevice");
  hipDeviceProp_t properties;
  check(hipGetDeviceProperties(&properties, device), "hipGetDeviceProperties");
  benchmark::AddCustomContext("device", properties.name);
  benchmark::AddCustomContext("architecture", properties.gcnArchName);
  benchmark::AddCustomContext("compute units", std::to_string(properties.multiProcessorCount));
  benchmark::AddCustomContext("figures", current().simulated ? "simulated counts" : "measured");
  benchmark::AddCustomContext("buffers", current().hot ? "hot" : "rotating");
  int version = 0;
  if (hipRuntimeGetVersion(&version) == hipSuccess)
    benchmark::AddCustomContext("runtime version", std::to_string(version));
}

} // namespace

void measure(benchmark::State& state, std::int64_t bytes_read, std::int64_t bytes_written,
             const std::function<void(std::int64_t)>& launch) {
  if (current().simulated) {
    wavesim_counts counts{};
    counts.size = sizeof counts;
    for ([[maybe_unused]] auto iteration : state) {
      if (current().counters.begin() != 0)
        throw std::runtime_error("wavesim is counting already");
      launch(0);
      check(hipDeviceSynchronize(), "hipDeviceSynchronize");
      current().counters.end(&counts);
      state.SetIterationTime(std::numeric_limits<double>::min());
    }
    report_counts(state, bytes_read, bytes_written, counts);
    return;
  }
  event_pair events;
  std::int64_t turn = 0;
  for (; turn < warm_up_turns; ++turn)
    launch(turn);
  std::vector<double> times;
  for ([[maybe_unused]] auto iteration : state) {
    times.push_back(events.seconds([&] { launch(turn++); }));
    state.SetIterationTime(times.back());
  }
  const double median = quantile(times, 0.5);
  const std::int64_t bytes = bytes_read + bytes_written;
  state.counters["median_us"] = 1e6 * median;
  state.counters["p10_us"] = 1e6 * quantile(times, 0.1);
  state.counters["p90_us"] = 1e6 * quantile(times, 0.9);
  state.counters["TB/s"] = 1e-12 * static_cast<double>(bytes) / median;
  state.counters["%copy"] = 100 * copy_seconds(bytes) / median;
}

void add(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  auto* registered = benchmark::RegisterBenchmark(name.c_str(), [run](benchmark::State& state) {
    try {
      run(state);
    } catch (const std::exception& error) {
      failed = true;
      state.SkipWithError(error.what());
    }
  });
  registered->UseManualTime()->Unit(benchmark::kMicrosecond);
  registered->Iterations(current().simulated ? 1 : 30);
}

int run_main(int argc, char** argv, const std::function<void()>& registration) {
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--hot") == 0)
      current().hot = true;
    else
      argv[kept++] = argv[i];
  }
  argc = kept;
  try {
    current().simulated = wavesim_counters_find(&current().counters) != 0;
    describe_device();
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
      return 2;
    registration();
    counts_reporter counts;
    benchmark::RunSpecifiedBenchmarks(current().simulated ? &counts : nullptr);
    benchmark::Shutdown();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return failed ? 1 : 0;
}

} // namespace bench
