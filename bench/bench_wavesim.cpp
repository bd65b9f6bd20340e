// Speed of the executor: host nanoseconds per wave instruction, one thread, one wave. Each kernel
// of wavesim_kernels.hip is a loop over 64 copies of one instruction; the code object is run by the
// same scheduler that HIP launches use. `/counted` is the same with counters on, `/checked` with
// all checks, `/race_memory` with two of them. LDS instructions run in workgroups of four waves,
// too (`/waves4`): races are looked for only there. And the time of a whole matrix product.
#include "checks/group_checks.hpp"
#include "counters/tally.hpp"
#include "isa/op_table.hpp"
#include "loader/code_object.hpp"
#include "machine/dispatch.hpp"
#include "machine/memory_map.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
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
    "lds_read_b32_conflicts",
    "lds_read_b128",
    "lds_write_b32",
    "lds_write_b32_stride",
    "lds_write_b128",
    "lds_write_b128_stride",
    "lds_swizzle",
    "lds_bpermute",
    "lds_atomic_add",
    "lds_atomic_add_shared",
    "lds_write_b8_shared",
    "lds_write_b32_same",
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
    "mfma_32x32x16_fp8",
    "mfma_32x32x16_i8",
    "mfma_32x32x2_f32",
    "mfma_16x16x4_f64",
    "mfma_32x32x4_xf32",
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

struct Mode {
  const char* suffix;
  bool count;
  const char* checks; ///< as WAVESIM_CHECK has them, null for none
  unsigned waves = 1; ///< of a workgroup
};

void run_kernel(benchmark::State& state, const char* name, const Mode& mode) {
  static auto* memory = new Memory;
  const Kernel* kernel = code_object().kernel(name);
  if (!kernel) {
    state.SkipWithError("no such kernel");
    return;
  }
  // Several workgroups, as kernels have: counting follows the pace of some of them only.
  constexpr unsigned loops = 20, copies = 64, waves = 128;
  const unsigned groups = waves / mode.waves;
  memory->arguments.n = static_cast<int>(loops);
  Dispatch dispatch;
  dispatch.kernel = kernel;
  dispatch.grid[0] = groups;
  dispatch.block[0] = 64 * mode.waves;
  dispatch.kernarg = reinterpret_cast<const std::byte*>(&memory->arguments);
  dispatch.memory = MemoryMap::instance().snapshot();
  RunOptions options;
  options.threads = 1;
  options.count = mode.count;
  std::unique_ptr<CheckFactory> factory;
  if (mode.checks) {
    std::string wrong;
    factory = std::make_unique<CheckFactory>(*parse_checks(mode.checks, wrong));
    options.observers = factory.get();
  }
  for (auto _ : state) {
    ++dispatch.serial;
    benchmark::DoNotOptimize(run(dispatch, options));
  }
  // The loop's own scalar instructions (three in 64, with loads eight waits more) are part of the
  // time.
  state.counters["per_instruction"] = benchmark::Counter(
      static_cast<double>(waves) * loops * copies,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// bf16 bits of a small integer.
std::uint16_t bf16_of(int x) {
  const float f = static_cast<float>(x);
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(f) >> 16);
}

/// C = A · Bᵀ of 1024 cubed in bf16: a whole kernel, on as many threads. Entries are -3 … 3, so
/// that every sum is exact and the result can be compared.
void run_matmul(benchmark::State& state) {
  constexpr std::size_t n = 1024, tile = 64;
  struct Arguments {
    const std::uint16_t *a, *b;
    float* c;
    std::byte hidden[256] = {};
  };
  struct Matrices {
    std::vector<std::uint16_t> a, b;
    std::vector<float> c;
    Arguments arguments{};
    static int entry_a(std::size_t i, std::size_t k) {
      return static_cast<int>((i * 5 + k * 3) % 7) - 3;
    }
    static int entry_b(std::size_t j, std::size_t k) {
      return static_cast<int>((j * 2 + k * k) % 7) - 3;
    }
    Matrices() : a(n * n), b(n * n), c(n * n) {
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < n; ++k) {
          a[i * n + k] = bf16_of(entry_a(i, k));
          b[i * n + k] = bf16_of(entry_b(i, k));
        }
      arguments.a = a.data();
      arguments.b = b.data();
      arguments.c = c.data();
      Memory::add(a.data(), a.size() * sizeof a[0], RangeKind::device);
      Memory::add(b.data(), b.size() * sizeof b[0], RangeKind::device);
      Memory::add(c.data(), c.size() * sizeof c[0], RangeKind::device);
      Memory::add(&arguments, sizeof arguments, RangeKind::kernarg);
    }
    bool right() const {
      for (std::size_t i = 0; i < n; i += 31)
        for (std::size_t j = 0; j < n; j += 17) {
          int sum = 0;
          for (std::size_t k = 0; k < n; ++k)
            sum += entry_a(i, k) * entry_b(j, k);
          if (c[i * n + j] != static_cast<float>(sum))
            return false;
        }
      return true;
    }
  };
  static auto* matrices = new Matrices;
  Dispatch dispatch;
  dispatch.kernel = code_object().kernel("matmul_bf16");
  if (!dispatch.kernel)
    return state.SkipWithError("no such kernel");
  dispatch.grid[0] = (n / tile) * (n / tile);
  dispatch.block[0] = 64;
  dispatch.kernarg = reinterpret_cast<const std::byte*>(&matrices->arguments);
  dispatch.memory = MemoryMap::instance().snapshot();
  RunOptions options;
  options.threads = static_cast<unsigned>(state.range(0));
  std::fill(matrices->c.begin(), matrices->c.end(), -1.0f);
  for (auto _ : state) {
    ++dispatch.serial;
    benchmark::DoNotOptimize(run(dispatch, options));
  }
  if (!matrices->right())
    state.SkipWithError("the product is wrong");
}

constexpr Mode modes[] = {{"", false, nullptr},
                          {"/counted", true, nullptr},
                          {"/race_memory", false, "race,memory"},
                          {"/checked", false, "all"},
                          {"/waves4", false, nullptr, 4},
                          {"/waves4/race_memory", false, "race,memory", 4},
                          {"/waves4/checked", false, "all", 4}};

} // namespace

int main(int argc, char** argv) {
  benchmark::AddCustomContext("wavesim SIMD level",
                              simd_level() == Simd::avx512 ? "avx512" : "avx2");
  for (const char* kernel : kernels)
    for (const Mode& mode : modes)
      if (mode.waves == 1 || std::string_view(kernel).starts_with("lds_"))
        benchmark::RegisterBenchmark((std::string(kernel) + mode.suffix).c_str(),
                                     [=](benchmark::State& s) { run_kernel(s, kernel, mode); });
  benchmark::RegisterBenchmark("matmul_bf16_1024", run_matmul)
      ->ArgName("threads")
      ->Arg(1)
      ->Arg(2)
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
