// Speed of the executor: host nanoseconds per wave instruction, one thread, one wave. Each kernel
// of wavesim_kernels.hip is a loop over 64 copies of one instruction; the code object is run by the
// same scheduler that HIP launches use. `/counted` is the same with counters on.
#include "counters/tally.hpp"
#include "isa/op_table.hpp"
#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"
#include "machine/memory_map.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace wavesim;

constexpr const char* kernels[] = {
    "valu_fma",
    "valu_add",
    "valu_add_int",
    "valu_fma_partial",
    "valu_pk_fma",
    "valu_exp",
    "salu_add",
    "lds_read_b32",
    "lds_read_b32_stride",
    "lds_read_b32_partial",
    "lds_read_b128",
    "lds_write_b32",
    "lds_write_b128",
    "lds_swizzle",
    "lds_bpermute",
    "lds_atomic_add",
    "global_load_dword",
    "global_load_dwordx4",
    "global_load_scattered",
    "global_load_ushort",
    "global_store_dword",
    "global_store_dwordx4",
    "global_atomic_add",
    "buffer_load_dword",
    "mfma_32x32x8_bf16",
    "mfma_16x16x16_f16",
};

const CodeObject& code_object() {
  static const auto object = [] {
    std::ifstream file(WAVESIM_BENCH_KERNELS, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::string error;
    auto loaded = CodeObject::load(std::as_bytes(std::span(bytes)), error);
    if (!loaded) {
      std::fprintf(stderr, "bench_wavesim: %s: %s\n", WAVESIM_BENCH_KERNELS, error.c_str());
      std::exit(1);
    }
    return loaded;
  }();
  return *object;
}

/// Memory that the dispatches see: the kernels' buffer and their arguments.
struct Memory {
  alignas(128) std::byte buffer[128 * 1024] = {};
  struct Arguments {
    void* out;
    int n;
    int unused = 0;
    std::byte hidden[256] = {};
  } arguments{buffer, 0};

  Memory() {
    add(buffer, sizeof buffer, RangeKind::device);
    add(&arguments, sizeof arguments, RangeKind::kernarg);
  }
  static void add(const void* p, std::size_t bytes, RangeKind kind) {
    Range range;
    range.begin = reinterpret_cast<std::uintptr_t>(p);
    range.end = range.begin + bytes;
    range.kind = kind;
    MemoryMap::instance().add(range);
  }
};

void run_kernel(benchmark::State& state, const char* name, bool count) {
  static auto* memory = new Memory;
  const Kernel* kernel = code_object().kernel(name);
  if (!kernel) {
    state.SkipWithError("no such kernel");
    return;
  }
  // Several workgroups, as kernels have: counting follows the pace of some of them only.
  constexpr int loops = 10, copies = 64, groups = 64;
  memory->arguments.n = loops;
  Dispatch dispatch;
  dispatch.kernel = kernel;
  dispatch.grid[0] = groups;
  dispatch.block[0] = 64;
  dispatch.kernarg = reinterpret_cast<const std::byte*>(&memory->arguments);
  dispatch.memory = MemoryMap::instance().snapshot();
  RunOptions options;
  options.threads = 1;
  options.count = count;
  for (auto _ : state) {
    ++dispatch.serial;
    benchmark::DoNotOptimize(run(dispatch, options));
  }
  // The loop's own scalar instructions (three in 64) are part of the time.
  state.counters["per_instruction"] = benchmark::Counter(
      static_cast<double>(groups) * loops * copies,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

} // namespace

int main(int argc, char** argv) {
  benchmark::AddCustomContext("wavesim SIMD level",
                              simd_level() == Simd::avx512 ? "avx512" : "avx2");
  for (const char* kernel : kernels)
    for (const bool count : {false, true})
      benchmark::RegisterBenchmark((std::string(kernel) + (count ? "/counted" : "")).c_str(),
                                   [=](benchmark::State& s) { run_kernel(s, kernel, count); });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
