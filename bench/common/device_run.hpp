/// \file
/// What every benchmark of device code shares: which machine it runs on, timing by events, counters
/// where there is no time.
///
/// On a GPU a benchmark reports medians over its iterations of the time between two events, bytes
/// per second, and the share of a device-to-device copy of the same bytes measured in the same run.
/// Buffers rotate, so that a kernel finds nothing of its data in a cache (`--hot` keeps one set).
/// On wavesim it runs once, on smaller shapes, and reports what was counted: no times.
#pragma once

#include "../../tests/wavesim/counters/api.h"

#include <benchmark/benchmark.h>

#include <hip/hip_runtime_api.h>

#include <wavetile/core/status.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

inline void check(hipError_t error, const char* what) {
  if (error != hipSuccess)
    throw std::runtime_error(std::string(what) + ": " + hipGetErrorString(error));
}
inline void check(const wavetile::status& outcome) {
  if (!outcome)
    throw std::runtime_error(outcome.message());
}

/// The machine and the command line's wishes; filled by `main` before anything runs.
struct settings {
  bool simulated = false; ///< wavesim: counters, no times
  bool hot = false;       ///< one set of buffers
  bool corrupt = false;   ///< every downloaded result is spoilt: verification must notice
  wavesim_counters counters{};
};
inline settings& current() {
  static settings value;
  return value;
}

/// Bytes that must pass before a buffer comes up again: twice the largest last-level cache of the
/// devices meant (256 MB on MI300X).
inline constexpr std::int64_t rotation_bytes = std::int64_t{512} << 20;

/// Device memory of `count` elements, as often as it takes to pass every cache.
template <class T>
class rotating_array {
public:
  explicit rotating_array(std::int64_t count) : count_(count) {
    const std::int64_t bytes = std::max<std::int64_t>(count * std::int64_t{sizeof(T)}, 1);
    const bool one = current().simulated || current().hot;
    const std::int64_t copies = one ? 1 : std::min<std::int64_t>(rotation_bytes / bytes + 1, 64);
    for (std::int64_t i = 0; i < copies; ++i) {
      void* memory = nullptr;
      check(hipMalloc(&memory, static_cast<std::size_t>(bytes)), "hipMalloc");
      copies_.push_back(static_cast<T*>(memory));
    }
  }
  ~rotating_array() {
    for (T* copy : copies_)
      (void)hipFree(copy);
  }
  rotating_array(const rotating_array&) = delete;
  rotating_array& operator=(const rotating_array&) = delete;

  /// All copies hold `values`.
  void fill(const std::vector<T>& values) {
    for (T* copy : copies_)
      check(hipMemcpy(copy, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice),
            "copy to the device");
  }
  /// Every byte 0xff: NaN in all floating-point types, so that what is not written is found.
  void poison() {
    for (T* copy : copies_)
      check(hipMemset(copy, 0xff,
                      static_cast<std::size_t>(std::max<std::int64_t>(count_, 1)) * sizeof(T)),
            "hipMemset");
  }
  std::vector<T> download(std::int64_t turn = 0) const {
    std::vector<T> values(static_cast<std::size_t>(count_));
    check(hipDeviceSynchronize(), "hipDeviceSynchronize");
    check(hipMemcpy(values.data(), at(turn), values.size() * sizeof(T), hipMemcpyDeviceToHost),
          "copy from the device");
    if (current().corrupt && !values.empty()) {
      auto* bytes = reinterpret_cast<unsigned char*>(values.data());
      for (std::size_t i = 0; i < sizeof(T); ++i)
        bytes[i] = static_cast<unsigned char>(~bytes[i]);
    }
    return values;
  }
  T* at(std::int64_t turn) const {
    return copies_[static_cast<std::size_t>(turn) % copies_.size()];
  }

private:
  std::int64_t count_;
  std::vector<T*> copies_;
};

/// What an operation must do at least: bytes to and from memory, each once, and the additions and
/// multiplications of its definition, with the rate of a compute unit for its types (0: no matrix
/// instructions do them).
struct work {
  std::int64_t bytes_read = 0, bytes_written = 0;
  double flops = 0;
  int flops_per_clock = 0;
};

/// Rates of one compute unit of gfx942 with dense matrix instructions, in operations a clock
/// (AMD CDNA3 white paper; MI300X has 304 of them at 2.1 GHz).
inline constexpr int matrix_16_bit = 2048, matrix_8_bit = 4096, matrix_wide = 256;

/// Times `launch(turn)` over the iterations of `state` with events, or counts it once.
///
/// Measured: `median_us`, `p10_us`, `p90_us`, `TB/s`, `%copy`, where the datasheet of the device is
/// known `%datasheet` (of memory speed), and with flops `TFLOP/s` and on gfx942 `%peak`.
/// Simulated, all sums over the launch's workgroups: `sim_instructions` and so on, and the least
/// clocks of one compute unit that each unit takes: `sim_matrix_clocks`, `sim_vector_clocks`,
/// `sim_lds_clocks`, `sim_memory_clocks`; the largest is `sim_bound_clocks`, a lower bound.
/// `sim_hbm_clocks` stands apart: what all distinct lines take at a compute unit's share of 5.3
/// TB/s.
void measure(benchmark::State& state, const work& least,
             const std::function<void(std::int64_t turn)>& launch);

/// Registers `run` under `name`; with events as clock, or for one counted run.
void add(const std::string& name, const std::function<void(benchmark::State&)>& run);

/// Initialises, calls `registration`, runs what was registered. The program's `main`. Ends with 1
/// when a result was wrong. Beside Google Benchmark's options: `--hot`, and `--corrupt`, which
/// changes the first element of every result before it is verified, so that all must fail.
int run_main(int argc, char** argv, const std::function<void()>& registration);

} // namespace bench
