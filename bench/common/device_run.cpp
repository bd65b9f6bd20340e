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

void report_counts(benchmark::State& state, const work& least, const wavesim_counts& counts) {
  const auto set = [&state](const char* name, double value) { state.counters[name] = value; };
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  const auto of = [&](wavesim_unit unit) { return number(counts.instructions[unit]); };
  double instructions = 0;
  for (int unit = 0; unit < wavesim_unit_count; ++unit)
    instructions += number(counts.instructions[unit]);
  const double valu = of(wavesim_unit_valu), trans = of(wavesim_unit_trans);
  const double bytes = number(counts.bytes_read + counts.bytes_written);
  set("sim_instructions", instructions);
  set("sim_valu", valu + trans);
  set("sim_mfma", of(wavesim_unit_mfma));
  set("sim_lds_conflicts", number(counts.lds_conflicts));
  set("sim_bytes", bytes);
  set("sim_bytes/minimum", bytes / number(static_cast<std::uint64_t>(std::max<std::int64_t>(
                                       least.bytes_read + least.bytes_written, 1))));
  // Four SIMDs, each with a vector unit (4 clocks an instruction, 16 a transcendental one) and a
  // matrix unit; one LDS; one vector L1 with a look-up and 64 bytes a clock.
  const double matrix = number(counts.mfma_clocks) / 4;
  const double vector = (4 * (valu + of(wavesim_unit_mfma)) + 16 * trans) / 4;
  const double lds = number(counts.lds_clocks);
  const double memory = std::max(number(counts.tcp_accesses), bytes / 64);
  const double bound = std::max({matrix, vector, lds, memory});
  set("sim_matrix_clocks", matrix);
  set("sim_vector_clocks", vector);
  set("sim_lds_clocks", lds);
  set("sim_memory_clocks", memory);
  set("sim_bound_clocks", bound);
  // 5325 GB/s over 304 compute units at 2100 MHz
  const double share = 5325e9 / 304 / 2100e6;
  set("sim_hbm_clocks", 128 * number(counts.lines_read + counts.lines_written) / share);
  if (least.flops > 0) {
    set("flops", least.flops);
    set("bytes", number(static_cast<std::uint64_t>(least.bytes_read + least.bytes_written)));
    if (bound > 0) // 0: work of a library that ran nothing on the simulated device
      set("sim_flops/clock", least.flops / bound);
    if (bound > 0 && least.flops_per_clock > 0)
      set("%sim_matrix_bound", 100 * least.flops / least.flops_per_clock / bound);
  }
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
      std::printf("%-52s", run.run_name.function_name.c_str());
      if (run.error_occurred)
        std::printf(" %s", run.error_message.c_str());
      for (const auto& [name, counter] : run.counters)
        std::printf(" %s=%.10g", name.c_str(), counter.value);
      std::printf("\n");
    }
  }
};

/// Speeds of the device: memory in TB/s by its datasheet (0: not known), and clocks of all compute
/// units together per second (0: not gfx942).
struct speeds {
  double memory = 0, clocks = 0;
};
speeds& machine() {
  static speeds value;
  return value;
}

/// Peak memory bandwidth by the makers' datasheets.
double datasheet_terabytes(const char* name) {
  const struct {
    const char* part;
    double terabytes;
  } known[] = {{"MI300X", 5.3}, {"MI300A", 5.3}, {"MI325X", 6.0}, {"H200", 4.8}};
  for (const auto& one : known)
    if (std::strstr(name, one.part) != nullptr)
      return one.terabytes;
  return 0;
}

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
  benchmark::AddCustomContext("rounding", "to nearest even");
  if (!current().simulated) {
    int kilohertz = 0;
    check(hipDeviceGetAttribute(&kilohertz, hipDeviceAttributeClockRate, device), "clock rate");
    benchmark::AddCustomContext("clock MHz", std::to_string(kilohertz / 1000));
    machine().memory = datasheet_terabytes(properties.name);
    if (std::strncmp(properties.gcnArchName, "gfx942", 6) == 0)
      machine().clocks = 1e3 * kilohertz * properties.multiProcessorCount;
    if (machine().memory > 0)
      benchmark::AddCustomContext("peak_tbytes", std::to_string(machine().memory));
    if (machine().clocks > 0)
      benchmark::AddCustomContext("peak_tflops",
                                  std::to_string(1e-12 * machine().clocks * matrix_16_bit));
  }
  int version = 0;
  if (hipRuntimeGetVersion(&version) == hipSuccess)
    benchmark::AddCustomContext("runtime version", std::to_string(version));
}

} // namespace

void measure(benchmark::State& state, const work& least,
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
    report_counts(state, least, counts);
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
  const std::int64_t bytes = least.bytes_read + least.bytes_written;
  state.counters["median_us"] = 1e6 * median;
  state.counters["p10_us"] = 1e6 * quantile(times, 0.1);
  state.counters["p90_us"] = 1e6 * quantile(times, 0.9);
  state.counters["TB/s"] = 1e-12 * static_cast<double>(bytes) / median;
  state.counters["%copy"] = 100 * copy_seconds(bytes) / median;
  if (machine().memory > 0)
    state.counters["%datasheet"] =
        100 * 1e-12 * static_cast<double>(bytes) / median / machine().memory;
  if (least.flops > 0) {
    state.counters["flops"] = least.flops;
    state.counters["bytes"] = static_cast<double>(bytes);
    state.counters["TFLOP/s"] = 1e-12 * least.flops / median;
    if (machine().clocks > 0 && least.flops_per_clock > 0)
      state.counters["%peak"] =
          100 * least.flops / median / (machine().clocks * least.flops_per_clock);
  }
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
    else if (std::strcmp(argv[i], "--corrupt") == 0)
      current().corrupt = true;
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
